"""``edgewise bench FILE``: every method on a graph of one's own, beside the libraries that are installed."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.bench_outputs import Output, as_dict, check_output, write
from edgewise.command.stages import seconds, stages
from edgewise.device import threads
from edgewise.experiments.own_graph import CALLS, compare
from edgewise.files.inputs import name_of

NAME = "graph"
HELP = (
    "Every method on a graph of your own, beside SciPy, NetworkX, igraph, NetworKit and rustworkx where "
    "they are installed. The word graph may be left out: edgewise bench FILE."
)
EXAMPLES = (
    "edgewise bench graph pairs.parquet",
    "edgewise bench graph roads.gr --only 'shortest paths,forest' -o roads.html",
)


@options.with_reading
def measured(
    graph: options.Input,
    reading,
    only: Annotated[
        str, typer.Option(metavar="CALL,...", help=f"Only these calls: {', '.join(CALLS)}.")
    ] = "",
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="Timed runs; their median is shown.")] = 5,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also methods kept for comparison, which may take minutes.")
    ] = False,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Without other libraries.")] = False,
    output: Output = None,
    device: options.Device = None,
    n_threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Measure every method on a graph."""
    check_output(output)
    threads.use(n_threads)
    with stages(quiet or json) as (stage, clock):
        name = name_of(graph)
        with stage("read", f"reading {name}"):
            read = edgewise.read(graph, **reading)
        with stage("measure", "measuring") as progress:
            found = compare(
                read,
                name.rpartition("/")[2].partition(".")[0],
                device=device,
                runs=runs,
                only=tuple(word.strip() for word in only.split(",") if word.strip()),
                baselines=baselines,
                peers=not no_peers,
                report=lambda words: progress(0, None, words),
            )
        write([found], output, stage)
    if json:
        report.as_json(as_dict(found) | {"seconds": seconds(clock)})
        return
    report.say(found.text(), kept="\n")
    if not quiet:
        where = ", ".join(found.devices)
        ending = f" -> {output}" if output else ""
        words = f"{report.graph_in_words(read)}; {report.times(clock)} (median of {runs}, {where}){ending}"
        report.say("")
        report.say(words)
