"""``edgewise components``: a file of pairs in, a table of clusters out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import plots
from edgewise.command import options, report
from edgewise.command.outputs import check_output, check_place
from edgewise.command.stages import seconds, stages
from edgewise.components import METHODS
from edgewise.device import arrays, threads

Method = StrEnum("Method", {name: name for name in ("auto", *METHODS)})

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Table to write (Parquet, CSV or Arrow); shown in part if left out."),
]
Plot = Annotated[Path | None, typer.Option(help="Picture of the component sizes to draw (.png, .svg, .pdf).")]
Verify = Annotated[bool, typer.Option("--verify", help="Check the clusters against the pairs.")]


def add(app, name, gist):
    """Put the subcommand into ``app``."""
    app.command(name, help=gist)(components)


@options.with_reading
def components(
    pairs: options.Input,
    reading,
    output: Output = None,
    plot: Plot = None,
    verify: Verify = False,
    method: Annotated[Method, typer.Option(help="How to compute.")] = Method.auto,
    device: options.Device = "auto",
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read pairs, cluster them, and write or show the table."""
    _check(pairs, output, plot)
    threads.use(thread_count)
    place = arrays.resolve(device)
    with stages(quiet or json, lambda: arrays.synchronize(place)) as (stage, clock):
        with stage("read", f"reading {pairs}") as progress:
            graph = edgewise.read(pairs, progress=progress, **reading)
        with stage("compute", f"clustering on {place}"):
            result = edgewise.connected_components(graph.to(place), method=method.value)
            result.count  # noqa: B018 -- counted here, so that writing is only writing
        if verify:
            with stage("verify", "checking every pair"):
                result.verify()
        if output is not None:
            with stage("write", f"writing {output}"):
                result.write(output)
        if plot is not None:
            with stage("plot", f"drawing {plot}"):
                result.plot(plot)
    _tell(result, clock, output, plot, verify, json=json, quiet=quiet)
    if profile:
        report.profile(clock)


def _check(pairs, output, plot):
    if output is not None:
        check_output(output, source=pairs, table=True)
    if plot is not None:
        plots.check(plot)
        check_place(plot, pairs)


def _tell(result, clock, output, plot, verify, *, json, quiet):
    if json:
        report.as_json(_facts(result, clock, output, plot, verify))
        return
    if output is None:
        report.table(result.to_frame())
    if not quiet:
        print(_closing_line(result, clock, output))


def _facts(result, clock, output, plot, verify):
    graph = result.graph
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "components": result.count,
        "largest": result.largest,
        "method": result.method,
        "device": graph.place,
        "threads": threads.count() if graph.place == "cpu" else None,
        "verified": verify,
        "seconds": seconds(clock),
        "output": None if output is None else str(output),
        "plot": None if plot is None else str(plot),
        "version": edgewise.__version__,
    }


def _closing_line(result, clock, output):
    graph = result.graph
    where = report.counted(threads.count(), "thread") + " of the CPU" if graph.place == "cpu" else graph.place
    return (
        f"{report.graph_in_words(graph)}: "
        f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}; "
        f"{report.times(clock)} ({result.method}, {where})" + (f" -> {output}" if output else "")
    )
