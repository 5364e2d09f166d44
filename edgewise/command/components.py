"""``edgewise components``: a file of pairs in, a table of clusters out; with ``--stream``, many files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_outputs, check_writable
from edgewise.command.stages import finish, stages
from edgewise.components import MERGES, METHODS
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import threads
from edgewise.errors import OptionError

EXAMPLES = (
    "edgewise components pairs.csv --source left_id --target right_id",
    "edgewise components pairs.parquet --where 'score >= 0.9' -o clusters.parquet",
    "edgewise components 'shards/*.parquet' --stream -o clusters.parquet",
)
DOCUMENTATION = "components.md"

Method = options.choice("Method", "How to compute", METHODS)
Merge = options.choice("Merge", "How the labels of several devices are merged", MERGES)
Output = options.output("Table to write (Parquet, CSV or Arrow); its head is shown otherwise.")
Plot = options.plot("component sizes")
Verify = options.verify("clusters", "pairs")
Stream = Annotated[bool, typer.Option("--stream", help="Read tables once; keep no pairs in memory.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="With --stream: file from which an interrupted run continues.")
]
Vertices = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="With --stream: number of vertices; integer ids are smaller."),
]


@options.with_reading
def components(
    pairs: options.Inputs,
    reading,
    output: Output = None,
    plot: Plot = None,
    verify: Verify = False,
    stream: Stream = False,
    checkpoint: Checkpoint = None,
    vertices: Vertices = None,
    method: Method = "auto",
    device: options.Device = None,
    devices: options.Devices = None,
    merge: Merge = "auto",
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read pairs, cluster them, and write or show the table."""
    _check(pairs, output, plot, checkpoint)
    threads.use(thread_count)
    if devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    team = options.team(device, devices)
    if stream:
        from edgewise.components.file_stream import READING, FileStream, stream_team

        _check_stream(reading, READING, method, verify)
        stream_team(None, devices, str(merge))
        files, columns = [str(file) for file in pairs], dict.fromkeys(READING) | {"null": "error"} | reading
        job = FileStream(files, columns, vertices, team, str(merge), checkpoint)
    elif checkpoint is not None or vertices is not None:
        option = "vertices" if checkpoint is None else "checkpoint"
        raise OptionError(f"--{option} goes with --stream; add that")
    inputs = str(pairs[0]) if len(pairs) == 1 else f"{len(pairs)} files"
    with stages(quiet or json, team.synchronize) as (stage, clock):
        if stream:
            result = _streamed(job, stage, inputs)
        else:
            with stage("read", f"reading {inputs}") as progress:
                graph = edgewise.read(pairs[0] if len(pairs) == 1 else pairs, progress=progress, **reading)
            where = {"devices": devices, "merge": str(merge)} if devices else {"device": team[0].device}
            with stage("compute", f"clustering on {devices or team[0].device}"):
                result = edgewise.connected_components(graph, method=str(method), **where)
                result.count  # noqa: B018 -- counted in this step, not while writing
        finish(stage, result, "checking every pair" if verify else "", output, plot)
    if json:
        report.as_json(report.facts(result, team, clock, _facts(result, team), verify, output, plot))
    else:
        _show(result, team, clock, output, quiet)
    if stream and output is not None:
        job.remove_checkpoint()
    if profile:
        report.profile(clock)


def _check(pairs, output, plot, checkpoint):
    check_outputs(output, plot, pairs)
    if checkpoint is not None:
        check_writable(checkpoint, pairs)
    written = [path.resolve() for path in (output, plot, checkpoint) if path is not None]
    for position, path in enumerate(written):
        if path in written[:position]:
            raise OptionError(f"{path.name} is given for two outputs; use a file for each")


def _check_stream(reading, known, method, verify):
    for name in reading:
        if name not in known:
            option = "--" + name.replace("_", "-")
            raise OptionError(f"{option} means nothing with --stream, which reads tables; leave it out")
    if method not in ("auto", "rem"):
        raise OptionError(f"--method {method} needs all pairs in memory; leave out it or --stream")
    if verify:
        raise OptionError("--verify needs all pairs in memory; leave out it or --stream")


def _streamed(job, stage, inputs):
    """Stream the files; at Ctrl-C say how to continue."""
    try:
        with stage("stream", f"streaming {inputs}") as progress:
            result = job.run(progress)
            result.count  # noqa: B018 -- counted in this step, not while writing
            return result
    except KeyboardInterrupt:
        if job.saved is not None:
            saved = f"{job.saved:,} rows are in {job.checkpoint.path}"
            print(f"edgewise: {saved}; repeat the command to continue", file=sys.stderr)
        raise


def _facts(result, team):
    graph = result.graph
    streamed = {"files": graph.files, "resumed": graph.resumed} if isinstance(graph, StreamedGraph) else {}
    return {
        "components": result.count,
        "largest": result.largest,
        "method": result.method,
        **report.devices(result, team),
        "merge": result.merge,
        **streamed,
    }


def _show(result, team, clock, output, quiet):
    if output is None:
        report.table(result.to_frame())
    if quiet:
        return
    graph, how, where = result.graph, result.method, report.device_in_words(team)
    if isinstance(graph, StreamedGraph):
        how += f" from {report.counted(graph.files, 'file')}"
        how += f", resumed after {graph.resumed:,} rows" if graph.resumed else ""
    if len(result.devices) > 1:
        where = ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    found = f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}"
    report.closing_line(result, found, f"{how}, {where}", clock, output)
