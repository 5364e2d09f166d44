"""``edgewise why``: the strongest chain of pairs between two records, and when they part."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.clusters import id_of
from edgewise.command.outputs import check_outputs, on_terminal, or_standard_output
from edgewise.command.stages import stages
from edgewise.device import threads
from edgewise.errors import GraphError
from edgewise.files.inputs import name_of

EXAMPLES = (
    "edgewise why pairs.csv ann anna",
    "edgewise why pairs.csv ann anna --score score --json",
    "edgewise why roads.csv 1 3 --weight km --minimum",
)
DOCUMENTATION = "thresholds.md"

Source = Annotated[str, typer.Argument(metavar="ID", help="One of two ids.")]
Target = Annotated[str, typer.Argument(metavar="ID", help="The other one.")]
Output = options.output("Table of pairs to write (Parquet, CSV, Arrow, JSON Lines); - is standard output.")
To = options.format_of_output()
Maximum = Annotated[
    bool,
    typer.Option("--maximum/--minimum", help="Large weights are strong, as for scores, or small ones."),
]


@options.with_reading
def why(
    pairs: options.Input,
    one: Source,
    other: Target,
    reading,
    output: Output = None,
    to: To = None,
    maximum: Maximum = True,
    device: options.Device = None,
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Show why two records are in one cluster: the chain of pairs whose weakest score is the best."""
    output = or_standard_output(output, to, shown=not json)
    check_outputs(output, None, [pairs], to=to, json=json)
    threads.use(thread_count)
    team = options.team(device, None)
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        with stage("read", f"reading {name_of(pairs)}") as progress:
            graph = edgewise.read(pairs, progress=progress, **{"weight": True, **reading})
            if graph.directed:
                choice = "--undirected takes its edges in both directions"
                raise GraphError(f"{name_of(pairs)} is directed; {choice}")
        with stage("compute", f"growing the forest on {team[0].device}"):
            forest = edgewise.minimum_spanning_forest(graph, maximum=maximum, device=team[0].device)
            found = forest.explain(id_of(graph, one), id_of(graph, other))
        if output is not None:
            with stage("write", f"writing {output}"):
                edgewise.write(found.path, output, format=to)
    if json:
        own = {"threshold": found.threshold, "weakest": found.weakest, "path": found.path.to_pylist()}
        own |= {"maximum": maximum, "method": forest.method, **report.devices(forest, team)}
        report.as_json(report.facts(forest, team, clock, own, False, output))
    elif output is None:
        report.table(found.path, found.path.num_rows)
    if not (quiet or json):
        how = f"{forest.method}, {report.device_in_words(team)}"
        report.closing_line(forest, str(found), how, clock, output)
    if profile:
        report.profile(clock)
