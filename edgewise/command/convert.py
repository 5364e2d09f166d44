"""``edgewise convert``: one graph format to another."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.outputs import check_output, on_terminal
from edgewise.command.stages import seconds, stages
from edgewise.errors import OptionError
from edgewise.files import destinations
from edgewise.files.formats import named
from edgewise.files.inputs import name_of
from edgewise.ingest.representation import weights_in_words

EXAMPLES = (
    "edgewise convert roads.gr roads.mtx",
    "edgewise convert friends.csv friends.parquet",
    "edgewise convert edges.txt graph.npz --format el --one-based",
    "edgewise convert pairs.csv store/ --shards 8",
)
DOCUMENTATION = "files.md"

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
Shards = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Write a folder of up to N Parquet files, or --to npz; tables are then read row by row.",
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
    shards: Shards = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read a graph and write it."""
    if shards is not None:
        from edgewise.files.write_tables import shard_writer

        _check_shards(to, self_loops, repeated)
        _write_shards(graph, output, reading, (shards, shard_writer(to)), (profile, json, quiet))
        return
    if to is not None:
        named(to, "to")
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
        weights = f" {words}" if (words := weights_in_words(read)) else ""
        words = report.left_out_in_words(read) + report.columns_in_words(read) + report.times(clock)
        report.close(f"{report.graph_in_words(read)}{weights}; {words}", output)
    if profile:
        report.profile(clock)


def _check_shards(to, self_loops, repeated):
    """Refuse options that need all edges, or another format."""
    to = None if to in ("parquet", "npz") else to
    given = (("to", to, None), ("self-loops", self_loops, "keep"), ("repeated", repeated, "keep"))
    for option, value, default in given:
        if value != default:
            raise OptionError(f"--{option} means nothing with --shards; leave it out")


def _write_shards(graph, output, reading, how, shown):
    """Write a store of shards, and say so."""
    from edgewise.files.to_store import to_store

    profile, json, quiet = shown
    with stages(quiet or json) as (stage, clock), stage("write", f"converting {name_of(graph)}") as progress:
        manifest = to_store(graph, output, how, reading, progress)
    count = len(manifest["shards"])
    if json:
        facts = {"edges": manifest["rows"], "shards": count}
        report.as_json(facts | {"seconds": seconds(clock), "output": str(output)})
    elif not quiet:
        words = f"{report.counted(manifest['rows'], 'edge')} in {report.counted(count, 'shard')}"
        report.close(f"{words}; {report.times(clock)}", output)
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
