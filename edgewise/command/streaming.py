"""What subcommands that stream tables share: their options, and Ctrl-C in the middle."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from edgewise.command import report
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.errors import OptionError

Stream = Annotated[bool, typer.Option("--stream", help="Read tables once; keep no pairs in memory.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="With --stream: file from which an interrupted run continues.")
]
Vertices = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="With --stream: number of vertices; integer ids are smaller."),
]


def check_no_stream(checkpoint, vertices):
    """Refuse options of streams where nothing is streamed."""
    for option, given in (("checkpoint", checkpoint), ("vertices", vertices)):
        if given is not None:
            raise OptionError(f"--{option} goes with --stream; add that")


def check_stream(reading, known, verify):
    """Refuse options that need all pairs in memory."""
    for name in reading:
        if name not in known:
            option = "--" + name.replace("_", "-")
            raise OptionError(f"{option} means nothing with --stream, which reads tables; leave it out")
    if verify:
        raise OptionError("--verify needs all pairs in memory; leave out it or --stream")


def run_stream(job, stage, words):
    """Stream the files, which messages call ``words``; at Ctrl-C say how to continue."""
    try:
        with stage("stream", f"streaming {words}") as progress:
            result = job.run(progress)
            result.count  # noqa: B018 -- counted in this step, not while writing
            return result
    except KeyboardInterrupt:
        if job.saved is not None:
            saved = f"{job.saved:,} rows are in {job.checkpoint.path}"
            print(f"edgewise: {saved}; repeat the command to continue", file=sys.stderr)
        raise


def facts(graph) -> dict:
    """What the JSON object says of the stream that a graph is of, if it is of one."""
    return {"files": graph.files, "resumed": graph.resumed} if isinstance(graph, StreamedGraph) else {}


def in_words(graph) -> str:
    """What the closing line says of it."""
    if not isinstance(graph, StreamedGraph):
        return ""
    resumed = f", resumed after {graph.resumed:,} rows" if graph.resumed else ""
    return f" from {report.counted(graph.files, 'file')}{resumed}"
