"""Bounds of the wedges below apex vertices, and prefetching for the loops over apex vertices.

Most apex vertices have a dozen wedges, and their rows are scattered over memory.  A worker therefore
prefetches for the apex vertices that follow: first the apex's own row, then the offsets of its neighbours'
rows, then these rows.  That halves the time on graphs larger than the caches.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, device, each
from edgewise.device.prefetch import prefetch

#: Tasks ahead at which an apex's offsets, its row, its neighbours' offsets and their rows are prefetched.
FOURTH, THIRD, SECOND, NEXT = 8, 5, 3, 1


@device
def look_ahead(position, stop, order, offsets, neighbours, split, counts):
    """Start to read what the tasks after ``position`` will need."""
    if position + FOURTH < stop:
        top = np.int64(order[position + FOURTH])
        prefetch(offsets, top)
        prefetch(split, top)
    if position + THIRD < stop:
        prefetch(neighbours, offsets[order[position + THIRD]])
    if position + SECOND < stop:
        top = np.int64(order[position + SECOND])
        for entry in range(offsets[top], split[top]):
            prefetch(offsets, np.int64(neighbours[entry]))
    if position + NEXT < stop:
        top = np.int64(order[position + NEXT])
        for entry in range(offsets[top], split[top]):
            middle = np.int64(neighbours[entry])
            prefetch(neighbours, offsets[middle])
            prefetch(counts, middle)


@each
def _count_steps(task, vertices, offsets, neighbours, split, steps):
    """Sum up the lengths of the rows of a vertex's lower neighbours."""
    vertex, total = np.int64(vertices[task]), np.int64(0)
    for entry in range(offsets[vertex], split[vertex]):
        middle = np.int64(neighbours[entry])
        total += offsets[middle + 1] - offsets[middle]
    steps[task] = total


def steps_below(ranked: Ranked, vertices=None):
    """An upper bound of the wedges of tops, of all or of some: (tasks,) int64 array beside ``ranked``."""
    device, xp = ranked.device, arrays.namespace(ranked.device)
    if vertices is None:
        vertices = arrays.move(xp.arange(ranked.n_vertices), device)
    steps = arrays.empty(len(vertices), np.int64, device)
    _count_steps(len(vertices), vertices, ranked.offsets, ranked.neighbours, ranked.split, steps)
    return steps


def most_steps(ranked: Ranked, enough: int) -> int:
    """An upper bound of the wedges of any top; found out more closely where it passes ``enough``."""
    # Ranks go by degree: no lower neighbour's row is longer than the top's.
    bounds = (ranked.split - ranked.offsets[:-1]) * (ranked.offsets[1:] - ranked.offsets[:-1])
    most = int(bounds.max(initial=0))
    if most > enough:
        steps = steps_below(ranked, np.flatnonzero(bounds > enough))
        most = max(enough, int(steps.max()))
    return most
