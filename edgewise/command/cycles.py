"""``edgewise cycles``: a graph in, a table of the cycles through every vertex out."""

import inspect
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise.command import help_text, options, report
from edgewise.command.outputs import check_outputs, on_terminal, or_standard_output
from edgewise.command.stages import finish, stages, workers_of
from edgewise.cycles import METHODS, SCHEDULES, check_length
from edgewise.cycles.schedules import parse
from edgewise.device import threads
from edgewise.errors import GraphError, OptionError
from edgewise.files.inputs import name_of
from edgewise.method import check_device

Kind = StrEnum("Kind", {"COUNTS": "counts", "ESTIMATE": "estimate", "CLUSTERING": "clustering"})
COUNTS, ESTIMATE, CLUSTERING = Kind

EXAMPLES = (
    "edgewise cycles friends.csv --length 3",
    "edgewise cycles graph.mtx --length 8 --estimate",
    "edgewise cycles graph.mtx --clustering -o clustering.csv",
)
DOCUMENTATION = "cycles.md"
#: Attributes of the result that the JSON object of each kind has.
FACTS = {
    COUNTS: (
        "length",
        "total",
        "max_count",
        "n_self_loops",
        "n_duplicates",
        "count_directions",
        "method",
        "schedule",
    ),
    ESTIMATE: ("length", "total", "low", "high", "confidence", "samples", "hits", "seed"),
    CLUSTERING: ("average", "transitivity"),
}
#: Estimates from which on only two digits are shown.
LONG = 1e15

