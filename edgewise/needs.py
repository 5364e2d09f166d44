"""What a call needs: the bytes that it takes beside the graph, step by step, before it begins.

A step is a form of the graph that is not there yet, or the method.  What it takes is said where it is
allocated: by the entry of a method in the table of its problem, and on the pages that derive forms.  A *term*
is a function of :class:`Size`, and gives the bytes at the peak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from edgewise import memory
from edgewise.errors import EdgewiseError, OptionError, argument, one_of
from edgewise.graph import Graph
from edgewise.placement import Placement
from edgewise.placement import bytes_of as bytes_on_host

#: Functions ``(graph, **options)`` that return a :class:`Needs`, by the names of problems.
PROBLEMS = {
    "components": "edgewise.components:needs",
    "forest": "edgewise.forest:needs",
    "strong": "edgewise.strong:needs",
    "cores": "edgewise.cores:needs",
    "cycles": "edgewise.cycles:needs",
    "partition": "edgewise.partitions:needs",
    "bfs": "edgewise.paths.bfs:needs",
    "sssp": "edgewise.paths.sssp:needs",
    "apsp": "edgewise.paths.apsp:needs",
    "betweenness": "edgewise.paths.betweenness:needs",
}
#: The problem of each public function, and the names of what it takes by position behind the graph.
FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "connected_components": ("components", ()),
    "minimum_spanning_forest": ("forest", ()),
    "strongly_connected_components": ("strong", ()),
    "core_numbers": ("cores", ()),
    "cycle_counts": ("cycles", ("length",)),
    "partition": ("partition", ("parts",)),
    "bfs": ("bfs", ("source",)),
    "shortest_paths": ("sssp", ("source",)),
    "all_pairs_shortest_paths": ("apsp", ()),
    "betweenness": ("betweenness", ()),
}
#: What may be done where memory is too little.
INSTEAD = {
    "components": "stream tables with stream_components()",
    "forest": "stream tables with stream_forest()",
    "betweenness": f"take fewer {argument('threads')}",
    "apsp": f"write them to a file with {argument('output', 'distances.npy')}",
}


class Size(NamedTuple):
    """What a need depends on.

    Attributes
    ----------
    vertices, edges, entries : int
        Entries are those of rows: two for each edge of an undirected graph.
    width, weight : int
        Bytes of a vertex number, and of a weight; 0 without weights.
    threads : int
    """

    vertices: int
    edges: int
    entries: int
    width: int
    weight: int
    threads: int


#: The bytes that a step takes at its peak: a function of a :class:`Size`, and of what a problem adds.
Term = Callable[..., float]


class Step(NamedTuple):
    """A part of a call.

    Attributes
    ----------
    name : str
    bytes : int
        What it takes at its peak beside what is there before it.
    kept : int
        What is there after it.
    """

    name: str
    bytes: int
    kept: int


class Estimate(NamedTuple):
    """What a call needs: see :meth:`Graph.estimate`.

    Attributes
    ----------
    method : str
        The method that would run.
    bytes : int
        What the process takes at the peak, beside what it holds before the call.
    disk_bytes : int
        What is written to temporary files.
    steps : tuple of Step
    device_bytes : int
        What is taken on the GPU, if the call is for one: by the graph there, and by the method.
    """

    method: str
    bytes: int
    disk_bytes: int
    steps: tuple[Step, ...]
    device_bytes: int = 0


class Needs(NamedTuple):
    """How a problem is solved.

    Attributes
    ----------
    forms : tuple of str
        The forms of the graph that are read, ``"edges"`` or ``"rows"``, in the order in which they are made.
    method : str
    term : callable or None
        That of the entry of the method, if it has one.
    size : Size
    placement : Placement or None
        Where the edges are in a call for a GPU.
    """

    forms: tuple[str, ...]
    method: str
    term: Term | None
    size: Size
    placement: Placement | None = None


def size_of(graph: Any) -> Size:
    """The size of a graph, without deriving anything."""
    from edgewise.device import threads

    columns = graph._edges or graph._rows
    ways = 1 if graph.directed else 2
    if graph._edges is not None:
        edges = len(columns[0])
        entries = ways * edges if graph._rows is None else len(graph._rows[1])
    else:
        entries = len(columns[1])
        edges = entries // ways
    weight = 0 if columns[2] is None else columns[2].dtype.itemsize
    return Size(graph.n_vertices, edges, entries, columns[1].dtype.itemsize, weight, threads.count())


def estimate(graph: Any, problem: str, options: Mapping[str, Any]) -> Estimate:
    """What :meth:`Graph.estimate` returns."""
    if problem not in PROBLEMS:
        raise OptionError(f"{argument('problem', problem)} is unknown; {one_of(problem, PROBLEMS)}")
    page, _, name = PROBLEMS[problem].partition(":")
    plan = getattr(import_module(page), name)(graph, **options)
    if plan.term is None:
        raise OptionError(f"what method {plan.method} needs is not known; name another {argument('method')}")
    forms = plan.forms if plan.placement is None or plan.placement.left_on_host else ()
    steps = [step for form in forms for step in steps_to_make(graph, form, plan.size)]
    if plan.placement is not None:
        from edgewise.primitives.uploads import bytes_of_buffers

        buffers = bytes_of_buffers(bytes_on_host(graph), plan.size.threads)
        steps += [Step("page-locked buffers", buffers, 0)] if buffers else []
        return of_steps(plan.method, steps)._replace(device_bytes=plan.placement.bytes)
    needed = int(plan.term(plan.size))
    return of_steps(plan.method, [*steps, Step(plan.method, needed, needed)])


def of_steps(method: str, steps: list[Step], disk: int = 0) -> Estimate:
    """The estimate of steps that follow each other."""
    held = peak = 0
    for step in steps:
        peak, held = max(peak, held + step.bytes), held + step.kept
    return Estimate(method, peak, disk, tuple(steps))


def gpu_in(device: Any) -> str | None:
    """The GPU that a call names, if it names one."""
    from edgewise.device import arrays

    named = "cpu" if device is None else arrays.resolve(device)
    return None if named == "cpu" else named


def steps_to_make(graph: Graph, form: str, size: Size) -> Iterator[Step]:
    """Yield the step that makes a form, if the graph does not have it."""
    if form == "rows" and not graph.has_rows:
        from edgewise.ingest.row_buckets import bytes_of_rows, bytes_to_make_rows, seem_sorted

        sources, targets, _ = graph._edges
        needed = bytes_to_make_rows(size, seem_sorted(sources, targets, not graph.directed))
        yield Step("rows", needed, bytes_of_rows(size))
    elif form == "edges" and not graph.has_edges:
        from edgewise.ingest.edges import bytes_of_edges, bytes_to_make_edges

        yield Step("edges", bytes_to_make_edges(size, graph.directed), bytes_of_edges(size, graph.directed))


def check_call(function: str, arguments: tuple, options: Mapping[str, Any]) -> Exception | None:
    """Raise OutOfMemoryError if a public function needs more for its graph than the limit allows.

    Nothing is said of a graph on a GPU, of several devices, and of what the function itself refuses.  An
    error of the estimate is returned: it is a fault, unless the function has one too.
    """
    graph = arguments[0] if arguments else options.get("graph")
    if function not in FUNCTIONS or not isinstance(graph, Graph) or graph.device != "cpu":
        return None
    if options.get("device") not in (None, "cpu") or options.get("devices") or options.get("client"):
        return None
    problem, names = FUNCTIONS[function]
    given = dict(zip(names, arguments[1:])) | {key: one for key, one in options.items() if key != "graph"}
    try:
        needed = estimate(graph, problem, given).bytes
    except EdgewiseError:
        return None  # the method has no estimate, or the function says what is wrong
    except Exception as error:
        return error
    memory.check(needed, f"{function}() of {graph.n_vertices:,} vertices", INSTEAD.get(problem, ""))
    return None
