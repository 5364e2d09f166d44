"""``edgewise forest``: a weighted graph in, the edges of its minimum or maximum spanning forest out."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_outputs, on_terminal, or_standard_output
from edgewise.command.stages import finish, stages
from edgewise.device import threads
from edgewise.errors import GraphError, OptionError
from edgewise.files.inputs import name_of
from edgewise.forest import METHODS
from edgewise.method import check_device

EXAMPLES = (
    "edgewise forest roads.csv --weight km -o forest.csv",
    "edgewise forest pairs.parquet --weight score --maximum -o strongest.parquet",
    "edgewise forest pairs.csv --weight score --maximum --between ann anna",
)
DOCUMENTATION = "forest.md"

Method = options.choice("Method", "How to compute", METHODS)
Output = options.output(
    "Table of edges to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal "
    "shows its head, and a pipe gets it whole."
)
To = options.format_of_output()
Plot = options.plot("weights of the forest")
Verify = options.verify("forest", "graph")
Maximum = Annotated[
    bool, typer.Option("--maximum/--minimum", help="Take the heaviest edges, as for scores, or the lightest.")
]
Between = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="ID ID", help="Show only the path between two ids: its weakest edge is the best."),
]


@options.with_reading
def forest(
    graph: options.Input,
    reading,
    output: Output = None,
    to: To = None,
    maximum: Maximum = False,
    between: Between = None,
    plot: Plot = None,
    verify: Verify = False,
    method: Method = "auto",
    device: options.Device = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a weighted graph, find its spanning forest, and write or show its edges."""
    output = or_standard_output(output, to, shown=not json)
    check_outputs(output, plot, [graph], to=to, json=json)
    threads.use(thread_count)
    team = options.team(device, None)
    check_device(str(method), team[0].device, METHODS)
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
            if read.directed:
                raise GraphError(
                    f"{name_of(graph)} is directed; --undirected takes its edges in both directions"
                )
        with stage("compute", f"growing the forest on {team[0].device}"):
            how = {"maximum": maximum, "method": str(method), "device": team[0].device}
            result = edgewise.minimum_spanning_forest(read, **how)
            shown = result.to_frame() if between is None else _path(result, *between)
        finish(stage, result, "checking every edge" if verify else "", plot=plot)
        if output is not None:
            with stage("write", f"writing {output}"):
                edgewise.files.formats.write(shown, output, to)
    if json:
        own = {name: getattr(result, name) for name in ("n_edges", "weight", "count", "maximum", "method")}
        own = {
            "forest_edges": own.pop("n_edges"),
            "trees": own.pop("count"),
            **own,
            **report.devices(result, team),
        }
        path = {} if between is None else {"path": shown.to_pydict()}
        report.as_json(report.facts(result, team, clock, own | path, verify, output, plot))
    elif output is None:
        report.table(shown)
    if not (quiet or json):
        report.closing_line(
            result, in_words(result), f"{result.method}, {report.device_in_words(team)}", clock, output
        )
    if profile:
        report.profile(clock)


def _path(forest, source, target):
    """The path between two ids, which come as text."""
    ids = forest.graph.ids
    if ids is None or (getattr(ids, "dtype", None) is not None and ids.dtype.kind in "iu"):
        try:
            source, target = int(source), int(target)
        except ValueError:
            raise OptionError(f"--between {source} {target}: the ids of this graph are integers") from None
    return forest.path(source, target)


def in_words(forest):
    """The result in a few words."""
    kind = "heaviest" if forest.maximum else "lightest"
    trees = report.counted(forest.count, "tree")
    weight = f"{forest.weight:,}" if isinstance(forest.weight, int) else f"{forest.weight:,.6g}"
    return f"{trees} of the {kind} edges, {report.counted(forest.n_edges, 'edge')} of weight {weight}"
