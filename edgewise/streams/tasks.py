"""Tasks that exchange files in a folder, so that any of them can be lost and done again.

A task reads files of the folder, writes others, and last its *facts*, a small JSON file: if that is there,
the task is done.  Everything is written under another name and renamed.  The output of a task depends on its
input only, so a worker that dies costs the tasks that it ran and nothing else; two workers that run the same
task, as a scheduler lets them do that has lost one of them, write the same files; and a run that stops
continues from the folder, with other workers and another scheduler.

The facts hold a checksum of each file that the task has written, and of themselves.  A run that continues
compares what is there with them, and takes nothing that is not what was written.

No result of a task passes through the scheduler or the calling process, except for its facts.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edgewise.device import threads
from edgewise.errors import FileError, WorkerError, argument
from edgewise.files import checksum
from edgewise.files.atomic_write import atomic_write, writing
from edgewise.files.text_table import Mismatch
from edgewise.ownership import check_owner
from edgewise.streams.checkpoint import Checkpoint
from edgewise.unfinished import temporary_folder
from edgewise.workers.calls import Call, CallRun
from edgewise.workers.dask import worker_name
from edgewise.workers.executors import Executor


class Task(NamedTuple):
    """One call of ``run(folder, name, **given)``, which writes files and returns facts, a dict for JSON.

    Attributes
    ----------
    name : str
        Names its files in the folder.
    run : callable
        A function of a module.
    given : dict
        Its keyword arguments, small ones.
    about : str
        What messages call the task.
    after : tuple of str
        Names of the tasks whose files it reads.
    spent : tuple of str
        Files of the folder that nobody needs when it is done.
    """

    name: str
    run: Callable[..., dict]
    given: dict
    about: str
    after: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()


class TaskFolder:
    """The folder in which tasks exchange files."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        #: Checksums of the files that were written by way of this object, by their names.
        self.checksums: dict[str, str] = {}

    def file(self, name: str) -> Path:
        """Path of a file of a name."""
        return self.path / name

    @contextmanager
    def written(self, name: str) -> Iterator[Path]:
        """Context that gives a path to write a file to, which appears whole or not at all."""
        path = self.file(name)
        with writing(path), atomic_write(path) as part:
            yield part
            self.checksums[name] = checksum.of_file(part)

    @contextmanager
    def opened(self, name: str) -> Iterator[checksum.CheckedWriter]:
        """Context that gives a file to write to, which appears whole or not at all.

        The part is there and empty.  To truncate it would let ext4 wait for the disk when it is closed.
        """
        path = self.file(name)
        with writing(path), atomic_write(path) as part, open(part, "r+b") as file:
            writer = checksum.CheckedWriter(path, file)
            yield writer
            self.checksums[name] = writer.checksum()

    def write_array(self, name: str, array: np.ndarray) -> None:
        """Write a file with one array."""
        with self.opened(name) as file:
            header = np.lib.format.header_data_from_array_1_0(array)
            np.lib.format.write_array_header_1_0(file, header)  # type: ignore[arg-type]
            file.write(array.reshape(-1).data)

    def mapped(self, name: str) -> np.ndarray:
        """The array in such a file, which stays there."""
        return np.asarray(np.load(self.file(name), mmap_mode="r"))

    def facts(self, name: str) -> dict | None:
        """Facts of a task, or ``None`` if it is not done."""
        content = self._content(name)
        return None if content is None else content["facts"]

    def _content(self, name):
        """The facts of a task and the checksums of its files, or ``None``."""
        path = self.file(f"{name}.json")
        try:
            content = json.loads(path.read_bytes())
            if content["checksum"] == _checksum(content["facts"], content["files"]):
                return content
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        remedy = f"remove the folder {self.path} to start again"
        raise FileError(path, f"is damaged, or of another version of edgewise; {remedy}")

    def check(self, name: str) -> None:
        """Raise FileError unless the files of a task that is done are those that it has written.

        A file that is not there is not needed any more, or missed where it is read.
        """
        for file, written in self._content(name)["files"].items():
            path = self.file(file)
            if path.exists() and checksum.of_file(path) != written:
                problem = "is not what was written, according to its checksum"
                raise FileError(path, f"{problem}; remove the folder {self.path} to start again")

    def facts_of(self, name: str) -> dict:
        """Facts of a task that is done."""
        facts = self.facts(name)
        if facts is None:
            raise FileError(self.file(f"{name}.json"), "is missing; remove the folder to start again")
        return facts

    def keep(self, name: str, facts: dict) -> None:
        """Store the facts of a task, which is done then."""
        content = {"facts": json.loads(json.dumps(facts)), "files": dict(self.checksums)}
        content["checksum"] = _checksum(content["facts"], content["files"])
        path = self.file(f"{name}.json")
        with writing(path), atomic_write(path) as part:
            part.write_text(json.dumps(content))

    def discard(self, names: Iterable[str]) -> None:
        """Remove files, if they are there: several at a time, since the system takes long for large ones."""

        def remove(name):
            with suppress(FileNotFoundError):
                self.file(name).unlink()

        with ThreadPoolExecutor(threads.count()) as pool:
            list(pool.map(remove, names))


