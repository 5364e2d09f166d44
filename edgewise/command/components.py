"""``edgewise components``: pairs in, a table of clusters out.

With ``--records`` every record gets a cluster, with ``--update`` the pairs are added to clusters that were
found before, and with ``--stream`` many files are read once.
"""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.command import clusters, options, outputs, report, streaming
from edgewise.command.clusters import Clusters, View
from edgewise.command.outputs import (
    check_output,
    check_outputs,
    check_writable,
    on_terminal,
    or_standard_output,
)
from edgewise.command.scores import Scores
from edgewise.command.stages import finish, stages
from edgewise.components import MERGES, METHODS
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.device import threads
from edgewise.errors import OptionError
from edgewise.files.destinations import is_folder

EXAMPLES = (
    "edgewise components pairs.csv --source left_id --target right_id",
    "edgewise components pairs.parquet --where 'score >= 0.9' -o clusters.parquet",
    "edgewise components pairs.csv --records people.csv --name min -o clusters.csv",
    "edgewise components pairs.parquet --thresholds 0.8,0.9 -o clusters.parquet",
    "edgewise components pairs.csv --threshold 0.8 --max-size 20",
    "edgewise components links.csv --threshold 0.8 --one-to-one all",
    "edgewise components --update clusters.csv new.csv -o clusters.csv",
    "edgewise components 'shards/*.parquet' --stream -o clusters.parquet",
    "edgewise components shards/ --scheduler local:4 -o clusters/",
    "edgewise components shards/ --memory 4GB -o clusters/",
)
DOCUMENTATION = "clusters.md"

Method = options.choice("Method", "How to compute", METHODS)
Merge = options.choice("Merge", "How the labels of several devices are merged", MERGES)
Output = options.output(
    "Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output, and FOLDER/ a new folder of "
    "shards. Otherwise a terminal shows its head, and a pipe gets it whole."
)
To = options.format_of_output()
Plot = options.plot("component sizes")
Verify = options.verify("clusters", "pairs")


