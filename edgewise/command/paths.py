"""``edgewise paths``: a graph in, distances and shortest paths out."""

from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np

import edgewise
from edgewise.command import keyboard, options, report
from edgewise.command.cluster_options import id_of
from edgewise.command.job import Job
from edgewise.command.outputs import check_writable
from edgewise.command.stages import workers_of
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError
from edgewise.files.destinations import goes_to_standard_output
from edgewise.ingest.arrow import arrow_array
from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
from edgewise.paths.apsp.output import check_path
from edgewise.paths.bfs import METHODS as OF_EDGES
from edgewise.paths.measures import METHODS as OF_MEASURES
from edgewise.paths.sssp import METHODS as OF_WEIGHTS
from edgewise.paths.sssp.weights import spread_in

Kind = options.names_of("Kind", ("source", "all-pairs", "measures"))
ONE, ALL, MEASURES = Kind
#: Rows of the table of all pairs that are made at a time.
BLOCK_ROWS = 1 << 20
#: Vertices of a center that the closing line names.
NAMED_VERTICES = 5

HELP = "How to compute; each search has its own methods"
Method = options.choice("Method", HELP, OF_WEIGHTS, OF_EDGES, OF_MEASURES)


class Wanted(NamedTuple):
    """What is searched for."""

    sources: options.option(list[str], "Vertex to start from, or several.", "--source", metavar="ID") = None
    targets: options.option(
        list[str], "Vertex to show the path to; may be repeated.", "--to", metavar="ID"
    ) = None
    cutoff: options.option(float, "Largest distance that counts.", metavar="X", min=0) = None
    bfs: options.option(bool, "Ignore the weights: distances are numbers of edges.") = False
    all_pairs: options.option(bool, "Distances from every vertex, or every --source, to every vertex.") = (
        False
    )
    measures: options.option(bool, "Eccentricities, diameter, radius and centralities of all vertices.") = (
        False
    )
    parents: options.option(bool, "Show the vertex before each on a shortest path.") = False
    method: Method = "auto"
    dtype: options.option(
        str, "Type of the distances, if not the weights': int32, int64, float32, float64.", metavar="TYPE"
    ) = None
    scheduler: options.scheduler("the sources of --all-pairs or --measures") = None

    @property
    def kind(self) -> Any:
        """What is searched for."""
        return ALL if self.all_pairs else MEASURES if self.measures else ONE

    def call(self, matrix) -> tuple[str, dict]:
        """Problem and options of the call, as of :meth:`Graph.estimate`; measures take a search at a time."""
        method = {} if self.kind is MEASURES else {"method": str(self.method)}
        if self.kind is ALL:
            return "apsp", method | {"sources": self.sources, "dtype": self.dtype, "output": matrix}
        return "bfs" if self.bfs else "sssp", method

    def check(self, output, run):
        """Refuse options that mean nothing together."""
        kind = self.kind
        methods = OF_EDGES if self.bfs else OF_WEIGHTS
        if kind is not ONE:
            methods = OF_ALL_PAIRS if kind is ALL else OF_MEASURES
        if kind is ONE and not self.sources:
            raise OptionError("search from where? give --source ID; or --all-pairs or --measures")
        if kind is ONE and self.scheduler is not None:
            raise OptionError("--scheduler is for --all-pairs and --measures; leave it out")
        if kind is ALL and self.measures:
            raise OptionError("--all-pairs and --measures are two jobs; give one of the two")
        if kind is not ONE:
            given = {"to": self.targets, "cutoff": self.cutoff is not None, "parents": self.parents}
            for option in (name for name, value in given.items() if value):
                raise OptionError(f"--{option} is for a search from --source alone; leave out --{kind}")
        if self.cutoff is not None and isnan(self.cutoff):
            raise OptionError("--cutoff nan is no distance; give a number, 0 or more")
        if kind is ONE and self.bfs and self.dtype:
            raise OptionError("--dtype means nothing with --bfs, whose distances are int32; leave it out")
        if self.method not in ("auto", *methods):
            raise OptionError(
                f"method {self.method} is of another search; use auto or one of {', '.join(methods)}"
            )
        if self.targets and output is not None and goes_to_standard_output(output):
            raise OptionError(f"--to and -o {output} both need standard output; give one of the two")
        if kind is not ALL and run.device is None and run.devices is not None:
            raise OptionError("--devices is for --all-pairs; use --device")


