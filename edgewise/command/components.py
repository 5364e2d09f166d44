"""``edgewise components``: pairs in, a table of clusters out.

With ``--records`` every record gets a cluster, with ``--update`` the pairs are added to clusters that were
found before, and with ``--stream`` many files are read once.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.clusters import Clusters, View, write_both
from edgewise.command.outputs import (
    check_output,
    check_outputs,
    check_writable,
    is_terminal,
    on_terminal,
    or_standard_output,
)
from edgewise.command.stages import finish, stages
from edgewise.components import MERGES, METHODS
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import threads
from edgewise.errors import OptionError
from edgewise.files.inputs import name_of

EXAMPLES = (
    "edgewise components pairs.csv --source left_id --target right_id",
    "edgewise components pairs.parquet --where 'score >= 0.9' -o clusters.parquet",
    "edgewise components pairs.parquet --records people.parquet --id unique_id -o clusters.parquet",
    "edgewise components --update clusters.parquet new.parquet -o clusters.parquet --changes changes.csv",
    "edgewise components 'shards/*.parquet' --stream -o clusters.parquet",
)
DOCUMENTATION = "clusters.md"

_CLUSTERS = "The clusters"

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
Records = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table with one row for each vertex; all of them get a cluster.",
        rich_help_panel=_CLUSTERS,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column of the records with the ids.", rich_help_panel=_CLUSTERS
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="first|min|row",
        help="What a cluster is called: the id of its first member, its least id, or its first row.",
        rich_help_panel=_CLUSTERS,
    ),
]
MinSize = Annotated[
    int, typer.Option(min=1, metavar="N", help="Leave out smaller clusters.", rich_help_panel=_CLUSTERS)
]
Top = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Show the N largest clusters.", rich_help_panel=_CLUSTERS),
]
Sizes = Annotated[
    bool, typer.Option("--sizes", help="Show how many clusters have each size.", rich_help_panel=_CLUSTERS)
]
Members = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Show the ids in the cluster of this one.", rich_help_panel=_CLUSTERS),
]
Update = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Table of named clusters to add the pairs to.", rich_help_panel=_CLUSTERS
    ),
]
Changes = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --update: table to write of the clusters that merged, grew or are new.",
        rich_help_panel=_CLUSTERS,
    ),
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
    records: Records = None,
    vertex_id: IdColumn = None,
    name: Name = None,
    min_size: MinSize = 1,
    top: Top = None,
    sizes: Sizes = False,
    members: Members = None,
    update: Update = None,
    changes: Changes = None,
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
    wanted = Clusters(records, vertex_id, name, min_size, update, changes)
    view = View(top, sizes, members, name)
    wanted.check(stream)
    asked = view.kind()
    output = output if asked else or_standard_output(output, to, shown=not json)
    _check([*pairs, *wanted.inputs()], output, plot, checkpoint, to=to if output else None, json=json)
    if changes is not None:
        check_output(changes, sources=[*pairs, *wanted.inputs(), *([update] if update else [])], table=True)
    _check_distinct(output, plot, checkpoint, changes)
    threads.use(thread_count)
    if devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    team = options.team(device, devices)
    if stream:
        from edgewise.components.file_stream import READING, FileStream, stream_team

        _check_stream(reading, READING, method, verify)
        stream_team(None, devices, str(merge))
        files, columns = list(pairs), dict.fromkeys(READING) | {"null": "error"} | reading
        job = FileStream(files, columns, vertices, team, str(merge), checkpoint)
    elif checkpoint is not None or vertices is not None:
        option = "vertices" if checkpoint is None else "checkpoint"
        raise OptionError(f"--{option} goes with --stream; add that")
    inputs = name_of(pairs[0]) if len(pairs) == 1 else f"{len(pairs)} files"
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        if stream:
            result = _streamed(job, stage, inputs)
        else:
            with stage("read", f"reading {inputs}") as progress:
                graph, finished = wanted.read(pairs[0] if len(pairs) == 1 else pairs, reading, progress)
            where = {"devices": devices, "merge": str(merge)} if devices else {"device": team[0].device}
            with stage("compute", f"clustering on {devices or team[0].device}"):
                result = finished(edgewise.connected_components(graph, method=str(method), **where))
                result.count  # noqa: B018 -- counted in this step, not while writing
        table = result.table(name, min_size)
        finish(stage, result, "checking every pair" if verify else "")
        if output is not None or changes is not None:
            with stage("write", f"writing {output or changes}"):
                write_both(table, output, to, wanted.changes_of(result), changes)
        finish(stage, result, plot=plot)
        shown = view.of(result) if asked else None
    if json:
        facts = _facts(result, team) | wanted.facts(result) | view.facts(shown)
        report.as_json(report.facts(result, team, clock, facts, verify, output, plot))
    else:
        if asked:
            view.show(shown, to if output is None else None)
        elif output is None:
            report.head(table.head(report.SHOWN_ROWS), table.rows())
        if not quiet:
            _close(result, team, clock, output, wanted, piped=asked and not is_terminal())
    if stream and output is not None:
        job.remove_checkpoint()
    if profile:
        report.profile(clock)


def _check(inputs, output, plot, checkpoint, *, to, json):
    check_outputs(output, plot, inputs, to=to, json=json)
    if checkpoint is not None:
        check_writable(checkpoint, inputs)


def _check_distinct(*outputs):
    written = [Path(path).resolve() for path in outputs if path is not None]
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


def _close(result, team, clock, output, wanted, piped):
    """Print the closing line, to standard error if standard output is a pipe for what was asked."""
    graph, how, where = result.graph, result.method, report.device_in_words(team)
    if isinstance(graph, StreamedGraph):
        how += f" from {report.counted(graph.files, 'file')}"
        how += f", resumed after {graph.resumed:,} rows" if graph.resumed else ""
    if len(result.devices) > 1:
        where = ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    found = f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}"
    found += wanted.in_words(result)
    if piped and output is None:
        output = "-"
    report.closing_line(result, found, f"{how}, {where}", clock, output)
