"""``edgewise torture``: edgewise and other libraries are asked the same; what differs is shown small."""

import pyarrow as pa
import typer

from edgewise.command import options, report
from edgewise.command.stages import seconds, stages
from edgewise.command.standard import say
from edgewise.torture import faults, run

#: Exit status if answers differ, or a planted fault is not found.
DIFFERENT = 1
HOW = options.of(
    run,
    cases={"metavar": "N", "min": 0},
    seed={"metavar": "S"},
    problem={"metavar": "NAME"},
    seconds={"metavar": "S"},
    processes={"metavar": "P", "min": 1},
)


@options.subcommand(
    "torture.md",
    "edgewise torture --cases 200",
    "edgewise torture --against networkx,scipy --problem forest --seconds 60",
    "edgewise torture --self-test",
    leave_out=("profile",),
)
def torture(
    shown: options.Shown,
    against: options.option(
        str,
        "Libraries to ask: edgewise (which is asked about related graphs, and by all methods), networkx, "
        "igraph, scipy, networkit.",
        metavar="NAME,...",
    ) = "edgewise",
    self_test: options.option(bool, "Plant faults, each of which must be found.") = False,
    how=HOW,
):
    """Ask edgewise and other libraries the same about small graphs, and show where answers differ."""
    with stages(shown.quiet or shown.json) as (stage, clock), stage("compute", "asking") as progress:

        def tell(done, total, words):
            progress(done, total, f"asking, {words}")

        if self_test:
            given = {name: how[name] for name in ("cases", "seed") if name in how}
            found = faults.self_test(**given, report=tell)
        else:
            found = run([name.strip() for name in against.split(",")], **how, report=tell)
    show = _show_faults if self_test else _show_differences
    if show(found, shown, clock):
        raise typer.Exit(DIFFERENT)


def _show_differences(found, shown, clock):
    """Print what differs; return whether anything does."""
    if shown.json:
        findings = [one._asdict() for one in found.findings]
        report.as_json({**found._asdict(), "findings": findings, "seconds": seconds(clock)})
        return bool(found.findings)
    if found.findings:
        columns = ("library", "problem", "kind", "n_cases")
        rows = [{name: getattr(one, name) for name in columns} for one in found.findings]
        report.table(pa.Table.from_pylist(rows), len(rows))
        for one in found.findings:
            say("")
            say(f"# {one.library}, {one.problem}: {one.kind} in {report.counted(one.n_cases, 'case')}")
            for line in one.reproducer.splitlines():
                say(line)
        say("")
    if not shown.quiet:
        answers = ", ".join(f"{count:,} of {name}" for name, count in found.cases.items())
        ways = report.counted(len(found.findings), "way") if found.findings else "no way"
        graphs = report.counted(found.graphs, "graph")
        say(f"{graphs}: answers differ in {ways}; compared {answers}; {report.times(clock)}")
    return bool(found.findings)


def _show_faults(found, shown, clock):
    """Print which planted faults were found; return whether one was not."""
    missed = [one for one in found if one.reproducer is None]
    if shown.json:
        report.as_json({"faults": [one._asdict() for one in found], "seconds": seconds(clock)})
        return bool(missed)
    columns = ("summary", "problem", "cases", "vertices", "edges")
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    for row, one in zip(rows, found, strict=True):
        row["found"] = "no" if one.reproducer is None else "yes"
    report.table(pa.Table.from_pylist(rows), len(rows))
    if not shown.quiet:
        say(f"{len(found) - len(missed)} of {len(found)} planted faults found; {report.times(clock)}")
    return bool(missed)
