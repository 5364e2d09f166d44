"""``edgewise warmup``: compile before the first job, not during it."""

import edgewise
from edgewise import warm
from edgewise.command import options, report
from edgewise.command.stages import seconds, stages

KINDS = options.of(edgewise.warmup, "components", "paths", "cycles", "forests", "partitions", "cores")


@options.subcommand(
    "install.md",
    "edgewise warmup",
    "edgewise warmup --device cpu --paths",
    leave_out=("devices", "threads", "profile"),
)
def warmup(run: options.Run, kinds=KINDS):
    """Compile and cache the kernels of all commands, or of those that are named."""
    from edgewise.device import arrays, cache

    device = arrays.resolve(run.device or "auto")
    chosen = [name for name, is_chosen in kinds.items() if is_chosen] or [*warm.KERNELS]
    with (
        stages(run.quiet or run.json) as (stage, clock),
        stage("compile", f"compiling for {device}") as progress,
    ):
        if device == "cpu" and len(chosen) > 1 and cache.keeps_of_all_processes():
            warm.compile_in_processes(chosen, progress)
        else:
            edgewise.warmup(device=device, **kinds)
    if run.json:
        report.as_json({"device": device, "seconds": seconds(clock)})
    elif not run.quiet:
        report.say(f"kernels for {device} are ready; {clock['compile'].seconds:.1f} s")
