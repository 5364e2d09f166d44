"""Boruvka's algorithm with transactions: trees find their first edges, and are merged by transactions.

A round has the phases of the thesis, but that edges are pruned while others are discovered:

* *Edge discovery.*  The 32 threads of a warp take 32 vertices and divide all of their entries (*warp
  segmentation*), so long rows do not hold up short ones.  They reduce the entries of each vertex to its first
  one, which is suggested to the root of its tree by an atomic minimum.  Entries inside a tree are *pruned*:
  they get the largest word, and are skipped from then on.  With ``deactivate=True`` a vertex without a
  suggestion is *deactivated*: the words of its entries are read no more.
* *Merge.*  Every root with a suggestion runs a transaction on two words, its own parent and that of the root
  that its edge leads to, which is found outside of the transaction, since parents only move up.  If that one
  still is a root, the own one becomes its child.  So roots that are led to the same tree do not write the
  same word, every tree with a suggestion is merged in its round, and two trees that are led to each other
  are merged once.
* *Flattening.*  Every vertex is made a child of its root.  The thesis does this by pointer doubling, a pass
  over all vertices for each doubling of the longest path; here one pass walks all paths to their ends
  (:func:`~edgewise.components.trees.compress`).

With ``log=L`` a transaction walks to the roots itself, as the thesis has it: it has as many words as the
paths have vertices, and makes those of the other tree children of the new root.  One of more than ``L`` words
aborts, and is run again with a log twice as large; in the thesis it restarts until other merges have made its
paths shorter.

The thesis needs no rule for equal weights; here the order is total (:mod:`~edgewise.forest.order`), so the
forest is that of all other methods.  Where roots are found outside of transactions, those protocols are
allowed that keep writes until the end: what a failed attempt has written in place could be seen.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
chapter 3; Khorasani, Gupta and Bhuyan, "Scalable SIMD-efficient graph processing on GPUs" (2015), for warp
segmentation.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.trees import compress
from edgewise.device import arrays, device, each, fetch_min, load, parallel_region, store
from edgewise.device.warps import find_segment, segment_min, shuffle, warp_size
from edgewise.errors import OptionError, argument
from edgewise.forest.order import LARGEST, word_of
from edgewise.forest.trees import label_by_least, lower_least, make_roots
from edgewise.graph import Graph
from edgewise.primitives.array_operations import pack
from edgewise.primitives.rows import row_numbers
from edgewise.transactions import TransactionalMemory, is_active, read, retry, write
from edgewise.transactions.statistics import Rounds, Statistics

#: Protocols that write in place: their transactions must walk to the roots themselves.
IN_PLACE = ("pessimistic", "invisible")
#: Words of a transaction for which the roots are found outside: the two roots.
ROOTS = 2


class Incidence(NamedTuple):
    """The edges at each vertex.

    Attributes
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array
    words : (entries,) int64 array
        The word of the edge of each entry; LARGEST once both ends are in one tree.
    """

    offsets: Any
    neighbours: Any
    words: Any


class Edges(NamedTuple):
    """All edges, by their words.

    Attributes
    ----------
    sources, targets : (m,) index arrays
    by_rank : (m,) int64 array
        Positions of the edges in their order, if a word is a rank; empty if it holds a position.
    """

    sources: Any
    targets: Any
    by_rank: Any


class Activity(NamedTuple):
    """Which vertices may have an edge that leaves their tree.

    Attributes
    ----------
    last_round : (n,) int32 array
        The last round in which a vertex had a suggestion; 0 at the beginning.  Empty if no vertex is
        deactivated.
    round : int
        This round, from 1 on.
    """

    last_round: Any
    round: int


@device
def edge_of(word, edges):
    """The position of the edge of a word."""
    if len(edges.by_rank):
        return edges.by_rank[word]
    return word & np.int64(0xFFFFFFFF)


@device
def suggestion(entry, row, incidence, parent, activity):
    """The word of an entry of a row; LARGEST, also from now on, if it leads to the same tree."""
    if len(activity.last_round) and load(activity.last_round, row) < activity.round - 1:
        return np.int64(LARGEST)
    word = incidence.words[entry]
    if word != LARGEST and parent[row] == parent[incidence.neighbours[entry]]:
        word = np.int64(LARGEST)
        incidence.words[entry] = word
    return word


@parallel_region
def discover(worker, incidence, parent, best, activity):
    """Suggest the first edge that leaves a tree to its root; all paths are of one step."""
    lanes, n = np.int64(warp_size()), np.int64(len(parent))
    lane = worker.id % lanes
    for first in range(worker.id // lanes * lanes, n, worker.count // lanes * lanes):
        mine = min(first + lane, n - 1)
        end = incidence.offsets[mine + 1]
        begin = shuffle(incidence.offsets[mine], 0)
        last = shuffle(end, lanes - 1)
        for base in range(begin, last, lanes):
            entry = base + lane
            segment = np.int64(find_segment(entry, end, lanes))
            row, word = min(first + segment, n - 1), np.int64(LARGEST)
            if entry < last:
                word = suggestion(entry, row, incidence, parent, activity)
            word, is_first = segment_min(word, segment, lane, lanes)
            if is_first and word != LARGEST:
                if len(activity.last_round):
                    store(activity.last_round, row, activity.round)
                if word < best[parent[row]]:
                    fetch_min(best, parent[row], word)


@device
def root_above(parent, vertex):
    """The root above a vertex, while trees are merged."""
    above = np.int64(load(parent, vertex))
    while above != vertex:
        vertex, above = above, np.int64(load(parent, above))
    return vertex


def merge(tx, number, roots, best, edges, linked):
    """Transaction: make this root a child of the one that its first edge leads to."""
    one = np.int64(roots[number])
    linked[number] = -1
    edge = edge_of(best[one], edges)
    other = root_above(tx.memory.words, np.int64(edges.sources[edge]))
    if other == one:
        other = root_above(tx.memory.words, np.int64(edges.targets[edge]))
    if other != one:
        if np.int64(read(tx, other)) == other:
            write(tx, one, other)
            linked[number] = one
        else:
            retry(tx)


@device
def walk(tx, vertex):
    """The root above a vertex, for a transaction; every vertex of the path is in its log."""
    above = np.int64(read(tx, vertex))
    while above != vertex and is_active(tx):
        vertex, above = above, np.int64(read(tx, above))
    return vertex


def walk_and_merge(tx, number, roots, best, edges, linked):
    """Transaction: walk from the first edge to the other root, and make its path children of this one."""
    one = np.int64(roots[number])
    linked[number] = -1
    if walk(tx, one) == one:
        edge = edge_of(best[one], edges)
        vertex = np.int64(edges.sources[edge])
        other = walk(tx, vertex)
        if other == one:
            vertex = np.int64(edges.targets[edge])
            other = walk(tx, vertex)
        if other != one:
            while vertex != other and is_active(tx):
                above = np.int64(read(tx, vertex))
                write(tx, vertex, one)
                vertex = above
            write(tx, other, one)
            linked[number] = other


@each
def keep_edges(number, linked, roots, best, edges, hooked_by):
    """Note the edge of a transaction at the root that it has made a child."""
    if linked[number] >= 0:
        hooked_by[linked[number]] = edge_of(best[roots[number]], edges)


@each
def write_words(entry, order, words):
    """Write the word of each entry."""
    words[entry] = word_of(order, entry)


def edges_of(entries):
    """The edges once each, their words, and the entry of every edge: :class:`Edges` and two int64 arrays."""
    where, order = arrays.device_of(entries.targets), entries.order
    n_entries, xp = len(entries.targets), arrays.namespace(where)
    sources, words = entries.sources, arrays.empty(n_entries, np.int64, where)
    write_words(n_entries, order, words)
    if len(entries.offsets):
        sources = row_numbers(entries.offsets, entries.targets.dtype)
    by_rank = arrays.empty(0, np.int64, where)
    if not order.packed:
        by_rank = arrays.move(xp.argsort(words, kind="stable"), where)
        words[by_rank] = xp.arange(n_entries)
    edges = Edges(sources, entries.targets, by_rank)
    ends = edges.sources, edges.targets, words
    return edges, pack(sources < entries.targets, *ends) if entries.both else ends


def transactional(n_vertices, entries, protocol="wound-wait", deactivate=False, log=None):
    """The thesis' algorithm; see :class:`~edgewise.forest.ForestMethod`.  Its transactions come third."""
    if log is None and protocol in IN_PLACE:
        raise OptionError(f"{argument('protocol', protocol)} writes in place; give {argument('log')} as well")
    where, kind = arrays.device_of(entries.targets), entries.targets.dtype
    xp = arrays.namespace(where)
    edges, listed = edges_of(entries)
    graph = Graph(n_vertices, edges=listed)
    weights: Any = graph.csr_weights
    incidence = Incidence(graph.offsets, graph.neighbours, weights.copy())
    parent, hooked_by = arrays.empty(n_vertices, kind, where), arrays.empty(n_vertices, np.int64, where)
    make_roots(n_vertices, parent, hooked_by)
    best = arrays.empty(n_vertices, np.int64, where)
    last_round = arrays.zeros(n_vertices if deactivate else 0, np.int32, where)
    memory = TransactionalMemory(parent, protocol=protocol, log=log or ROOTS) if n_vertices else None
    body = walk_and_merge if log else merge
    rounds: list[Statistics] = []
    while memory:
        best.fill(LARGEST)
        discover(incidence, parent, best, Activity(last_round, len(rounds) + 1))
        roots = arrays.move(xp.flatnonzero(best != LARGEST), where)
        if not len(roots):
            break
        linked = arrays.empty(len(roots), np.int64, where)
        rounds.append(memory.run(body, len(roots), roots, best, edges, linked))
        keep_edges(len(roots), linked, roots, best, edges, hooked_by)
        compress(n_vertices, parent)
    best.fill(LARGEST)
    lower_least(n_vertices, parent, best)
    label_by_least(n_vertices, parent, best)
    return hooked_by, parent, Rounds(tuple(rounds))
