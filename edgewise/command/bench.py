"""``edgewise bench``: published experiments on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from edgewise import experiments
from edgewise.command import help_text, options, report
from edgewise.command.bench_outputs import Output, as_dict, check_output, heading, write
from edgewise.command.stages import seconds, stages

Size = options.names_of("Size", experiments.SIZES)
#: Problems with published experiments: what they are about, and a preset with an option.
ROOMS = {
    "components": ("connected components", "hellas-2018", "baltzakis --devices cpu:0,cpu:1"),
    "paths": ("shortest paths", "harish", "harish --only degree --runs 3"),
    "cycles": ("cycles through vertices", "cs406", "cs406 --runs 3"),
    "forest": ("spanning forests", "ecl-mst", "ecl-mst --runs 3"),
    "transactions": ("transactional memory", "manoochehri-2017", "manoochehri-2017 --only protocols"),
}
DOCUMENTATION = "experiments.md"
Devices = options.option(
    str, "Devices, such as cuda:0,cuda:1; measured on 1, 2, ... of them.", metavar="NAMES"
)
Runs = options.option(int, "Timed runs; their median is shown.", metavar="N", min=1)


def add(app, name, summary):
    """Put the subcommand, with one subcommand a room, into ``app``."""
    published = {room: _of_room(room) for room in ROOMS}
    first = [function.examples[0] for function in published.values()]
    rooms = typer.Typer(
        cls=help_text.Group, epilog=help_text.ending(first, DOCUMENTATION), suggest_commands=False
    )
    rooms.callback()(lambda: None)  # a group, even with one subcommand
    for room, function in published.items():
        how = {
            "help": f"Published experiments on {ROOMS[room][0]}.",
            "epilog": help_text.ending(function.examples, DOCUMENTATION),
        }
        rooms.command(room, cls=help_text.Command, **how)(function)
    app.add_typer(rooms, name=name, help=summary)


def _of_room(room):
    """The subcommand of a room, with the room's presets to choose from."""
    _, preset, other = ROOMS[room]
    names = [name for name, one in experiments.PRESETS.items() if one.room == room]
    start = f"edgewise bench {room} --preset"
    kind = options.names_of("Preset", names)

    @options.subcommand(
        DOCUMENTATION, f"{start} {preset} --size tiny", f"{start} {other} -o results", leave_out=("profile",)
    )
    def measured(
        preset: Annotated[kind, typer.Option(help="The publication whose experiments are run.")],
        size: options.option(
            Size, "Size of the graphs: paper on GPUs and small on the CPU by default."
        ) = None,
        devices: Devices = None,
        runs: Runs = None,
        only: options.option(str, "Only these experiments of the preset.", metavar="NAME,...") = "",
        without: options.option(str, "Graphs to leave out, such as delaunay_n24.", metavar="GRAPH,...") = "",
        files: options.option(
            list[str],
            "Graph in place of the stand-in of its name; for cs406 also others.",
            "--graph",
            metavar="FILE",
        ) = None,
        minutes: options.option(
            float, "Begin nothing new after so long; the report says what is missing.", metavar="N", min=0
        ) = None,
        output: Output = None,
        *,
        shown: options.Shown,
    ):
        """Run the experiments of a publication and print its tables."""
        check_output(output)
        with stages(shown.quiet or shown.json) as (stage, clock):
            with experiments.time_limit(minutes), stage("measure", f"running {preset.value}") as progress:
                outcome = experiments.run(
                    preset.value,
                    size=size and size.value,
                    devices=devices,
                    runs=runs,
                    only=_names(only),
                    without=_names(without),
                    files=[Path(file) for file in files or ()],
                    report=lambda words: progress(0, None, words),
                )
            write(outcome, output, stage)
        rows = report.counted(sum(len(table.rows) for table in outcome.tables), "row")
        tables = report.counted(len(outcome.tables), "table")
        words = f"{outcome.preset}, size {outcome.size}: {tables}, {rows}"
        _tell(outcome, words, outcome.runs, clock, output, shown)

    return measured


def _names(text):
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _tell(found, words, runs, clock, output, shown):
    """Print the tables and the closing line, or the JSON object."""
    if shown.json:
        report.as_json(as_dict(found) | {"seconds": seconds(clock)})
        return
    report.say("\n\n".join([*heading(found), found.text()]), kept="\n")
    if not shown.quiet:
        ending = f" -> {output}" if output else ""
        report.say("")
        report.say(f"{words}; {report.times(clock)} (median of {runs}, {', '.join(found.devices)}){ending}")
