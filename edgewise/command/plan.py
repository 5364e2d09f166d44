"""``edgewise plan``: what a job needs, before anything is read but headers or a sample.

``edgewise plan cores graph.mtx`` describes the job of another subcommand; without its name, clusters are
found.
"""

from edgewise.command import options, streaming


@options.subcommand(
    "memory.md",
    "edgewise plan pairs.parquet",
    "edgewise plan shards/ --where 'score >= 0.9' --memory 4GB",
    "edgewise plan partition mesh.graph 64 --memory 2GB",
    "edgewise plan paths roads.gr --source 1 --json",
    leave_out=("device", "devices", "profile", "quiet"),
)
def plan(pairs: options.Inputs, reading, run: options.Run):
    """Show how much memory the clusters of tables need, or COMMAND FILE with the options of a subcommand."""
    from edgewise.command.expected import planning
    from edgewise.streams import READING, way_names, ways

    streaming.check_stream(reading, READING, options.Goals())
    problem = streaming.Problem(("components", {}), ways.ways_of, streams_large=True)
    with planning():
        streaming.planned(streaming.Source(), list(pairs), reading, way_names.ALL, problem, run.json)
