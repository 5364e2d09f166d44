"""``edgewise bench``: published experiments on this machine, and every method on a graph of one's own."""

import inspect
import os
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from edgewise import experiments
from edgewise.command import bench_graph, bench_report, help_text, options, report
from edgewise.command.bench_outputs import Output, as_dict, check_output, write
from edgewise.command.stages import seconds, stages

Size = StrEnum("Size", {name: name for name in experiments.SIZES})

#: Problems with published experiments, and their help.
ROOMS = {
    "components": "Published experiments on connected components.",
    "paths": "Published experiments on shortest paths.",
    "cycles": "Published experiments on cycles through vertices.",
    "forest": "Published experiments on spanning forests.",
    "transactions": "Published experiments on transactional memory.",
}
EXAMPLES = {
    "components": (
        "edgewise bench components --preset hellas-2018 --size tiny",
        "edgewise bench components --preset baltzakis --devices cpu:0,cpu:1 -o results",
    ),
    "paths": (
        "edgewise bench paths --preset harish --size tiny",
        "edgewise bench paths --preset harish --only degree --runs 3 -o results",
    ),
    "cycles": (
        "edgewise bench cycles --preset cs406 --size tiny",
        "edgewise bench cycles --preset cs406 --runs 3 -o results",
    ),
    "forest": (
        "edgewise bench forest --preset ecl-mst --size tiny",
        "edgewise bench forest --preset ecl-mst --runs 3 -o results",
    ),
    "transactions": (
        "edgewise bench transactions --preset manoochehri-2017 --size tiny",
        "edgewise bench transactions --preset manoochehri-2017 --only protocols -o results",
    ),
}
DOCUMENTATION = "experiments.md"


class Rooms(help_text.Group):
    """The subcommands, among which that of a graph may be left out before the name of a file."""

    def resolve_command(self, ctx, args):
        """Take ``bench pairs.parquet`` for ``bench graph pairs.parquet``."""
        if args[0] not in self.commands and (os.path.exists(args[0]) or "." in args[0] or "/" in args[0]):
            args = [bench_graph.NAME, *args]
        return super().resolve_command(ctx, args)


def add(app, name, summary):
    """Put the subcommand, with one subcommand a room, into ``app``."""
    first = [bench_graph.EXAMPLES[0], *(examples[0] for examples in EXAMPLES.values())]
    rooms = typer.Typer(cls=Rooms, epilog=help_text.ending(first, DOCUMENTATION), suggest_commands=False)
    rooms.callback()(lambda: None)  # a group, even with one subcommand
    for room, about in ROOMS.items():
        how = {"help": about, "epilog": help_text.ending(EXAMPLES[room], DOCUMENTATION)}
        rooms.command(room, cls=help_text.Command, **how)(_of_room(room))
    for own in (bench_graph, bench_report):
        how = {"help": own.HELP, "epilog": help_text.ending(own.EXAMPLES, DOCUMENTATION)}
        rooms.command(own.NAME, cls=help_text.Command, **how)(own.measured)
    app.add_typer(rooms, name=name, help=summary)


def _of_room(room):
    """The subcommand of a room: :func:`measured` with the room's presets to choose from."""
    names = [name for name, preset in experiments.PRESETS.items() if preset.room == room]
    preset = Annotated[
        StrEnum("Preset", {name: name for name in names}),
        typer.Option(help="The publication whose experiments are run."),
    ]
    first, *others = inspect.signature(measured).parameters.values()
    function = wraps(measured)(lambda **given: measured(**given))
    return options.with_parameters(function, [first.replace(annotation=preset), *others])


def measured(
    preset,
    size: Annotated[
        Size | None, typer.Option(help="Size of the graphs: paper on GPUs and small on the CPU by default.")
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Devices, such as cuda:0,cuda:1; measured on 1, 2, ... of them."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Timed runs; their median is shown.")
    ] = None,
    only: Annotated[str, typer.Option(metavar="NAME,...", help="Only these experiments of the preset.")] = "",
    without: Annotated[
        str, typer.Option(metavar="GRAPH,...", help="Graphs to leave out, such as delaunay_n24.")
    ] = "",
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--graph", metavar="FILE", help="Additional graph to measure, for presets that accept one."
        ),
    ] = None,
    output: Output = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Run the experiments of a publication and print its tables."""
    check_output(output)
    with stages(quiet or json) as (stage, clock):
        with stage("measure", f"running {preset.value}") as progress:
            outcome = experiments.run(
                preset.value,
                size=size and size.value,
                devices=devices,
                runs=runs,
                only=_names(only),
                without=_names(without),
                files=files or (),
                report=lambda words: progress(0, None, words),
            )
        write([outcome], output, stage)
    if json:
        report.as_json(as_dict(outcome) | {"seconds": seconds(clock)})
        return
    report.say(outcome.text(), kept="\n")
    if not quiet:
        report.say("")
        report.say(_closing_line(outcome, clock, output))


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _closing_line(found, clock, output):
    measured = report.counted(sum(len(table.rows) for table in found.tables), "row")
    where = ", ".join(found.devices)
    ending = f" -> {output}" if output else ""
    return (
        f"{found.preset}, size {found.size}: {report.counted(len(found.tables), 'table')}, {measured}; "
        f"{report.times(clock)} (median of {found.runs}, {where}){ending}"
    )
