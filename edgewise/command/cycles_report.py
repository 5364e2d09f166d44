"""Counts of ``edgewise cycles`` and their report: cycles through vertices, estimates, clustering."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import edgewise
from edgewise.command import report
from edgewise.command.stages import seconds
from edgewise.device import threads
from edgewise.errors import GraphError, OptionError

Kind = StrEnum("Kind", {"COUNTS": "counts", "ESTIMATE": "estimate", "CLUSTERING": "clustering"})
COUNTS, ESTIMATE, CLUSTERING = Kind

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


@dataclass(frozen=True)
class Wanted:
    """The options of the command line."""

    file: Path
    kind: Kind
    length: int | None
    method: str
    count_directions: bool
    schedule: str
    devices: str | None
    yes: bool
    sampling: dict[str, float]
    output: Path | None
    plot: Path | None
    verify: bool


def kind_of(estimate, clustering) -> Kind:
    """What is to be counted."""
    if estimate and clustering:
        raise OptionError("--estimate and --clustering are two jobs; give one of the two")
    return ESTIMATE if estimate else CLUSTERING if clustering else COUNTS


def count(wanted, graph, progress, device):
    """Count in the graph that was read, on the requested devices."""
    if graph.directed:
        raise GraphError(
            f"{wanted.file} is directed, and cycles are counted in undirected graphs; use --undirected to "
            "take its edges in both directions"
        )
    if wanted.kind is ESTIMATE:
        return edgewise.estimate_cycles(graph.to(device), wanted.length, **wanted.sampling)
    team = {"device": device} if wanted.devices is None else {"devices": wanted.devices}
    if wanted.kind is CLUSTERING:
        result = edgewise.clustering(graph, **team)
        result.average  # noqa: B018 -- computed in this step, not in that of the report
        return result
    options = {"method": wanted.method, "schedule": wanted.schedule, "force": wanted.yes}
    options |= {"count_directions": wanted.count_directions, "progress": progress}
    result = edgewise.cycle_counts(graph, wanted.length, **options, **team)
    result.total  # noqa: B018
    return result


def show(wanted, result, team, clock, *, json, quiet):
    """Print the head of the table and a closing line, or one JSON object."""
    if json:
        report.as_json(_facts(wanted, result, team, clock))
        return
    if wanted.output is None and wanted.kind is not ESTIMATE:
        report.table(result.to_frame())
    if quiet and wanted.kind is ESTIMATE:
        print(result.total, result.low, result.high)
    elif not quiet:
        print(
            f"{report.graph_in_words(result.graph)}: {_in_words(wanted, result)}; {report.times(clock)} "
            f"({_how(wanted, result, team)})" + (f" -> {wanted.output}" if wanted.output else "")
        )


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


def _how(wanted, result, team):
    where = report.device_in_words(team) if len(team) == 1 else ", ".join(result.devices)
    schedule = f", schedule {wanted.schedule}" if wanted.schedule != "auto" else ""
    return f"{result.method if wanted.kind is COUNTS else wanted.kind}, {where}{schedule}"


def _facts(wanted, result, team, clock):
    return {
        "vertices": result.graph.n_vertices,
        "edges": result.graph.n_edges,
        **{name: getattr(result, name) for name in FACTS[wanted.kind]},
        "devices": list(result.devices),
        "threads": threads.count() if "cpu" in team.devices else None,
        "verified": wanted.verify,
        "seconds": seconds(clock),
        "output": None if wanted.output is None else str(wanted.output),
        "plot": None if wanted.plot is None else str(wanted.plot),
        "version": edgewise.__version__,
    }
