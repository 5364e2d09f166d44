"""``edgewise cycles``: a graph in, a table of the cycles through every vertex out."""

from typing import Any, NamedTuple

import edgewise
from edgewise.command import options, report
from edgewise.command.job import Job
from edgewise.command.stages import workers_of
from edgewise.cycles import METHODS, SCHEDULES, check_length
from edgewise.cycles.schedules import parse
from edgewise.errors import OptionError

Kind = options.names_of("Kind", ("counts", "estimate", "clustering"))
COUNTS, ESTIMATE, CLUSTERING = Kind
#: Attributes of the result that the JSON object of each kind has.
FACTS = {
    COUNTS: ("length", "total", "max_count", "n_self_loops", "n_duplicates", "count_directions")
    + ("method", "schedule"),
    ESTIMATE: ("length", "total", "low", "high", "confidence", "samples", "hits", "seed"),
    CLUSTERING: ("average", "transitivity"),
}
#: Estimates from which on only two digits are shown.
SHORTENED = 1e15

Method = options.choice("Method", "How to count", METHODS)
SAMPLING = options.of(
    edgewise.estimate_cycles,
    before="With --estimate: ",
    samples={"metavar": "N", "min": 1},
    seed={"metavar": "N", "min": 0},
    confidence={},
)


class Wanted(NamedTuple):
    """What is counted, and how."""

    length: options.option(int, "Vertices of a cycle, 3 or more.", "--length", "-k", metavar="N") = None
    count_directions: options.option(bool, "Count every cycle twice, once in each direction.") = False
    estimate: options.option(bool, "Only estimate their number, by sampling.") = False
    clustering: options.option(bool, "Triangles and clustering coefficients; needs no --length.") = False
    method: Method = "auto"
    schedule: options.option(
        str, f"How vertices are dealt to the devices: {', '.join(SCHEDULES)}.", "--schedule", metavar="NAME"
    ) = "auto"
    scheduler: options.scheduler("the vertices") = None
    yes: options.option(bool, "Go on even if it should take days.", "--yes", "-y") = False

    @property
    def kind(self) -> Any:
        """What is counted."""
        return ESTIMATE if self.estimate else CLUSTERING if self.clustering else COUNTS

    @property
    def call(self) -> tuple[str, dict]:
        """Problem and options of the call, as of :meth:`Graph.estimate`; an estimate only needs the rows."""
        if self.kind is ESTIMATE:
            return "cores", {}
        return "cycles", {"length": self.length or 3, "method": str(self.method)}


@options.subcommand(
    "cycles.md",
    "edgewise cycles friends.csv --length 3",
    "edgewise cycles graph.mtx --length 8 --estimate",
    "edgewise cycles graph.mtx --clustering -o clustering.csv",
    hidden=("weight",),  # weights do not matter here; scripts that serve all subcommands may still name them
    plot="counts",
    verify="Count some vertices again by another method.",
    certificate="counts",
)
def cycles(
    graph: options.Input,
    reading,
    goals: options.Goals,
    wanted: Wanted,
    run: options.Run,
    sampling=SAMPLING,
):
    """Read a graph, count the cycles through every vertex, and write or show the table."""
    _check(wanted, sampling, goals, run)
    job = Job(
        [graph],
        goals,
        run,
        shown=not wanted.estimate,
        method=str(wanted.method),
        methods=METHODS,
        scheduler=wanted.scheduler,
    )
    if wanted.length is not None:
        check_length(wanted.length, str(wanted.method))
    with job.steps() as stage:
        read = job.read(graph, {"weight": False, **reading}, wanted.call)
        with stage("compute", f"counting on {job.where}") as progress, workers_of(job.scheduler) as client:
            result = _count(wanted, sampling, read, progress, job.places() | client)
        job.finish(result, "counting some again", result)

    def facts():
        own = {name: getattr(result, name) for name in FACTS[wanted.kind]}
        return own | {"devices": list(result.devices)} | job.workers(result)

    if run.quiet and wanted.estimate and not run.json:
        report.say(f"{result.total} {result.low} {result.high}")
    where = job.devices_in_words(result) if len(job.team) == 1 else ", ".join(result.devices)
    schedule = f", schedule {wanted.schedule}" if wanted.schedule != "auto" else ""
    how = f"{result.method if wanted.kind is COUNTS else wanted.kind}, {where}{schedule}"
    show = None if wanted.estimate else lambda: report.table(result.to_frame())
    job.close(result, facts, _in_words(wanted, result), how=how, show=show)