@options.with_reading
def components(
    pairs: options.Inputs,
    reading,
    output: Output = None,
    to: To = None,
    records: clusters.Records = None,
    vertex_id: clusters.IdColumn = None,
    name: clusters.Name = None,
    min_size: clusters.MinSize = 1,
    top: clusters.Top = None,
    sizes: clusters.Sizes = False,
    members: clusters.Members = None,
    update: clusters.Update = None,
    changes: clusters.Changes = None,
    thresholds: clusters.Thresholds = None,
    max_size: clusters.MaxSize = None,
    one_to_one: clusters.OneToOne = None,
    ties: clusters.Ties = None,
    plot: Plot = None,
    verify: Verify = False,
    stream: streaming.Stream = False,
    checkpoint: streaming.Checkpoint = None,
    vertices: streaming.Vertices = None,
    scheduler: streaming.Scheduler = None,
    memory: streaming.Memory = None,
    method: Method = "auto",
    device: options.Device = None,
    devices: options.Devices = None,
    merge: Merge = "auto",
    thread_count: options.Threads = None,
    profile: options.Profile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
    """Read pairs, cluster them, and write or show the table."""
    view = View(top, sizes, members, name)
    scores = Scores.given(thresholds, max_size, one_to_one, ties)
    wanted = Clusters(list(pairs), records, vertex_id, name, min_size, update, changes, scores)
    stream, tasks = stream or bool(scheduler or memory), streaming.Tasks(scheduler, memory)
    wanted.check(stream, view)
    file = None if any(tasks) else checkpoint  # tasks check their folder
    goals = _checked_outputs(view, Outputs(output, plot, file, changes), wanted, to, json)
    asked, output = view.kind(), goals.table
    team, where = _team(device, devices, str(merge), thread_count)
    how = Streaming(method, verify, checkpoint, vertices, team, where, tasks)
    job = _stream_of(stream, wanted, reading, how, _shards_of(goals, wanted, asked, how))
    with stages(quiet or json or on_terminal(output), team.synchronize) as (stage, clock):
        result = _streamed(job, stage, wanted) if stream else _solved(wanted, reading, stage, method, where)
        finish(stage, result, "checking every pair" if verify else "")
        table = wanted.write(stage, result, output, to)
        finish(stage, result, plot=plot)
        shown = view.of(result) if asked else None
    if json:
        facts = _facts(result, team) | wanted.facts(result) | view.facts(shown)
        report.as_json(report.facts(result, team, clock, facts, verify, output, plot))
    elif asked or output is None:
        _show(view, shown, table, to if output is None else None)
    if not (quiet or json):
        _close(result, team, clock, "-" if _takes_standard_output(asked, wanted) else output, wanted)
    _end(None if output is None else job, clock if profile else None)


def _end(job, clock):
    """Remove the checkpoint of a stream whose output is written, and print the profile, if they are given."""
    if job is not None:
        job.remove_checkpoint()
    if clock is not None:
        report.profile(clock)


class Outputs(NamedTuple):
    """What is written."""

    table: str | None
    plot: Path | None
    checkpoint: Path | None
    changes: str | None


class Streaming(NamedTuple):
    """The options that matter to a stream."""

    method: str
    verify: bool
    checkpoint: Path | None
    vertices: int | None
    team: Any
    where: dict
    tasks: streaming.Tasks


def _team(device, devices, merge, thread_count):
    """The devices, and the same as arguments of the public function, once the number of threads is set."""
    threads.share_cores()  # with those that decode the pairs
    threads.use(thread_count)
    if devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    team = options.team(device, devices)
    return team, {"devices": devices, "merge": merge} if devices else {"device": team[0].device}


def _checked_outputs(view, goals, wanted, to, json):
    """The outputs, once checked; the table goes to standard output where that is needed for nothing else."""
    asked = view.kind(goals.table)
    table = goals.table if asked else or_standard_output(goals.table, to, shown=not json)
    goals = goals._replace(table=table)
    _check_outputs(goals, wanted, to if table else None, json)
    return goals


def _takes_standard_output(asked, wanted):
    """Whether something other than the table of clusters is written to standard output."""
    return (asked and not outputs.is_terminal()) or wanted.changes == "-"


def _check_outputs(goals, wanted, to, json):
    inputs = wanted.inputs()
    check_outputs(goals.table, goals.plot, inputs, to=to, json=json)
    if goals.checkpoint is not None:
        check_writable(goals.checkpoint, inputs)
    if goals.changes is not None:
        check_output(goals.changes, sources=[*inputs, wanted.update], table=True, json=json)
    written = [Path(path).resolve() for path in goals if path is not None]
    for position, path in enumerate(written):
        if path in written[:position]:
            raise OptionError(f"{path.name} is given for two outputs; use a file for each")


def _shards_of(goals, wanted, asked, how):
    """What tasks write to a folder; ``None`` if they do not."""
    if not any(how.tasks) or goals.table is None or not is_folder(goals.table):
        return None
    from edgewise.streams.stored import Output

    for option, given in ((asked, asked), ("plot", goals.plot)):
        if given:
            problem = f"--{option} needs all labels, and tasks write them to {goals.table}"
            raise OptionError(f"{problem}; name a file")
    return Output(goals.table, wanted.name, wanted.min_size)


def _stream_of(stream, wanted, reading, how, output):
    """The job of a stream, if one is wanted; its tasks write the ``output``, if there is one."""
    if not stream:
        streaming.check_no_stream(how.checkpoint, how.vertices)
        return None
    from edgewise.streams import READING, stream_team
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.union import Union

    streaming.check_stream(reading, READING, how.verify)
    if how.method not in ("auto", "rem"):
        raise OptionError(f"--method {how.method} needs all pairs in memory; leave out it or --stream")
    merge = how.where.get("merge", "auto")
    stream_team(None, how.where.get("devices"), merge)
    columns = dict.fromkeys(READING) | {"null": "error"} | reading
    if any(how.tasks):
        return _scheduled(wanted.pairs, columns, how, output)
    return FileStream(wanted.pairs, columns, Union(merge), how.vertices, how.team, how.checkpoint)


def _scheduled(pairs, columns, how, output):
    """The job of a stream by tasks."""
    from edgewise.streams import stream_by_tasks

    if "devices" in how.where:
        option = "scheduler" if how.tasks.scheduler else "memory"
        raise OptionError(f"--devices is for one process; with --{option} tasks have a device each")
    given = {"device": how.where["device"], "checkpoint": how.checkpoint}
    wanted = how.tasks.memory, output
    make = partial(stream_by_tasks, wanted, pairs, columns, how.vertices, **given)
    return streaming.ScheduledStream(how.tasks.scheduler, how.checkpoint, make)


def _solved(wanted, reading, stage, method, where):
    """Read the pairs and find their components."""
    with stage("read", f"reading {wanted.in_messages()}") as progress:
        graph, finished = wanted.read(reading, progress)
    with stage("compute", f"clustering on {where.get('devices') or where['device']}"):
        result = finished(wanted.scores.solve(graph, method=str(method), **where))
        result.largest  # noqa: B018 -- counted in this step, not while writing
        return result


def _streamed(job, stage, wanted):
    """Stream the pairs."""
    return streaming.run_stream(job, stage, wanted.in_messages())


def _facts(result, team):
    found = {} if isinstance(result, ThresholdComponents) else _sizes(result)
    return {
        **found,
        "method": result.method,
        **report.devices(result, team),
        "merge": getattr(result, "merge", None),
        **streaming.facts(result.graph),
    }


def _show(view, shown, table, to):
    """Print what the view has shown, or the first rows of the table."""
    if shown is None:
        report.head(table.head(report.SHOWN_ROWS), table.rows())
    else:
        view.show(shown, to)


def _sizes(result):
    return {"components": result.count, "largest": result.largest}


def _close(result, team, clock, output, wanted):
    """Print what was found at each threshold, and the closing line."""
    wanted.scores.show(result, output)
    how, where = result.method + streaming.in_words(result.graph), report.device_in_words(team)
    if len(result.devices) > 1:
        where = ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    found = wanted.scores.found(result) + wanted.in_words(result)
    report.closing_line(result, found, f"{how}, {where}", clock, output)