@options.subcommand(
    "paths.md",
    "edgewise paths roads.gr --source 1 --to 25",
    "edgewise paths friends.csv --source ann --bfs -o distances.csv",
    "edgewise paths roads.gr --all-pairs -o distances.npy",
    output="Table to write (Parquet, CSV, Arrow, JSON Lines), - is standard output; with --all-pairs a "
    "matrix (.npy or .zarr), which a repeated run continues after an interrupt. Otherwise a terminal shows "
    "the head of the table, and a pipe gets it whole.",
    verify="distances against the graph",
    names={"to": "--output-format"},
)
def paths(graph: options.Input, reading, wanted: Wanted, goals: options.Goals, run: options.Run):
    """Read a graph, search it, and write or show the distances."""
    wanted.check(goals.output, run)
    if wanted.kind is MEASURES and (wanted.sources or goals.verify):
        given = "source" if wanted.sources else "verify"
        raise OptionError(f"--{given} means nothing with --measures; leave it out")
    matrix = goals.output if wanted.kind is ALL and goals.output != "-" else None
    if matrix is not None:
        _check_matrix(matrix, graph)
    job = Job(
        [graph],
        goals if matrix is None else goals._replace(output=None),
        run,
        shown=matrix is None and not wanted.targets,
        scheduler=wanted.scheduler,
        draws=False,
    )
    with job.steps() as stage:
        read = job.read(graph, reading, wanted.call(matrix), undirected=False)
        if wanted.kind is ONE and not wanted.bfs and not read.is_weighted:
            remedy = "count edges with --bfs, or name their column with --weight"
            raise GraphError(f"{graph} has no weights; {remedy}")
        with stage("compute", f"searching on {job.where}") as progress, workers_of(job.scheduler) as client:
            result = _searched(wanted, read, job.places() | client, progress, matrix)
        whole = None if matrix or (run.json and job.output is None) else _table(wanted, result, job.output)
        job.finish(result, "checking every edge", whole)
    job.output = matrix or job.output
    targets: list[str] = [] if run.json else list(wanted.targets or [])
    for target in targets:
        report.say(_path_in_words(wanted, result, target))

    def show():
        if not wanted.targets:
            report.table(whole)
            if wanted.kind is ALL and len(result.sources) > report.SHOWN_ROWS + 1:
                report.say(f"... and rows of {len(result.sources) - report.SHOWN_ROWS - 1:,} more sources")

    job.close(result, lambda: _facts(wanted, result, job), _found_in_words(wanted, result), show=show)


def _check_matrix(matrix, graph):
    """Raise an error if a matrix cannot be written."""
    path = check_path(matrix)
    if not (path.suffix == ".zarr" and path.is_dir()):  # which is continued
        check_writable(path, [graph])


def _searched(wanted, graph, places, progress, matrix):
    if wanted.kind is ONE:
        return _from_sources(wanted, graph.to(places["device"]))
    if wanted.bfs:
        graph = graph.without_weights()
    how = {"method": str(wanted.method), "dtype": wanted.dtype}
    if wanted.kind is MEASURES:
        del places["devices"]
        return edgewise.distance_measures(graph, progress=progress, **how, **places)
    return _all_pairs(wanted, graph, how | places, progress, matrix)


def _from_sources(wanted, graph):
    sources, cutoff = _ids(graph, wanted.sources), wanted.cutoff
    targets, method = _ids(graph, wanted.targets), str(wanted.method)
    graph.vertices_of(targets)  # an unknown one is named before the search
    if wanted.bfs:
        if cutoff is not None:
            cutoff = int(min(cutoff, 2**31))
        return edgewise.bfs(graph, sources, cutoff=cutoff, method=method)
    ends = targets if targets and spread_in(graph).least >= 0 else None  # else nothing ends a search early
    return edgewise.shortest_paths(
        graph, sources, targets=ends, cutoff=cutoff, method=method, dtype=wanted.dtype
    )


