"""``edgewise convert``: one graph format to another."""

from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_output, check_writable
from edgewise.command.stages import seconds, stages
from edgewise.files.formats import named

EXAMPLES = (
    "edgewise convert roads.gr roads.mtx",
    "edgewise convert friends.csv friends.parquet",
    "edgewise convert edges.txt graph.npz --format el --one-based",
)
DOCUMENTATION = "files.md"

Output = Annotated[Path, typer.Argument(help="File to write; its suffix sets the format.", metavar="OUT")]
To = Annotated[str | None, typer.Option("--to", help="Format to write, whatever the suffix.")]
SelfLoops = Annotated[
    str, typer.Option(metavar="keep|drop", help="What to do with edges from a vertex to itself.")
]
Repeated = Annotated[
    str,
    typer.Option(
        metavar="keep|first|sum|min|max", help="What to do with repeated edges between two vertices."
    ),
]


@options.with_reading
def convert(
    graph: options.Input,
    output: Output,
    reading,
    to: To = None,
    self_loops: SelfLoops = "keep",
    repeated: Repeated = "keep",
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph and write it."""
    if to is None:
        check_output(output, sources=[graph])
    else:
        named(to, "to")
        check_writable(output, [graph])
    reading |= {"self_loops": self_loops, "repeated": repeated}
    with stages(quiet or json) as (stage, clock):
        with stage("read", f"reading {graph}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
        with stage("write", f"writing {output}"):
            edgewise.write(read, output, format=to)
    if json:
        report.as_json(graph_facts(read) | {"seconds": seconds(clock), "output": str(output)})
    elif not quiet:
        words = report.columns_in_words(read) + report.weights_in_words(read) + report.times(clock)
        print(f"{report.graph_in_words(read)}; {words} -> {output}")
    if profile:
        report.profile(clock)


def graph_facts(graph) -> dict:
    """Facts of a graph that need no computation."""
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weights": None if graph.weights is None else str(graph.weights.dtype),
        "ids": None if graph.ids is None else str(getattr(graph.ids, "type", None) or graph.ids.dtype),
    }
