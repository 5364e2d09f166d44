"""``edgewise cores``: a graph in, a table of the core numbers of its vertices out."""

import edgewise
from edgewise.command import options, report
from edgewise.command.vertices import Output, Problem, Wanted, run
from edgewise.cores import METHODS
from edgewise.errors import GraphError

EXAMPLES = (
    "edgewise cores friends.csv",
    "edgewise cores graph.mtx -o cores.parquet",
)
DOCUMENTATION = "cores.md"

Method = options.choice("Method", "How to compute", METHODS)
To = options.format_of_output()
Plot = options.plot("core numbers")
Verify = options.verify("core numbers", "graph")


@options.with_reading
def cores(
    graph: options.Input,
    reading,
    output: Output = None,
    to: To = None,
    plot: Plot = None,
    verify: Verify = False,
    method: Method = "auto",
    device: options.Device = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph, find the core number of every vertex, and write or show the table."""
    how = str(method), device, thread_count, profile, json, quiet
    wanted = Wanted(graph, output, to, plot, verify, *how)
    run(Problem(edgewise.core_numbers, METHODS, check, in_words, facts), wanted, reading)


def check(graph, name):
    """Refuse a directed graph."""
    if graph.directed:
        raise GraphError(f"{name} is directed; --undirected takes its edges in both directions")


def in_words(result):
    """The result in a few words."""
    members = report.counted(int(result.sizes()[-1]), "vertex")
    return f"largest core number {result.largest:,}, of {members}"


def facts(result):
    """What the JSON object says of the result."""
    return {"largest": result.largest, "sizes": result.sizes().tolist()}
