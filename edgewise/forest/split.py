"""Clusters of bounded size and under decisions: they are cut at their weakest edges.

The edges of the forest join clusters in their order (:mod:`~edgewise.forest.order`).  Pairs that must be
together join before all of them, and an edge that would bring records together that cannot be is refused
(:mod:`~edgewise.forest.constraints`).

A cluster with more than ``max_size`` vertices loses its weakest edge of those that have joined, the last one
in the order, and so do its parts, until none is too large.  The last edge of a cluster is the one by which
single linkage has made it, so this walks down the hierarchy (:mod:`~edgewise.forest.linkage`) and stops at
the clusters that are small enough.  Hence an edge is kept if and only if the cluster that it makes has at
most ``max_size`` vertices, and one pass over the edges in their order finds all.

The rules need no threshold, and a cluster that is small enough and holds no records that cannot be together
is never touched.  A vertex that is weakly connected to its cluster leaves it before the cluster falls into
halves, so many vertices may be left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components import Components, connected_components
from edgewise.components.threshold_limits import is_reached, strongest
from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.forest.constraints import Decisions, constrained, parted_twice, small_enough
from edgewise.forest.explanation import Explanation, explained, tree_of
from edgewise.forest.merges import NEVER, find_joining_merges, union_tree
from edgewise.forest.order import order_of, words_of
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.representation import take_origin

if TYPE_CHECKING:
    import pyarrow

    from edgewise.ingest.frames import Frame

#: What became of a link; of one that was refused it is -1 less the decision.
KEPT, TOO_LARGE, INSIDE, BELOW = 1, 2, 3, 4
#: Positions of pairs that must be together: behind all edges.
FIRST_MUST = 2**62


class Links(NamedTuple):
    """Edges in the order in which they may join clusters: (m,) arrays on the host.

    Attributes
    ----------
    sources, targets : integers
    weights : array
    positions : int64
        Of an edge of the forest its position among these, of another pair the number of these and its
        position in the graph, of a pair that must be together :data:`FIRST_MUST` and its number.
    states : int64
        :data:`KEPT`; :data:`TOO_LARGE` for one that would make too large a cluster; :data:`INSIDE` for one
        that came when its ends were together; :data:`BELOW` the threshold; or -1 less the decision that has
        refused it.
    """

    sources: Any
    targets: Any
    weights: Any
    positions: Any
    states: Any

    def chosen(self, mask):
        """Some of them, by their positions in the graph."""
        rows = np.flatnonzero(mask)
        rows = rows[np.argsort(self.positions[rows], kind="stable")]
        return Links(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False, repr=False)
class SplitComponents(Components):
    """Components of which those that were too large, or held records that cannot be together, have been cut.

    Attributes
    ----------
    graph, method, seconds, devices, merge, threshold, maximum
        As in :class:`~edgewise.components.Components`.
    max_size : int or None
        Largest number of vertices of a component.
    """

    max_size: int | None = None
    _forest: Any = None
    _links: Any = None
    _decisions: Any = None

    def _uses_weights(self):
        return True

    @property
    def n_cut(self) -> int:
        """Number of edges of the forest that were cut."""
        return int(self._is_cut.sum())

    @property
    def _is_cut(self):
        states, in_forest = self._links.states, self._links.positions < self._forest.n_edges
        return (states == TOO_LARGE) | ((states < 0) & in_forest)

    @cached_property
    def kept(self) -> Graph:
        """The graph of the edges that hold the clusters together, with their weights.

        Pairs that must be together are the last ones, with the largest weight of the type, or infinity; in a
        forest of least weight, the least one.
        """
        return graph_of(self.graph, self._links.chosen(self._links.states == KEPT))

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
        return self._framed(self._table_of(self._links.chosen(self._is_cut)))

    def conflicts(self) -> Frame:
        """Return the edges of the forest that a decision has cut, and the decision.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``source``, ``target`` and ``weight`` of an edge, and ``cannot_source`` and
            ``cannot_target``: the records that cannot be together and would have been, by it.  Of several
            decisions between two clusters it is the first.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[0.9, 0.6, 0.8])
        >>> clusters = ew.minimum_spanning_forest(graph, maximum=True).split(cannot=[("a", "d")])
        >>> clusters.conflicts().select(["source", "target", "cannot_target"]).to_pylist()
        [{'source': 'b', 'target': 'c', 'cannot_target': 'd'}]
        """
        refused = self._links.chosen(self._is_cut & (self._links.states < 0))
        table, decisions = self._table_of(refused), -1 - refused.states
        for place, name in enumerate(("cannot_source", "cannot_target")):
            records = self._decisions.cannot[place][decisions] if len(decisions) else decisions
            table = table.append_column(name, arrow_array(self.graph.ids_of(records)))
        return self._framed(table)

    def explain(self, source: Any, target: Any) -> Explanation:
        """Return why two ids are in one cluster, or why they are not.

        Parameters
        ----------
        source, target : id
            As in the input; vertex numbers if the graph has no ids.

        Returns
        -------
        Explanation
            Of two that are together, the path by what holds the cluster together, as of
            :meth:`SpanningForest.explain`.  Of others a path by all edges of the forest: its ``weakest`` is
            the last of those that do not count, and ``reason`` says why.

        Raises
        ------
        GraphError
            An id is not in the graph, or no path joins the two.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[0.9, 0.6, 0.8])
        >>> clusters = ew.minimum_spanning_forest(graph, maximum=True).split(cannot=[("a", "d")])
        >>> print(clusters.explain("a", "c"))
        a and c are apart: on their path of 2 edges, b and c (0.6) was cut, since a and d cannot be together
        """
        links, labels = self._links, arrays.move(self._labels, "cpu")
        one, other = labels[self.graph.vertices_of([source, target])]
        counts = links.states == KEPT
        if one != other:
            outside = (links.positions >= self._forest.n_edges) & (links.positions < FIRST_MUST)
            used = (links.states == TOO_LARGE) | counts | ~(outside | (links.states == INSIDE))
        rows = np.flatnonzero(counts if one == other else used)
        ranks = np.where(counts[rows], rows, rows + len(counts))
        ends = links.sources[rows], links.targets[rows]
        tree = tree_of(self.graph, *ends, links.weights[rows], self.maximum, ranks)
        found, weakest = explained(tree, source, target)
        if one == other:
            return found
        return found._replace(reason=self._reason(int(links.states[rows[weakest]])))

    def _counting_pairs(self):
        pairs, links = super()._counting_pairs(), self._links
        must = links.positions >= FIRST_MUST
        return tuple(np.concatenate([one, two[must]]) for one, two in zip(pairs, links))

    def _reason(self, state):
        """Why a link does not count."""
        if state == BELOW:
            side = "below" if self.maximum else "above"
            return f"is {side} the threshold {self.threshold}"
        if state == TOO_LARGE:
            return f"was cut, since a cluster has at most {self.max_size:,} vertices"
        sides = [self.graph.ids_of(side[[-1 - state]]).tolist()[0] for side in self._decisions.cannot]
        return f"was cut, since {sides[0]} and {sides[1]} cannot be together"

    def _table_of(self, links) -> pyarrow.Table:
        """The table of some links."""
        import pyarrow as pa

        ends = {"source": links.sources, "target": links.targets}
        columns = {name: arrow_array(self.graph.ids_of(vertices)) for name, vertices in ends.items()}
        return pa.table({**columns, "weight": arrow_array(links.weights)})

    def _verify(self, graph):
        from edgewise.components.certificate import verify

        verify(self.kept, self._labels)
        if self.max_size is not None:
            _check_sizes(self)
        if self._decisions is not None:
            _check_decisions(self)


def split(forest, max_size, decisions, reached, threshold=None) -> SplitComponents:
    """The components of a forest, cut; ``reached`` tells how many edges, in their order, count at all."""
    links = _links_of(forest, reached)
    if decisions is not None:
        links = _decided(forest, links, decisions, threshold)
    if max_size is not None:
        _cut_large(links, max_size, len(arrays.move(forest.labels, "cpu")))
    kept = links.chosen(links.states == KEPT)
    found = connected_components(graph_of(forest.graph, kept))
    own = {"devices": forest.devices, "threshold": threshold, "maximum": forest.maximum}
    own |= {"max_size": max_size, "_forest": forest, "_links": links, "_decisions": decisions}
    return SplitComponents(forest.graph, found.method, found.seconds, found._labels, **own)


def _links_of(forest, reached):
    """The edges of a forest in their order, of which the first ones count."""
    ranked, host = forest.ranked, forest.on_host()
    states = np.full(len(ranked), KEPT)
    states[reached:] = BELOW
    return Links(host.sources[ranked], host.targets[ranked], host.weights[ranked], ranked, states)


def _decided(forest, links, decisions, threshold):
    """The links with those of decisions, and what these have made of them."""
    n, kind = forest.graph.n_vertices, links.sources.dtype
    decisions = Decisions(*(tuple(one.astype(kind) for one in side) for side in decisions))

    def name(vertex):
        return forest.graph.ids_of(np.array([vertex])).tolist()[0]

    counts = np.flatnonzero(links.states == KEPT)
    given = n, links.sources[counts], links.targets[counts], decisions
    found = constrained(*given, name)
    again = parted_twice(*given, found.refused_by)
    if again is not None:
        links = _with_all_pairs(forest, links, again, threshold)
        counts = np.flatnonzero(links.states == KEPT)
        found = constrained(n, links.sources[counts], links.targets[counts], decisions, name)
    states = np.where(found.kept, KEPT, INSIDE)
    refused = found.refused_by >= 0
    states[refused] = -1 - found.refused_by[refused]
    links.states[counts] = states
    joining = np.flatnonzero(found.must_kept)
    weights = np.full(len(joining), strongest(links.weights.dtype, forest.maximum))
    sources, targets = (side[joining] for side in decisions.must)
    first = Links(sources, targets, weights, FIRST_MUST + joining, np.full(len(joining), KEPT))
    return Links(*(np.concatenate(columns) for columns in zip(first, links)))


def _with_all_pairs(forest, links, again, threshold):
    """The links, with all pairs of some trees that count instead of the edges of the forest only."""
    graph = forest.graph.to("cpu")
    wanted = again[graph.sources] & again[graph.targets] & (graph.sources != graph.targets)
    if threshold is not None:
        wanted &= is_reached(threshold, graph.weights, at_most=not forest.maximum)
    pairs = np.flatnonzero(wanted)
    weights = graph.weights[pairs]
    words = words_of(order_of(weights, forest.maximum)._replace(packed=0))
    pairs = pairs[np.argsort(words, kind="stable")]
    edges, n_edges = arrays.move(forest.edges, "cpu"), forest.n_edges
    places = np.searchsorted(edges, pairs)
    in_forest = np.append(edges, -1)[places] == pairs
    positions = np.where(in_forest, places, n_edges + pairs)
    sources, targets = graph.sources[pairs], graph.targets[pairs]
    all_pairs = Links(sources, targets, graph.weights[pairs], positions, np.full(len(pairs), KEPT))
    others = (links.states == BELOW) | ~again[links.sources]
    return Links(*(np.concatenate([one[others], two]) for one, two in zip(links, all_pairs)))


def _cut_large(links, max_size, n_vertices):
    """Cut the links that make too large clusters."""
    joining = np.flatnonzero(links.states == KEPT)
    n_must = np.count_nonzero(links.positions >= FIRST_MUST)
    ends = links.sources[joining], links.targets[joining]
    links.states[joining[~small_enough(n_vertices, ends, n_must, max_size)]] = TOO_LARGE


def graph_of(graph, links) -> Graph:
    """The graph of some links, on the device of the graph that they are of."""
    with arrays.guard(graph.device):
        columns = (arrays.move(np.ascontiguousarray(column), graph.device) for column in links[:3])
        part = Graph(graph.n_vertices, edges=tuple(columns), ids=graph.ids)
    take_origin(part, graph)
    return part


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
    labels, links = arrays.move(result.labels, "cpu"), result._links
    sizes = np.bincount(labels, minlength=len(labels))
    if len(labels) and sizes.max() > result.max_size:
        raise VerificationError(f"the cluster of vertex {sizes.argmax()} has {sizes.max():,} vertices")
    kept, cut = (np.flatnonzero(links.states == state) for state in (KEPT, TOO_LARGE))
    inside, first = np.full(len(labels), -1), np.full(len(labels), len(links.states))
    np.maximum.at(inside, labels[links.sources[kept]], kept)
    ends = labels[links.sources[cut]], labels[links.targets[cut]]
    for end in ends:
        np.minimum.at(first, end, cut)
    if (inside > first).any():
        raise VerificationError(
            f"the cluster of vertex {(inside > first).argmax()} was cut at a stronger edge"
        )
    is_first = (cut == first[ends[0]]) & (cut == first[ends[1]])
    needless = is_first & (sizes[ends[0]] + sizes[ends[1]] <= result.max_size)
    if needless.any():
        link = cut[needless.argmax()]
        pair = f"{links.sources[link]} and {links.targets[link]}"
        raise VerificationError(f"the edge of {pair} was cut, but joins two clusters that are small enough")


def _check_decisions(result):
    """Raise unless decisions hold, and every refused edge had to be.

    The clusters before sizes are looked at are those of the links that joined: a tree of their merges tells
    when two records came together.
    """
    links, (must, cannot), n = result._links, result._decisions, result.graph.n_vertices
    labels = arrays.move(result.labels, "cpu")
    apart = labels[must[0]] != labels[must[1]]
    if apart.any():
        raise VerificationError(f"vertex {must[0][apart.argmax()]} is apart from one that it must be with")
    joined = (links.states == KEPT) | (links.states == TOO_LARGE)
    merges_before = np.cumsum(joined) - joined
    tree = union_tree(n, links.sources[joined], links.targets[joined])

    def came_together(ones, others):
        found = np.empty(len(ones), np.int64)
        find_joining_merges(len(ones), np.ascontiguousarray(ones), np.ascontiguousarray(others), tree, found)
        return found

    together = came_together(*cannot) != NEVER
    if together.any():
        raise VerificationError(f"vertex {cannot[0][together.argmax()]} is with one that it cannot be with")
    refused = np.flatnonzero(links.states < 0)
    ends = links.sources[refused], links.targets[refused]
    records = [side[-1 - links.states[refused]] for side in cannot]
    before = [
        np.maximum(came_together(ends[0], records[one]), came_together(ends[1], records[1 - one]))
        < merges_before[refused]
        for one in (0, 1)
    ]
    if not (before[0] | before[1]).all():
        link = refused[(~(before[0] | before[1])).argmax()]
        pair = f"{links.sources[link]} and {links.targets[link]}"
        raise VerificationError(f"the edge of {pair} was refused by a decision about other clusters")
