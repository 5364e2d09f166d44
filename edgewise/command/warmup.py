"""``edgewise warmup``: compile before the first job, not during it."""

import edgewise
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
    from edgewise.device import ahead, arrays

    device = arrays.resolve(run.device or "auto")
    with stages(run.quiet or run.json) as (stage, clock), stage("compile", f"compiling for {device}"):
        if device == "cpu":
            ahead.share_warmup([name for name, is_chosen in kinds.items() if is_chosen])
        edgewise.warmup(device=device, **kinds)
    if run.json:
        report.as_json({"device": device, "seconds": seconds(clock)})
    elif not run.quiet:
        report.say(f"kernels for {device} are ready; {clock['compile'].seconds:.1f} s")
