"""``edgewise paths``: a graph in, distances and shortest paths out."""

from enum import StrEnum
from math import isnan
from typing import Annotated

import typer

import edgewise
from edgewise.command import options, paths_report, report
from edgewise.command.outputs import check_output, check_writable
from edgewise.command.paths_report import ALL, MEASURES, ONE, Wanted
from edgewise.command.stages import stages
from edgewise.device import threads
from edgewise.errors import OptionError
from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
from edgewise.paths.apsp.output import check_path
from edgewise.paths.bfs import METHODS as OF_EDGES
from edgewise.paths.sssp import METHODS as OF_WEIGHTS

Method = StrEnum(
    "Method", {name: name for name in dict.fromkeys(("auto", *OF_WEIGHTS, *OF_EDGES, *OF_ALL_PAIRS))}
)
HOW = options.how("How to compute; each search has its own methods.", OF_WEIGHTS, OF_EDGES, OF_ALL_PAIRS)

Source = Annotated[list[str] | None, typer.Option(metavar="ID", help="Vertex to start from, or several.")]
To = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Vertex to show the path to; may be repeated.")
]
Cutoff = Annotated[float | None, typer.Option(min=0, help="Largest distance that counts.")]
Bfs = Annotated[bool, typer.Option("--bfs", help="Ignore the weights: distances are numbers of edges.")]
AllPairs = Annotated[
    bool, typer.Option("--all-pairs", help="Distances from every vertex, or every --source, to every vertex.")
]
Measures = Annotated[
    bool,
    typer.Option("--measures", help="Eccentricities, diameter, radius and centralities of all vertices."),
]
Parents = Annotated[bool, typer.Option("--parents", help="Show the vertex before each on a shortest path.")]
Output = options.output(
    "Table to write (Parquet, CSV or Arrow); with --all-pairs a matrix (.npy or .zarr), which a repeated "
    "run continues after an interrupt. Shown in part if left out."
)
Verify = options.verify("distances", "graph")
Dtype = Annotated[
    str | None,
    typer.Option(metavar="int32|int64|float32|float64", help="Type of the distances, if not the weights'."),
]


def add(app, name, summary):
    """Put the subcommand into ``app``."""
    app.command(name, help=summary)(paths)


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
    verify: Verify = False,
    method: Annotated[Method, typer.Option(help=HOW)] = Method.auto,
    dtype: Dtype = None,
    device: options.Device = None,
    devices: options.Devices = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, search it, and write or show the distances."""
    kind = ALL if all_pairs else MEASURES if measures else ONE
    wanted = Wanted(
        graph,
        kind,
        source or [],
        to or [],
        cutoff,
        bfs,
        parents,
        method.value,
        dtype,
        devices,
        output,
        verify,
    )
    _check(wanted, measures)
    threads.use(thread_count)
    team = _team(device, wanted)
    with stages(quiet or json, team.synchronize) as (stage, clock):
        with stage("read", f"reading {graph}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
        with stage("compute", f"searching on {devices or team[0].device}") as progress:
            result = paths_report.searched(wanted, read, team[0].device, progress)
        if verify:
            with stage("verify", "checking every edge"):
                result.verify()
        table = None if json and output is None else paths_report.table(wanted, result)
        if output is not None and kind is not ALL:
            with stage("write", f"writing {output}"):
                edgewise.write(table, output)
    paths_report.tell(wanted, result, table, team, clock, json=json, quiet=quiet)
    if profile:
        report.profile(clock)


def _check(wanted, measures):
    """Raise :class:`~edgewise.errors.OptionError` where options do not go together."""
    kind, found = wanted.kind, _methods(wanted)
    if kind is ONE and not wanted.sources:
        raise OptionError("search from where? give --source ID; or --all-pairs or --measures")
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
    if wanted.method not in ("auto", *found):
        raise OptionError(
            f"method {wanted.method} is of another search; use auto or one of {', '.join(found)}"
        )
    if wanted.output is not None:
        _check_output(wanted)


def _methods(wanted):
    if wanted.kind is not ONE:
        return OF_ALL_PAIRS
    return OF_EDGES if wanted.bfs else OF_WEIGHTS


def _check_output(wanted):
    if wanted.kind is not ALL:
        check_output(wanted.output, sources=[wanted.file], table=True)
    elif not (check_path(wanted.output).suffix == ".zarr" and wanted.output.is_dir()):  # one to write anew
        check_writable(wanted.output, [wanted.file])


def _team(device, wanted):
    """The requested devices."""
    if device is None and wanted.devices is not None and wanted.kind is not ALL:
        raise OptionError("--devices is for --all-pairs; use --device")
    return options.team(device, wanted.devices)
