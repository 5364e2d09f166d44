"""Graphs of other libraries as graphs, and back: those of SciPy, CuPy, python-igraph and NetworkX.

The libraries are imported when they are needed; igraph is used by the methods of its graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.errors import GraphError, argument, one_of
from edgewise.front import named

if TYPE_CHECKING:
    from typing import Self

    import scipy.sparse

#: What the weights are called that are taken from a matrix without being asked for.
VALUES = "the values of the matrix"


class Conversions:
    """Base of a graph: how it is made of graphs and matrices of other libraries, and becomes one of these."""

    if TYPE_CHECKING:  # what a graph has
        from_edges: Any
        n_vertices: Any
        offsets: Any
        neighbours: Any
        csr_weights: Any

    @classmethod
    @named
    def from_scipy(
        cls,
        matrix: scipy.sparse.sparray,
        *,
        directed: bool | None = None,
        weight: bool | None = None,
    ) -> Self:
        """Make a graph of a square sparse matrix of SciPy or of CuPy; stored zeros are edges.

        Parameters
        ----------
        matrix : sparse matrix or array, (n, n)
            One of ``cupyx.scipy.sparse`` stays on its device.
        directed : bool, optional
            By default, whether the pattern or the values are unsymmetric.  ``False`` for an unsymmetric
            matrix joins ``i`` and ``j`` wherever either entry is stored.
        weight : bool, optional
            Whether the values are the weights.  By default they are, unless they are booleans;
            :attr:`assumed_weights` and the representation of the graph say so then.

        Raises
        ------
        GraphError
            The matrix is not square, complex, or damaged: an index is out of range, or offsets fall.

        Examples
        --------
        >>> import edgewise as ew, scipy.sparse
        >>> matrix = scipy.sparse.coo_array(([5, 5], ([0, 1], [1, 0])))
        >>> ew.Graph.from_scipy(matrix)
        <Graph: undirected, 2 vertices, 1 edge, weights along the values of the matrix, held as edges on cpu>
        >>> ew.Graph.from_scipy(matrix, weight=False)
        <Graph: undirected, 2 vertices, 1 edge, held as edges on cpu>
        """
        import scipy.sparse

        from edgewise.device import arrays
        from edgewise.ingest.matrices import entries_of, entries_on_gpu
        from edgewise.ingest.symmetry import is_symmetric
        from edgewise.primitives import pack

        on_gpu = type(matrix).__module__.startswith("cupyx.")
        if not (on_gpu or scipy.sparse.issparse(matrix)):
            kind = type(matrix).__name__
            raise GraphError(
                f"a SciPy sparse matrix is needed, not {kind}; use scipy.sparse.coo_array(matrix)"
            )
        if matrix.dtype.kind == "c":
            raise GraphError("the matrix is complex; take its real part or absolute values")
        sources, targets, values = entries_on_gpu(matrix) if on_gpu else entries_of(matrix)
        weights = values if weight or (weight is None and values.dtype.kind != "b") else None
        if weights is not None and weights.dtype.kind == "b":
            weights = weights.astype(np.int64)
        with arrays.guard(arrays.device_of(sources)):
            symmetric = is_symmetric(sources, targets, weights)
            if directed is None:
                directed = not symmetric
            if not directed and symmetric:
                sources, targets, weights = pack(sources <= targets, sources, targets, weights)
        options = {"n_vertices": matrix.shape[0], "directed": directed}
        graph = cls.from_edges(sources, targets, weights=weights, **options)
        graph.assumed_weights = VALUES if weight is None and weights is not None else None
        return graph

    @classmethod
    @named
    def from_igraph(cls, graph: Any, *, weight: str | None = None, ids: str | None = None) -> Self:
        """Make a graph of an ``igraph.Graph``.

        Parameters
        ----------
        graph : igraph.Graph
        weight : str, optional
            Attribute of the edges with the weights; by default there are none.
        ids : str, optional
            Attribute of the vertices with the ids; by default ``"name"``, or the numbers of the vertices if
            they have no names.

        Raises
        ------
        GraphError
            No igraph graph, an attribute that is not there, ids that are not distinct.

        Examples
        --------
        >>> import edgewise as ew, igraph  # doctest: +SKIP
        >>> ew.Graph.from_igraph(igraph.Graph.Famous("Zachary"))  # doctest: +SKIP
        <Graph: undirected, 34 vertices, 78 edges, held as edges on cpu>
        """
        for name in ("vcount", "get_edgelist", "is_directed", "vs", "es"):
            if not hasattr(graph, name):
                raise GraphError(f"an igraph.Graph is needed, not {type(graph).__name__}")
        ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
        if ids is None and "name" in graph.vs.attributes():
            ids = "name"
        made = cls.from_edges(
            ends[:, 0],
            ends[:, 1],
            weights=None if weight is None else _attribute(graph.es, "weight", weight),
            n_vertices=graph.vcount(),
            directed=graph.is_directed(),
        )
        if ids is not None:
            from edgewise.ingest.ids import ids_of_vertices

            made.ids = ids_of_vertices(_attribute(graph.vs, "ids", ids), made.n_vertices)
        made.weight_name = weight
        return made

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency matrix as a SciPy array, (n_vertices, n_vertices), on the host.

        Its values are the weights, or ones (int64) if there are none.  Of an undirected graph it is
        symmetric, with every edge in both of its rows.  Repeated edges are entries of their own, which SciPy
        adds up with ``sum_duplicates()``; some of its functions need that.

        Examples
        --------
        >>> import edgewise as ew
        >>> ew.Graph.from_edges([0, 1], [1, 2], weights=[5, 7]).to_scipy().toarray().tolist()
        [[0, 5, 0], [5, 0, 7], [0, 7, 0]]
        """
        from scipy.sparse import csr_array

        from edgewise.device import arrays

        offsets, neighbours = (arrays.move(array, "cpu") for array in (self.offsets, self.neighbours))
        weights = None if self.csr_weights is None else arrays.move(self.csr_weights, "cpu")
        n = self.n_vertices
        small = max(n, len(neighbours)) < 2**31
        kind = np.int32 if small else np.int64
        values = np.ones(len(neighbours), np.int64) if weights is None else weights
        return csr_array((values, neighbours.astype(kind), offsets.astype(kind)), shape=(n, n))

    @classmethod
    @named
    def from_networkx(cls, graph: Any, *, weight: str | None = None) -> Self:
        """Make a graph of a NetworkX graph.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Its nodes are the ids: strings, integers or tuples; the integers from 0 on, in order, are vertex
            numbers.  Parallel edges are repeated edges.
        weight : str, optional
            Attribute of every edge that is its weight; by default the graph has no weights.

        Raises
        ------
        GraphError
            Nodes that are no ids, an edge without the attribute, or one that is no number.

        Examples
        --------
        >>> import networkx as nx
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_networkx(nx.karate_club_graph(), weight="weight")
        >>> graph.n_vertices, graph.n_edges, int(graph.weights.sum())
        (34, 78, 231)
        """
        from edgewise.ingest.networkx_graphs import from_networkx

        return from_networkx(cls, graph, weight)

    def to_networkx(self, *, weight: str = "weight", multigraph: bool = False) -> Any:
        """Make a NetworkX graph, whose nodes are the ids.

        Parameters
        ----------
        weight : str
            Attribute that gets the weights, if the graph has weights.
        multigraph : bool
            Keep repeated edges; otherwise the last of them replaces the others.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph

        Raises
        ------
        GraphError
            NetworkX is not installed.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[2, 3])
        >>> graph.to_networkx().edges(data="weight")
        EdgeDataView([('a', 'b', 2), ('b', 'c', 3)])
        """
        from edgewise.ingest.networkx_graphs import to_networkx

        return to_networkx(self, weight, multigraph)


def _attribute(items, option, name):
    """Values of an attribute of the vertices or edges."""
    if name not in items.attributes():
        known = items.attributes()
        remedy = one_of(name, known) if known else "the graph has no such attributes"
        raise GraphError(f"{argument(option, name)} is no attribute; {remedy}")
    return items[name]