def _check(wanted, sampling, goals, run):
    """Refuse options that mean nothing together."""
    if wanted.estimate and wanted.clustering:
        raise OptionError("--estimate and --clustering are two jobs; give one of the two")
    if wanted.length is None and not wanted.clustering:
        raise OptionError("cycles of which length? give --length, 3 for triangles; or --clustering")
    if wanted.length is not None and wanted.length < 3:
        raise OptionError(
            f"--length {wanted.length} must be a whole number, 3 or more: a cycle has three vertices"
        )
    if wanted.clustering and wanted.length not in (None, 3):
        raise OptionError("--clustering counts triangles; leave out --length")
    parse(wanted.schedule)
    of_counts = "scheduler", "count_directions", "method", "schedule", "yes", "certificate"
    of_vertices = "verify", "plot", "devices"
    unused = {COUNTS: (), CLUSTERING: of_counts, ESTIMATE: of_counts + of_vertices}[wanted.kind]
    given = wanted._asdict() | goals._asdict() | {"devices": run.devices}
    for name in unused:
        if given[name] not in (None, False, "auto"):
            option = name.replace("_", "-")
            raise OptionError(f"--{option} has no meaning with --{wanted.kind}; leave it out")
    if sampling and not wanted.estimate:
        raise OptionError(f"--{next(iter(sampling))} is for --estimate; add that")
    if not 0 < sampling.get("confidence", 0.5) < 1:
        raise OptionError(
            f"--confidence {sampling['confidence']} must be a share between 0 and 1, such as 0.95"
        )


def _count(wanted, sampling, graph, progress, places):
    if wanted.estimate:
        return edgewise.estimate_cycles(graph.to(places["device"]), wanted.length, **sampling)
    if wanted.clustering:
        found = edgewise.clustering(graph, **places)
        found.average  # noqa: B018 -- computed in this step, not in that of the report
        return found
    how = {"method": str(wanted.method), "schedule": wanted.schedule, "force": wanted.yes}
    how |= {"count_directions": wanted.count_directions, "progress": progress}
    result = edgewise.cycle_counts(graph, wanted.length, **how, **places)
    result.total  # noqa: B018
    return result


def _in_words(wanted, result):
    """The result in a few words."""
    if wanted.clustering:
        return f"average clustering {result.average:.4g}, transitivity {result.transitivity:.4g}"
    if wanted.estimate:
        return (
            f"about {_short(result.total)} cycles of length {result.length}, {_short(result.low)} to "
            f"{_short(result.high)} with {100 * result.confidence:.4g}% confidence"
        )
    twice = ", each in both directions" if result.count_directions else ""
    numbers = ((result.n_self_loops, "self-loop"), (result.n_duplicates, "repeated edge"))
    parts = [report.counted(number, noun) for number, noun in numbers if number]
    ignored = f" ({' and '.join(parts)} ignored)" if parts else ""
    return (
        f"{report.counted(result.total, 'cycle')} of length {result.length}{twice}, "
        f"at most {result.max_count:,} through a vertex{ignored}"
    )


def _short(number):
    """``1,234`` or, for numbers of many digits, ``1.1e77``."""
    return f"{number:,.0f}" if number < SHORTENED else f"{number:.1e}".replace("e+", "e")
