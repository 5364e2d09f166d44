"""``edgewise tune``: the limits of ``auto``, measured on this machine."""

import pyarrow as pa

import edgewise
from edgewise import tuning
from edgewise.command import options, report
from edgewise.command.info import ignored, number
from edgewise.command.stages import seconds, stages

HOW = options.of(
    edgewise.tune,
    device={"metavar": "auto|cpu|cuda"},
    only={"metavar": "NAME,..."},
    seconds={"metavar": "S"},
    dry_run={},
    reset={},
)


@options.subcommand(
    "install.md",
    "edgewise tune",
    "edgewise tune --only paths_alone,ingest_few --seconds 20 --dry-run",
    "edgewise tune --reset",
    leave_out=("profile",),
)
def tune(shown: options.Shown, how=HOW):
    """Measure the limits that choose a method, and keep those that gain 10 % or more."""
    with stages(shown.quiet or shown.json) as (stage, clock), stage("measure", "measuring") as progress:
        found = edgewise.tune(**how, report=lambda done, total, words: progress(done, total, words))
    kinds = dict.fromkeys(one.device for one in found)
    files = [str(file) for file in map(tuning.tuned_file, kinds) if file.exists()]
    if shown.json:
        limits = [one._asdict() for one in found]
        report.as_json({"limits": limits, "files": files, "seconds": seconds(clock)})
        return
    if found and not shown.quiet:
        report.table(_table(found), len(found))
    if not shown.quiet:
        report.say(_ending(how, found, files) + report.times(clock))
        if words := ignored(kinds):
            report.say(words)


def _table(found):
    """The findings as they are printed."""
    rows = [
        {
            "limit": one.limit + (" (GPU)" if one.device == "cuda" else ""),
            "unit": one.unit,
            "default": number(one.default),
            "measured": None if one.measured is None else number(one.measured),
            "gain": f"{one.gain:.0%}" if one.gain > 0 else None,
            "kept": "yes" if one.kept else f"no: {one.note}",
        }
        for one in found
    ]
    return pa.Table.from_pylist(rows)


def _ending(how, found, files):
    if how.get("reset"):
        return "the limits are the defaults; "
    kept = report.counted(sum(one.kept for one in found), "limit")
    if how.get("dry_run"):
        return f"{kept} would be kept; "
    return f"{kept} kept{''.join(f', {file}' for file in files)}; "
