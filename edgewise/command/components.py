"""``edgewise components``: a file of pairs in, a table of clusters out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import plots
from edgewise.command import options, report
from edgewise.command.outputs import check_output, check_writable
from edgewise.command.stages import seconds, stages
from edgewise.components import MERGES, METHODS
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import threads
from edgewise.errors import OptionError

Method = StrEnum("Method", {name: name for name in ("auto", *METHODS)})
Merge = StrEnum("Merge", {name: name for name in ("auto", *MERGES)})

MERGING = options.how("How the labels of several devices are merged.", MERGES)
Output = options.output("Table to write (Parquet, CSV or Arrow); its head is shown otherwise.")
Plot = Annotated[Path | None, typer.Option(help="Picture of the component sizes to draw (.png, .svg, .pdf).")]
Verify = options.verify("clusters", "pairs")
Stream = Annotated[bool, typer.Option("--stream", help="Read tables once; keep no pairs in memory.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="With --stream: file from which an interrupted run continues.")
]
Vertices = Annotated[
    int | None, typer.Option(min=0, help="With --stream: number of vertices; integer ids are smaller.")
]


def add(app, name, summary):
    """Put the subcommand into ``app``."""
    app.command(name, help=summary)(components)


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
    method: Annotated[Method, typer.Option(help=options.how("How to compute.", METHODS))] = Method.auto,
    device: options.Device = None,
    devices: options.Devices = None,
    merge: Annotated[Merge, typer.Option(help=MERGING)] = Merge.auto,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read pairs, cluster them, and write or show the table."""
    _check(pairs, output, plot, checkpoint)
    threads.use(thread_count)
    team = _team(device, devices, merge.value)
    chosen = {"devices": devices, "merge": merge.value} if devices else {"device": team[0].device}
    if stream:
        from edgewise.command import streamed

        streamed.check(reading, method.value, verify)
        job = streamed.job(pairs, reading, vertices, checkpoint, {**chosen, "team": team})
    elif checkpoint is not None or vertices is not None:
        raise OptionError(
            f"--{'vertices' if checkpoint is None else 'checkpoint'} goes with --stream; add that"
        )
    with stages(quiet or json, team.synchronize) as (stage, clock):
        if stream:
            result = streamed.compute(job, stage, _in_words(pairs))
        else:
            result = _compute(stage, pairs, reading, method.value, chosen)
        if verify:
            with stage("verify", "checking every pair"):
                result.verify()
        if output is not None:
            with stage("write", f"writing {output}"):
                result.write(output)
        if plot is not None:
            with stage("plot", f"drawing {plot}"):
                result.plot(plot)
    _tell(result, team, clock, output, plot, verify, json=json, quiet=quiet)
    if stream and output is not None:
        job.remove_checkpoint()
    if profile:
        report.profile(clock)


def _compute(stage, pairs, reading, method, chosen):
    """Read the pairs into a graph and find its components."""
    with stage("read", f"reading {_in_words(pairs)}") as progress:
        graph = edgewise.read(pairs[0] if len(pairs) == 1 else pairs, progress=progress, **reading)
    with stage("compute", f"clustering on {chosen.get('devices') or chosen['device']}"):
        result = edgewise.connected_components(graph, method=method, **chosen)
        result.count  # noqa: B018 -- counted in this step, not while writing
    return result


def _check(pairs, output, plot, checkpoint):
    if output is not None:
        check_output(output, sources=pairs, table=True)
    if plot is not None:
        plots.check(plot)
        check_writable(plot, pairs)
    if checkpoint is not None:
        check_writable(checkpoint, pairs)
    written = [path.resolve() for path in (output, plot, checkpoint) if path is not None]
    for position, path in enumerate(written):
        if path in written[:position]:
            raise OptionError(f"{path.name} is given for two outputs; use a file for each")


def _team(device, devices, merge):
    """The requested devices."""
    if devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    return options.team(device, devices)


def _tell(result, team, clock, output, plot, verify, *, json, quiet):
    if json:
        report.as_json(_facts(result, team, clock, output, plot, verify))
        return
    if output is None:
        report.table(result.to_frame())
    if not quiet:
        print(_closing_line(result, team, clock, output))


def _facts(result, team, clock, output, plot, verify):
    graph = result.graph
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "components": result.count,
        "largest": result.largest,
        "method": result.method,
        "device": team[0].device if len(team) == 1 else None,
        "devices": list(result.devices) if len(result.devices) > 1 else None,
        "merge": result.merge,
        "threads": threads.count() if "cpu" in team.devices else None,
        "verified": verify,
        **_streamed_facts(graph),
        "seconds": seconds(clock),
        "output": None if output is None else str(output),
        "plot": None if plot is None else str(plot),
        "version": edgewise.__version__,
    }


def _closing_line(result, team, clock, output):
    return (
        f"{report.graph_in_words(result.graph)}: "
        f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}; "
        f"{report.times(clock)} ({result.method}{_streamed_note(result.graph)}, {_where(result, team)})"
        + (f" -> {output}" if output else "")
    )


def _where(result, team):
    """The devices in words."""
    if len(result.devices) > 1:
        return ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    return report.device_in_words(team)


def _in_words(pairs):
    """The inputs for a progress bar."""
    return str(pairs[0]) if len(pairs) == 1 else f"{len(pairs)} files"


def _streamed_facts(graph):
    """Facts of the graph of a stream."""
    return {"files": graph.files, "resumed": graph.resumed} if isinstance(graph, StreamedGraph) else {}


def _streamed_note(graph):
    """The same in the closing line."""
    if not isinstance(graph, StreamedGraph):
        return ""
    files = f" from {graph.files:,} file" + ("" if graph.files == 1 else "s")
    return files + (f", resumed after {graph.resumed:,} rows" if graph.resumed else "")
