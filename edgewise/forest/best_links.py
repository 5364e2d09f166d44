"""Clusters by best links, with at most one record of each dataset that has no duplicates.

Two clusters are joined if the best pair between them is the best that either has, among the pairs to clusters
with which it could be joined: a cluster must not have two records of one dataset that is free of duplicates.
This is repeated until no such pair is left.  Better pairs have a higher score, and of equal scores the pair
with the lower ids.

Since that is one order for all clusters, one pass over the pairs in this order finds the same clusters: a
pair joins the clusters of its ends unless both have a record of one such dataset.  A pair that is the best of
both its clusters comes before every other pair of them that may still join them, and a pair that may not join
two clusters never may, because clusters only grow.  This is Kruskal's algorithm (J. B. Kruskal, "On the
shortest spanning subtree of a graph", 1956) with a condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components.cluster_table import order_of_ids
from edgewise.components.result import Components
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, VerificationError, argument, one_of
from edgewise.forest.constraints import Decisions, constrained
from edgewise.front import CallOptions
from edgewise.graph import Graph
from edgewise.ingest.datasets import datasets_of
from edgewise.ingest.representation import take_origin
from edgewise.method import check_graph, check_weights, is_number
from edgewise.result import counted
from edgewise.weights import weighted_front

if TYPE_CHECKING:
    from typing import Unpack

#: What may be done with equal scores.
TIES = ("lowest_id", "drop")


class Pairs(NamedTuple):
    """Edges in the order in which they count: (m,) arrays.

    Attributes
    ----------
    edges : int64
        Their positions in the graph.
    sources, targets : integers
    """

    edges: Any
    sources: Any
    targets: Any


@dataclass(frozen=True, eq=False, repr=False)
class BestLinks(Components):
    """Clusters by best links.

    Attributes
    ----------
    graph, method, seconds, devices, threshold
        As in :class:`~edgewise.components.Components`.
    duplicate_free : tuple
        The datasets of which no cluster has two records.
    ties : str
    """

    duplicate_free: tuple = ()
    ties: str = "lowest_id"
    _bits: Any = None
    _kept: Any = None

    def _uses_weights(self):
        return True

    @property
    def n_links(self) -> int:
        """Number of pairs that join clusters."""
        return len(self._kept)

    @cached_property
    def kept(self) -> Graph:
        """The graph of the pairs that join clusters, with their scores."""
        columns = self.graph.sources, self.graph.targets, self.graph.weights
        kept = arrays.move(self._kept, self.graph.device)
        part = Graph(self.graph.n_vertices, edges=tuple(one[kept] for one in columns), ids=self.graph.ids)
        take_origin(part, self.graph)
        return part

    def _answer(self):
        return f"{super()._answer()}, by {counted(self.n_links, 'link')}"

    def _verify(self, graph):
        host = graph.to("cpu")
        pairs = ordered(host, self.threshold, self.ties, self._bits)
        wrong = by_rounds(pairs, self._bits) != arrays.move(self._labels, "cpu")
        if wrong.any():
            raise VerificationError(f"vertex {wrong.argmax()} is not in the cluster of its best links")


@weighted_front
def best_links(
    graph: Graph,
    *,
    datasets: Any = None,
    duplicate_free: Iterable | None = None,
    threshold: float | None = None,
    ties: str = "lowest_id",
    **options: Unpack[CallOptions],
) -> BestLinks:
    """Cluster scored pairs by their best links, with at most one record of each dataset in a cluster.

    Two clusters are joined if the best pair between them is the best of both, among the pairs to clusters
    that they may be joined with; this is repeated.  It is what Splink calls single best links.

    Parameters
    ----------
    graph : Graph
        Its weights are scores, of which high ones are strong.
    datasets : (n_vertices,) array-like or str, optional
        The dataset of each vertex, or the column of the records of the graph that has it.  By default the
        column ``source_dataset`` of the records; or what stands before ``-__-`` in ids of two columns; or
        ``'left'`` for the sources of the pairs and ``'right'`` for their targets.
    duplicate_free : list, optional
        Datasets without duplicates: no cluster has two records of one of them.  By default all.
    threshold : float, optional
        Only pairs of at least this score count.
    ties : {'lowest_id', 'drop'}
        Of pairs of equal score, the one with the lower ids is better; or, where a record has pairs of equal
        score with several records of one duplicate-free dataset, none of these pairs counts.

    Returns
    -------
    BestLinks
        A :class:`~edgewise.components.result.Components`, whose ``kept`` are the pairs that join clusters.

    Raises
    ------
    GraphError
        The graph has no weights, or one that is NaN; datasets of another number; sides that are not distinct.
    OptionError
        A dataset or a rule for ties that is unknown.

    Examples
    --------
    >>> import edgewise as ew
    >>> scores = {"left": ["a1", "a1", "a2"], "right": ["b1", "b2", "b1"], "score": [0.9, 0.8, 0.7]}
    >>> graph = ew.Graph.from_frame(scores)
    >>> [sorted(cluster) for cluster in ew.best_links(graph).sets()]
    [['a1', 'b1'], ['b2'], ['a2']]
    >>> [sorted(cluster) for cluster in ew.best_links(graph, duplicate_free=["left"]).sets()]
    [['a1', 'b1', 'b2'], ['a2']]
    """
    check_graph(graph)
    if ties not in TIES:
        raise OptionError(f"{argument('ties', ties)} is unknown; {one_of(ties, TIES)}")
    if threshold is not None and not is_number(threshold, whole=False):
        raise OptionError(f"{argument('threshold', threshold)} must be a number, such as 0.95")
    if not graph.is_weighted:
        raise GraphError(
            "best links need scores; choose the column of the scores as the weights of the graph"
        )
    check_weights(graph, (graph.sources, graph.targets), graph.weights)
    host = graph.to("cpu")
    found = datasets_of(host, datasets)
    chosen = found.names if duplicate_free is None else found.checked(duplicate_free)
    begun = perf_counter()
    bits = found.bits(chosen)
    pairs = ordered(host, threshold, ties, bits)
    none = np.empty(0, host.sources.dtype), np.empty(0, host.sources.dtype)
    joined = constrained(graph.n_vertices, *pairs[1:], Decisions(none, none), bits=bits)
    labels, links = arrays.move(joined.labels, graph.device), np.sort(pairs.edges[joined.kept])
    own = {
        "duplicate_free": tuple(chosen),
        "threshold": threshold,
        "ties": ties,
        "_bits": bits,
        "_kept": links,
    }
    return BestLinks(graph, "best-links", perf_counter() - begun, labels, devices=("cpu:0",), **own)


def ordered(graph, threshold, ties, bits) -> Pairs:
    """The pairs that count, best first: by score, and then by the lower and the higher id."""
    edges = np.arange(graph.n_edges) if threshold is None else np.flatnonzero(graph.weights >= threshold)
    sources, targets, ranks = graph.sources[edges], graph.targets[edges], _ranks(graph.weights[edges])
    if ties == "drop":
        single = ~_tied(sources, targets, ranks, bits)
        edges, sources, targets, ranks = edges[single], sources[single], targets[single], ranks[single]
    ends, ascending = (sources, targets), order_of_ids(graph.ids)
    if ascending is not None:
        rank = np.empty(graph.n_vertices, sources.dtype)
        rank[ascending] = np.arange(graph.n_vertices, dtype=sources.dtype)
        ends = rank[sources], rank[targets]
    order = _order(np.minimum(*ends), np.maximum(*ends), ranks)
    return Pairs(edges[order], sources[order], targets[order])


def _ranks(scores):
    """Numbers from 0 on, by which equal scores are equal and high ones come first."""
    falling = -scores if scores.dtype.kind == "f" else ~scores
    order = np.argsort(falling)
    ranks = np.zeros(len(scores), np.int64)
    ranks[order[1:]] = np.cumsum(falling[order[1:]] != falling[order[:-1]])
    return ranks


def _order(least, largest, ranks):
    """The order of pairs by rank, and then by the lower and the higher id.

    Words of a rank and a position by the ids are sorted in place, which is faster than sorts by several keys.
    """
    if len(ranks) >= 2**32 or least.itemsize > 4:
        return np.lexsort((largest, least, ranks))
    by_ids = np.argsort((least.astype(np.uint64) << np.uint64(32)) | largest)
    words = (ranks[by_ids].astype(np.uint64) << np.uint64(32)) | np.arange(len(ranks), dtype=np.uint64)
    words.sort()
    return by_ids[words & np.uint64(2**32 - 1)]


def _tied(sources, targets, ranks, bits):
    """Which pairs are among several of equal score from a record to others of one duplicate-free dataset."""
    dataset = np.zeros(len(bits), np.int64)
    used = np.bitwise_or.reduce(bits)[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    for word, bit in zip(*np.nonzero(used)):
        dataset[(bits[:, word] >> np.uint64(bit)) & np.uint64(1) != 0] = 64 * word + bit + 1
    ends, others = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    several = np.flatnonzero(_repeated(ends, np.concatenate([ranks, ranks])) & (dataset[others] > 0))
    ends, others, ranks = ends[several], others[several], ranks[several % len(ranks)]
    order = np.lexsort((others, dataset[others], ranks, ends))
    same = np.ones(max(len(order) - 1, 0), bool)
    for key in (ends, ranks, dataset[others]):
        same &= key[order][1:] == key[order][:-1]
    group = np.concatenate([[0], np.cumsum(~same)])[: len(order)]
    another = np.concatenate([[False], same & (np.diff(others[order].astype(np.int64)) != 0)])[: len(order)]
    tied = np.zeros(2 * len(sources), bool)
    tied[several[order]] = np.bincount(group, another, minlength=1)[group] > 0
    return tied.reshape(2, -1).any(axis=0)


def _repeated(ends, ranks):
    """Which pairs of an end and a rank come more than once."""
    words = (ends.astype(np.uint64) << np.uint64(32)) ^ ranks.astype(np.uint64)
    order = np.argsort(words)
    same = words[order[1:]] == words[order[:-1]]
    repeated = np.zeros(len(words), bool)
    repeated[order[1:][same]] = repeated[order[:-1][same]] = True
    return repeated


def by_rounds(pairs, bits):
    """The roots of the clusters by rounds, in which clusters with the same best pair are joined."""
    labels, bits = np.arange(len(bits)), bits.copy()
    places = np.arange(len(pairs.edges))
    while len(places):
        ends = labels[pairs.sources[places]], labels[pairs.targets[places]]
        counts = (ends[0] != ends[1]) & ~(bits[ends[0]] & bits[ends[1]]).any(axis=1)
        places, ends = places[counts], tuple(end[counts] for end in ends)
        best = np.full(len(labels), len(pairs.edges))
        for end in ends:
            np.minimum.at(best, end, places)
        mutual = (best[ends[0]] == places) & (best[ends[1]] == places)
        roots, joined = np.minimum(*ends)[mutual], np.maximum(*ends)[mutual]
        bits[roots] |= bits[joined]
        parent = np.arange(len(labels))
        parent[joined] = roots
        labels = parent[labels]
    return labels
