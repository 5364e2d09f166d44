"""The multilevel partitioner of Manoochehri (2017), chapter 4, whose threads share data by transactions.

The thesis describes it and estimates its cost; it has no program and no cut.  Vertices are matched by
transactions until the graph is small.  That graph is divided on the CPU, here by
:mod:`~edgewise.partitions.initial`.  The partition is carried back, and its vertices are moved by
transactions (:mod:`~edgewise.partitions.gain_ranges`).  The thesis contracts pairs by sorting the rows; here
that is done as for clusters (:mod:`~edgewise.partitions.coarsen.contraction`), which gives the same graphs.

In the matching every vertex and its heaviest neighbour try to become a pair.  A round has the phases of the
thesis:

* *Candidates.*  The 32 threads of a warp take 32 vertices and divide all of their entries (*warp
  segmentation*).  They reduce the entries of each vertex to the heaviest edge to a vertex without a mate.
* *Transactions.*  Every vertex with a candidate runs a transaction on two words, the mates of both.  If both
  are still free, they become a pair; otherwise the vertex stays single in this round.

The thesis has one round for each graph of the hierarchy, in which a star loses one leaf, and candidates may
have mates already.  Here there are a few rounds, and a pair is at most as heavy as a vertex of the coarsest
graph should be.  Transactions are those of the default protocol; the thesis has its own, ``priority``.  Among
equal weights the largest random number of an edge decides, so that a vertex and its candidate often want each
other.

It is kept to compare with.  Only moves that make the cut smaller are made, so it ends in the first local
minimum, and a matching hardly shrinks graphs with hubs.  With several threads the pairs and the moves depend
on the order of the transactions, so two calls may return different parts; the balance always holds.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
chapter 4; G. Karypis and V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular
graphs" (SIAM Journal on Scientific Computing 20, 1998), for heavy-edge matching.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, fetch_max, parallel_region
from edgewise.device.warps import find_segment, segment_min, shuffle, warp_size
from edgewise.partitions.coarsen import coarsen
from edgewise.partitions.gain_ranges import refine_by_ranges
from edgewise.partitions.levels import salt_of, size_at, total_size, weight_at
from edgewise.partitions.multilevel import first_partition, refine_all
from edgewise.primitives.mixing import MASK, mix, unmix
from edgewise.transactions import TransactionalMemory, read, write

#: No candidate.
NOTHING = -1
#: Largest number of rounds of matching for each level.
ROUNDS = 4


class Counts(NamedTuple):
    """Transactions of one kind.

    Attributes
    ----------
    commits, aborts : int
        Transactions, and attempts that have failed.
    seconds : float
    """

    commits: int = 0
    aborts: int = 0
    seconds: float = 0.0

    @property
    def abort_rate(self) -> float:
        """Share of attempts that have failed."""
        return self.aborts / max(self.aborts + self.commits, 1)


class LevelWork(NamedTuple):
    """What was done on one level.

    Attributes
    ----------
    vertices, entries : int
        Of the level.
    rounds : int
        Of matching.
    iterations : int
        Of the refinement.
    """

    vertices: int
    entries: int
    rounds: int
    iterations: int


@dataclass(frozen=True)
class Transactions:
    """The transactions of a partition.

    Attributes
    ----------
    matching : Counts
        Pairs of vertices.
    moves : Counts
        Moves of vertices, also those that have ended without effect.
    weights : Counts
        Inner transactions on the weights of two parts, which are repeated by themselves.
    levels : tuple of LevelWork
        The finest one first.
    """

    matching: Counts
    moves: Counts
    weights: Counts
    levels: tuple[LevelWork, ...]

    def report(self) -> dict[str, Any]:
        """Return the abort rates and the seconds, by name."""
        return {
            "matching_abort_rate": self.matching.abort_rate,
            "move_abort_rate": self.moves.abort_rate,
            "weight_abort_rate": self.weights.abort_rate,
            "seconds_in_transactions": self.matching.seconds + self.moves.seconds,
        }


class Record:
    """Collects statistics while a partition is made.  They are summed up at once, since each has an array."""

    def __init__(self):
        self.matching, self.moves, self.weights = Counts(), Counts(), Counts()
        self.work: dict[tuple[int, int], Any] = {}

    def add_matching(self, level, done):
        """Add the rounds of a level."""
        self.matching = _sum(self.matching, done)
        self._count(level, len(done), 0)

    def add_moves(self, level, done):
        """Add the iterations of a level."""
        self.moves = _sum(self.moves, [statistics for statistics, _, _ in done])
        commits, aborts = self.weights[:2]
        commits += sum(moved for _, _, moved in done)
        self.weights = Counts(commits, aborts + sum(failures for _, failures, _ in done))
        self._count(level, 0, len(done))

    def _count(self, level, rounds, iterations):
        key = len(level.offsets) - 1, len(level.neighbours)
        before = self.work.get(key, LevelWork(*key, 0, 0))
        self.work[key] = LevelWork(*key, before.rounds + rounds, before.iterations + iterations)

    def finish(self):
        """What was collected."""
        levels = sorted(self.work.values(), reverse=True)
        return Transactions(self.matching, self.moves, self.weights, tuple(levels))


def _sum(counts, done):
    commits, aborts, seconds = counts
    for statistics in done:
        commits, aborts = commits + statistics.commits, aborts + statistics.aborts
        seconds += statistics.seconds
    return Counts(commits, aborts, seconds)


class Rule(NamedTuple):
    """Which edges may join two vertices, and which comes first."""

    heaviest: int  # largest weight of a pair
    salt: int  # of the random numbers of edges of equal weight
    shift: int  # lower bits of a weight that are left out when weights are compared


@device
def offer(entry, row, level, mates, rule):
    """What an entry is worth to a row: its weight, then a random number; NOTHING if it may not be taken.

    The number is the same in the rows of both ends, and each end finds the other from it.
    """
    other = np.int64(level.neighbours[entry])
    if np.int64(mates[row]) != row or np.int64(mates[other]) != other:
        return np.int64(NOTHING)
    if size_at(level.sizes, row) + size_at(level.sizes, other) > rule.heaviest:
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
    where, n, kind = arrays.device_of(level.offsets), len(level.offsets) - 1, level.neighbours.dtype
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
        if len(vertices) < how.matched * n:
            break
    return mates


def transactional(level, limits, targets, how, start=None, record=None):
    """Partition a level; see :func:`~edgewise.partitions.multilevel.multilevel`.

    A partition to improve is refined as it is.  ``record`` is a :class:`Record`.
    """
    record = Record() if record is None else record

    def match_level(level, heaviest, groups, settings):
        done: list = []
        mates = match(level, heaviest, settings, done)
        record.add_matching(level, done)
        xp, where = arrays.namespace(mates), arrays.device_of(mates)
        numbers = arrays.move(xp.arange(len(mates), dtype=mates.dtype), where)
        return arrays.move(xp.minimum(numbers, mates), where)

    def refine_level(level, part, limits, settings, cut):
        done: list = []
        found = refine_by_ranges(level, part, limits, how, cut, done)
        record.add_moves(level, done)
        return found

    if start is None:
        hierarchy, _ = coarsen(level, len(limits), total_size(level), how, group=match_level)
        part, cut = first_partition(hierarchy[-1][0], limits, targets, how)
    else:
        (part, cut), hierarchy = start, [(level, None)]
    part, cut, excess = refine_all(hierarchy, part, limits, how, cut, refine_level)
    return arrays.move(part, arrays.device_of(level.offsets)), cut, excess
