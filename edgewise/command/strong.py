"""``edgewise strong``: a directed graph in, a table of its strongly connected components out."""

import edgewise
from edgewise.command import options, report
from edgewise.command.vertices import Output, Problem, Wanted, run
from edgewise.errors import GraphError
from edgewise.strong import METHODS

EXAMPLES = (
    "edgewise strong friends.csv",
    "edgewise strong friends.csv -o components.parquet --verify",
)
DOCUMENTATION = "strong.md"

Method = options.choice("Method", "How to compute", METHODS)
To = options.format_of_output()
Plot = options.plot("component sizes")
Verify = options.verify("components", "graph")


@options.with_reading
def strong(
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
    """Read a graph with directed edges, find its strong components, and write or show the table."""
    how = str(method), device, thread_count, profile, json, quiet
    wanted = Wanted(graph, output, to, plot, verify, *how)
    problem = Problem(edgewise.strongly_connected_components, METHODS, check, in_words, facts)
    run(problem, wanted, {"directed": True, **reading})


def check(graph, name):
    """Refuse an undirected graph, which the caller has asked for."""
    if not graph.directed:
        raise GraphError(f"the edges of {name} have no direction; use edgewise components")


def in_words(result):
    """The result in a few words."""
    return f"{report.counted(result.count, 'strong component')}, largest {result.largest:,}"


def facts(result):
    """What the JSON object says of the result."""
    return {"components": result.count, "largest": result.largest}
