"""Every method on one graph of the user's, beside the other libraries that are installed.

Times are of whole public calls and of the property that is asked of the result: on a new graph of the same
arrays, where forms and choices are derived again, and then on that graph, median of several runs.  The other
libraries hold the graph in their own form; making it is not timed.  Everything is compared: methods must
agree exactly, and other libraries are marked where they find something else, as those do that keep one of
several edges between the same endpoints.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from edgewise import components, cycles, forest
from edgewise.device import arrays
from edgewise.errors import EdgewiseError, OptionError, VerificationError, argument
from edgewise.experiments.measure import repeated
from edgewise.experiments.peers import installed
from edgewise.experiments.report import Figure, Report, Table, headings
from edgewise.graph import Graph
from edgewise.method import check_graph, worker_names
from edgewise.paths import bfs as breadth_first
from edgewise.paths import sssp
from edgewise.paths.method import PathMethod

__all__ = ["compare"]

#: The largest relative difference of two sums of the weights of a forest, which are added in any order.
ROUNDING = 1e-9
COLUMNS = headings(
    "code | method | fresh: new graph, ms | ms: same graph, ms | runs | rate: M entries/s | "
    "slower: of the fastest, x | note"
)


@dataclass(frozen=True)
class Call:
    """A public call that is measured.

    ``solve(graph, source, **method)`` returns the array that the results are compared by; ``methods`` is the
    table of its methods, and ``fits(graph)`` whether the graph has what it needs.
    """

    title: str
    solve: Callable
    methods: dict[str, Any]
    fits: Callable[[Graph], bool] = lambda graph: True


def _has_positive_weights(graph):
    weights = graph.csr_weights
    return weights is not None and len(weights) > 0 and bool((weights >= 0).all())


CALLS = {
    "components": Call(
        "Connected components: labels",
        lambda graph, _, **how: components.connected_components(graph, **how).labels,
        components.METHODS,
    ),
    "bfs": Call(
        "Breadth-first search from the vertex of highest degree: distances",
        lambda graph, source, **how: breadth_first.bfs(graph, graph.ids_of([source])[0], **how).distances,
        breadth_first.METHODS,
    ),
    "shortest paths": Call(
        "Shortest paths from the vertex of highest degree: distances",
        lambda graph, source, **how: sssp.shortest_paths(graph, graph.ids_of([source])[0], **how).distances,
        sssp.METHODS,
        _has_positive_weights,
    ),
    "forest": Call(
        "Minimum spanning forest: edges",
        lambda graph, _, **how: forest.minimum_spanning_forest(graph, **how).edges,
        forest.METHODS,
        lambda graph: not graph.directed and graph.csr_weights is not None,
    ),
    "triangles": Call(
        "Triangles of every vertex: counts",
        lambda graph, _, **how: cycles.cycle_counts(graph, 3, **how).counts,
        {},
        lambda graph: not graph.directed,
    ),
}


def compare(
    graph: Graph,
    name: str = "graph",
    *,
    device: str | None = None,
    runs: int = 5,
    only: tuple[str, ...] = (),
    baselines: bool = False,
    peers: bool = True,
    report: Callable[[str], object] = lambda text: None,
) -> Report:
    """Measure every method on a graph, and the other libraries that are installed.

    Parameters
    ----------
    graph : Graph
    name : str
        What the graph is called in the report.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``; by default that of the graph.
    runs : int
        Timed runs; 3 if one takes more than a second, 1 if it takes more than five.
    only : sequence of str
        Calls to measure: ``components``, ``bfs``, ``shortest paths``, ``forest``, ``triangles``.  By default
        all that the graph allows: paths and forests need weights.
    baselines : bool
        Measure methods too that are kept for comparison, and may take minutes.
    peers : bool
        Measure SciPy, NetworkX, igraph, NetworKit and rustworkx where they are installed and take graphs of
        this size.
    report : callable
        Called with a short text before each measurement.

    Returns
    -------
    Report
        A table and a picture for each call.

    Raises
    ------
    OptionError
        An unknown call, or no runs.
    VerificationError
        Two methods disagree.

    Examples
    --------
    >>> import edgewise as ew
    >>> found = compare(ew.generate.uniform(1000, 4000, seed=1), only=("components",), peers=False, runs=1)
    >>> [row["method"] for row in found.tables[0].rows if row["method"].startswith("rem-s")]
    ['rem-sequential', 'rem-sample']
    """
    check_graph(graph)
    if runs < 1:
        raise OptionError(f"{argument('runs', runs)} is too few; give 1 or more")
    for call in only:
        if call not in CALLS:
            raise OptionError(f"call {call!r} is unknown; use one of {', '.join(CALLS)}")
    graph = graph if device is None else graph.to(device)
    measured = _Measured(graph, int(arrays.move(graph.degrees(), "cpu").argmax()), runs, report)
    tables = []
    with arrays.guard(graph.device):
        for call, how in CALLS.items():
            if graph.n_vertices and (not only or call in only) and how.fits(graph):
                tables.append(_table(measured, call, baselines, peers))
    if not tables:
        raise OptionError(
            f"{name} allows none of these calls; paths and forests need weights, cycles no direction"
        )
    sizes = {name: {"vertices": graph.n_vertices, "edges": graph.n_edges}}
    return Report(name, "given", worker_names(graph.device), runs, sizes, tables)


@dataclass(frozen=True)
class _Measured:
    """The graph, the source of its searches, the number of timed runs, and who is told of each step."""

    graph: Graph
    source: int
    runs: int
    report: Callable[[str], object]

    def new_graph(self):
        """A graph of the same arrays, for which nothing has been derived."""
        graph = self.graph
        edges = (graph.sources, graph.targets, graph.weights) if "edges" in graph.made_of else None
        rows = (graph.offsets, graph.neighbours, graph.csr_weights) if "rows" in graph.made_of else None
        return Graph(graph.n_vertices, edges=edges, rows=rows, directed=graph.directed, ids=graph.ids)


def _table(measured, call, baselines, peers):
    how, rows = CALLS[call], []
    expected = None
    for method in ["auto", *_methods(how, measured.graph, baselines)]:
        measured.report(f"{call}: {method}")
        row, found = _edgewise(measured, how, method)
        rows.append(row)
        if found is not None and expected is not None and not np.array_equal(found, expected):
            raise VerificationError(f"{call}: {method} gives another result than auto; report this as a bug")
        expected = found if expected is None else expected
    for peer in installed(call, measured.graph.n_edges) if peers else ():
        measured.report(f"{call}: {peer.name}")
        rows.append(_peer(measured, call, peer, expected))
    least = min(row["ms"] for row in rows if row["ms"] is not None)
    for row in rows:
        if row["ms"] is not None:
            row["slower"] = row["ms"] / least
            row["rate"] = len(measured.graph.neighbours) / row["ms"] / 1e3
    bars = [(f"{row['code']} {row['method']}".strip(), row["ms"]) for row in rows if row["ms"] is not None]
    figure = Figure(
        call.replace(" ", "-"), how.title, "", "milliseconds, same graph", {call: bars}, steep=True
    )
    return Table(figure.name, how.title, "this machine", COLUMNS, rows, figures=[figure])


def _methods(how, graph, baselines):
    kind = graph.device.partition(":")[0]
    return [
        name
        for name, method in how.methods.items()
        if kind in method.devices and (baselines or not method.baseline) and _takes(method, graph)
    ]


def _takes(method, graph):
    """Whether a method takes the direction of a graph and the type of its weights."""
    if not isinstance(method, PathMethod):
        return True
    weights = graph.csr_weights if method.weights != "none" else None
    return (method.directed or not graph.directed) and (
        weights is None or method.takes_weights(weights.dtype)
    )


def _edgewise(measured, how, method):
    """A row of one method, and what it found, on the host."""
    row = {"code": "edgewise", "method": method, "fresh": None, "ms": None, "runs": 0, "note": ""}
    options = {} if method == "auto" and not how.methods else {"method": method}

    def run(graph):
        found = how.solve(graph, measured.source, **options)
        arrays.synchronize(measured.graph.device)
        return found

    try:
        run(measured.new_graph())  # compiles what is new
        graph = measured.new_graph()
        fresh, found = _timed(partial(run, graph))
        times = repeated(lambda: _timed(partial(run, graph))[0], measured.runs)
    except EdgewiseError as error:
        return row | {"note": str(error)}, None
    row |= {"fresh": 1e3 * fresh, "ms": 1e3 * statistics.median(times), "runs": len(times)}
    return row, arrays.move(found, "cpu")


def _peer(measured, call, peer, expected):
    """A row of another library."""
    row = {"code": peer.name, "method": "", "fresh": None, "ms": None, "runs": 0, "note": ""}
    host = measured.graph.to("cpu")
    try:
        solve, read = peer.calls[call](host, measured.source)
        _, found = _timed(solve)
        times = repeated(lambda: _timed(solve)[0], measured.runs)
        same = _agrees(call, host, expected, read(found))
    except Exception as error:  # whatever another library raises
        return row | {"note": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}
    row |= {"ms": 1e3 * statistics.median(times), "runs": len(times)}
    return row if same else row | {"note": "finds another result"}


def _agrees(call, graph, expected, found):
    if expected is None:
        return True
    if call == "forest":
        return bool(np.isclose(found[0], graph.weights[expected].sum(dtype=float), rtol=ROUNDING))
    if call in ("bfs", "shortest paths"):
        none = np.iinfo(expected.dtype).max if expected.dtype.kind in "iu" else np.inf
        expected = np.where(expected == none, np.inf, expected.astype(float))
        return bool(np.allclose(found, expected, rtol=1e-5 if call == "shortest paths" else 0, atol=0))
    return bool(np.array_equal(found, expected))


def _timed(run):
    start = perf_counter()
    found = run()
    return perf_counter() - start, found
