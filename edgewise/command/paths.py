"""``edgewise paths``: a graph in, distances and shortest paths out."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import isnan
from typing import Annotated

import numpy as np
import typer

import edgewise
from edgewise.command import keyboard, options, report
from edgewise.command.clusters import id_of
from edgewise.command.outputs import check_outputs, check_writable, on_terminal, or_standard_output
from edgewise.command.stages import finish, stages, workers_of
from edgewise.device import arrays, threads
from edgewise.errors import GraphError, OptionError
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.inputs import name_of
from edgewise.ingest.arrow import arrow_array
from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
from edgewise.paths.apsp import all_pairs_shortest_paths
from edgewise.paths.apsp.output import check_path
from edgewise.paths.bfs import METHODS as OF_EDGES
from edgewise.paths.bfs import bfs as breadth_first_search
from edgewise.paths.measures import distance_measures
from edgewise.paths.sssp import METHODS as OF_WEIGHTS
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import spread_in

Kind = StrEnum("Kind", {"ONE": "source", "ALL": "all-pairs", "MEASURES": "measures"})
ONE, ALL, MEASURES = Kind
#: Rows of the table of all pairs that are made at a time.
ROWS = 1 << 20
#: Vertices of a center that the closing line names.
MOST_NAMED = 5

EXAMPLES = (
    "edgewise paths roads.gr --source 1 --to 25",
    "edgewise paths friends.csv --source ann --bfs -o distances.csv",
    "edgewise paths roads.gr --all-pairs -o distances.npy",
)
DOCUMENTATION = "paths.md"

HELP = "How to compute; each search has its own methods"
Method = options.choice("Method", HELP, OF_WEIGHTS, OF_EDGES, OF_ALL_PAIRS)
Source = Annotated[list[str] | None, typer.Option(metavar="ID", help="Vertex to start from, or several.")]
To = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Vertex to show the path to; may be repeated.")
]
Cutoff = Annotated[float | None, typer.Option(metavar="X", min=0, help="Largest distance that counts.")]
Bfs = Annotated[bool, typer.Option("--bfs", help="Ignore the weights: distances are numbers of edges.")]
AllPairs = Annotated[
    bool, typer.Option("--all-pairs", help="Distances from every vertex, or every --source, to every vertex.")
]
Measures = Annotated[
    bool,
    typer.Option("--measures", help="Eccentricities, diameter, radius and centralities of all vertices."),
]
Parents = Annotated[bool, typer.Option("--parents", help="Show the vertex before each on a shortest path.")]
Scheduler = options.scheduler("the sources of --all-pairs or --measures")
Output = options.output(
    "Table to write (Parquet, CSV, Arrow, JSON Lines), - is standard output; with --all-pairs a matrix "
    "(.npy or .zarr), which a repeated run continues after an interrupt. Otherwise a terminal shows the head "
    "of the table, and a pipe gets it whole."
)
OutputFormat = options.format_of_output("--output-format")
Verify = options.verify("distances", "graph")
Dtype = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE", help="Type of the distances, if not the weights': int32, int64, float32, float64."
    ),
]


@dataclass(frozen=True)
class Wanted:
    """The options of the command line."""

    file: str
    kind: Kind
    sources: list[str]
    targets: list[str]
    cutoff: float | None
    bfs: bool
    parents: bool
    method: str
    dtype: str | None
    devices: str | None
    output: str | None
    output_format: str | None
    json: bool
    verify: bool
    scheduler: str | None

    @property
    def matrix(self) -> str | None:
        """File for the matrix of all pairs."""
        return self.output if self.kind is ALL and self.output != "-" else None


@options.with_reading
def paths(
    graph: options.Input,
    reading,
    source: Source = None,
    to: To = None,
    cutoff: Cutoff = None,
    bfs: Bfs = False,
    all_pairs: AllPairs = False,
    measures: Measures = False,
    parents: Parents = False,
    output: Output = None,
    output_format: OutputFormat = None,
    verify: Verify = False,
    method: Method = "auto",
    dtype: Dtype = None,
    device: options.Device = None,
    devices: options.Devices = None,
    scheduler: Scheduler = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, search it, and write or show the distances."""
    kind = ALL if all_pairs else MEASURES if measures else ONE
    output = or_standard_output(output, output_format, shown=not json and not to)
    asked = graph, kind, source or [], to or [], cutoff, bfs, parents, str(method), dtype, devices
    wanted = Wanted(*asked, output, output_format, json, verify, scheduler)
    _check(wanted, measures)
    threads.use(thread_count)
    if device is None and devices is not None and kind is not ALL:
        raise OptionError("--devices is for --all-pairs; use --device")
    team = options.team(device, devices) if scheduler is None else options.team("cpu", None)
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
        where = scheduler or devices or team[0].device
        with stage("compute", f"searching on {where}") as progress, workers_of(scheduler) as client:
            places = {"device": device if devices or scheduler else team[0].device} | client
            result = _searched(wanted, read, places, progress)
        finish(stage, result, "checking every edge" if verify else "")
        table = None if json and output is None else _table(wanted, result)
        finish(stage, table, output=None if wanted.matrix else output, to=output_format)
    if json:
        report.as_json(report.facts(result, team, clock, _facts(wanted, result, team), verify, output))
    else:
        _show(wanted, result, table, team, clock, quiet)
    if profile:
        report.profile(clock)


