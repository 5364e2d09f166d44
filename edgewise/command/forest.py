"""``edgewise forest``: a weighted graph in, the edges of its minimum or maximum spanning forest out.

``edgewise why`` shows the path of the forest between two records.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import edgewise
from edgewise.command import options, report, streaming
from edgewise.command.cluster_options import id_of, option
from edgewise.command.job import Job
from edgewise.command.outputs import check_outputs, check_writable
from edgewise.errors import OptionError
from edgewise.forest import METHODS
from edgewise.streams import way_names

Method = options.choice("Method", "How to compute", METHODS)
Maximum = options.option(
    bool, "Take the heaviest edges, as for scores, or the lightest.", "--maximum/--minimum"
)
Between = options.option(
    tuple[str, str], "Show only the path between two ids: its weakest edge is the best.", metavar="ID ID"
)
Dendrogram = options.option(Path, "Picture of the hierarchy of single linkage to draw (.png, .svg, .pdf).")


@options.subcommand(
    "forest.md",
    "edgewise forest roads.csv --weight km -o forest.csv",
    "edgewise forest pairs.parquet --weight score --maximum -o strongest.parquet",
    "edgewise forest pairs.csv --weight score --maximum --between ann anna",
    "edgewise forest shards/ --stream --weight score --maximum -o best.parquet",
    output="Table of edges to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a "
    "terminal shows its head, and a pipe gets it whole.",
    plot="weights of the forest",
    verify="forest against the graph",
    certificate="forest",
)
def forest(
    graph: options.Inputs,
    reading,
    goals: options.Goals,
    source: streaming.Source,
    run: options.Run,
    maximum: Maximum = False,
    between: Between = None,
    dendrogram: Dendrogram = None,
    method: Method = "auto",
):
    """Read a weighted graph, find its spanning forest, and write or show its edges."""
    check_outputs(None, dendrogram, graph)
    if source.checkpoint is not None and source.scheduler is None:
        check_writable(source.checkpoint, graph)
    job = Job(graph, goals, run, method=str(method), methods=METHODS)
    how = {"maximum": maximum, "method": str(method), "devices": job.team}
    plan = _planned(source, list(graph), reading, goals, how, run.json)
    source = plan.source
    stream = _stream_of(graph, reading, source, goals, how)
    with job.steps() as stage:
        if stream is not None:
            result = streaming.run_stream(stream, stage, job.name)
        else:
            read = job.read(graph[0] if len(graph) == 1 else graph, reading)
            with stage("compute", f"growing the forest on {', '.join(job.team.names)}"):
                result = edgewise.minimum_spanning_forest(read, **how)
        shown = result.to_frame() if between is None else _path(result, *between)
        job.finish(result, "checking every edge", shown)
        if dendrogram is not None:
            with stage("plot", f"drawing {dendrogram}"):
                result.plot_dendrogram(dendrogram)
    done = f"{result.method}{streaming.in_words(result.graph)}, {report.device_in_words(job.team)}"
    done += plan.in_words()

    def facts():
        path: dict = {} if between is None else {"path": shown.to_pydict()}
        own = {"forest_edges": result.n_edges, "trees": result.count, "weight": result.weight}
        own |= {"maximum": result.maximum, **job.facts(result)}
        return own | streaming.facts(result.graph) | plan.facts() | path

    job.close(result, facts, in_words(result), how=done, show=lambda: report.table(shown))
    if stream is not None and job.output is not None:
        stream.remove_checkpoint()


def _planned(source, inputs, reading, goals, how, json):
    """How the tables are read within the limit of memory."""
    from edgewise.streams import READING

    checked = goals.verify or goals.certificate is not None
    plain = set(reading) <= {*READING, "weight"} and not checked and how["method"] == "auto"
    streams = plain and len(how["devices"]) == 1
    in_memory = not (source.stream or source.checkpoint or source.vertices)
    allowed = (way_names.IN_MEMORY,) * in_memory + (way_names.STREAMED,) * streams
    call = "forest", {"method": how["method"]}
    problem = streaming.Problem(call, _ways_of)
    return streaming.planned(source, inputs, reading, allowed, problem, json)


def _ways_of(known):
    """What each way needs."""
    from edgewise.streams import ways

    return ways.ways_of_forest(known)


def _stream_of(inputs, reading, source, goals, how):
    """The job of a stream, if one is wanted."""
    if not source.stream and source.scheduler is None:
        source.check_unused()
        return None
    from edgewise.streams import READING
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.forest import KeepForest

    streaming.check_stream(reading, (*READING, "weight"), goals)
    method, team = how["method"], how["devices"]
    if method != "auto":
        raise OptionError(f"--method {method} means nothing with --stream, which has its own; leave it out")
    if len(team) > 1:
        raise OptionError("--devices means nothing with --stream, which uses one device; use --device")
    columns = dict.fromkeys(READING) | {"null": "error"} | reading
    problem = KeepForest(columns.pop("weight", None), how["maximum"])
    given = inputs, columns, problem, source.vertices
    if source.scheduler is None:
        return FileStream(*given, team, source.checkpoint)
    from edgewise.streams.sharded import ShardedStream

    make = partial(ShardedStream, *given, device=team[0].device, checkpoint=source.checkpoint)
    return streaming.ScheduledStream(source.scheduler, source.checkpoint, make)


def _path(found, source, target):
    """The path between two ids, which come as text."""
    return found.path(id_of(found.graph, source), id_of(found.graph, target))


def in_words(found):
    """A forest in a few words."""
    kind = "heaviest" if found.maximum else "lightest"
    trees = report.counted(found.count, "tree")
    weight = f"{found.weight:,}" if isinstance(found.weight, int) else f"{found.weight:,.6g}"
    return f"{trees} of the {kind} edges, {report.counted(found.n_edges, 'edge')} of weight {weight}"


class Cut(NamedTuple):
    """What the clusters are cut by."""

    max_size: option(int, "Largest size of a cluster, as for components.", min=1, metavar="N") = None
    must: option(str, "Table of pairs that are in one cluster.", metavar="FILE") = None
    cannot: option(str, "Table of pairs that cannot be in one cluster.", metavar="FILE") = None


@options.subcommand(
    "thresholds.md",
    "edgewise why pairs.csv ann anna",
    "edgewise why pairs.csv ann anna --score score --json",
    "edgewise why roads.csv 1 3 --weight km --minimum",
    leave_out=("devices",),
    output="Table of pairs to write (Parquet, CSV, Arrow, JSON Lines); - is standard output.",
    maximum="Large weights are strong, as for scores, or small ones.",
)
def why(
    pairs: options.Input,
    one: options.argument(str, "ID", "One of two ids."),
    other: options.argument(str, "ID", "The other one."),
    reading,
    goals: options.Goals,
    cut: Cut,
    run: options.Run,
    maximum: Maximum = True,
):
    """Show why two records are in one cluster: the chain of pairs whose weakest score is the best."""
    job = Job([pairs], goals, run, draws=False)
    how = {name: value for name, value in cut._asdict().items() if value is not None}
    threshold = reading.pop("threshold", None) if how else None
    with job.steps() as stage:
        graph = job.read(pairs, {"weight": True, **reading}, ("forest", {}))
        with stage("compute", f"growing the forest on {job.device}"):
            grown = edgewise.minimum_spanning_forest(graph, maximum=maximum, device=job.device)
            clusters = grown.split(**how, threshold=threshold) if how else grown
            found = clusters.explain(id_of(graph, one), id_of(graph, other))
        job.finish(grown, "", found.path)

    def facts():
        own = {"threshold": found.threshold, "weakest": found.weakest, "path": found.path.to_pylist()}
        return own | {"reason": found.reason, "maximum": maximum} | job.facts(grown)

    job.close(grown, facts, str(found), show=lambda: report.table(found.path, found.path.num_rows))
