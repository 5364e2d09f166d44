"""``edgewise bench ROOM``: published experiments, run again on this machine."""

import inspect
import json as json_text
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import experiments, plots
from edgewise.command import help_text, options, report
from edgewise.command.info import machine
from edgewise.command.stages import seconds, stages
from edgewise.errors import FileError
from edgewise.files.atomic_write import atomic_write

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
#: Suffix of the pictures.
PICTURE = ".png"


def add(app, name, summary):
    """Put the subcommand, with one subcommand a room, into ``app``."""
    first = [examples[0] for examples in EXAMPLES.values()]
    rooms = typer.Typer(
        cls=help_text.Group, epilog=help_text.ending(first, DOCUMENTATION), suggest_commands=False
    )
    rooms.callback()(lambda: None)  # a group, even with one subcommand
    for room, about in ROOMS.items():
        how = {"help": about, "epilog": help_text.ending(EXAMPLES[room], DOCUMENTATION)}
        rooms.command(room, cls=help_text.Command, **how)(_of_room(room))
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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for tables, pictures and one JSON file.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Run the experiments of a publication and print its tables."""
    if output is not None:
        _check_folder(output)
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
        here = {name: fact for name, fact in machine().items() if name != "kernels"}  # a path of this machine
        facts = outcome.as_dict() | {"machine": here, "version": edgewise.__version__}
        if output is not None:
            with stage("write", f"writing {output}"):
                _write(outcome, facts, output)
    if json:
        report.as_json(facts | {"seconds": seconds(clock)})
        return
    print(outcome.text())
    if not quiet:
        print(f"\n{_closing_line(outcome, clock, output)}")


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _check_folder(output):
    plots.check(output / f"picture{PICTURE}")
    if output.exists() and not output.is_dir():
        raise FileError(output, "is a file; name a folder")
    if not output.parent.is_dir():
        raise FileError(output, f"the folder {output.parent} does not exist; create it first")


def _write(found, facts, output):
    output.mkdir(exist_ok=True)
    with atomic_write(output / f"{found.preset}.json") as part:
        Path(part).write_text(json_text.dumps(facts, indent=1))
    with atomic_write(output / f"{found.preset}.md") as part:
        Path(part).write_text("\n\n".join(f"## {t.title}\n\n{t.markdown()}" for t in found.tables) + "\n")
    for figure in found.figures:
        plots.experiment(figure, output / f"{figure.name}{PICTURE}")


def _closing_line(found, clock, output):
    measured = report.counted(sum(len(table.rows) for table in found.tables), "row")
    where = ", ".join(found.devices)
    ending = f" -> {output}" if output else ""
    return (
        f"{found.preset}, size {found.size}: {report.counted(len(found.tables), 'table')}, {measured}; "
        f"{report.times(clock)} (median of {found.runs}, {where}){ending}"
    )
