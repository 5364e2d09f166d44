"""``edgewise cycles``: a graph in, a table of the cycles through every vertex out."""

import inspect
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import plots
from edgewise.command import cycles_report, options, report
from edgewise.command.cycles_report import CLUSTERING, COUNTS, ESTIMATE, Wanted
from edgewise.command.outputs import check_output, check_writable
from edgewise.command.stages import stages
from edgewise.cycles import METHODS, SCHEDULES, check_length
from edgewise.cycles.planning import parse
from edgewise.device import threads
from edgewise.errors import OptionError
from edgewise.method import check_device

Method = StrEnum("Method", {name: name for name in ("auto", *METHODS)})

Length = Annotated[int | None, typer.Option("--length", "-k", help="Vertices of a cycle, 3 or more.")]
Output = options.output("Table to write (Parquet, CSV or Arrow); its head is shown if left out.")
Plot = Annotated[Path | None, typer.Option(help="Picture of the counts to draw (.png, .svg, .pdf).")]
Verify = Annotated[bool, typer.Option("--verify", help="Count some vertices again by another method.")]
CountDirections = Annotated[
    bool, typer.Option("--count-directions", help="Count every cycle twice, once in each direction.")
]
Estimate = Annotated[bool, typer.Option("--estimate", help="Only estimate their number, by sampling.")]
Samples = Annotated[int | None, typer.Option(min=1, help="With --estimate: samples to take.")]
Seed = Annotated[int | None, typer.Option(min=0, help="With --estimate: the same seed, the same estimate.")]
Confidence = Annotated[
    float | None, typer.Option(help="With --estimate: share of intervals that hold the number, such as 0.95.")
]
Clustering = Annotated[
    bool, typer.Option("--clustering", help="Triangles and clustering coefficients; needs no --length.")
]
Schedule = Annotated[
    str, typer.Option(metavar="|".join(SCHEDULES), help="How vertices are dealt to the devices.")
]
#: Weights do not matter here; scripts that serve all subcommands may still name them.
Unseen = Annotated[str | None, typer.Option(hidden=True)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go on even if it should take days.")]


def add(app, name, summary):
    """Add the subcommand to ``app``."""
    parameters = inspect.signature(cycles).parameters
    weight = parameters["weight"].replace(annotation=Unseen)
    shown = {**parameters, "weight": weight}
    app.command(name, help=summary)(options.with_parameters(cycles, shown.values()))


@options.with_reading
def cycles(
    graph: options.Input,
    reading,
    length: Length = None,
    output: Output = None,
    plot: Plot = None,
    verify: Verify = False,
    count_directions: CountDirections = False,
    estimate: Estimate = False,
    samples: Samples = None,
    seed: Seed = None,
    confidence: Confidence = None,
    clustering: Clustering = False,
    method: Annotated[Method, typer.Option(help=options.how("How to count.", METHODS))] = Method.auto,
    device: options.Device = None,
    devices: options.Devices = None,
    schedule: Schedule = "auto",
    yes: Yes = False,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, count the cycles through every vertex, and write or show the table."""
    kind = cycles_report.kind_of(estimate, clustering)
    given = {"samples": samples, "seed": seed, "confidence": confidence}
    sampling = {name: value for name, value in given.items() if value is not None}
    how = method.value, count_directions, schedule, devices, yes
    wanted = Wanted(graph, kind, length, *how, sampling, output, plot, verify)
    _check(wanted)
    threads.use(thread_count)
    team = options.team(device, devices)
    _check_method(wanted, team)
    with stages(quiet or json, team.synchronize) as (stage, clock):
        with stage("read", f"reading {graph}") as progress:
            read = edgewise.read(graph, progress=progress, **{"weight": False, **reading})
        with stage("compute", f"counting on {devices or team[0].device}") as progress:
            result = cycles_report.count(wanted, read, progress, device=team[0].device)
        if verify:
            with stage("verify", "counting some again"):
                result.verify()
        if output is not None:
            with stage("write", f"writing {output}"):
                edgewise.write(result, output)
        if plot is not None:
            with stage("plot", f"drawing {plot}"):
                result.plot(plot)
    cycles_report.show(wanted, result, team, clock, json=json, quiet=quiet)
    if profile:
        report.profile(clock)


def _check(wanted):
    """Raise :class:`~edgewise.errors.OptionError` where options do not go together."""
    if wanted.length is None and wanted.kind is not CLUSTERING:
        raise OptionError("cycles of which length? give --length, 3 for triangles; or --clustering")
    if wanted.length is not None and wanted.length < 3:
        raise OptionError(
            f"--length {wanted.length} must be a whole number, 3 or more: a cycle has three vertices"
        )
    if wanted.kind is CLUSTERING and wanted.length not in (None, 3):
        raise OptionError("--clustering counts triangles; leave out --length")
    parse(wanted.schedule)
    for option, value in _without_meaning(wanted).items():
        if value:
            raise OptionError(f"--{option} has no meaning with --{wanted.kind}; leave it out")
    if wanted.sampling and wanted.kind is not ESTIMATE:
        raise OptionError(f"--{next(iter(wanted.sampling))} is for --estimate; add that")
    if not 0 < wanted.sampling.get("confidence", 0.5) < 1:
        raise OptionError(
            f"--confidence {wanted.sampling['confidence']} must be a share between 0 and 1, such as 0.95"
        )
    if wanted.output is not None:
        check_output(wanted.output, sources=[wanted.file], table=True)
    if wanted.plot is not None:
        plots.check(wanted.plot)
        check_writable(wanted.plot, [wanted.file])


def _without_meaning(wanted):
    """The options that only other kinds of counts have, and whether they were given."""
    of_counts = {
        "count-directions": wanted.count_directions,
        "method": wanted.method != "auto",
        "schedule": wanted.schedule != "auto",
        "yes": wanted.yes,
    }
    of_vertices = {"verify": wanted.verify, "plot": wanted.plot, "devices": wanted.devices}
    return {COUNTS: {}, CLUSTERING: of_counts, ESTIMATE: of_counts | of_vertices}[wanted.kind]


def _check_method(wanted, team):
    """Raise :class:`~edgewise.errors.OptionError` where the method cannot do the length, or not there."""
    if wanted.length is not None:
        check_length(wanted.length, wanted.method)
    for worker in team:
        check_device(wanted.method, worker.device, METHODS)
