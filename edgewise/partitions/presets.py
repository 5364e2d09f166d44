"""Presets: how much work a partition is worth."""

from typing import Any, NamedTuple

#: Iterations of refinement without a look from the host, and so the largest ``patience``.
REGION_STEPS = 256


class Settings(NamedTuple):
    """How a graph is partitioned.

    Attributes
    ----------
    seed : int
    rounds, sub_rounds : int
        Of clustering at each level.
    coarsest, coarsest_for_each : int
        Vertices of the coarsest graph: the larger of the first, and the second for each part.
    growth : int
        Largest weight of a cluster of a level, in average weights of its vertices; 0 for no such limit.
    shrink : float
        A level has at most this share of the vertices of the one before it.
    single_clusters : float
        Share of clusters of a single vertex from which on those are joined by two hops.
    matched : float
        Share of the vertices that a round of matching has to match for another one.
    smallest : int
        Vertices of a block where its sides begin to grow.
    tries, most_tries : int
        For each bisection of the coarsest graph, and for each of a small one.
    fine, coarse : tuple of int
        Thousandths of a vertex's own edges by which the cut may grow for a candidate, one search for each, on
        the finest graph and on the others.
    patience : int
        Iterations of a search without a better state.
    tolerance : int
        A state is better if the cut falls by more than one in so many.
    slack, streak : int
        Thousandths of its limit by which a part may be too heavy for so many iterations in a row.
    starts : int
        Hierarchies from the finest graph down and up, of which the best one is kept.
    small, most_starts : int
        A small graph has more hierarchies: so many that their finest graphs have so many vertices in all, up
        to a largest number.  Some of them go on to a tenth of the vertices of the coarsest graph.
    other_growth : int
        The growth of every second hierarchy, so that several of them differ, and of bisection.
    branch : int
        Vertices of the level where hierarchies and cycles begin, up to which the graph is coarsened once; 0
        for the finest level.
    cycles : int
        How often the graph is coarsened again within the parts, and refined.
    shift : int
        See :class:`~edgewise.partitions.rating.Labels`.
    shares : tuple of int
        ``fine`` or ``coarse``, for the level that is refined.
    """

    seed: int = 0
    rounds: int = 3
    sub_rounds: int = 3
    coarsest: int = 2000
    coarsest_for_each: int = 32
    growth: int = 0
    shrink: float = 0.97
    single_clusters: float = 0.4
    matched: float = 0.02
    smallest: int = 60
    tries: int = 8
    most_tries: int = 32
    fine: Any = (250,)
    coarse: Any = (750,)
    patience: int = 12
    tolerance: int = 1000
    slack: int = 5
    streak: int = 6
    starts: int = 1
    small: int = 0
    most_starts: int = 32
    other_growth: int = 3
    branch: int = 0
    cycles: int = 0
    shift: int = 0
    shares: Any = (250,)


PRESETS = {
    "fast": Settings(tries=4, starts=2, branch=50_000),
    "default": Settings(),
    "strong": Settings(
        tries=16, fine=(750, 500, 250, 0), coarse=(750, 500, 250, 0), starts=7, small=400_000, cycles=2
    ),
    "manoochehri-2017": Settings(),
}
#: The methods of presets that are those of a publication; the others have the default.
METHOD_OF = {"manoochehri-2017": "transactional"}
