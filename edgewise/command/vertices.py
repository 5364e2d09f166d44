"""What ``edgewise cores`` and ``edgewise strong`` share: a graph in, a table with a row per vertex out."""

from pathlib import Path
from typing import Any, NamedTuple

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_outputs, on_terminal, or_standard_output
from edgewise.command.stages import finish, stages
from edgewise.device import threads
from edgewise.files.inputs import name_of
from edgewise.method import check_device

Output = options.output(
    "Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal shows its "
    "head, and a pipe gets it whole."
)


class Wanted(NamedTuple):
    """The options of the command line."""

    file: str
    output: str | None
    to: str | None
    plot: Path | None
    verify: bool
    method: str
    device: str | None
    thread_count: int | None
    profile: bool
    json: bool
    quiet: bool


class Problem(NamedTuple):
    """What is computed.

    ``solve(graph, method=, device=)`` is the public function, and ``methods`` its table.
    ``check(graph, name)`` may refuse the graph of a file.  ``in_words(result)`` and ``facts(result)`` are for
    the closing line and for the JSON object.
    """

    solve: Any
    methods: Any
    check: Any
    in_words: Any
    facts: Any


def run(problem, wanted, reading):
    """Read a graph without its weights, solve the problem, and write or show the table."""
    output = or_standard_output(wanted.output, wanted.to, shown=not wanted.json)
    check_outputs(output, wanted.plot, [wanted.file], to=wanted.to, json=wanted.json)
    threads.use(wanted.thread_count)
    team = options.team(wanted.device, None)
    check_device(wanted.method, team[0].device, problem.methods)
    silent = wanted.quiet or wanted.json
    with stages(silent or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(wanted.file)}") as progress:
            graph = edgewise.read(wanted.file, progress=progress, **{"weight": False, **reading})
            problem.check(graph, name_of(wanted.file))
        with stage("compute", f"computing on {team[0].device}"):
            result = problem.solve(graph, method=wanted.method, device=team[0].device)
        finish(
            stage, result, "checking every vertex" if wanted.verify else "", output, wanted.plot, wanted.to
        )
    if wanted.json:
        own = {**problem.facts(result), "method": result.method, **report.devices(result, team)}
        facts = report.facts(result, team, clock, own, wanted.verify, output, wanted.plot)
        report.as_json(facts)
    elif output is None:
        report.table(result.to_frame())
    if not silent:
        how = f"{result.method}, {report.device_in_words(team)}"
        report.closing_line(result, problem.in_words(result), how, clock, output)
    if wanted.profile:
        report.profile(clock)