def _check(wanted, measures):
    kind = wanted.kind
    methods = OF_ALL_PAIRS if kind is not ONE else OF_EDGES if wanted.bfs else OF_WEIGHTS
    if kind is ONE and not wanted.sources:
        raise OptionError("search from where? give --source ID; or --all-pairs or --measures")
    if kind is ONE and wanted.scheduler is not None:
        raise OptionError("--scheduler is for --all-pairs and --measures; leave it out")
    if kind is ALL and measures:
        raise OptionError("--all-pairs and --measures are two jobs; give one of the two")
    if kind is MEASURES and (wanted.sources or wanted.verify):
        raise OptionError(
            f"--{'source' if wanted.sources else 'verify'} means nothing with --measures; leave it out"
        )
    if kind is not ONE:
        given = {"to": wanted.targets, "cutoff": wanted.cutoff is not None, "parents": wanted.parents}
        for option in (name for name, value in given.items() if value):
            raise OptionError(f"--{option} is for a search from --source alone; leave out --{kind}")
    if wanted.cutoff is not None and isnan(wanted.cutoff):
        raise OptionError("--cutoff nan is no distance; give a number, 0 or more")
    if kind is ONE and wanted.bfs and wanted.dtype:
        raise OptionError("--dtype means nothing with --bfs, whose distances are int32; leave it out")
    if wanted.method not in ("auto", *methods):
        raise OptionError(
            f"method {wanted.method} is of another search; use auto or one of {', '.join(methods)}"
        )
    if wanted.targets and wanted.output is not None and goes_to_standard_output(wanted.output):
        raise OptionError(f"--to and -o {wanted.output} both need standard output; give one of the two")
    if wanted.matrix is None:
        check_outputs(wanted.output, None, [wanted.file], to=wanted.output_format, json=wanted.json)
    else:
        matrix = check_path(wanted.matrix)
        renewed = matrix.suffix == ".zarr" and matrix.is_dir()
        if not renewed:
            check_writable(matrix, [wanted.file])


def _searched(wanted, graph, where, progress):
    if wanted.kind is ONE:
        return _from_sources(wanted, graph.to(where["device"]))
    if wanted.bfs:
        graph = graph.without_weights()
    if wanted.kind is MEASURES:
        return distance_measures(graph, method=wanted.method, dtype=wanted.dtype, progress=progress, **where)
    return _all_pairs(wanted, graph, where, progress)


def _from_sources(wanted, graph):
    sources, cutoff = _ids(graph, wanted.sources), wanted.cutoff
    targets = _ids(graph, wanted.targets)
    graph.vertices_of(targets)  # an unknown one is named before the search
    if wanted.bfs:
        if cutoff is not None:
            cutoff = int(min(cutoff, 2**31))
        return breadth_first_search(graph, sources, cutoff=cutoff, method=wanted.method)
    if graph.csr_weights is None:
        raise GraphError(
            f"{wanted.file} has no weights; count edges with --bfs, or name their column with --weight"
        )
    ends = targets if targets and spread_in(graph).least >= 0 else None  # else nothing ends a search early
    return shortest_paths(
        graph, sources, targets=ends, cutoff=cutoff, method=wanted.method, dtype=wanted.dtype
    )


