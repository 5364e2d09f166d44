"""``edgewise strong``: a directed graph in, a table of its strongly connected components out."""

import edgewise
from edgewise.command import options, report
from edgewise.command.job import Job
from edgewise.errors import GraphError
from edgewise.strong import METHODS

Method = options.choice("Method", "How to compute", METHODS)


@options.subcommand(
    "strong.md",
    "edgewise strong friends.csv",
    "edgewise strong friends.csv -o components.parquet --verify",
    leave_out=("devices",),
    plot="component sizes",
    verify="components against the graph",
    certificate="components",
)
def strong(graph: options.Input, reading, goals: options.Goals, run: options.Run, method: Method = "auto"):
    """Read a graph with directed edges, find its strong components, and write or show the table."""
    job = Job([graph], goals, run, method=str(method), methods=METHODS)
    with job.steps() as stage:
        reading = {"weight": False, "directed": True, **reading}
        read = job.read(graph, reading, ("strong", {"method": str(method)}), undirected=False)
        if not read.directed:  # as the caller has asked for
            raise GraphError(f"the edges of {job.name} have no direction; use edgewise components")
        with stage("compute", f"computing on {job.device}"):
            result = edgewise.strongly_connected_components(read, method=str(method), device=job.device)
        job.finish(result, "checking every vertex", result)
    facts = {"components": result.count, "largest": result.largest}
    found = f"{report.counted(result.count, 'strong component')}, largest {result.largest:,}"
    job.close(result, lambda: facts | job.facts(result), found, show=lambda: report.table(result.to_frame()))
