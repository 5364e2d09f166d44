"""Clusters of bounded size: those that are too large are cut at their weakest edges.

A cluster with more than ``max_size`` vertices loses its weakest edge in the forest, the last one in the order
(:mod:`~edgewise.forest.order`), and so do its parts, until none is too large.  The last edge of a cluster is
the one by which single linkage has made it, so this walks down the hierarchy
(:mod:`~edgewise.forest.linkage`) and stops at the clusters that are small enough.  Hence an edge of the
forest is kept if and only if the cluster that it makes has at most ``max_size`` vertices, and one pass over
the edges in their order finds all.

The rule needs no threshold, and a cluster that is small enough is never touched.  A vertex that is weakly
connected to its cluster leaves it before the cluster falls into halves, so many vertices may be left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components import Components, connected_components
from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.forest.linkage import sizes_of_merges
from edgewise.graph import Graph
from edgewise.ingest.representation import take_origin

if TYPE_CHECKING:
    from edgewise.ingest.frames import Frame


@dataclass(frozen=True, eq=False, repr=False)
class SplitComponents(Components):
    """Components of which those that were too large have been cut.

    Attributes
    ----------
    graph, method, seconds, devices, merge
        As in :class:`~edgewise.components.Components`.
    max_size : int
        Largest number of vertices of a component.
    """

    max_size: int = 0
    _forest: Any = None
    _kept: Any = None
    _cut: Any = None

    def _uses_weights(self):
        return True

    @property
    def n_cut(self) -> int:
        """Number of edges of the forest that were cut."""
        return len(self._cut)

    @cached_property
    def kept(self) -> Graph:
        """The graph of the edges of the forest that were kept, with their weights."""
        return part_of(self._forest, self._kept)

    def cut(self) -> Frame:
        """Return the edges of the forest that were cut: columns ``source``, ``target`` and ``weight``.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[0.9, 0.6, 0.8])
        >>> clusters = ew.minimum_spanning_forest(graph, maximum=True).split(max_size=3)
        >>> clusters.cut().to_pylist()
        [{'source': 'b', 'target': 'c', 'weight': 0.6}]
        """
        return self._framed(self._forest._arrow().take(self._cut))

    def _verify(self, graph):
        from edgewise.components.verification import verify

        verify(self.kept, self._labels)
        _check_sizes(self)


def split(forest, max_size, reached) -> SplitComponents:
    """The components of a forest, cut; ``reached`` tells how many edges, in their order, count at all."""
    ranked = forest.ranked[:reached]
    host = forest.on_host()
    sizes = sizes_of_merges(len(host.labels), host.sources[ranked], host.targets[ranked])
    kept, cut = np.sort(ranked[sizes <= max_size]), np.sort(ranked[sizes > max_size])
    found = connected_components(part_of(forest, kept))
    own = {"devices": forest.devices, "max_size": max_size, "_forest": forest, "_kept": kept, "_cut": cut}
    return SplitComponents(forest.graph, found.method, found.seconds, found._labels, **own)


def part_of(forest, positions) -> Graph:
    """The graph of some edges of a forest, given by their positions among these, on its device."""
    graph, device = forest.graph, forest.graph.device
    with arrays.guard(device):
        positions = arrays.move(positions, device)
        edges = tuple(column[positions] for column in (forest.sources, forest.targets, forest.weights))
    part = Graph(graph.n_vertices, edges=edges, ids=graph.ids)
    take_origin(part, graph)
    return part


def _check_sizes(result):
    """Raise unless no cluster is too large, and every cut was needed.

    A cut was needed if an earlier one was between the same clusters and others, or if both clusters together
    are too large; and all cuts of a cluster come after the edges inside it.
    """
    labels = arrays.move(result.labels, "cpu")
    sizes = np.bincount(labels, minlength=len(labels))
    if len(labels) and sizes.max() > result.max_size:
        raise VerificationError(f"the cluster of vertex {sizes.argmax()} has {sizes.max():,} vertices")
    forest = result._forest.on_host()
    rank = np.empty(forest.n_edges, np.int64)
    rank[forest.ranked] = np.arange(forest.n_edges)
    inside, first = np.full(len(labels), -1), np.full(len(labels), forest.n_edges)
    np.maximum.at(inside, labels[forest.sources[result._kept]], rank[result._kept])
    ends = labels[forest.sources[result._cut]], labels[forest.targets[result._cut]]
    for end in ends:
        np.minimum.at(first, end, rank[result._cut])
    if (inside > first).any():
        raise VerificationError(
            f"the cluster of vertex {(inside > first).argmax()} was cut at a stronger edge"
        )
    is_first = (rank[result._cut] == first[ends[0]]) & (rank[result._cut] == first[ends[1]])
    needless = is_first & (sizes[ends[0]] + sizes[ends[1]] <= result.max_size)
    if needless.any():
        edge = forest.edges[result._cut[needless.argmax()]]
        raise VerificationError(f"edge {edge} was cut, but joins two clusters that are small enough together")
