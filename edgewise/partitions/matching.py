"""Matching by transactions: every vertex and its heaviest neighbour try to become a pair.

A round has the phases of the thesis:

* *Candidates.*  The 32 threads of a warp take 32 vertices and divide all of their entries (*warp
  segmentation*).  They reduce the entries of each vertex to the heaviest edge to a vertex without a mate.
* *Transactions.*  Every vertex with a candidate runs a transaction on two words, the mates of both.  If both
  are still free, they become a pair; otherwise the vertex stays single in this round.

The thesis has one round for each graph of the hierarchy, in which a star loses one leaf.  Here there are a
few, and a pair is at most as heavy as a vertex of the coarsest graph should be.  Among equal weights the
largest random number of an edge decides, so that a vertex and its candidate often want each other.

Pairs are numbered as in the thesis: a vertex with ``vertex <= mate`` is the first of its pair, and a scan
counts these.  Which pairs there are depends on the order of the transactions, except for one thread.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
section 4.4.2; G. Karypis and V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular
graphs" (SIAM Journal on Scientific Computing 20, 1998), for heavy-edge matching.
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_max, parallel_region
from edgewise.device.warps import find_segment, segment_min, shuffle, warp_size
from edgewise.partitions.levels import salt_of, weight_at
from edgewise.primitives.mixing import MASK, mix, unmix
from edgewise.transactions import TransactionalMemory, read, write

#: No candidate.
NOTHING = -1
#: Rounds for each level, and the share of a level's vertices that a round must match for another one.
ROUNDS, LEAST_MATCHED = 4, 0.02


class Rule(NamedTuple):
    """Which edges may join two vertices, and which comes first.

    Attributes
    ----------
    heaviest : int
        Largest weight of a pair.
    salt : int
        Seed of the random numbers of edges of equal weight.
    shift : int
        Lower bits of a weight that are left out when weights are compared.
    """

    heaviest: int
    salt: int
    shift: int


@device
def offer(entry, row, level, mates, rule):
    """What an entry is worth to a row: its weight, then a random number; NOTHING if it may not be taken.

    The number is the same in the rows of both ends, and each end finds the other from it.
    """
    other = np.int64(level.neighbours[entry])
    if np.int64(mates[row]) != row or np.int64(mates[other]) != other:
        return np.int64(NOTHING)
    if level.sizes[row] + level.sizes[other] > rule.heaviest:
        return np.int64(NOTHING)
    number = mix(row, rule.salt) ^ mix(other, rule.salt)
    return ((weight_at(level, entry) >> rule.shift) << 32) | number


@parallel_region
def find_candidates(worker, level, mates, rule, best):
    """Raise ``best`` of each vertex to the largest offer of its entries."""
    lanes, n = np.int64(warp_size()), np.int64(len(best))
    lane = worker.id % lanes
    for first in range(worker.id // lanes * lanes, n, worker.count // lanes * lanes):
        mine = min(first + lane, n - 1)
        end = level.offsets[mine + 1]
        begin = shuffle(level.offsets[mine], 0)
        last = shuffle(end, lanes - 1)
        for base in range(begin, last, lanes):
            entry = base + lane
            segment = np.int64(find_segment(entry, end, lanes))
            row, word = min(first + segment, n - 1), np.int64(NOTHING)
            if entry < last:
                word = offer(entry, row, level, mates, rule)
            least, is_first = segment_min(-word, segment, lane, lanes)
            if is_first and -least > best[row]:
                fetch_max(best, row, -least)


def pair(tx, number, vertices, best, salt):
    """Transaction: make a vertex and its candidate each other's mates, unless one of them has another."""
    vertex = np.int64(vertices[number])
    other = unmix((best[vertex] & MASK) ^ mix(vertex, salt), salt)
    if np.int64(read(tx, vertex)) == vertex and np.int64(read(tx, other)) == other:
        write(tx, vertex, other)
        write(tx, other, vertex)


def match(level, heaviest, how, done):
    """The mate of each vertex, itself if it is single: (n,) index array.

    ``how`` are the settings; the statistics of the transactions are added to the list ``done``.
    """
    where, n, kind = arrays.device_of(level.offsets), len(level.sizes), level.neighbours.dtype
    xp = arrays.namespace(where)
    mates = arrays.move(xp.arange(n, dtype=kind), where)
    memory = TransactionalMemory(mates, log=2)
    for turn in range(ROUNDS):
        rule = Rule(heaviest, salt_of(how.seed, turn), how.shift)
        best = arrays.full(n, NOTHING, np.int64, where)
        find_candidates(level, mates, rule, best)
        vertices = arrays.move(xp.flatnonzero(best != NOTHING), where)
        if not len(vertices):
            break
        done.append(memory.run(pair, len(vertices), vertices, best, rule.salt))
        if len(vertices) < LEAST_MATCHED * n:
            break
    return mates


@each
def _mark_first(vertex, mates, is_first):
    is_first[vertex] = 1 if vertex <= mates[vertex] else 0


@each
def _number(vertex, mates, ranks, clusters):
    clusters[vertex] = ranks[min(vertex, np.int64(mates[vertex]))] - 1


def number_pairs(mates):
    """The number of each vertex's pair, an index array, and the number of pairs; single vertices count."""
    where, n = arrays.device_of(mates), len(mates)
    is_first = arrays.empty(n, np.int64, where)
    _mark_first(n, mates, is_first)
    ranks = arrays.move(arrays.namespace(where).cumsum(is_first), where)
    clusters = arrays.empty(n, mates.dtype, where)
    _number(n, mates, ranks, clusters)
    return clusters, int(ranks[-1])
