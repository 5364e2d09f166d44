"""``edgewise warmup``: compile before the first job, not during it."""

from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.stages import seconds, stages

EXAMPLES = (
    "edgewise warmup",
    "edgewise warmup --device cpu --paths",
)
DOCUMENTATION = "install.md"

Paths = Annotated[bool, typer.Option("--paths", help="Compile the shortest-path searches as well.")]
Cycles = Annotated[bool, typer.Option("--cycles", help="Compile the cycle counts as well.")]
Forests = Annotated[
    bool, typer.Option("--forests", help="Compile spanning forests and several thresholds as well.")
]

Partitions = Annotated[bool, typer.Option("--partitions", help="Compile partitions as well.")]
Cores = Annotated[bool, typer.Option("--cores", help="Compile core numbers and strong components as well.")]


def warmup(
    device: options.Device = None,
    paths: Paths = False,
    cycles: Cycles = False,
    forests: Forests = False,
    partitions: Partitions = False,
    cores: Cores = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Compile and cache the kernels of the main job."""
    with stages(quiet or json) as (stage, clock), stage("compile", f"compiling for {device or 'auto'}"):
        kinds = {"paths": paths, "cycles": cycles, "forests": forests}
        kinds |= {"partitions": partitions, "cores": cores}
        where = edgewise.warmup(device=device or "auto", **kinds)
    if json:
        report.as_json({"device": where, "seconds": seconds(clock)})
    elif not quiet:
        report.say(f"kernels for {where} are ready; {clock['compile'].seconds:.1f} s")