Method = options.choice("Method", "How to count", METHODS)
Length = Annotated[
    int | None, typer.Option("--length", "-k", metavar="N", help="Vertices of a cycle, 3 or more.")
]
Output = options.output(
    "Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal shows its "
    "head, and a pipe gets it whole."
)
To = options.format_of_output()
Plot = options.plot("counts")
Verify = Annotated[bool, typer.Option("--verify", help="Count some vertices again by another method.")]
CountDirections = Annotated[
    bool, typer.Option("--count-directions", help="Count every cycle twice, once in each direction.")
]
Estimate = Annotated[bool, typer.Option("--estimate", help="Only estimate their number, by sampling.")]
Samples = Annotated[int | None, typer.Option(metavar="N", min=1, help="With --estimate: samples to take.")]
Seed = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="With --estimate: the same seed, the same estimate.")
]
Confidence = Annotated[
    float | None, typer.Option(help="With --estimate: share of intervals that hold the number, such as 0.95.")
]
Clustering = Annotated[
    bool, typer.Option("--clustering", help="Triangles and clustering coefficients; needs no --length.")
]
Scheduler = options.scheduler("the vertices")
Schedule = Annotated[
    str,
    typer.Option(
        "--schedule",
        metavar="SCHEDULE",
        help=f"How vertices are dealt to the devices: {', '.join(SCHEDULES)}.",
    ),
]
#: Weights do not matter here; scripts that serve all subcommands may still name them.
Unseen = Annotated[str | None, typer.Option(hidden=True)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go on even if it should take days.")]


@dataclass(frozen=True)
class Wanted:
    """The options of the command line."""

    file: str
    kind: Kind
    length: int | None
    method: str
    count_directions: bool
    schedule: str
    devices: str | None
    yes: bool
    sampling: dict[str, float]
    output: str | None
    to: str | None
    json: bool
    plot: Path | None
    verify: bool
    scheduler: str | None


def add(app, name, summary):
    """Add the subcommand to ``app``."""
    parameters = inspect.signature(cycles).parameters
    weight = parameters["weight"].replace(annotation=Unseen)
    shown = {**parameters, "weight": weight}
    how = {"help": summary, "epilog": help_text.ending(EXAMPLES, DOCUMENTATION)}
    app.command(name, cls=help_text.Command, **how)(options.with_parameters(cycles, shown.values()))


@options.with_reading
def cycles(
    graph: options.Input,
    reading,
    length: Length = None,
    output: Output = None,
    to: To = None,
    plot: Plot = None,
    verify: Verify = False,
    count_directions: CountDirections = False,
    estimate: Estimate = False,
    samples: Samples = None,
    seed: Seed = None,
    confidence: Confidence = None,
    clustering: Clustering = False,
    method: Method = "auto",
    device: options.Device = None,
    devices: options.Devices = None,
    schedule: Schedule = "auto",
    scheduler: Scheduler = None,
    yes: Yes = False,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, count the cycles through every vertex, and write or show the table."""
    if estimate and clustering:
        raise OptionError("--estimate and --clustering are two jobs; give one of the two")
    kind = ESTIMATE if estimate else CLUSTERING if clustering else COUNTS
    given = {"samples": samples, "seed": seed, "confidence": confidence}
    sampling = {name: value for name, value in given.items() if value is not None}
    how = str(method), count_directions, schedule, devices, yes
    output = or_standard_output(output, to, shown=not json and kind is not ESTIMATE)
    wanted = Wanted(graph, kind, length, *how, sampling, output, to, json, plot, verify, scheduler)
    _check(wanted)
    threads.use(thread_count)
    team = options.team(device, devices) if scheduler is None else options.team("cpu", None)
    for worker in team:
        check_device(wanted.method, worker.device, METHODS)
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **{"weight": False, **reading})
        where = scheduler or devices or team[0].device
        with stage("compute", f"counting on {where}") as progress, workers_of(scheduler) as client:
            places = {"device": device if devices or scheduler else team[0].device, "devices": devices}
            result = _count(wanted, read, progress, places | client)
        finish(stage, result, "counting some again" if verify else "", output, plot, to)
    if json:
        own = {name: getattr(result, name) for name in FACTS[kind]} | {"devices": list(result.devices)}
        if scheduler is not None:
            own["workers"] = len(result.devices)
        report.as_json(report.facts(result, team, clock, own, verify, output, plot))
    else:
        _show(wanted, result, team, clock, quiet)
    if profile:
        report.profile(clock)


def _check(wanted):
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
    check_outputs(wanted.output, wanted.plot, [wanted.file], to=wanted.to, json=wanted.json)
    if wanted.length is not None:
        check_length(wanted.length, wanted.method)


def _without_meaning(wanted):
    """The options that only other kinds of counts have, and whether they were given."""
    of_counts = {
        "scheduler": wanted.scheduler is not None,
        "count-directions": wanted.count_directions,
        "method": wanted.method != "auto",
        "schedule": wanted.schedule != "auto",
        "yes": wanted.yes,
    }
    of_vertices = {"verify": wanted.verify, "plot": wanted.plot, "devices": wanted.devices}
    return {COUNTS: {}, CLUSTERING: of_counts, ESTIMATE: of_counts | of_vertices}[wanted.kind]


def _count(wanted, graph, progress, places):
    if graph.directed:
        raise GraphError(
            f"{wanted.file} is directed, and cycles are counted in undirected graphs; use --undirected to "
            "take its edges in both directions"
        )
    if wanted.kind is ESTIMATE:
        return edgewise.estimate_cycles(graph.to(places["device"]), wanted.length, **wanted.sampling)
    if wanted.kind is CLUSTERING:
        found = edgewise.clustering(graph, **places)
        found.average  # noqa: B018 -- computed in this step, not in that of the report
        return found
    options = {"method": wanted.method, "schedule": wanted.schedule, "force": wanted.yes}
    options |= {"count_directions": wanted.count_directions, "progress": progress}
    result = edgewise.cycle_counts(graph, wanted.length, **options, **places)
    result.total  # noqa: B018
    return result


def _show(wanted, result, team, clock, quiet):
    if wanted.output is None and wanted.kind is not ESTIMATE:
        report.table(result.to_frame())
    if quiet and wanted.kind is ESTIMATE:
        report.say(f"{result.total} {result.low} {result.high}")
    elif not quiet:
        where = report.device_in_words(team) if len(team) == 1 else ", ".join(result.devices)
        if wanted.scheduler is not None:
            where = report.counted(len(result.devices), "worker")
        schedule = f", schedule {wanted.schedule}" if wanted.schedule != "auto" else ""
        how = f"{result.method if wanted.kind is COUNTS else wanted.kind}, {where}{schedule}"
        report.closing_line(result, _in_words(wanted, result), how, clock, wanted.output)


def _in_words(wanted, result):
    """The result in a few words."""
    if wanted.kind is CLUSTERING:
        return f"average clustering {result.average:.4g}, transitivity {result.transitivity:.4g}"
    if wanted.kind is ESTIMATE:
        return (
            f"about {_short(result.total)} cycles of length {result.length}, {_short(result.low)} to "
            f"{_short(result.high)} with {100 * result.confidence:.4g}% confidence"
        )
    twice = ", each in both directions" if result.count_directions else ""
    return (
        f"{report.counted(result.total, 'cycle')} of length {result.length}{twice}, "
        f"at most {result.max_count:,} through a vertex{_ignored(result)}"
    )


def _short(number):
    """``1,234`` or, for numbers of many digits, ``1.1e77``."""
    return f"{number:,.0f}" if number < LONG else f"{number:.1e}".replace("e+", "e")


def _ignored(result):
    """The number of edges that were left out, in words."""
    numbers = ((result.n_self_loops, "self-loop"), (result.n_duplicates, "repeated edge"))
    parts = [report.counted(number, noun) for number, noun in numbers if number]
    return f" ({' and '.join(parts)} ignored)" if parts else ""
