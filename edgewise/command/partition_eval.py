"""``edgewise partition-eval``: a graph and the parts of its vertices in, their measures out."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.partition import print_measures
from edgewise.command.stages import stages
from edgewise.errors import GraphError
from edgewise.files.inputs import name_of
from edgewise.partitions.result import read_numbers

EXAMPLES = ("edgewise partition-eval mesh.graph mesh.graph.part.64",)
DOCUMENTATION = "partitions.md"

Parts = Annotated[str, typer.Argument(metavar="PARTS", help="File with one part a line, from 0 on.")]


@options.with_reading
def partition_eval(
    graph: options.Input,
    parts: Parts,
    reading,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph and a partition of its vertices, from any program, and measure the partition."""
    with stages(quiet or json) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading)
            if read.directed:
                raise GraphError(
                    f"{name_of(graph)} is directed; --undirected takes its edges in both directions"
                )
            numbers = read_numbers(parts, read.n_vertices, whole=True)
        with stage("measure", "measuring the parts"):
            own = edgewise.evaluate_partition(read, numbers).report()
    if json:
        report.as_json({"vertices": read.n_vertices, "edges": read.n_edges, **own})
        return
    print_measures(own)
    if not quiet:
        parts = report.counted(own["parts"], "part")
        report.say(f"{report.graph_in_words(read)}: {parts}; {report.times(clock)}")
