"""``edgewise cores``: a graph in, a table of the core numbers of its vertices out."""

import edgewise
from edgewise.command import options, report
from edgewise.command.job import Job
from edgewise.cores import METHODS

Method = options.choice("Method", "How to compute", METHODS)


@options.subcommand(
    "cores.md",
    "edgewise cores friends.csv",
    "edgewise cores graph.mtx -o cores.parquet",
    leave_out=("devices",),
    plot="core numbers",
    verify="core numbers against the graph",
    certificate="core numbers",
)
def cores(graph: options.Input, reading, goals: options.Goals, run: options.Run, method: Method = "auto"):
    """Read a graph, find the core number of every vertex, and write or show the table."""
    job = Job([graph], goals, run, method=str(method), methods=METHODS)
    with job.steps() as stage:
        read = job.read(graph, {"weight": False, **reading}, ("cores", {"method": str(method)}))
        with stage("compute", f"computing on {job.device}"):
            result = edgewise.core_numbers(read, method=str(method), device=job.device)
        job.finish(result, "checking every vertex", result)
    facts = {"largest": result.largest, "sizes": result.sizes().tolist()}
    members = report.counted(facts["sizes"][-1], "vertex")
    found = f"largest core number {result.largest:,}, of {members}"
    job.close(result, lambda: facts | job.facts(result), found, show=lambda: report.table(result.to_frame()))