def _all_pairs(wanted, graph, how, progress, matrix):
    """All pairs; at Ctrl-C say what is kept."""
    so_far: list[int] = []

    def note(done, blocks):
        so_far[:] = done, blocks
        progress(done, blocks)

    def kept():
        if matrix is None or not so_far:
            return None
        done, blocks = so_far
        return f"{done:,} of {blocks:,} blocks of {matrix} are kept; repeat the command to continue"

    sources = _ids(graph, wanted.sources) or None
    with keyboard.remark(kept):
        return edgewise.all_pairs_shortest_paths(graph, sources=sources, output=matrix, progress=note, **how)


def _ids(graph, words):
    """Ids in the type that the graph's have."""
    return [id_of(graph, word) for word in words or ()]


def _table(wanted, result, output):
    """The table to write or to show a part of."""
    if wanted.kind is ALL and output is not None:
        return _whole_table(result)
    if wanted.kind is ALL:
        return _rows(result, slice(0, report.SHOWN_ROWS + 1))
    frame = result.to_frame()
    return frame.append_column("parent", _parents(result)) if wanted.parents else frame


def _rows(result, some):
    """The table of all pairs from some of the sources."""
    return replace(result, sources=result.sources[some], distances=result.distances[some]).to_frame()


def _whole_table(result):
    """The table of all pairs, made for a few sources at a time."""
    import pyarrow as pa

    few = max(BLOCK_ROWS // max(result.graph.n_vertices, 1), 1)
    parts = (_rows(result, slice(first, first + few)) for first in range(0, len(result.sources), few))
    batches = (batch for part in parts for batch in part.to_batches())
    return pa.RecordBatchReader.from_batches(_rows(result, slice(0, 0)).schema, batches)


def _parents(result):
    """Ids of the parents of the vertices that were reached; null for a source."""
    reached = arrays.move(result.distances, "cpu") != result.unreached
    parents = arrays.move(result.parents, "cpu")[reached]
    ids, none = result.graph.ids, parents < 0
    if ids is None:
        return arrow_array(parents, none)
    if isinstance(ids, np.ndarray):
        return arrow_array(ids[np.maximum(parents, 0)], none)
    return ids.take(arrow_array(parents, none))


def _path_in_words(wanted, result, word):
    (target,) = _ids(result.graph, [word])
    path = result.path_to(target)
    if not path:
        return f"{word}: no path" + ("" if wanted.cutoff is None else f" of at most {wanted.cutoff:g}")
    return f"{word}: {result.distance_to(target)} by {' -> '.join(map(str, path))}"


def _found_in_words(wanted, result):
    """The result in a few words."""
    if wanted.kind is ALL:
        height, width = result.distances.shape
        return f"{height:,} x {width:,} distances in {result.distances.dtype}"
    if wanted.kind is MEASURES:
        center = _listed(result.center)
        named = ", ".join(map(str, center[:NAMED_VERTICES])) or "none"
        more = " ..." * (len(center) > NAMED_VERTICES)
        return (
            f"diameter {result.diameter:g}, radius {result.radius:g}, center {named}{more}, "
            f"average distance {result.average_distance:.4g}"
        )
    source = wanted.sources[0] if len(result.sources) == 1 else f"{len(result.sources):,} sources"
    return (
        f"{report.counted(result.n_reached, 'vertex')} reached from {source}, "
        f"the furthest at {result.eccentricity}"
    )


def _facts(wanted, result, job):
    """The facts that other commands do not have."""
    own = {"weighted": result.weighted}
    if wanted.kind is ALL:
        own |= {"shape": list(result.distances.shape), "type": str(result.distances.dtype)}
    elif wanted.kind is MEASURES:
        for name in ("diameter", "radius", "average_distance"):
            value = getattr(result, name)
            own[name] = value if np.isfinite(value) else None
        own |= {"center": _listed(result.center), "periphery": _listed(result.periphery)}
    else:
        own |= {"sources": _ids(result.graph, wanted.sources), "reached": result.n_reached}
        own |= {"furthest": result.eccentricity.item(), "cutoff": wanted.cutoff}
        if wanted.targets:
            own["paths"] = [_path_fact(result, target) for target in _ids(result.graph, wanted.targets)]
    return own | job.facts(result)


def _listed(ids):
    return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()


def _path_fact(result, target):
    path = result.path_to(target)
    return {"to": target, "distance": result.distance_to(target).item() if path else None, "path": path}
