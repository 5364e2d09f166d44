"""States that edgewise writes to be read again, each with what it gives, for :mod:`mutated_files`."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from unittest import mock

import edgewise as ew
from edgewise.paths.apsp import output, search
from edgewise.streams import sharded, tasks
from edgewise.streams.file_stream import FileStream
from edgewise.streams.forest import KeepForest
from edgewise.streams.union import Union
from edgewise.workers import device_team

COLUMNS = {"source": None, "target": None, "where": None, "null": "error"}


class Stopped(BaseException):
    """Ends a run in the middle, as an interrupt does."""


@dataclass
class State:
    """Files by their paths in a folder; ``value(folder)`` gives what they hold, and ``expected`` is that."""

    files: dict[str, bytes]
    value: Any
    expected: Any

    def restore(self, folder, changes):
        """Write the files to a folder, with changes, and return a use that checks what they give."""
        for name, content in (self.files | changes).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

        def use():
            found = self.value(folder)
            assert found == self.expected, f"a state that was not written: {str(found)[:300]}"

        return use


def files_in(folder):
    """The contents of the files of a folder, by their paths in it."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def frame(result):
    return result.to_frame().to_pydict()


def make(folder: Path, given: Path) -> dict[str, State]:
    """All states; they are made in ``folder``, and ``given`` has the inputs, which must stay."""
    folder.mkdir(exist_ok=True)
    makers = {}
    for kind in ("dense", "sparse", "texts"):
        makers[f"checkpoint, {kind}"] = checkpoint(Union(), ew.stream_components, given / kind)
        forest = KeepForest("weight", False)
        makers[f"checkpoint of a forest, {kind}"] = checkpoint(forest, ew.stream_forest, given / kind)
        makers[f"saved stream, {kind}"] = saved(ew.ComponentsStream, given / kind)
        makers[f"saved stream of a forest, {kind}"] = saved(ew.ForestStream, given / kind)
        makers[f"tasks, {kind}"] = task_folder(given / kind)
    makers["store of Parquet"] = store("parquet", given / "texts")
    makers["store of NumPy"] = store("npz", given / "texts")
    makers["unfinished matrix"] = matrix
    states = {}
    for number, (name, maker) in enumerate(makers.items()):
        place = folder / str(number)
        place.mkdir()
        value, expected = maker(place)
        states[name] = State(files_in(place), value, expected)
        assert states[name].files, name
        shutil.rmtree(place)
    return states


def checkpoint(problem, stream, shards):
    """A checkpoint after the first batch of three."""

    class Once(FileStream):
        def _save(self, *given):
            super()._save(*given)
            raise Stopped

    def options():
        return {} if stream is ew.stream_components else {"weight": "weight"}

    def maker(place):
        how = {"team": device_team("cpu"), "checkpoint": place / "so-far", "every": 0.0}
        job = Once(shards, dict(COLUMNS), problem, **how)
        with suppress(Stopped):
            job.run()

        def value(folder):
            return frame(stream(shards, checkpoint=folder / "so-far", **options()))

        return value, frame(stream(shards, **options()))

    return maker


def saved(kind, shards):
    """A stream that was saved."""

    def maker(place):
        stream = kind()
        graph = ew.read(shards, source="source", target="target", weight="weight")
        ends = graph.ids_of(graph.sources), graph.ids_of(graph.targets)
        if shards.name == "sparse":
            ends = abs(ends[0]) // 10**9, abs(ends[1]) // 10**9
        stream.add(*ends, **({"weights": graph.weights} if kind is ew.ForestStream else {}))
        stream.save(place / "stream.npz")
        return lambda folder: frame(kind.load(folder / "stream.npz").result()), frame(stream.result())

    return maker


def task_folder(shards):
    """A folder of tasks of a run that has stopped after some of them."""

    def maker(place):
        keep, done, lock = tasks.TaskFolder.keep, [], Lock()

        def kept(self, name, facts):
            with lock:
                if len(done) == 3:
                    raise RuntimeError("stopped")
                done.append(name)
            keep(self, name, facts)

        # a run over strings has fewer tasks: its folder is taken when it is done
        changed = (
            mock.patch.object(tasks.TaskFolder, "keep", kept),
            mock.patch.object(sharded, "remove_task_folder"),
        )
        with changed[0], changed[1], suppress(ew.errors.WorkerError), ThreadPoolExecutor(2) as pool:
            ew.stream_components(shards, client=pool, checkpoint=place / "tasks")

        def value(folder):
            with ThreadPoolExecutor(2) as pool:
                return frame(ew.stream_components(shards, client=pool, checkpoint=folder / "tasks"))

        return value, frame(ew.stream_components(shards))

    return maker


def store(kind, shards):
    """A store of three shards."""

    def pairs(folder):
        graph = ew.read(folder)
        ends = graph.ids_of(graph.sources).tolist(), graph.ids_of(graph.targets).tolist()
        return sorted((*sorted(pair), weight) for *pair, weight in zip(*ends, graph.weights.tolist()))

    def maker(place):
        from edgewise.files.to_store import to_store
        from edgewise.files.write_tables import shard_writer

        to_store(shards, place / "store", (3, shard_writer(kind)), {})
        return lambda folder: pairs(folder / "store"), pairs(place / "store")

    return maker


def matrix(place):
    """A matrix of distances of which two blocks are written."""
    graph = ew.generate.grid(4, 5)
    search.BLOCK_ROWS = 4

    def stop(done, blocks):
        if done == 2:
            raise Stopped

    def distances(path):
        return ew.all_pairs_shortest_paths(graph, method="sssp", output=path).distances[:].tolist()

    with suppress(Stopped):
        ew.all_pairs_shortest_paths(graph, method="sssp", output=place / "d.npy", progress=stop)
    assert all(path.exists() for path in output.hidden_names(place / "d.npy"))
    return lambda folder: distances(folder / "d.npy"), distances(place.parent / "whole.npy")
