"""``edgewise forest``: a weighted graph in, the edges of its minimum or maximum spanning forest out."""

from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

import edgewise
from edgewise.command import options, report, streaming
from edgewise.command.clusters import id_of
from edgewise.command.outputs import check_outputs, check_writable, on_terminal, or_standard_output
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
    "edgewise forest shards/ --stream --weight score --maximum -o best.parquet",
)
DOCUMENTATION = "forest.md"

Method = options.choice("Method", "How to compute", METHODS)
Output = options.output(
    "Table of edges to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal "
    "shows its head, and a pipe gets it whole."
)
To = options.format_of_output()
Plot = options.plot("weights of the forest")
Dendrogram = options.plot("hierarchy of single linkage")
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
    graph: options.Inputs,
    reading,
    output: Output = None,
    to: To = None,
    maximum: Maximum = False,
    between: Between = None,
    plot: Plot = None,
    dendrogram: Dendrogram = None,
    verify: Verify = False,
    stream: streaming.Stream = False,
    checkpoint: streaming.Checkpoint = None,
    vertices: streaming.Vertices = None,
    scheduler: streaming.Scheduler = None,
    method: Method = "auto",
    device: options.Device = None,
    devices: options.Devices = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a weighted graph, find its spanning forest, and write or show its edges."""
    output = or_standard_output(output, to, shown=not json)
    check_outputs(output, plot, graph, to=to, json=json)
    check_outputs(None, dendrogram, graph)
    if checkpoint is not None and scheduler is None:
        check_writable(checkpoint, graph)
    threads.use(thread_count)
    team = options.team(device, devices)
    for one in team.devices:
        check_device(str(method), one, METHODS)
    how = {"maximum": maximum, "method": str(method), "devices": team}
    job = _stream_of(graph, reading, stream, Streaming(how, verify, checkpoint, vertices, scheduler))
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        if job is not None:
            result = streaming.run_stream(job, stage, _name_of(graph))
        else:
            result = _solved(graph, reading, stage, how)
        shown = result.to_frame() if between is None else _path(result, *between)
        finish(stage, result, "checking every edge" if verify else "", plot=plot)
        if dendrogram is not None:
            with stage("plot", f"drawing {dendrogram}"):
                result.plot_dendrogram(dendrogram)
        if output is not None:
            with stage("write", f"writing {output}"):
                edgewise.write(shown, output, format=to)
    if json:
        own = _facts(result, team) | ({} if between is None else {"path": shown.to_pydict()})
        report.as_json(report.facts(result, team, clock, own, verify, output, plot))
    elif output is None:
        report.table(shown)
    if not (quiet or json):
        done = f"{result.method}{streaming.in_words(result.graph)}, {report.device_in_words(team)}"
        report.closing_line(result, in_words(result), done, clock, output)
    if job is not None and output is not None:
        job.remove_checkpoint()
    if profile:
        report.profile(clock)


class Streaming(NamedTuple):
    """The options that matter to a stream."""

    how: dict
    verify: bool
    checkpoint: Path | None
    vertices: int | None
    scheduler: str | None


def _stream_of(inputs, reading, stream, options):
    """The job of a stream, if one is wanted."""
    if not stream and options.scheduler is None:
        streaming.check_no_stream(options.checkpoint, options.vertices)
        return None
    from edgewise.streams import READING
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.forest import KeepForest

    streaming.check_stream(reading, (*READING, "weight"), options.verify)
    method, team = options.how["method"], options.how["devices"]
    if method != "auto":
        raise OptionError(f"--method {method} means nothing with --stream, which has its own; leave it out")
    if len(team) > 1:
        raise OptionError("--devices means nothing with --stream, which uses one device; use --device")
    columns = dict.fromkeys(READING) | {"null": "error"} | reading
    problem = KeepForest(columns.pop("weight", None), options.how["maximum"])
    given = inputs, columns, problem, options.vertices
    if options.scheduler is None:
        return FileStream(*given, team, options.checkpoint)
    from edgewise.streams.sharded import ShardedStream

    how = {"device": team[0].device, "checkpoint": options.checkpoint}
    make = partial(ShardedStream, *given, **how)
    return streaming.ScheduledStream(options.scheduler, options.checkpoint, make)


def _solved(inputs, reading, stage, how):
    """Read the graph and find its forest."""
    name = _name_of(inputs)
    with stage("read", f"reading {name}") as progress:
        graph = edgewise.read(inputs[0] if len(inputs) == 1 else inputs, progress=progress, **reading)
        if graph.directed:
            raise GraphError(f"{name} is directed; --undirected takes its edges in both directions")
    with stage("compute", f"growing the forest on {', '.join(how['devices'].names)}"):
        return edgewise.minimum_spanning_forest(graph, **how)


def _name_of(inputs):
    """What messages call the inputs."""
    return name_of(inputs[0]) if len(inputs) == 1 else f"{len(inputs)} files"


def _facts(result, team):
    own = {name: getattr(result, name) for name in ("n_edges", "weight", "count", "maximum", "method")}
    return {
        "forest_edges": own.pop("n_edges"),
        "trees": own.pop("count"),
        **own,
        **report.devices(result, team),
        **streaming.facts(result.graph),
    }


def _path(forest, source, target):
    """The path between two ids, which come as text."""
    return forest.path(id_of(forest.graph, source), id_of(forest.graph, target))


def in_words(forest):
    """The result in a few words."""
    kind = "heaviest" if forest.maximum else "lightest"
    trees = report.counted(forest.count, "tree")
    weight = f"{forest.weight:,}" if isinstance(forest.weight, int) else f"{forest.weight:,.6g}"
    return f"{trees} of the {kind} edges, {report.counted(forest.n_edges, 'edge')} of weight {weight}"
