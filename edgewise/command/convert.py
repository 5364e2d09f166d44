"""``edgewise convert``: one graph format to another."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_output, on_terminal
from edgewise.command.stages import seconds, stages
from edgewise.files import destinations
from edgewise.files.inputs import name_of

Output = Annotated[
    str,
    typer.Argument(
        help="File to write; its suffix sets the format. - is standard output.",
        metavar="OUT",
        allow_dash=True,
    ),
]
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
    check_output(output, sources=[graph], to=to, json=json)
    reading |= {"self_loops": self_loops, "repeated": repeated}
    with stages(quiet or json or on_terminal(output)) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
        with stage("write", f"writing {destinations.name_of(output)}"):
            edgewise.write(read, output, format=to)
    if json:
        report.as_json(graph_facts(read) | {"seconds": seconds(clock), "output": str(output)})
    elif not quiet:
        words = report.weights_in_words(read) + report.times(clock)
        report.close(f"{report.graph_in_words(read)}; {words}", output)
    if profile:
        report.profile(clock)


def graph_facts(graph) -> dict:
    """Facts of a graph that need no computation."""
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weights": None if graph.weights is None else str(graph.weights.dtype),
        "ids": "vertex numbers"
        if graph.ids is None
        else str(getattr(graph.ids, "type", None) or graph.ids.dtype),
    }
