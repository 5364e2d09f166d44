"""``edgewise convert``: one graph format to another."""

import edgewise
from edgewise.command import expected, options, report
from edgewise.command.outputs import check_output, on_terminal
from edgewise.command.stages import seconds, stages
from edgewise.errors import OptionError
from edgewise.files import destinations
from edgewise.files.formats import named
from edgewise.files.inputs import name_of
from edgewise.ingest.representation import weights_in_words

To = options.option(str, "Format to write, whatever the suffix.", "--to")
MERGING = options.of(
    edgewise.read,
    self_loops={"metavar": "keep|drop"},
    repeated={"metavar": "keep|first|sum|min|max"},
)


@options.subcommand(
    "files.md",
    "edgewise convert roads.gr roads.mtx",
    "edgewise convert friends.csv friends.parquet",
    "edgewise convert edges.txt graph.npz --format el --one-based",
    "edgewise convert pairs.csv store/ --shards 8",
)
def convert(
    graph: options.Input,
    output: options.argument(
        str, "OUT", "File to write; its suffix sets the format. - is standard output.", **options.PATH
    ),
    reading,
    shown: options.Shown,
    merging=MERGING,
    to: To = None,
    shards: options.option(
        int,
        "Write a folder of up to N Parquet files, or --to npz; tables are then read row by row.",
        metavar="N",
        min=1,
    ) = None,
):
    """Read a graph and write it."""
    if shards is not None:
        _write_shards(graph, output, reading, (to, shards), merging, shown)
        return
    if to is not None:
        named(to, "to")
    check_output(output, sources=[graph], to=to, json=shown.json)
    expected.check([graph], reading, None, undirected=False)
    with stages(shown.quiet or shown.json or on_terminal(output)) as (stage, clock):
        with stage("read", f"reading {name_of(graph)}") as progress:
            read = edgewise.read(graph, progress=progress, **reading, **merging)
        with stage("write", f"writing {destinations.name_of(output)}"):
            edgewise.write(read, output, format=to)
    weights = f" {words}" if (words := weights_in_words(read)) else ""
    taken = report.left_out_in_words(read) + report.columns_in_words(read)
    tell(shown, clock, output, graph_facts(read), f"{report.graph_in_words(read)}{weights}; {taken}")


def _write_shards(graph, output, reading, how, merging, shown):
    """Write a store of shards."""
    from edgewise.files.to_store import to_store
    from edgewise.files.write_tables import shard_writer

    to, count = how
    unknown = {} if to in (None, "parquet", "npz") else {"to": to}
    for option in (*unknown, *(name.replace("_", "-") for name, value in merging.items() if value != "keep")):
        raise OptionError(f"--{option} means nothing with --shards; leave it out")
    silent, how = shown.quiet or shown.json, (count, shard_writer(to))
    with stages(silent) as (stage, clock), stage("write", f"converting {name_of(graph)}") as progress:
        manifest = to_store(graph, output, how, reading, progress)
    facts = {"edges": manifest["rows"], "shards": len(manifest["shards"])}
    words = f"{report.counted(facts['edges'], 'edge')} in {report.counted(facts['shards'], 'shard')}; "
    tell(shown, clock, output, facts, words)


def tell(shown, clock, output, facts, words):
    """Print what was written: the facts as JSON, or the words and the times; then the profile."""
    if shown.json:
        report.as_json(facts | {"seconds": seconds(clock), "output": str(output)})
    elif not shown.quiet:
        report.close(f"{words}{report.times(clock)}", output)
    if shown.profile:
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
