"""What subcommands that stream tables share: their options, and Ctrl-C in the middle."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from edgewise.command import keyboard, report
from edgewise.command.options import option
from edgewise.command.options import scheduler as share
from edgewise.errors import OptionError
from edgewise.streams.graph import StreamedGraph


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
    memory: option(str, "What a task may hold in memory, such as 4GB; ids may be more.", metavar="SIZE") = (
        None
    )

    @property
    def by_tasks(self) -> bool:
        """Whether tasks read the tables."""
        return bool(self.scheduler or self.memory)

    @property
    def wanted(self) -> bool:
        """Whether the tables are streamed."""
        return self.stream or self.by_tasks

    def check_unused(self):
        """Refuse options of streams where nothing is streamed."""
        for name in ("checkpoint", "vertices"):
            if getattr(self, name) is not None:
                raise OptionError(f"--{name} goes with --stream; add that")


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


def check_stream(reading, known, verify):
    """Refuse options that need all pairs in memory."""
    for name in reading:
        if name not in known:
            given = "--" + name.replace("_", "-")
            raise OptionError(f"{given} means nothing with --stream, which reads tables; leave it out")
    if verify:
        raise OptionError("--verify needs all pairs in memory; leave out it or --stream")


def run_stream(job, stage, words):
    """Stream the files, which messages call ``words``; at Ctrl-C say how to continue."""
    with keyboard.remark(partial(_remedy, job)), stage("stream", f"streaming {words}") as progress:
        result = job.run(progress)
        result.count  # noqa: B018 -- counted in this step, not while writing
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
