"""The multilevel partitioner of Manoochehri (2017), chapter 4, whose threads share data by transactions.

The thesis describes it and estimates its cost; it has no program and no cut.  Vertices are matched by
transactions (:mod:`~edgewise.partitions.matching`) and contracted by sorting
(:mod:`~edgewise.partitions.sorted_contraction`) until the graph is small.  That graph is divided on the CPU,
here by :mod:`~edgewise.partitions.initial`.  The partition is carried back, and its vertices are moved by
transactions (:mod:`~edgewise.partitions.gain_ranges`).

It is kept to compare with.  Only moves that make the cut smaller are made, so it ends in the first local
minimum, and a matching hardly shrinks graphs with hubs.  With several threads the pairs and the moves depend
on the order of the transactions, so two calls may return different parts; the balance always holds.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
chapter 4.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from edgewise.device import arrays, each
from edgewise.partitions.gain_ranges import refine_by_ranges
from edgewise.partitions.levels import moved
from edgewise.partitions.matching import match, number_pairs
from edgewise.partitions.multilevel import LEAST_ON_GPU, LEAST_SHRINK, first_partition
from edgewise.partitions.sorted_contraction import contract_by_sorting


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
        key = len(level.sizes), len(level.neighbours)
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


def coarsen_by_matching(level, k, how, record):
    """The hierarchy of a level: pairs of a level and the clusters of it in the next one, the finest first."""
    hierarchy: list[tuple] = []
    target = max(how.coarsest, how.coarsest_for_each * k)
    heaviest = max(2, 2 * int(level.sizes.sum()) // max(target, k))
    while True:
        n = len(level.sizes)
        if n < LEAST_ON_GPU:
            level = moved(level, "cpu")
        if n <= target:
            break
        done: list[Any] = []
        mates = match(level, heaviest, how._replace(seed=how.seed + len(hierarchy)), done)
        record.add_matching(level, done)
        clusters, n_clusters = number_pairs(mates)
        if n_clusters > LEAST_SHRINK * n:
            break
        hierarchy.append((level, clusters))
        level = contract_by_sorting(level, mates, clusters, n_clusters)
    return [*hierarchy, (level, None)]


@each
def _carry_back(vertex, clusters, coarse, part):
    part[vertex] = coarse[clusters[vertex]]


def transactional(level, limits, targets, how, start=None, record=None):
    """Partition a level; see :func:`~edgewise.partitions.multilevel.multilevel`.

    A partition to improve is refined as it is.  ``record`` is a :class:`Record`.
    """
    record = Record() if record is None else record
    where, excess = arrays.device_of(level.offsets), 0
    if start is None:
        hierarchy = coarsen_by_matching(level, len(limits), how, record)
        part, cut = first_partition(moved(hierarchy[-1][0], "cpu"), limits, targets, how)
    else:
        (part, cut), hierarchy = start, [(level, None)]
    for one, clusters in reversed(hierarchy):
        there = arrays.device_of(one.offsets)
        done: list = []
        part = arrays.move(part, there)
        if clusters is not None:
            coarse, part = part, arrays.empty(len(clusters), part.dtype, there)
            _carry_back(len(clusters), clusters, coarse, part)
        part, cut, excess = refine_by_ranges(one, part, arrays.move(limits, there), how, cut, done)
        record.add_moves(one, done)
    return arrays.move(part, where), cut, excess
