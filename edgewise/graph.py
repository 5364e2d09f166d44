"""The graph: an edge list, compressed sparse rows (CSR), or both, on one device.

Either form is derived from the other when it is first read, and then cached.  Vertices are the numbers
``0 .. n_vertices - 1``; external ids (strings, 64-bit integers, integers with gaps) exist in
:attr:`Graph.ids` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.errors import GraphError
from edgewise.front import named
from edgewise.ingest.conversions import Conversions
from edgewise.ingest.representation import Representation, take_origin

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow

    from edgewise.ingest.frames import Kind
    from edgewise.needs import Estimate
    from edgewise.workers.split import SplitGraph


class Graph(Conversions, Representation):
    """A directed or undirected graph, with optional weights and external ids.

    Make one with :meth:`from_edges`, :meth:`from_csr`, :meth:`from_scipy`, :meth:`from_igraph`,
    :meth:`from_frame` or :func:`edgewise.read`.  ``len(graph)`` is the number of vertices, ``id in graph``
    tells whether there is a vertex with that id, and iteration is over the ids.

    Attributes
    ----------
    n_vertices : int
    directed : bool
    ids : array or None
        External id of each vertex (int64, uint64 or an Arrow array, on the host); ``None`` where the
        ids are the vertex numbers.  Both kinds of array have ``tolist``, slices and :func:`numpy.asarray`;
        :meth:`id_column` is of Arrow for all of them.
    vertex_weights : (n_vertices,) or (n_vertices, k) array, or None
        On the host.
    weight_name : str or None
        Column or attribute that the weights came from.
    assumed_weights : str or None
        What was taken as the weights although the caller did not name it: the name of a column or attribute,
        or words for a part of a file or matrix, such as ``"the third column"``.
    assumed_columns : tuple of str, or None
        Columns of a table of more than three columns that were taken as the ids by their names, although the
        caller did not name them.
    left_out : dict, or None
        Number of rows of a table that a threshold or condition left out although nothing was known of them:
        of each column of numbers that it compares, the rows with null or NaN there.  Columns without such
        rows are not in it.  ``None`` if they were not counted: in a stream by tasks, or one that was resumed.
    records : object or None
        The table of the vertices, if they came with one; :meth:`Components.to_frame` then has its columns.
    frame_kind : {'arrow', 'pandas', 'polars'}
        Library of the table that the graph was made of; the tables of its results are of the same.
    made_of : tuple of str
        The forms that the graph was made of: ``"edges"``, ``"rows"`` (CSR) or both.  Choices of a method
        depend on these, and not on the forms that have been derived since.
    prepared : tuple of str
        What :meth:`prepare` has prepared the graph for.
    """

    def __init__(self, n_vertices, *, edges=None, rows=None, directed=False, ids=None, vertex_weights=None):
        self.n_vertices, self.directed = int(n_vertices), bool(directed)
        self.ids, self.vertex_weights = ids, vertex_weights
        self._edges, self._rows = edges, rows
        self.weight_name: str | None = None
        self.assumed_weights: str | None = None
        self.records: Any = None
        self.assumed_columns: tuple[str, ...] | None = None
        self.left_out: dict[str, int] | None = {}
        self.frame_kind: Kind = "arrow"
        self.made_of = ("edges",) * (edges is not None) + ("rows",) * (rows is not None)
        self.prepared: tuple[str, ...] = ()
        self._of_host: Graph | None = None  # whose rows this graph on a GPU reads there
        self._cache: dict[Any, Any] = {}

    @classmethod
    @named
    def from_edges(
        cls,
        sources: Any,
        targets: Any = None,
        *,
        weights: Any = None,
        n_vertices: int | None = None,
        ids: Any = None,
        directed: bool = False,
        self_loops: str = "keep",
        repeated: str = "keep",
    ) -> Graph:
        """Make a graph of an edge list.

        Parameters
        ----------
        sources, targets : (m,) array-like
            The endpoints of each edge: integers, strings, UUIDs, whole decimals, dates, times, or tuples of
            these (lists, NumPy, pandas or Arrow).  Anything with ``__dlpack__``
            or ``__cuda_array_interface__`` stays on its device, and is not copied if it has the right type.
            Without ``targets``, the edges are an array or tensor of shape (m, 2) or (2, m), such as the
            ``edge_index`` of PyTorch Geometric, or a list of pairs (tuples).  Shape (2, 2) may be either, so
            it is refused.
        weights : (m,) array-like, optional
            Integers or floats.
        n_vertices : int, optional
            If given, the endpoints are vertex numbers below it.  If not, they are external ids; integers are
            numbered in ascending order, strings in order of first appearance (row by row, source first).
        ids : (n,) array-like, optional
            The ids of all vertices, also of those without an edge; the endpoints are among them, and the
            number of a vertex is its position here.
        directed : bool
        self_loops : {'keep', 'drop'}
        repeated : {'keep', 'first', 'sum', 'min', 'max'}
            Whether several edges between the same endpoints (in either direction if undirected) are kept, or
            merged into one with that weight.  Merged edges come in ascending order.

        Raises
        ------
        GraphError
            Unequal lengths, a type that is no id, a number outside ``0 .. n_vertices - 1``, an endpoint that
            is not among the ``ids``, an id that occurs twice, edges of another shape.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([[0, 1, 3], [1, 2, 4]])
        >>> graph = ew.Graph.from_edges([("a", "b"), ("b", "c")])
        >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
        >>> graph.n_vertices, graph.n_edges
        (5, 3)
        >>> graph = ew.Graph.from_edges(["b"], ["a"], ids=["a", "b", "c"])
        >>> ew.connected_components(graph).labels.tolist()
        [0, 0, 2]
        """
        from edgewise.ingest import edges as building

        building.check_choices(self_loops, repeated)
        if targets is None:
            from edgewise.ingest.edges import two_columns

            sources, targets = two_columns(sources)
        if ids is None:
            ends, count, ids = building.endpoints(sources, targets, n_vertices)
        else:
            ends, count, ids = building.endpoints_among(building.ids_given(ids, n_vertices), sources, targets)
        edges = (*ends, building.weights_like(weights, ends[0]))
        merged = building.simplify(edges, count, directed, self_loops, repeated)
        return cls(count, edges=merged, directed=directed, ids=ids)

    @classmethod
    @named
    def from_csr(
        cls,
        offsets: Any,
        neighbours: Any,
        *,
        weights: Any = None,
        directed: bool = False,
        ids: Any = None,
        vertex_weights: Any = None,
    ) -> Graph:
        """Make a graph of compressed sparse rows.

        Parameters
        ----------
        offsets : (n + 1,) integer array-like
            Row ``v`` holds the entries ``offsets[v]`` to ``offsets[v + 1] - 1``.
        neighbours : (entries,) integer array-like
            If undirected, every edge is in the rows of both its endpoints (a self-loop once).
        weights : (entries,) array-like, optional
        directed : bool
        ids : (n,) array, optional
            External ids.
        vertex_weights : (n,) or (n, k) array, optional

        Raises
        ------
        GraphError
            Offsets that are not ascending from 0 to the number of entries, a neighbour out of range, an
            undirected graph with an edge that is in one row only, or ids that are not one for each vertex.
        """
        from edgewise.ingest import edges as building
        from edgewise.ingest.ids import ids_of_vertices, weights_of_vertices
        from edgewise.ingest.symmetry import check_symmetric

        offsets, neighbours = building.rows(offsets, neighbours)
        rows = offsets, neighbours, building.weights_like(weights, neighbours)
        if not directed:
            check_symmetric(*rows)
        n = len(offsets) - 1
        ids, vertex_weights = ids_of_vertices(ids, n), weights_of_vertices(vertex_weights, n)
        return cls(n, rows=rows, directed=directed, ids=ids, vertex_weights=vertex_weights)

    @classmethod
    @named
    def from_frame(
        cls,
        frame: Any,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        *,
        weight: str | bool | None = None,
        where: str | None = None,
        directed: bool = False,
        threshold: float | None = None,
        score: str | None = None,
        null: str = "error",
        vertices: Any = None,
        vertex_id: str | None = None,
    ) -> Graph:
        """Make a graph of a table with one edge a row.

        Parameters
        ----------
        frame : table
            Anything with ``__arrow_c_stream__`` (pandas, polars, pyarrow, DuckDB ...), a dict of columns, or
            a structured array, such as the scored pairs of dedupe.
        source, target : str or list of str, optional
            Columns with the ids of the endpoints; several are joined: the ids of ``["dataset", "id"]`` are
            such as ``"crm-__-17"``.  By default as in :func:`edgewise.read`: columns with usual
            names, such as ``unique_id_l`` and ``unique_id_r``, or the first two of at most three.
        weight : str or bool, optional
            Column with the weights; ``False`` for none, ``True`` for the column of the scores.  By default a
            third column of numbers, unless the columns of ids are named.
        where : str, optional
            Condition on the columns, such as ``"score >= 0.9"``; other rows are left out.
        directed : bool
        threshold : float, optional
            Only rows with at least this score are kept.
        score : str, optional
            Column of the scores; by default as in :func:`edgewise.read`.
        null : {'error', 'drop'}
            What to do with rows in which an id or a weight is missing.
        vertices : table, optional
            Records of all vertices, also of those without an edge; the number of a vertex is its row here.
            Every id of an edge has a record.
        vertex_id : str, optional
            Column of ``vertices`` with the ids; by default ``id`` or ``unique_id``.

        Raises
        ------
        GraphError
            A missing column, a wrong type, a null id, columns that may or may not be the ids, an id without a
            record, or with two.

        Examples
        --------
        >>> import edgewise as ew
        >>> pairs = {"unique_id_l": ["a", "b"], "unique_id_r": ["b", "c"], "match_probability": [0.9, 0.4]}
        >>> ew.Graph.from_frame(pairs, threshold=0.5).ids.tolist()
        ['a', 'b']
        >>> people = {"id": ["d", "c", "b", "a"], "age": [70, 30, 31, 32]}
        >>> graph = ew.Graph.from_frame(pairs, threshold=0.5, vertices=people)
        >>> ew.connected_components(graph).labels.tolist()
        [0, 1, 2, 2]
        """
        from edgewise.ingest import frame_pairs as building

        given: dict[str, Any] = {"source": source, "target": target, "weight": weight, "null": null}
        given |= {"where": where, "threshold": threshold, "score": score, "vertices": vertices}
        return building.from_frame(cls, frame, directed, given | {"vertex_id": vertex_id})

    @property
    def sources(self) -> np.ndarray:
        """First endpoint of each edge: (n_edges,) vertex numbers."""
        return self._edge_list()[0]

    @property
    def targets(self) -> np.ndarray:
        """Second endpoint of each edge: (n_edges,) vertex numbers."""
        return self._edge_list()[1]

    @property
    def weights(self) -> np.ndarray | None:
        """Weight of each edge: (n_edges,) array, or ``None``."""
        return self._edge_list()[2]

    @property
    def offsets(self) -> np.ndarray:
        """CSR offsets: (n_vertices + 1,) int64 array."""
        return self._csr()[0]

    @property
    def neighbours(self) -> np.ndarray:
        """CSR entries: vertex numbers, each row ascending where edgewise built it."""
        return self._csr()[1]

    @property
    def csr_weights(self) -> np.ndarray | None:
        """Weight of each CSR entry, or ``None``."""
        return self._csr()[2]

    @property
    def is_weighted(self) -> bool:
        """Whether the edges have weights; nothing is derived to know it."""
        return (self._edges or self._rows)[2] is not None

    @property
    def has_rows(self) -> bool:
        """Whether the CSR form is held already."""
        return self._rows is not None

    @property
    def has_edges(self) -> bool:
        """Whether the edge list is held already."""
        return self._edges is not None

    @property
    def n_edges(self) -> int:
        """Number of edges (of an undirected graph: each once)."""
        if self._edges is not None:
            return len(self._edges[0])
        if self.directed:
            return len(self._rows[1])
        return self.cached("n_edges", self._count_edges)

    def _count_edges(self):
        """Number of edges of undirected rows, without deriving the edge list."""
        from edgewise.device import arrays
        from edgewise.ingest.edges import count_edges

        with arrays.guard(self.device):
            return count_edges(*self._rows[:2])

    @property
    def device(self) -> str:
        """Device of the arrays: ``"cpu"``, ``"cuda:0"`` ..."""
        from edgewise.device import arrays

        return arrays.device_of((self._edges or self._rows)[0])

    def simplified(self, *, self_loops: str = "drop", repeated: str = "first") -> Graph:
        """Return the graph without self-loops and with repeated edges merged, or either of the two.

        Parameters
        ----------
        self_loops : {'keep', 'drop'}
        repeated : {'keep', 'first', 'sum', 'min', 'max'}
            As in :meth:`from_edges`.

        Returns
        -------
        Graph
            The same vertices, on the same device.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1, 1], [1, 0, 1], weights=[5, 3, 1], n_vertices=2)
        >>> graph.simplified(repeated="min").weights.tolist()
        [3]
        """
        from edgewise.ingest import edges as building

        building.check_choices(self_loops, repeated)
        edges = building.simplify(self._edge_list(), self.n_vertices, self.directed, self_loops, repeated)
        return self._copy(edges, None)

    def undirected(self) -> Graph:
        """Return the graph with its edges in both directions; itself if it is undirected.

        The edges are the same ones: of an edge and its reverse, each becomes an edge between the same ends.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1], [1, 2], n_vertices=3, directed=True)
        >>> graph.undirected().degrees().tolist()
        [1, 2, 1]
        """
        if not self.directed:
            return self
        return self._copy(self._edge_list(), None, directed=False)

    def reverse(self) -> Graph:
        """Return the graph with every edge in the other direction; itself if it is undirected.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 0], [1, 2], directed=True).reverse()
        >>> list(zip(graph.sources.tolist(), graph.targets.tolist()))
        [(1, 0), (2, 0)]
        """
        if not self.directed:
            return self
        sources, targets, weights = self._edge_list()
        return self._copy((targets, sources, weights), None)

    def without_weights(self) -> Graph:
        """Return the graph without its weights, sharing its other arrays; itself if it has none.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[5, 7])
        >>> graph.without_weights().weights is None
        True
        """
        if not self.is_weighted:
            return self
        edges, rows = (form and (*form[:2], None) for form in (self._edges, self._rows))
        graph = self._copy(edges, rows, self.made_of)
        graph.weight_name = graph.assumed_weights = None
        return graph

    def with_weights(self, weights: Any, *, name: str | None = None) -> Graph:
        """Return the graph with other weights.

        Parameters
        ----------
        weights : (n_edges,) array-like
            Integers or floats, in the order of :attr:`sources`.
        name : str, optional
            Becomes the :attr:`weight_name`.

        Returns
        -------
        Graph
            On the same device, made of the edge list, which it shares.

        Raises
        ------
        GraphError
            Weights of another length or type.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b"], ["b", "c"])
        >>> graph.with_weights([5, 7], name="km")
        <Graph: undirected, 3 vertices, 2 edges, weights along 'km', held as edges on cpu>
        """
        from edgewise.ingest import edges as building

        sources, targets, _ = self._edge_list()
        graph = self._copy((sources, targets, building.weights_like(weights, sources)), None)
        graph.weight_name, graph.assumed_weights = name, None
        return graph

    def subgraph(self, ids: Any) -> Graph:
        """Return the graph of some vertices and the edges between them.

        Parameters
        ----------
        ids : id or array-like of ids
            As in the input; vertex numbers if the graph has no ids.  One that comes twice counts once.

        Returns
        -------
        Graph
            On the same device, its vertices in the order that they have here, with their ids, weights and
            records.  The ids of a graph without ids are the vertex numbers.

        Raises
        ------
        GraphError
            An id that is not in the graph.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"])
        >>> part = graph.subgraph(["c", "b"])
        >>> list(part), part.n_edges
        (['b', 'c'], 1)
        """
        from edgewise.device import arrays
        from edgewise.ingest.subgraphs import induced

        marked = np.zeros(self.n_vertices, bool)
        marked[self.vertices_of(ids)] = True
        return induced(self, arrays.move(marked, self.device))

    def degrees(self, *, direction: str = "out") -> np.ndarray:
        """Number of CSR entries of each vertex: (n_vertices,) int64 array.

        Parameters
        ----------
        direction : {'out', 'in', 'both'}
            Edges of a directed graph that leave the vertex, that come in, or all.  In an undirected graph
            all three are the same, and a self-loop counts once.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 0], [1, 2], directed=True)
        >>> graph.degrees().tolist(), graph.degrees(direction="in").tolist()
        ([2, 0, 0], [0, 1, 1])
        """
        from edgewise.ingest.csr import degrees

        return degrees(self, direction)

    def degree(self, id: Any, *, direction: str = "out") -> int:
        """Number of edges of the vertex with an id, as counted by :meth:`degrees`.

        Parameters
        ----------
        id : id
            As in the input; a vertex number if the graph has no ids.
        direction : {'out', 'in', 'both'}

        Raises
        ------
        GraphError
            The id is not in the graph.

        Examples
        --------
        >>> import edgewise as ew
        >>> ew.Graph.from_edges(["a", "b"], ["b", "c"]).degree("b")
        2
        """
        (vertex,) = self.vertices_of([id])
        return int(self.degrees(direction=direction)[vertex])

    def to(self, device: str) -> Graph:
        """Return the graph with its arrays on ``device`` ("cpu", "gpu", "cuda:1"); itself if they are there.

        Raises
        ------
        DeviceError, OutOfMemoryError
        """
        from edgewise.device import arrays

        if device == self.device or (device := arrays.resolve(device)) == self.device:
            return self
        if device == "cpu" and self._of_host is not None:
            return self._of_host

        def moved(form):
            if form and self.device == "cpu":
                from edgewise.primitives.uploads import upload

                return upload(form, device)
            return form and tuple(None if a is None else arrays.move(a, device) for a in form)

        return self._copy(moved(self._edges), moved(self._rows), self.made_of)

    def prepare(self, *purposes: str) -> Graph:
        """Derive and keep what takes longer than one call and makes later ones faster; return the graph.

        The method ``"auto"`` uses what has been prepared, and never prepares anything by itself.  The answers
        are the same.  What is prepared stays on the device of the graph; a copy, as by :meth:`to`, is to be
        prepared by itself.

        Parameters
        ----------
        *purposes : str
            * ``"searches"`` : for :func:`bfs`, and :func:`shortest_paths` if the graph has weights.  A
              directed graph gets the rows of the edges that come in.  An undirected graph on a GPU gets a
              contraction hierarchy, if its vertices have few edges, as those of road networks and long paths
              have, its weights are whole numbers, and the hierarchy saves time.
            * ``"routes"`` : for :func:`routes` and tables of distances along the weights, or edges of a graph
              without weights.  The vertices get a contraction hierarchy, which is made and kept on the host,
              also that of a graph on a GPU.  It is for road networks and others that are about as sparse.
            * ``"components"`` : for :func:`connected_components`.  A graph that was made of edges gets rows,
              with which dense graphs take less time.
            * ``"cycles"`` : for :func:`cycle_counts`.  The vertices are ranked by degree.

        Returns
        -------
        Graph
            The graph itself.

        Raises
        ------
        GraphError
            ``"searches"`` of a graph whose weights :func:`shortest_paths` refuses, ``"routes"`` of one with
            negative weights or whose hierarchy outgrows it, as that of a social network does, or
            ``"cycles"`` of a directed graph.
        OptionError
            An unknown purpose, or none.
        OutOfMemoryError
            The device is too small.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1], [1, 2], directed=True)
        >>> graph.prepare("searches")
        <Graph: directed, 3 vertices, 2 edges, held as edges and rows on cpu, prepared for searches>
        """
        from edgewise.ingest.preparation import prepare

        prepare(self, purposes)
        return self

    def save_prepared(self, path: str | Path) -> None:
        """Write what :meth:`prepare` has made for ``"routes"`` to a file, whole or not at all.

        Parameters
        ----------
        path : path-like
            An archive of NumPy without pickles, whatever its suffix.

        Raises
        ------
        GraphError
            The graph is not prepared for routes.
        FileError
            The file cannot be written.

        Examples
        --------
        >>> import edgewise as ew, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "streets.routes")
        >>> graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[5, 7])
        >>> graph.prepare("routes").save_prepared(path)
        >>> again = ew.Graph.from_edges([0, 1], [1, 2], weights=[5, 7])
        >>> again.load_prepared(path).prepared
        ('routes',)
        """
        from importlib import import_module

        import_module("edgewise.paths.hierarchy.saving").save(self, path)

    def load_prepared(self, path: str | Path) -> Graph:
        """Read what :meth:`save_prepared` has written for the same graph; return the graph.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        FileError
            The file was saved for another graph or other weights, or by another version of edgewise, it is
            damaged, or it cannot be read.
        """
        from importlib import import_module

        import_module("edgewise.paths.hierarchy.saving").load(self, path)
        return self

    def _copy(self, edges, rows, made_of=None, directed=None):
        """A graph of other arrays with the same vertices, by default made of those and of the same kind."""
        given = {"directed": self.directed if directed is None else directed}
        given |= {"ids": self.ids, "vertex_weights": self.vertex_weights}
        graph = Graph(self.n_vertices, edges=edges, rows=rows, **given)
        graph.made_of = made_of or graph.made_of
        take_origin(graph, self)
        return graph

    def estimate(self, problem: str, **options: Any) -> Estimate:
        """Tell what a call for this graph of the host needs, before it is made; nothing is computed.

        Parameters
        ----------
        problem : str
            ``"components"`` (also with ``thresholds=``), ``"forest"``, ``"strong"``, ``"cores"``,
            ``"cycles"`` (with ``length=``), ``"partition"``, ``"bfs"``, ``"sssp"`` or ``"apsp"``.
        **options
            Those of the public function of the problem; ``device`` may be a GPU for ``"components"`` and
            ``"bfs"``.

        Returns
        -------
        Estimate
            ``bytes`` that the process takes at the peak beside what it holds before, the ``method``, and the
            ``steps``: forms that are derived and then kept with the graph, and the method.  What depends on
            the structure of the graph, as for partitions and cycles, is at most that.  ``device_bytes`` are
            taken on the GPU, and the method says whether the edges remain on the host.

        Raises
        ------
        OptionError
            An unknown problem or method, or a method of which it is not known what it needs.
        GraphError
            The problem is not one of such a graph.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.generate.grid(1000, 1000)
        >>> graph.estimate("components", method="rem").bytes
        4000000
        """
        from importlib import import_module

        return import_module("edgewise.needs").estimate(self, problem, options)

    def split(self, devices: Any, *, by: str = "auto") -> SplitGraph:
        """Distribute the edges over several devices.

        Parameters
        ----------
        devices : str or list of str
            ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as ``["cuda:0", "cuda:1"]``; ``"cpu:0"``,
            ``"cpu:1"`` ... are workers on the CPU.
        by : {'auto', 'edges', 'range'}
            Equal shares of the edges, or ranges of vertices with the edges inside them; ``'auto'`` selects
            ranges if they would cut at most 2 % of the edges.

        Returns
        -------
        SplitGraph
            For :func:`edgewise.connected_components`.  It has no weights.

        Raises
        ------
        DeviceError, OutOfMemoryError
            A device is missing, named twice, or too small.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1, 3], [1, 2, 4], n_vertices=5)
        >>> ew.connected_components(graph.split(["cpu:0", "cpu:1"])).labels.tolist()
        [0, 0, 0, 3, 3]
        """
        from edgewise.workers.split import split

        return split(self, devices, by)

    def ids_of(self, vertices):
        """External ids of an array of vertex numbers (on the host)."""
        from edgewise.device import arrays

        vertices = np.asarray(arrays.move(vertices, "cpu") if hasattr(vertices, "dtype") else vertices)
        if self.ids is None:
            return vertices.astype(np.int64)
        if isinstance(self.ids, np.ndarray):
            return self.ids[vertices]
        from edgewise.ingest.string_rows import take

        return take(self.ids, vertices)

    def id_column(self) -> pyarrow.Array:
        """Return the ids of all vertices as an Arrow array, whatever they are; also vertex numbers.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([10, 20], [20, 30])
        >>> graph.id_column().to_pylist(), graph.id_column()[2].as_py()
        ([10, 20, 30], 30)
        """
        from edgewise.ingest.arrow import arrow_array

        return arrow_array(np.arange(self.n_vertices) if self.ids is None else self.ids)

    def vertices_of(self, ids: Any) -> np.ndarray:
        """Vertex numbers of external ids: (k,) int64 array on the host.

        Parameters
        ----------
        ids : id or (k,) array-like of ids
            As in the input; vertex numbers if the graph has no ids.

        Raises
        ------
        GraphError
            An id that is not in the graph.

        Examples
        --------
        >>> import edgewise as ew
        >>> ew.Graph.from_edges(["a", "b"], ["b", "c"]).vertices_of(["c", "a"]).tolist()
        [2, 0]
        """
        from edgewise.ingest.ids import vertices_of

        return vertices_of(self, ids)

    def _edge_list(self):
        if self._edges is None:
            from edgewise.device import arrays
            from edgewise.ingest import edges as building

            with arrays.guard(self.device):
                self._edges = building.edges_from_rows(
                    self._rows[0], self._rows[1], self._rows[2], self.directed
                )
        return self._edges

    def _csr(self):
        if self._rows is None:
            from edgewise.device import arrays
            from edgewise.ingest.csr import rows_from_edges
            from edgewise.primitives import take

            sources, targets, weights = self._edges
            with arrays.guard(self.device):
                offsets, neighbours, edges = rows_from_edges(
                    self.n_vertices, sources, targets, not self.directed, weights is not None
                )
                self._rows = offsets, neighbours, None if weights is None else take(weights, edges)
        return self._rows

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what ``make()`` returned when it was first called for ``key``; cached with the graph.

        Parameters
        ----------
        key : hashable
            Names what is derived; one for each derived thing.
        make : callable
            Called without arguments, once.
        """
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def has_cached(self, key: Any) -> bool:
        """Whether :meth:`cached` has something for ``key``."""
        return key in self._cache

    def __len__(self):
        return self.n_vertices

    def __bool__(self):
        return True  # also without vertices

    def __iter__(self):
        ids = range(self.n_vertices) if self.ids is None else self.ids
        return iter(ids if isinstance(ids, range) else ids.tolist())

    def __contains__(self, id):
        try:
            return len(self.vertices_of([id])) == 1
        except GraphError:
            return False
