"""``edgewise components``: pairs in, a table of clusters out.

With ``--records`` every record gets a cluster, with ``--update`` the pairs are added to clusters that were
found before, and with ``--stream`` many files are read once.
"""

import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import edgewise
from edgewise.command import clusters, options, outputs, report
from edgewise.command.clusters import Clusters, View
from edgewise.command.outputs import (
    check_output,
    check_outputs,
    check_writable,
    on_terminal,
    or_standard_output,
)
from edgewise.command.stages import finish, stages
from edgewise.components import MERGES, METHODS
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import threads
from edgewise.errors import OptionError

EXAMPLES = (
    "edgewise components pairs.csv --source left_id --target right_id",
    "edgewise components pairs.parquet --where 'score >= 0.9' -o clusters.parquet",
    "edgewise components pairs.csv --records people.csv --name min -o clusters.csv",
    "edgewise components --update clusters.csv new.csv -o clusters.csv",
    "edgewise components 'shards/*.parquet' --stream -o clusters.parquet",
)
DOCUMENTATION = "clusters.md"

Method = options.choice("Method", "How to compute", METHODS)
Merge = options.choice("Merge", "How the labels of several devices are merged", MERGES)
Output = options.output(
    "Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal shows its "
    "head, and a pipe gets it whole."
)
To = options.format_of_output()
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
    to: To = None,
    records: clusters.Records = None,
    vertex_id: clusters.IdColumn = None,
    name: clusters.Name = None,
    min_size: clusters.MinSize = 1,
    top: clusters.Top = None,
    sizes: clusters.Sizes = False,
    members: clusters.Members = None,
    update: clusters.Update = None,
    changes: clusters.Changes = None,
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
    view = View(top, sizes, members, name)
    wanted = Clusters(list(pairs), records, vertex_id, name, min_size, update, changes)
    wanted.check(stream)
    asked = view.kind(output)
    output = output if asked else or_standard_output(output, to, shown=not json)
    _check_outputs(Outputs(output, plot, checkpoint, changes), wanted, to if output else None, json)
    threads.use(thread_count)
    team, where = _team(device, devices, str(merge))
    job = _stream_of(stream, wanted, reading, Streaming(method, verify, checkpoint, vertices, team, where))
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        result = _streamed(job, stage, wanted) if stream else _solved(wanted, reading, stage, method, where)
        table = result.table(name, min_size=min_size)
        finish(stage, result, "checking every pair" if verify else "")
        wanted.write(stage, result, table, output, to)
        finish(stage, result, plot=plot)
        shown = view.of(result) if asked else None
    if json:
        facts = _facts(result, team) | wanted.facts(result) | view.facts(shown)
        report.as_json(report.facts(result, team, clock, facts, verify, output, plot))
    elif asked:
        view.show(shown, to if output is None else None)
    elif output is None:
        report.head(table.head(report.SHOWN_ROWS), table.rows())
    if not (quiet or json):
        taken = (asked and not outputs.is_terminal()) or wanted.changes == "-"
        _close(result, team, clock, "-" if taken else output, wanted)
    if stream and output is not None:
        job.remove_checkpoint()
    if profile:
        report.profile(clock)


class Outputs(NamedTuple):
    """What is written."""

    table: str | None
    plot: Path | None
    checkpoint: Path | None
    changes: str | None


class Streaming(NamedTuple):
    """The options that matter to a stream."""

    method: str
    verify: bool
    checkpoint: Path | None
    vertices: int | None
    team: Any
    where: dict


def _team(device, devices, merge):
    """The devices, and the same as arguments of the public function."""
    if devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    team = options.team(device, devices)
    return team, {"devices": devices, "merge": merge} if devices else {"device": team[0].device}


def _check_outputs(goals, wanted, to, json):
    inputs = wanted.inputs()
    check_outputs(goals.table, goals.plot, inputs, to=to, json=json)
    if goals.checkpoint is not None:
        check_writable(goals.checkpoint, inputs)
    if goals.changes is not None:
        check_output(goals.changes, sources=[*inputs, wanted.update], table=True, json=json)
    written = [Path(path).resolve() for path in goals if path is not None]
    for position, path in enumerate(written):
        if path in written[:position]:
            raise OptionError(f"{path.name} is given for two outputs; use a file for each")


def _stream_of(stream, wanted, reading, how):
    """The job of a stream, if one is wanted."""
    if not stream:
        for option, given in (("checkpoint", how.checkpoint), ("vertices", how.vertices)):
            if given is not None:
                raise OptionError(f"--{option} goes with --stream; add that")
        return None
    from edgewise.components.file_stream import READING, FileStream, stream_team

    _check_stream(reading, READING, how.method, how.verify)
    merge = how.where.get("merge", "auto")
    stream_team(None, how.where.get("devices"), merge)
    columns = dict.fromkeys(READING) | {"null": "error"} | reading
    return FileStream(wanted.pairs, columns, how.vertices, how.team, merge, how.checkpoint)


def _solved(wanted, reading, stage, method, where):
    """Read the pairs and find their components."""
    with stage("read", f"reading {wanted.in_messages()}") as progress:
        graph, finished = wanted.read(reading, progress)
    with stage("compute", f"clustering on {where.get('devices') or where['device']}"):
        result = finished(edgewise.connected_components(graph, method=str(method), **where))
        result.count  # noqa: B018 -- counted in this step, not while writing
        return result


def _check_stream(reading, known, method, verify):
    for name in reading:
        if name not in known:
            option = "--" + name.replace("_", "-")
            raise OptionError(f"{option} means nothing with --stream, which reads tables; leave it out")
    if method not in ("auto", "rem"):
        raise OptionError(f"--method {method} needs all pairs in memory; leave out it or --stream")
    if verify:
        raise OptionError("--verify needs all pairs in memory; leave out it or --stream")


def _streamed(job, stage, wanted):
    """Stream the files; at Ctrl-C say how to continue."""
    try:
        with stage("stream", f"streaming {wanted.in_messages()}") as progress:
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


def _close(result, team, clock, output, wanted):
    """Print the closing line."""
    graph, how, where = result.graph, result.method, report.device_in_words(team)
    if isinstance(graph, StreamedGraph):
        how += f" from {report.counted(graph.files, 'file')}"
        how += f", resumed after {graph.resumed:,} rows" if graph.resumed else ""
    if len(result.devices) > 1:
        where = ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    found = f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}"
    found += wanted.in_words(result)
    report.closing_line(result, found, f"{how}, {where}", clock, output)
