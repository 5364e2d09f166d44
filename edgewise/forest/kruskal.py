"""Kruskal's algorithm: edges in order, each kept if its ends are in different trees.

The edges of a phase (:mod:`~edgewise.forest.filter`) are listed and sorted on all cores
(:mod:`~edgewise.forest.buckets`), and joined on one.  So of a graph with many more edges than vertices only
the lightest ones are sorted at first, about two for each vertex, and of the others those that do not lead
from a tree to itself then (Filter-Kruskal, with one step).

J. B. Kruskal, "On the shortest spanning subtree of a graph" (1956); Osipov, Sanders and Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm" (ALENEX 2009).
"""

import numpy as np

from edgewise.components.trees import compress
from edgewise.device import compiled
from edgewise.device.prefetch import prefetch
from edgewise.device.target import cpu_compiler_is_loaded
from edgewise.device.threads import FEW_STEPS
from edgewise.forest.boruvka import STAGES
from edgewise.forest.buckets import sorted_buckets
from edgewise.forest.filter import draw_sample, first_phase, list_edges, new_lists, next_phase
from edgewise.forest.order import words_of
from edgewise.forest.trees import Trees, halve, make_roots
from edgewise.primitives.rows import row_numbers

#: Words of the sample that divides the edges.
SPLITTERS = 4096
#: How many edges ahead an edge is read.
EDGES_AHEAD = 32
#: How many edges ahead the parents of the ends of an edge are read.
PARENTS_AHEAD = 16
#: How many edges ahead the parents of these parents are read.
GRANDPARENTS_AHEAD = 6


@compiled
def join_in_order(positions, ends, trees, n_found):
    """Keep the edges at the ``positions`` that join two trees, and return how many have been found by now.

    They are written one behind the other, which takes less time than to write them at their vertices.
    """
    sources, targets = ends
    parent, count = trees.parent, len(positions)
    for item in range(count):
        ahead = positions[min(item + EDGES_AHEAD, count - 1)]
        prefetch(sources, ahead)
        prefetch(targets, ahead)
        ahead = positions[min(item + PARENTS_AHEAD, count - 1)]
        prefetch(parent, sources[ahead])
        prefetch(parent, targets[ahead])
        ahead = positions[min(item + GRANDPARENTS_AHEAD, count - 1)]
        prefetch(parent, parent[sources[ahead]])
        prefetch(parent, parent[targets[ahead]])
        position = positions[item]
        one, other = halve(parent, sources[position]), halve(parent, targets[position])
        if one != other:
            parent[max(one, other)] = min(one, other)
            trees.hooked_by[n_found] = position
            n_found += 1
    return n_found


def _kruskal_of_few(sources, entries, trees):
    """The same without loops to be compiled: few edges are sorted at once, and joined by the interpreter."""
    positions, parent = np.argsort(words_of(entries.order), kind="stable"), trees.parent
    if entries.both:
        positions = positions[sources[positions] <= entries.targets[positions]]
    parent[:] = np.arange(len(parent))
    n_steps = len(parent) + len(positions)
    n_found = join_in_order.with_steps(n_steps, positions, (sources, entries.targets), trees, 0)
    while not np.array_equal(parent, above := parent[parent]):
        parent[:] = above
    return trees.hooked_by[:n_found], parent


def kruskal(n_vertices, entries):
    """Kruskal's algorithm on the host; see :class:`~edgewise.forest.ForestMethod`."""
    kind, none = entries.targets.dtype, np.empty(0, np.int64)
    sources = row_numbers(entries.offsets, kind) if len(entries.offsets) else entries.sources
    trees = Trees(np.empty(n_vertices, kind), np.empty(n_vertices, np.int64), none, none, none)
    if n_vertices + len(entries.targets) <= FEW_STEPS and not cpu_compiler_is_loaded():
        return _kruskal_of_few(sources, entries, trees)
    make_roots(n_vertices, trees.parent, trees.hooked_by)
    lists = new_lists(n_vertices, entries, words_only=True)
    phase, n_phases = first_phase(n_vertices, entries, STAGES)
    sample, n_found = np.empty(min(SPLITTERS, len(entries.targets)), np.int64), 0
    draw_sample(len(sample), entries, sample)
    sample.sort()
    while True:
        list_edges(len(lists.counts), entries, trees, lists, phase, 0)
        cut = np.searchsorted(sample, phase.limits, "right")
        part = sample[cut[phase.number - 1] if phase.number else 0 : cut[phase.number]]
        for positions in sorted_buckets(lists, part, entries.order):
            n_found = join_in_order(positions, (sources, entries.targets), trees, n_found)
        compress(n_vertices, trees.parent)
        if phase.number == n_phases - 1:
            return trees.hooked_by[:n_found], trees.parent
        phase = next_phase(phase, trees.parent)