def _all_pairs(wanted, graph, where, progress):
    """All pairs; at Ctrl-C say what is kept."""
    so_far: list[int] = []

    def note(done, blocks):
        so_far[:] = done, blocks
        progress(done, blocks)

    def kept():
        if wanted.matrix is None or not so_far:
            return None
        done, blocks = so_far
        return f"{done:,} of {blocks:,} blocks of {wanted.output} are kept; repeat the command to continue"

    with keyboard.remark(kept):
        return all_pairs_shortest_paths(
            graph,
            sources=_ids(graph, wanted.sources) or None,
            method=wanted.method,
            dtype=wanted.dtype,
            output=wanted.matrix,
            progress=note,
            devices=wanted.devices,
            **where,
        )


def _ids(graph, words):
    """Ids in the type that the graph's have."""
    return [id_of(graph, word) for word in words]


def _table(wanted, result):
    """The table to write or to show a part of."""
    if wanted.kind is ALL and wanted.output is not None:
        return None if wanted.matrix else _whole_table(result)
    if wanted.kind is ALL:
        few = slice(0, report.SHOWN_ROWS + 1)
        return replace(result, sources=result.sources[few], distances=result.distances[few]).to_frame()
    frame = result.to_frame()
    return frame.append_column("parent", _parents(result)) if wanted.parents else frame


def _whole_table(result):
    """The table of all pairs, made for a few sources at a time."""
    import pyarrow as pa

    def part(first):
        some = slice(first, first + few)
        part = replace(result, sources=result.sources[some], distances=result.distances[some])
        return part.to_frame().to_batches()

    few = max(ROWS // max(result.graph.n_vertices, 1), 1)
    batches = (batch for first in range(0, len(result.sources), few) for batch in part(first))
    empty = replace(result, sources=result.sources[:0], distances=result.distances[:0]).to_frame()
    return pa.RecordBatchReader.from_batches(empty.schema, batches)


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


def _show(wanted, result, table, team, clock, quiet):
    for target in wanted.targets:
        report.say(_path_in_words(wanted, result, target))
    if wanted.output is None and not wanted.targets:
        report.table(table)
        if wanted.kind is ALL and len(result.sources) > report.SHOWN_ROWS + 1:
            report.say(f"... and rows of {len(result.sources) - report.SHOWN_ROWS - 1:,} more sources")
    if not quiet:
        device = report.device_in_words(team)
        if wanted.scheduler is not None:
            device = report.counted(len(result.devices), "worker")
        how = f"{result.method}, {device}"
        report.closing_line(result, _found_in_words(wanted, result), how, clock, wanted.output)


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
        named = ", ".join(map(str, center[:MOST_NAMED])) + (" ..." if len(center) > MOST_NAMED else "")
        return (
            f"diameter {result.diameter:g}, radius {result.radius:g}, center {named or 'none'}, "
            f"average distance {result.average_distance:.4g}"
        )
    source = wanted.sources[0] if len(result.sources) == 1 else f"{len(result.sources):,} sources"
    return (
        f"{report.counted(result.n_reached, 'vertex')} reached from {source}, "
        f"the furthest at {result.eccentricity}"
    )


def _facts(wanted, result, team):
    """The facts that other commands do not have."""
    common = {"method": result.method, **report.devices(result, team)}
    if wanted.scheduler is not None:
        common["workers"] = len(result.devices)
    own = {"weighted": result.weighted}
    if wanted.kind is ALL:
        return own | {"shape": list(result.distances.shape), "type": str(result.distances.dtype)} | common
    if wanted.kind is MEASURES:
        for name in ("diameter", "radius", "average_distance"):
            value = getattr(result, name)
            own[name] = value if np.isfinite(value) else None
        return own | {"center": _listed(result.center), "periphery": _listed(result.periphery)} | common
    own |= {"sources": _ids(result.graph, wanted.sources), "reached": result.n_reached}
    own |= {"furthest": result.eccentricity.item(), "cutoff": wanted.cutoff}
    if wanted.targets:
        own["paths"] = [_path_fact(result, target) for target in _ids(result.graph, wanted.targets)]
    return own | common


def _listed(ids):
    return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()


def _path_fact(result, target):
    path = result.path_to(target)
    return {"to": target, "distance": result.distance_to(target).item() if path else None, "path": path}
