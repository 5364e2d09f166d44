"""``edgewise bench``: published experiments on this machine, and every method on a graph of one's own."""

import os
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import experiments
from edgewise.command import help_text, options, report
from edgewise.command.bench_outputs import Output, as_dict, check_output, heading, write
from edgewise.command.stages import seconds, stages
from edgewise.device import threads
from edgewise.errors import OptionError, one_of
from edgewise.experiments.own_graph import CALLS, compare
from edgewise.files.inputs import name_of

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
#: The subcommand for a graph, whose name may be left out.
GRAPH = "graph"
HELP = {
    GRAPH: "Every method on a graph of your own, beside SciPy, NetworkX, igraph, NetworKit and rustworkx "
    "where they are installed. The word graph may be left out: edgewise bench FILE.",
    "report": "The experiments of all publications, scaled to this machine, as one HTML page.",
}

Devices = options.option(
    str, "Devices, such as cuda:0,cuda:1; measured on 1, 2, ... of them.", metavar="NAMES"
)
Runs = options.option(int, "Timed runs; their median is shown.", metavar="N", min=1)


class Rooms(help_text.Group):
    """The subcommands, among which that of a graph may be left out before the name of a file."""

    def resolve_command(self, ctx, args):
        """Take ``bench pairs.parquet`` for ``bench graph pairs.parquet``."""
        if args[0] not in self.commands and (os.path.exists(args[0]) or "." in args[0] or "/" in args[0]):
            args = [GRAPH, *args]
        return super().resolve_command(ctx, args)


def add(app, name, summary):
    """Put the subcommand, with one subcommand a room, into ``app``."""
    published = {room: _of_room(room) for room in ROOMS}
    first = [of_graph.examples[0], *(function.examples[0] for function in published.values())]
    rooms = typer.Typer(cls=Rooms, epilog=help_text.ending(first, DOCUMENTATION), suggest_commands=False)
    rooms.callback()(lambda: None)  # a group, even with one subcommand
    for room, function in {**published, GRAPH: of_graph, "report": on_one_page}.items():
        how = {
            "help": HELP.get(room) or f"Published experiments on {ROOMS[room][0]}.",
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
            write([outcome], output, stage)
        rows = report.counted(sum(len(table.rows) for table in outcome.tables), "row")
        tables = report.counted(len(outcome.tables), "table")
        words = f"{outcome.preset}, size {outcome.size}: {tables}, {rows}"
        _tell(outcome, words, outcome.runs, clock, output, shown)

    return measured


@options.subcommand(
    DOCUMENTATION,
    "edgewise bench graph pairs.parquet",
    "edgewise bench graph roads.gr --only 'shortest paths,forest' -o roads.html",
    leave_out=("devices", "profile"),
)
def of_graph(
    graph: options.Input,
    reading,
    only: options.option(str, f"Only these calls: {', '.join(CALLS)}.", metavar="CALL,...") = "",
    runs: Runs = 5,
    baselines: options.option(bool, "Also methods kept for comparison, which may take minutes.") = False,
    no_peers: options.option(bool, "Without other libraries.") = False,
    output: Output = None,
    *,
    run: options.Run,
):
    """Measure every method on a graph."""
    check_output(output)
    threads.use(run.threads)
    with stages(run.quiet or run.json) as (stage, clock):
        name = name_of(graph)
        with stage("read", f"reading {name}"):
            read = edgewise.read(graph, **reading)
        with stage("measure", "measuring") as progress:
            found = compare(
                read,
                name.rpartition("/")[2].partition(".")[0],
                device=run.device,
                runs=runs,
                only=_names(only),
                baselines=baselines,
                peers=not no_peers,
                report=lambda words: progress(0, None, words),
            )
        write([found], output, stage)
    _tell(found, report.graph_in_words(read), runs, clock, output, run)


@options.subcommand(
    DOCUMENTATION,
    "edgewise bench report -o report.html",
    "edgewise bench report --size tiny --presets baltzakis,cs406 -o report.html",
    leave_out=("profile", "json"),
)
def on_one_page(
    output: Output,
    size: options.option(
        str, "Size of the graphs: paper on GPUs, else small.", metavar="|".join(experiments.SIZES)
    ) = None,
    presets: options.option(str, "Only these publications; by default all.", metavar="NAME,...") = "",
    devices: Devices = None,
    runs: Runs = None,
    *,
    shown: options.Shown,
):
    """Run all experiments and write one page."""
    if output is None:
        raise OptionError("name the page to write, such as -o report.html")
    check_output(output)
    names = _names(presets) or list(experiments.PRESETS)
    for name in names:
        if name not in experiments.PRESETS:
            raise OptionError(f"preset {name!r} is unknown; {one_of(name, experiments.PRESETS)}")
    with stages(shown.quiet) as (stage, clock):
        reports, how = [], {"size": size, "devices": devices, "runs": runs}
        for name in names:
            with stage("measure", f"running {name}") as progress:

                def told(words, name=name, progress=progress):
                    progress(0, None, f"{name}: {words}")

                reports.append(experiments.run(name, **how, report=told))
        write(reports, output, stage)
    if not shown.quiet:
        tables = report.counted(sum(len(found.tables) for found in reports), "table")
        report.say(f"{report.counted(len(reports), 'preset')}, {tables}; {report.times(clock)} -> {output}")


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
