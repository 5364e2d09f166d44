"""What ``edgewise cycles`` counts and tells: cycles through vertices, an estimate of all, clustering."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import edgewise
from edgewise.command import report
from edgewise.command.stages import seconds
from edgewise.cycles import cycle_counts
from edgewise.device import threads
from edgewise.errors import GraphError, OptionError

Kind = StrEnum("Kind", {"COUNTS": "counts", "ESTIMATE": "estimate", "CLUSTERING": "clustering"})
COUNTS, ESTIMATE, CLUSTERING = Kind

#: Estimates from which on only two digits are shown.
LONG = 1e15


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    file: Path
    kind: Kind
    length: int | None
    method: str
    convention: str
    schedule: str
    devices: str | None
    yes: bool
    sampling: dict[str, float]
    output: Path | None
    plot: Path | None
    verify: bool


def kind_of(estimate, clustering) -> Kind:
    """What is asked for."""
    if estimate and clustering:
        raise OptionError("--estimate and --clustering are two jobs; give one of the two")
    return ESTIMATE if estimate else CLUSTERING if clustering else COUNTS


def found(wanted, graph, where, progress):
    """Count in the graph that was read, on the devices that were asked for."""
    if graph.directed:
        raise GraphError(
            f"{wanted.file} is directed, and cycles are counted in undirected graphs; use --undirected to "
            "take its edges in both directions"
        )
    if wanted.kind is CLUSTERING:
        result = edgewise.clustering(graph.to(where))
        result.average  # noqa: B018 -- found here, so that telling is only telling
        return result
    if wanted.kind is ESTIMATE:
        return edgewise.estimate_cycles(graph.to(where), wanted.length, **wanted.sampling)
    result = cycle_counts(
        graph,
        wanted.length,
        method=wanted.method,
        convention=wanted.convention,
        schedule=wanted.schedule,
        force=wanted.yes,
        progress=progress,
        **({"device": where} if wanted.devices is None else {"devices": wanted.devices}),
    )
    result.total  # noqa: B018
    return result


def tell(wanted, result, team, clock, *, json, quiet):
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
    twice = ", each in both directions" if wanted.convention == "closed-walks" else ""
    return (
        f"{report.counted(result.total, 'cycle')} of length {result.length}{twice}, at most {result.most:,} "
        f"through a vertex{_ignored(result)}"
    )


def _short(number):
    """``1,234`` or, where nobody would read all digits, ``1.1e77``."""
    return f"{number:,.0f}" if number < LONG else f"{number:.1e}".replace("e+", "e")


def _ignored(result):
    """What was left out of the graph, in words."""
    parts = [
        report.counted(number, noun)
        for number, noun in ((result.loops, "self-loop"), (result.repeats, "repeated edge"))
        if number
    ]
    return f" ({' and '.join(parts)} ignored)" if parts else ""


def _how(wanted, result, team):
    where = ", ".join(getattr(result, "devices", ()) or team.names)
    if len(team) == 1:
        device = team[0].device
        where = report.counted(threads.count(), "thread") + " of the CPU" if device == "cpu" else device
    method = getattr(result, "method", wanted.kind)
    return f"{method}, {where}" + (f", schedule {wanted.schedule}" if wanted.schedule != "auto" else "")


def _facts(wanted, result, team, clock):
    graph = result.graph
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        **_facts_of(wanted, result),
        "devices": list(getattr(result, "devices", ()) or team.names),
        "threads": threads.count() if "cpu" in team.devices else None,
        "verified": wanted.verify,
        "seconds": seconds(clock),
        "output": None if wanted.output is None else str(wanted.output),
        "plot": None if wanted.plot is None else str(wanted.plot),
        "version": edgewise.__version__,
    }


def _facts_of(wanted, result):
    """What is told of this kind of count and of no other."""
    if wanted.kind is CLUSTERING:
        return {"average": result.average, "transitivity": result.transitivity}
    if wanted.kind is ESTIMATE:
        names = ("length", "total", "low", "high", "confidence", "samples", "hits", "seed")
        return {name: getattr(result, name) for name in names}
    names = ("length", "total", "most", "loops", "repeats", "convention", "method", "schedule")
    return {name: getattr(result, name) for name in names}
