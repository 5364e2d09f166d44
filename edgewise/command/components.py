"""``edgewise components``: pairs in, a table of clusters out.

With ``--records`` every record gets a cluster, with ``--update`` the pairs are added to clusters that were
found before, and with ``--stream`` many files are read once.
"""

from functools import partial
from pathlib import Path
from typing import Any

from edgewise.command import options, outputs, report, streaming
from edgewise.command.cluster_options import Clusters, View
from edgewise.command.job import Job, in_messages
from edgewise.command.outputs import check_output, check_writable
from edgewise.command.scores import Scores
from edgewise.components import MERGES, METHODS
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.errors import OptionError
from edgewise.files.destinations import is_folder
from edgewise.streams import way_names

Method = options.choice("Method", "How to compute", METHODS)
Merge = options.choice("Merge", "How the labels of several devices are merged", MERGES)


@options.subcommand(
    "clusters.md",
    "edgewise components pairs.csv --source left_id --target right_id",
    "edgewise components pairs.parquet --where 'score >= 0.9' -o clusters.parquet",
    "edgewise components pairs.csv --records people.csv --name min -o clusters.csv",
    "edgewise components pairs.parquet --thresholds 0.8,0.9 -o clusters.parquet",
    "edgewise components pairs.csv --threshold 0.8 --max-size 20",
    "edgewise components pairs.csv --threshold 0.8 --cannot reviewed.csv",
    "edgewise components pairs.csv --threshold 0.8 --review 10",
    "edgewise components links.csv --threshold 0.8 --one-to-one all",
    "edgewise components --update clusters.csv new.csv -o clusters.csv",
    "edgewise components 'shards/*.parquet' --stream -o clusters.parquet",
    "edgewise components shards/ --scheduler local:4 -o clusters/",
    "edgewise components shards/ --memory 4GB -o clusters/",
    output="Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output, and FOLDER/ a new folder "
    "of shards. Otherwise a terminal shows its head, and a pipe gets it whole.",
    plot="component sizes",
    verify="clusters against the pairs",
    certificate="clusters",
)
def components(
    pairs: options.Inputs,
    reading,
    goals: options.Goals,
    wanted: Clusters,
    view: View,
    scores: Scores,
    source: streaming.Source,
    run: options.Run,
    method: Method = "auto",
    merge: Merge = "auto",
):
    """Read pairs, cluster them, and write or show the table."""
    pairs, scores = list(pairs), scores.parsed()
    wanted.check(scores, bool(source.stream or source.scheduler), view)
    inputs, asked = wanted.inputs(pairs), view.kind(goals.output)
    of_table = goals._replace(to=None) if asked and goals.output is None else goals
    job = Job(inputs, of_table, run, shown=not asked)
    job.name = in_messages(pairs)
    allowed = _ways(source, job, (wanted, scores, view, reading), str(method))
    call = "components", {"method": str(method)}
    problem = streaming.Problem(call, partial(_ways_of, scores.wanted), streams_large=True)
    tables = scores.of_tables(reading)
    plan = streaming.planned(source, pairs, tables, allowed, problem, run.json)
    source = plan.source
    _check_outputs(job.output, goals.plot, plan, wanted, inputs, run.json)
    if run.devices is None and merge != "auto":
        raise OptionError("--merge is for several devices; add --devices")
    where = {"devices": run.devices, "merge": str(merge)} if run.devices else {"device": job.device}
    shards = _shards_of(job, wanted, asked, plan)
    stream = _stream_of(pairs, (tables, scores), plan, job, where, str(method), shards)
    with job.steps() as stage:
        if stream is not None:
            result = streaming.run_stream(stream, stage, job.name)
        else:
            result = _solved(
                job, wanted, scores, pairs, reading, view.needs_pairs, {"method": str(method), **where}
            )
        job.check(result, "checking every pair")
        table = wanted.write(stage, result, job.output, goals.to)
        if goals.plot is not None:
            with stage("plot", f"drawing {goals.plot}"):
                result.plot(goals.plot)
        shown = view.of(result, wanted.name) if asked else None

    def facts():
        return _facts(result, job) | plan.facts() | wanted.facts(result, scores) | view.facts(shown)

    aside = (asked and not outputs.is_terminal()) or wanted.aside == "-"
    if asked and not run.json:
        view.show(shown, goals.to if job.output is None else None)
    elif job.output is None and not run.json:
        report.head(table.head(report.SHOWN_ROWS), table.rows())
    if not (run.quiet or run.json):
        scores.show(result, "-" if aside else job.output)
    found = scores.found(result) + wanted.in_words(result, scores)
    job.close(result, facts, found, how=_how(result, job) + plan.in_words(), aside=aside)
    if stream is not None and job.output is not None:
        stream.remove_checkpoint()


