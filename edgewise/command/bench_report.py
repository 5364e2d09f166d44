"""``edgewise bench report``: the experiments of all publications as one page."""

from typing import Annotated

import typer

from edgewise import experiments
from edgewise.command import report
from edgewise.command.bench_outputs import Output, check_output, write
from edgewise.command.stages import stages
from edgewise.errors import OptionError, one_of

NAME = "report"
HELP = "The experiments of all publications, scaled to this machine, as one HTML page."
EXAMPLES = (
    "edgewise bench report -o report.html",
    "edgewise bench report --size tiny --presets baltzakis,cs406 -o report.html",
)


def measured(
    output: Output,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(experiments.SIZES), help="Size of the graphs: paper on GPUs, else small."
        ),
    ] = None,
    presets: Annotated[
        str, typer.Option(metavar="NAME,...", help="Only these publications; by default all.")
    ] = "",
    devices: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Devices, such as cuda:0,cuda:1; measured on 1, 2, ... of them."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Timed runs; their median is shown.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no closing line.")] = False,
):
    """Run all experiments and write one page."""
    if output is None:
        raise OptionError("name the page to write, such as -o report.html")
    check_output(output)
    names = [name.strip() for name in presets.split(",") if name.strip()] or list(experiments.PRESETS)
    for name in names:
        if name not in experiments.PRESETS:
            raise OptionError(f"preset {name!r} is unknown; {one_of(name, experiments.PRESETS)}")
    with stages(quiet) as (stage, clock):
        reports = []
        for name in names:
            with stage("measure", f"running {name}") as progress:
                reports.append(
                    experiments.run(
                        name,
                        size=size,
                        devices=devices,
                        runs=runs,
                        report=lambda words, name=name: progress(0, None, f"{name}: {words}"),
                    )
                )
        write(reports, output, stage)
    if not quiet:
        tables = report.counted(sum(len(found.tables) for found in reports), "table")
        report.say(f"{report.counted(len(reports), 'preset')}, {tables}; {report.times(clock)} -> {output}")