def _checksum(facts, files):
    return checksum.of_bytes([json.dumps([facts, files], sort_keys=True).encode()])


@contextmanager
def task_folder(given: str | os.PathLike | None, inputs: dict) -> Iterator[TaskFolder]:
    """Context with the folder of a run with certain ``inputs``: the one given, or a temporary one.

    A folder that was given stays, and :func:`remove_task_folder` removes it; one of a run with other inputs
    is refused.
    """
    if given is None:
        with temporary_folder() as folder:
            Checkpoint(folder / INPUTS, inputs).save({}, {})
            yield TaskFolder(folder)
        return
    path = os.path.abspath(given)
    with writing(path):
        os.makedirs(path, exist_ok=True)
    check_owner(path, path, "name another folder")
    mark = Checkpoint(Path(path) / INPUTS, inputs)
    if mark.load() is None:
        if os.listdir(path):
            raise FileError(path, "is no folder of an interrupted run; name an empty or a new folder")
        mark.save({}, {})
    yield TaskFolder(path)


#: File that says what a folder of tasks belongs to.
INPUTS = "inputs.npz"


def remove_task_folder(path: str | os.PathLike) -> None:
    """Remove the folder of a run that is finished; anything that is no folder of a run stays."""
    if (Path(path) / INPUTS).is_file():
        with suppress(OSError):
            TaskFolder(path).discard(name for name in os.listdir(path) if name != INPUTS)
        shutil.rmtree(path, ignore_errors=True)


def run_task(call: dict) -> dict:
    """Do a task, unless it has been done; return its facts."""
    folder, name = TaskFolder(call["folder"]), call["name"]
    if not folder.file(INPUTS).is_file():
        problem = f"worker {worker_name()} has no folder {folder.path}"
        raise WorkerError(f"{problem}; give {argument('checkpoint')} a new folder that all workers share")
    facts = folder.facts(name)
    if facts is None:
        facts = call["run"](folder, name, **call["given"])
        folder.keep(name, facts)
    return facts


class TaskRun:
    """Runs tasks by an executor; ``listener(facts)`` is called with the facts of each that is done."""

    def __init__(self, executor: Executor, folder: TaskFolder, lasts: bool):
        self.folder = folder
        given = argument("checkpoint")
        remedy = f"give {given} a folder from which such a run continues"
        if lasts:
            remedy = f"repeat the call with the same {given} to continue: what is done is in {folder.path}"
        self.calls = CallRun(executor, remedy, final=(Mismatch,))

    def run(self, tasks: Iterable[Task], listener: Callable[[dict], None] | None = None) -> dict[str, dict]:
        """Run all tasks, each after those that it needs; return their facts by name."""
        done: dict[str, dict] = {}
        missing = {}
        for task in tasks:
            facts = self.folder.facts(task.name)
            if facts is None:
                missing[task.name] = task
            else:  # by an earlier run
                self.folder.check(task.name)
                self._end(task, facts, done, listener)

        def is_ready(call):
            return all(name in done for name in missing[call.name].after)

        calls = [Call(task.name, run_task, (self._given(task),), task.about) for task in missing.values()]
        with closing(self.calls.results(calls, is_ready)) as results:
            for call, facts in results:
                self._end(missing[call.name], facts, done, listener)
        return done

    def _given(self, task):
        """The argument of :func:`run_task`."""
        return {"run": task.run, "name": task.name, "given": task.given, "folder": str(self.folder.path)}

    def _end(self, task, facts, done, listener):
        done[task.name] = facts
        self.folder.discard(task.spent)
        if listener is not None:
            listener(facts)