def _ways(source, job, asked, method):
    """The ways that the options allow; see :func:`~edgewise.command.streaming.planned`."""
    from edgewise.streams import READING

    wanted, scores, view, reading = asked
    try:
        wanted.check(scores, True, view)
        streaming.check_stream(reading, READING, job.goals)
        streams = method in ("auto", "rem")
    except OptionError:
        streams = False
    if scores.thresholds is not None:
        streams = streams and job.run.devices is None and job.device == "cpu"
    on_one = job.run.devices is None and view.kind() is None and job.goals.plot is None
    all_rows = wanted.name is None and wanted.min_size == 1 and not scores.wanted
    to_folder = job.output is not None and is_folder(job.output)
    in_memory = not (source.stream or source.checkpoint or source.vertices)
    found = {
        way_names.IN_MEMORY: in_memory,
        way_names.STREAMED: streams and source.checkpoint is None,
        way_names.ON_DISK: streams and on_one and all_rows and to_folder,
    }
    return tuple(name for name, one in found.items() if one)


def _ways_of(weighted, known):
    """What each way needs."""
    from edgewise.streams import ways

    return ways.ways_of(known, weighted)


def _check_outputs(table, plot, plan, wanted, inputs, json):
    """Check the outputs beside the table and the picture, and that all are different."""
    checkpoint = None if plan.by_tasks else plan.source.checkpoint  # tasks check their folder
    if checkpoint is not None:
        check_writable(checkpoint, inputs)
    aside = wanted.aside
    if aside is not None:
        check_output(aside, sources=[*inputs, *filter(None, [wanted.update])], table=True, json=json)
    written = [Path(path).resolve() for path in (table, plot, checkpoint, aside) if path is not None]
    for position, path in enumerate(written):
        if path in written[:position]:
            raise OptionError(f"{path.name} is given for two outputs; use a file for each")


def _shards_of(job, wanted, asked, plan):
    """What tasks write to a folder; ``None`` if they do not."""
    if not plan.by_tasks or job.output is None or not is_folder(job.output):
        return None
    from edgewise.streams.stored import Output

    for option, given in ((asked, asked), ("plot", job.goals.plot)):
        if given:
            problem = f"--{option} needs all labels, and tasks write them to {job.output}"
            raise OptionError(f"{problem}; name a file")
    return Output(job.output, wanted.name, wanted.min_size)


def _stream_of(pairs, asked, plan, job, where, method, output):
    """The job of a stream, if one is wanted; its tasks write the ``output``, if there is one.

    ``asked`` are the options of reading, and the scores.
    """
    source, (reading, scores) = plan.source, asked
    if not plan.wanted:
        source.check_unused()
        return None
    from edgewise.streams import READING, stream_team
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.union import Union

    streaming.check_stream(reading, READING, job.goals)
    if method not in ("auto", "rem"):
        raise OptionError(f"--method {method} needs all pairs in memory; leave out it or --stream")
    merge = where.get("merge", "auto")
    stream_team(None, where.get("devices"), merge)
    columns = dict.fromkeys(READING) | {"null": "error"} | reading
    problem: Any = Union(merge)
    if scores.wanted:
        scores.check_stream(plan, where)
        from edgewise.streams.nested import JoinNested

        problem = JoinNested(scores.thresholds, columns.get("score"))
    if not plan.by_tasks:
        return FileStream(pairs, columns, problem, source.vertices, job.team, source.checkpoint)
    from edgewise.streams import stream_by_tasks

    if "devices" in where:
        option = "scheduler" if source.scheduler else "memory"
        raise OptionError(f"--devices is for one process; with --{option} tasks have a device each")
    given = {"device": where["device"], "checkpoint": source.checkpoint}
    wanted = plan.memory, output
    make = partial(stream_by_tasks, wanted, pairs, columns, source.vertices, **given)
    return streaming.ScheduledStream(source.scheduler, source.checkpoint, make)


def _solved(job, wanted, scores, pairs, reading, shown, how):
    """Read the pairs and find their components."""
    with job.stage("read", f"reading {job.name}") as progress:
        own = scores.reading(reading, pairs, wanted.records, shown)
        graph, finished = wanted.read(pairs, own | {"progress": progress})
    with job.stage("compute", f"clustering on {job.where}"):
        result = finished(scores.solve(graph, least=scores.least(reading), **how))
        result.largest  # noqa: B018 -- counted in this step, not while writing
        return result


def _facts(result, job):
    own = {}
    if not isinstance(result, ThresholdComponents):
        own = {"components": result.count, "largest": result.largest}
    return (
        own | job.facts(result) | {"merge": getattr(result, "merge", None), **streaming.facts(result.graph)}
    )


def _how(result, job):
    """What the closing line says of the method and the devices."""
    where = report.device_in_words(job.team)
    if len(result.devices) > 1:
        where = ", ".join(result.devices) + (f" merged by {result.merge}" if result.merge else "")
    return f"{result.method}{streaming.in_words(result.graph)}, {where}"
