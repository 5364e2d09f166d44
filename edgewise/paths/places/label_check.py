"""Verification of the nearest places, without searching for them again.

Labels are right if no edge offers a better one, and if edges that offer exactly what a label says connect all
labels with those of the places at themselves.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import VerificationError
from edgewise.paths.csr import unreached
from edgewise.paths.places.checks import rows_between
from edgewise.paths.places.labels import Labels, comes_before
from edgewise.paths.sssp.weights import limit_in


class Check(NamedTuple):
    """The memory of a check: ``reached`` (n * k,) uint8 zeros, and a ``queue`` (n * k,) of int64."""

    reached: Any
    queue: Any


@device
def offers_right(vertex, slot, rows, labels, limits, check, tail):
    """Check the offers of a label; return the end of the queue, or -1 for an offer that was better."""
    (cutoff, exact), k, n = limits, labels.k, len(rows.offsets) - 1
    distance, place = labels.distances[slot], labels.places[slot]
    for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
        weight = rows.weights[entry] if len(rows.weights) else labels.distances.dtype.type(1)
        longer, first = wrapping_add(distance, weight), np.int64(rows.neighbours[entry]) * k
        if longer < distance or longer > cutoff:
            continue
        is_known = False
        for other in range(first, first + k):
            if labels.places[other] == place:
                is_known = True
                if longer < labels.distances[other]:
                    return np.int64(-1)
            same = labels.places[other] == place or (not exact and labels.places[other] < n)
            if same and longer == labels.distances[other] and check.reached[other] == 0:
                check.reached[other], check.queue[tail] = 1, other
                tail += 1
        if not is_known and comes_before(longer, place, first + k - 1, labels):
            return np.int64(-1)
    return tail


@device
def wrong_in_itself(vertex, labels, cutoff, n):
    """Whether the labels of a vertex are not in order, or beyond the cutoff, or two of one place."""
    first = vertex * labels.k
    for slot in range(first, first + labels.k):
        distance, place = labels.distances[slot], labels.places[slot]
        if place < n and not distance <= cutoff:
            return True
        for other in range(first, slot):
            held = labels.places[other]
            if place < n and (held == place or not comes_before(labels.distances[other], held, slot, labels)):
                return True
    return False


@compiled
def wrong_label(rows, sources, cutoff, exact, labels, check):
    """A vertex with a wrong label, or a neighbour of one; or -1."""
    k, n, tail, head = labels.k, len(rows.offsets) - 1, np.int64(0), np.int64(0)
    for vertex in range(n):
        if wrong_in_itself(vertex, labels, cutoff, n):
            return np.int64(vertex)
    for source in sources:
        for slot in range(source * k, source * k + k):
            if labels.places[slot] == source and labels.distances[slot] == 0:
                check.reached[slot], check.queue[tail] = 1, slot
                tail += 1
        missing = tail == head or check.queue[tail - 1] // k != source
        if missing and comes_before(labels.distances.dtype.type(0), source, source * k + k - 1, labels):
            return np.int64(source)
    while head < tail:
        slot = check.queue[head]
        head += 1
        tail = offers_right(slot // k, slot, rows, labels, (cutoff, exact), check, tail)
        if tail < 0:
            return slot // k
    for slot in range(n * k):
        if labels.places[slot] < n and check.reached[slot] == 0:
            return np.int64(slot // k)
    return np.int64(-1)


def verify_labels(graph, found, cutoff, direction):
    """Raise VerificationError unless labels are right in a graph on the host.

    ``found`` are the places, ascending, and the (n, k) vertex numbers of the nearest ones, -1 where there is
    none, with their distances.  Where distances are floats, a label may come from one of another place, which
    rounding has made as near (:mod:`edgewise.paths.places.labels`).
    """
    sources, places, distances = found
    n, k, dtype = graph.n_vertices, places.shape[1], distances.dtype
    if not np.isin(places[places >= 0], sources).all():
        raise VerificationError("a vertex that is no place is nearest to another one")
    rows = rows_between(graph, direction, dtype.name if graph.is_weighted else None).csr
    none = places < 0
    distances = np.where(none, dtype.type(unreached(dtype)), distances).reshape(-1)
    labels = Labels(k, distances, np.where(none, n, places).reshape(-1), np.zeros(0, np.uint8))
    check = Check(np.zeros(n * k, np.uint8), np.empty(n * k, np.int64))
    exact, limit = dtype.kind != "f", limit_in(cutoff, dtype)
    n_steps = k * (n + len(rows.neighbours))
    wrong = wrong_label.with_steps(n_steps, rows, sources, limit, exact, labels, check)
    if wrong >= 0:
        (name,) = graph.ids_of(np.array([int(wrong)])).tolist()
        raise VerificationError(f"what is nearest to {name!r}, or to a neighbour of it, is wrong")
