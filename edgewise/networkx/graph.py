"""The graph that NetworkX's functions take when this backend runs them: arrays, and the nodes' names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

import edgewise
from edgewise.ingest.networkx_graphs import (
    WeightError,
    as_dicts,
    as_weights,
    entries_of,
    nodes_of,
    rows_of,
    weights_of,
)
from edgewise.networkx.weights import weights_read_once

#: Attribute that the weights of an :class:`edgewise.Graph` are, by default.
WEIGHT = "weight"


class Graph:
    """A graph for NetworkX's functions that needs no conversion.

    ``networkx.number_connected_components(Graph(graph))`` runs on the arrays of an :class:`edgewise.Graph`,
    without any NetworkX graph.  A function that this backend lacks gets a NetworkX graph made of it.

    Parameters
    ----------
    graph : edgewise.Graph
        The nodes are its ids, or its vertex numbers.  Repeated edges count as one; for shortest paths the
        lightest, for spanning trees each.
    weight : str
        Name of the edge attribute that its weights are.

    Attributes
    ----------
    graph : edgewise.Graph
        The edges, without weights where it was converted.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = Graph(ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"]))
    >>> len(graph), "a" in graph, graph.is_directed()
    (5, True, False)
    """

    __networkx_backend__ = "edgewise"

    def __init__(self, graph: edgewise.Graph, *, weight: str = WEIGHT):
        host = graph.to("cpu")
        self.graph, self.weight = host, weight
        self.nodes = nodes_of(host)
        self._numbers: dict | None = None
        self._plain = host.ids is None
        self.adjacency: dict | None = None
        self.predecessors: dict | None = None
        self.attributes: tuple[dict, dict] = ({}, {})
        self._multigraph = False
        self._cache: dict[Any, Any] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    @classmethod
    def converted(cls, graph: Any) -> Graph:
        """Convert a NetworkX graph; its attributes are read when they are first needed."""
        adjacency = as_dicts(graph._adj, graph.is_multigraph())
        rows = rows_of(adjacency)
        arrays_ = (rows.offsets, rows.neighbours, None)
        made = cls.__new__(cls)
        made.graph = edgewise.Graph(len(rows.nodes), rows=arrays_, directed=graph.is_directed())
        made.weight, made.nodes = WEIGHT, rows.nodes
        made._plain, made._numbers = rows.numbers is None, rows.numbers
        made.adjacency = adjacency
        made.predecessors = adjacency
        if graph.is_directed():
            is_read = adjacency is graph._adj and isinstance(graph._pred, dict)  # both have rows of one kind
            made.predecessors = graph._pred if is_read else as_dicts(graph._pred, graph.is_multigraph())
        made.attributes = graph._node, graph.graph
        made._multigraph, made._cache = graph.is_multigraph(), {}
        made.__networkx_cache__ = {}
        return made

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.graph.directed

    def is_multigraph(self) -> bool:
        """Whether it was converted from a graph with parallel edges."""
        return self._multigraph

    def __len__(self):
        return self.graph.n_vertices

    def __iter__(self):
        return iter(self.nodes)

    def __contains__(self, node):
        return self.find(node) is not None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.graph.n_vertices

    def find(self, node: Any) -> int | None:
        """Position of a node, or ``None`` where there is no such node."""
        if self._plain and type(node) is int:
            return node if 0 <= node < self.n else None
        if self._numbers is None:
            self._numbers = dict(zip(self.nodes, range(self.n)))
        try:
            return self._numbers.get(node)
        except TypeError:  # an unhashable object is no node
            return None

    def names(self, vertices: np.ndarray) -> list:
        """Nodes at an array of positions."""
        numbers = vertices.tolist()
        return numbers if self._plain else list(map(self.nodes.__getitem__, numbers))

    def name(self, vertex: Any) -> Any:
        """Node at a position."""
        return self.nodes[vertex]

    def wanted(self, nodes: Any) -> tuple[list[int] | None, bool]:
        """Positions of an argument that is a node, several nodes, or ``None``; and whether it is a node."""
        if nodes is None:
            return None, False
        vertex = self.find(nodes)
        if vertex is not None:
            return [vertex], True
        try:
            nodes = list(nodes)
            if not all(isinstance(node, Hashable) for node in nodes):
                raise NotImplementedError("a node cannot be hashed")
            return [vertex for node in nodes if (vertex := self.find(node)) is not None], False
        except TypeError:
            import networkx as nx

            raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None

    def by_node(self, values: np.ndarray) -> dict:
        """Values of all nodes, (n,), as a dict."""
        return dict(zip(self.nodes, values.tolist()))

    def cached(self, key: Any, make: Any) -> Any:
        """What ``make()`` returned when it was first called for ``key``."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @contextmanager
    def lent(self, key: Any, make: Any) -> Iterator[Any]:
        """Memory that ``make()`` returned, kept for later calls; two threads never hold it at a time."""
        held = self._cache.pop(key, None)
        held = make() if held is None else held
        yield held
        self._cache[key] = held

    def outgoing(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and neighbours of the rows, in NetworkX's order."""
        return self.graph.offsets, self.graph.neighbours

    def rows(self) -> np.ndarray:
        """Row of each entry of :meth:`outgoing`."""
        offsets, neighbours = self.outgoing()
        return np.repeat(np.arange(self.n, dtype=neighbours.dtype), np.diff(offsets))

    def incoming(self) -> tuple[np.ndarray, np.ndarray]:
        """The same of the edges that come in; those of an undirected graph are the outgoing ones."""
        if not self.is_directed():
            return self.outgoing()
        return self.cached("incoming", self._incoming)

    def _incoming(self):
        if self.predecessors is not None:
            return entries_of(self.predecessors, None if self._plain else self._numbers)
        return self.turned()

    def turned(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of :meth:`incoming` in any order, which takes less time."""
        graph = self._reversed() if self.is_directed() else self.graph
        return graph.offsets, graph.neighbours

    def _reversed(self):
        graph = self.graph
        ends = graph.targets, graph.sources, graph.weights
        return self.cached("reversed", lambda: edgewise.Graph(self.n, edges=ends, directed=True))

    def weights(self, name: Any, *, reverse: bool = False) -> np.ndarray:
        """Weight of each entry of :meth:`outgoing`, or of :meth:`incoming`: int64 or float64.

        Raises
        ------
        NotImplementedError
            Arrays cannot hold the weights; NetworkX then runs the function itself.
        """
        reverse = reverse and self.is_directed()
        return self.cached(("weights", name, reverse), lambda: self._weights(name, reverse))

    def _weights(self, name, reverse):
        adjacency = self.predecessors if reverse else self.adjacency
        count = len((self.incoming() if reverse else self.outgoing())[1])
        if name is None:
            return np.ones(count, np.int64)
        if callable(name):
            raise NotImplementedError("the weight is a callable")
        if adjacency is not None:
            try:
                if not self._multigraph and not self.is_directed():
                    weights = weights_read_once(self, name)
                    if weights is not None:
                        return weights
                return weights_of(adjacency, name, multigraph=self._multigraph, mixed=False)
            except WeightError as error:
                raise NotImplementedError(str(error)) from None
        values = self._reversed().csr_weights if reverse else self.graph.csr_weights
        if values is None or name != self.weight:
            return np.ones(count, np.int64)
        return values.astype(np.int64 if values.dtype.kind == "i" else np.float64, copy=False)

    def weighted(self, name: Any) -> edgewise.Graph:
        """The graph with the weights of an attribute, for edgewise's own functions."""

        def make():
            rows = *self.outgoing(), self.weights(name)
            return edgewise.Graph(self.n, rows=rows, directed=self.is_directed())

        return self.cached(("weighted", name), make)

    def undirected(self) -> edgewise.Graph:
        """The edges without their directions and weights."""
        if not self.is_directed():
            return self.graph
        ends = self.graph.sources, self.graph.targets, None
        return self.cached("undirected", lambda: edgewise.Graph(self.n, edges=ends))

    def parallel(self, name: Any) -> edgewise.Graph:
        """The graph with every parallel edge, in the order of NetworkX's ``edges``, and their weights."""
        return self.cached(("parallel", name), lambda: self._parallel(name))

    def _parallel(self, name):
        if self.adjacency is None:
            return self.weighted(name)
        if not self._multigraph:
            try:
                weights = weights_of(self.adjacency, name)
            except WeightError as error:
                raise NotImplementedError(str(error)) from None
            rows = *self.outgoing(), weights
            return edgewise.Graph(self.n, rows=rows, directed=self.is_directed())
        keyed = list(chain.from_iterable(map(dict.values, self.adjacency.values())))
        copies = np.fromiter(map(len, keyed), np.int64, len(keyed))
        ends = np.repeat(self.rows(), copies), np.repeat(self.outgoing()[1], copies)
        try:
            values = as_weights([data.get(name, 1) for one in keyed for data in one.values()], name)
        except WeightError as error:
            raise NotImplementedError(str(error)) from None
        once = ends[0] <= ends[1]
        return edgewise.Graph(self.n, edges=(ends[0][once], ends[1][once], values[once]))

    def part(self, is_wanted: np.ndarray) -> Any:
        """The NetworkX graph of some nodes, a (n,) bool array, and the edges between them; no multigraph."""
        import networkx as nx

        if self.adjacency is not None:  # as NetworkX does it, in the order of its set of nodes
            whole = (nx.DiGraph if self.is_directed() else nx.Graph)()
            (whole._node, whole.graph), whole._adj = self.attributes, self.adjacency
            if self.is_directed():
                whole._succ, whole._pred = self.adjacency, self.predecessors
            return whole.subgraph(self.names(np.flatnonzero(is_wanted))).copy()
        sources, targets = self.rows(), self.outgoing()[1]
        inside = is_wanted[sources] & is_wanted[targets]
        if not self.is_directed():
            inside &= sources <= targets
        ends = self.names(sources[inside]), self.names(targets[inside])
        made = (nx.DiGraph if self.is_directed() else nx.Graph)()
        made.add_nodes_from(self.names(np.flatnonzero(is_wanted)))
        if self.graph.csr_weights is None:
            made.add_edges_from(zip(*ends))
        else:
            made.add_weighted_edges_from(zip(*ends, self.graph.csr_weights[inside].tolist()), self.weight)
        return made

    def to_networkx(self) -> Any:
        """Make a NetworkX graph with all nodes, edges and attributes."""
        if self.adjacency is None:
            return self.graph.to_networkx(weight=self.weight)
        import networkx as nx

        kinds = (nx.Graph, nx.DiGraph), (nx.MultiGraph, nx.MultiDiGraph)
        made = kinds[self._multigraph][self.is_directed()]()
        made.graph.update(self.attributes[1])
        made.add_nodes_from(self.attributes[0].items())
        pairs = ((u, v, data) for u, row in self.adjacency.items() for v, data in row.items())
        if self._multigraph:
            made.add_edges_from((u, v, key, one) for u, v, data in pairs for key, one in data.items())
        else:
            made.add_edges_from(pairs)
        return made

    def __repr__(self):
        return f"<edgewise.networkx.Graph of {self.graph!r}>"
