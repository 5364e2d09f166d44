"""What subcommands that stream tables share: their options, and Ctrl-C in the middle."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import typer

from edgewise import memory, tuning
from edgewise.command import expected, keyboard, report
from edgewise.command.options import option
from edgewise.command.options import scheduler as share
from edgewise.errors import EdgewiseError, OptionError, OutOfMemoryError
from edgewise.files.inputs import is_local
from edgewise.files.parquet_footer import MAGIC
from edgewise.streams.graph import StreamedGraph
from edgewise.streams.way_names import IN_MEMORY, ON_DISK, STREAMED


class Source(NamedTuple):
    """How tables are read."""

    stream: option(bool, "Read tables once; keep no pairs in memory.") = False
    checkpoint: option(
        Path, "With --stream: file from which an interrupted run continues; with --scheduler, a folder."
    ) = None
    vertices: option(
        int, "With --stream: number of vertices; integer ids are smaller.", metavar="N", min=0
    ) = None
    scheduler: share("tables") = None

    def check_unused(self):
        """Refuse options of streams where nothing is streamed."""
        for name in ("checkpoint", "vertices"):
            if getattr(self, name) is not None:
                raise OptionError(f"--{name} goes with --stream; add that")


class Planned(NamedTuple):
    """How tables are read within the limit of memory.

    Attributes
    ----------
    source : Source
    memory : int or None
        Bytes that a task may hold, if ids are more than memory holds.
    way : Way or None
        What the limit has led to.
    """

    source: Source
    memory: int | None = None
    way: Any = None

    @property
    def by_tasks(self) -> bool:
        """Whether tasks read the tables."""
        return bool(self.source.scheduler or self.memory)

    @property
    def wanted(self) -> bool:
        """Whether the tables are streamed."""
        return self.source.stream or self.by_tasks

    def facts(self) -> dict:
        """What the JSON object says of the way."""
        if self.way is None:
            return {}
        return {"way": self.way.name, "memory_estimate": self.way.bytes, "disk_estimate": self.way.disk_bytes}

    def in_words(self) -> str:
        """What the closing line says of the way."""
        return "" if self.way is None else f", {self.way.name} with about {memory.in_words(self.way.bytes)}"


class Problem(NamedTuple):
    """What is found of tables, or of a graph.

    Attributes
    ----------
    call : tuple of str and dict
        Problem and options of the call, as of :meth:`Graph.estimate`.
    ways_of : callable
        Makes the ways of what is known of the tables.
    streams_large : bool
        Whether large Parquet files are streamed where they may be, which takes less memory and time.
    """

    call: tuple[str, dict]
    ways_of: Any
    streams_large: bool = False

    def preferred(self, names, files) -> tuple[str, ...]:
        """Ways to the result from files, in order."""
        large = sum(map(os.path.getsize, files)) >= tuning.CPU.command_streamed
        if not (self.streams_large and large and all(map(_is_parquet, files))):
            return tuple(names)
        return tuple(sorted(names, key=lambda name: name != STREAMED))


def planned(source, inputs, reading, allowed, problem, json=False) -> Planned:
    """The first of the ``allowed`` ways from tables to the result of a problem that fits the limit of memory.

    Without ``--memory`` the question is asked only for files that may be too large.
    """
    if source.scheduler or not all(map(is_local, inputs)):
        return Planned(source, memory.given())
    files = list(_files(inputs))
    allowed = problem.preferred(allowed, files)
    if not expected.is_asked(sum(map(os.path.getsize, files))):
        is_streamed = source.stream or allowed[:2] == (STREAMED, IN_MEMORY)
        return Planned(source._replace(stream=is_streamed))
    from edgewise.streams import ways

    expected.check_addresses()
    try:
        known = expected.pairs_in(inputs, reading, source.vertices)
    except EdgewiseError:  # no tables, which are read as a graph, or an error that reading reports
        expected.check(inputs, reading, problem.call, undirected=True, json=json)
        return Planned(source)
    found = problem.ways_of(known)
    is_known = any(way.name in allowed for way in found)
    if expected.is_planning():
        if not is_known:
            refused = "no way to the result is known that takes all of these options"
            raise OptionError(f"{refused}; leave some out, such as --checkpoint")
        show_ways(known, found, allowed, json)
        raise typer.Exit
    if not is_known:  # the stream says why not
        return Planned(source, memory.given())
    most = memory.limit()
    way = ways.first_that_fits(found, allowed, most)
    on_disk = most.bytes if way.name == ON_DISK else None
    return Planned(source._replace(stream=way.name == STREAMED), on_disk, way)


def show_ways(known, found, allowed, json):
    """Print what each way from tables to the result needs, and which one would be taken."""
    from edgewise.streams import ways

    most = memory.limit()
    try:
        chosen = ways.first_that_fits(found, allowed, most).name
    except OutOfMemoryError:
        chosen = None
    if json:
        limit = {"memory_limit": most._asdict() | {"source": expected.source_of(most)}}
        needs = {way.name: {"bytes": way.bytes, "disk_bytes": way.disk_bytes} for way in found}
        report.as_json(known._asdict() | {"ways": needs, "chosen": chosen} | limit)
        return
    about = "" if known.exact else "about "
    kinds = {"dense": "vertex numbers", "sparse": "integers", "strings": "strings"}
    words = {"pairs": f"{about}{known.rows:,}", "ids": f"about {known.distinct:,} {kinds[known.ids]}"}
    words |= {way.name: _way_in_words(way) for way in found}
    words["memory limit"] = f"{memory.in_words(most.bytes)} ({expected.source_of(most)})"
    report.lines(words | {"so": "nothing fits" if chosen is None else f"the job is done {chosen}"})


def _way_in_words(way):
    disk = f", and {memory.in_words(way.disk_bytes)} of disk" if way.disk_bytes else ""
    return f"{memory.in_words(way.bytes)}{disk}"


def _is_parquet(path):
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _files(inputs):
    """The files of inputs that are there; those of folders and patterns are looked up."""
    for one in inputs:
        found = glob(os.fspath(one)) or [one]
        for path in found:
            inside = Path(path).rglob("*") if os.path.isdir(path) else [path]
            yield from (part for part in inside if os.path.isfile(part))


class ScheduledStream:
    """A stream of tables that tasks read, on the workers of a scheduler or, if that is ``None``, in a thread.

    ``make(client=client)`` makes the job.
    """

    saved = None

    def __init__(self, scheduler, checkpoint, make):
        self.scheduler, self.checkpoint, self.make = scheduler, checkpoint, make

    def run(self, progress):
        """Connect to the scheduler, run the job, and return its result."""
        from edgewise.workers.dask import connected

        with connected(self.scheduler) if self.scheduler else ThreadPoolExecutor(1) as client:
            return self.make(client=client).run(progress)

    def remove_checkpoint(self):
        """Remove the folder of the tasks, once the output is written."""
        from edgewise.streams.tasks import remove_task_folder

        if self.checkpoint is not None:
            remove_task_folder(self.checkpoint)


def check_stream(reading, known, goals):
    """Refuse options that need all pairs in memory."""
    for name in reading:
        if name not in known:
            given = "--" + name.replace("_", "-")
            raise OptionError(f"{given} means nothing with --stream, which reads tables; leave it out")
    for goal in ("verify", "certificate"):
        if getattr(goals, goal):
            raise OptionError(f"--{goal} needs all pairs in memory; leave out it or --stream")


def run_stream(job, stage, words):
    """Stream the files, which messages call ``words``; at Ctrl-C say how to continue."""
    with keyboard.remark(partial(_remedy, job)), stage("stream", f"streaming {words}") as progress:
        result = job.run(progress)
        for name in ("counts", "count"):  # in this step, not while writing
            getattr(result, name, None)
        return result


def _remedy(job):
    """How to continue after an interrupt, if that is possible."""
    if isinstance(job, ScheduledStream) and job.checkpoint is not None:
        return f"repeat the command to continue from {job.checkpoint}"
    if job.saved is not None:
        return f"{job.saved:,} rows are in {job.checkpoint.path}; repeat the command to continue"
    return None


def facts(graph) -> dict:
    """What the JSON object says of the stream that a graph is of, if it is of one."""
    if not isinstance(graph, StreamedGraph):
        return {}
    workers = {"workers": graph.workers} if graph.workers else {}
    return {"files": graph.files, "resumed": graph.resumed, **workers}


def in_words(graph) -> str:
    """What the closing line says of it."""
    if not isinstance(graph, StreamedGraph):
        return ""
    resumed = f", resumed after {graph.resumed:,} rows" if graph.resumed else ""
    workers = f" by {report.counted(graph.workers, 'worker')}" if graph.workers else ""
    return f" from {report.counted(graph.files, 'file')}{workers}{resumed}"
