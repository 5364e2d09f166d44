"""Clusters that tasks write as shards, so that no process holds or writes the table of all of them.

The parts of :mod:`~edgewise.streams.sharded` are merged to the last one as always, but by a task, which
writes the labels to files.  Further tasks map these, and write the table of the vertices in a range each.
The shards one behind the other are the table that one process writes, and the folder with them appears when
all are complete (:mod:`edgewise.files.store`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.components.cluster_table import ClusterTable
from edgewise.components.result import Components
from edgewise.errors import GraphError
from edgewise.files import store
from edgewise.files.atomic_write import atomic_write, writing
from edgewise.files.store import new_folder, shard_facts, shard_name, shards_of, write_manifest
from edgewise.files.write_tables import write_folder, write_parquet
from edgewise.result import Result, counted
from edgewise.streams.graph import MarkedIds, StreamedGraph
from edgewise.streams.parts import Part
from edgewise.streams.sharded import ShardedStream
from edgewise.streams.strings import StoredStrings, all_strings
from edgewise.streams.tasks import Task, TaskFolder
from edgewise.streams.union import Union
from edgewise.timer import timer

if TYPE_CHECKING:
    import pyarrow


class Output(NamedTuple):
    """Where clusters are written, what they are called, and how many members they have at least."""

    folder: str
    name: str | None = None
    min_size: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class StoredComponents(Result):
    """Connected components whose table is in a folder of shards.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the graph has neither its edges nor its ids.
    path : str
        The folder.
    count, largest : int
        Number of components, and vertices of the largest one.
    """

    path: str
    count: int
    largest: int

    def _answer(self):
        clusters, vertices = counted(self.count, "cluster"), counted(self.graph.n_vertices, "vertex")
        return f"{clusters} of {vertices}, largest {self.largest:,}, in {self.path}"

    def _arrow(self, rows=None) -> pyarrow.Table:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        found, missing = [], rows
        for shard in shards_of(Path(self.path)) or ():
            found.append(parquet.read_table(shard).slice(0, missing))
            missing = None if rows is None else missing - found[-1].num_rows
            if missing == 0:
                break
        return pa.concat_tables(found)

    def _verify(self, graph):
        raise GraphError(f"the labels are in {self.path}; call without output= to verify them")

    def _plot(self, path):
        raise GraphError(f"the labels are in {self.path}; call without output= to draw them")


def checked_folder(folder: str | os.PathLike) -> str:
    """The path of a folder, which must be a new one."""
    store.check_new(Path(folder))
    return os.path.abspath(os.fsdecode(folder))


def stored(result: Components, folder: str) -> StoredComponents:
    """Write the table of components to a new folder of shards; return what is left of the result."""
    answer = folder, result.count, result.largest
    write_folder(result, folder)
    return StoredComponents(result.graph, result.method, result.seconds, *answer, devices=result.devices)


def labelled(
    folder: TaskFolder, name: str, *, parts: list[str], how: dict, ids: tuple, output: tuple
) -> dict:
    """Task: merge the last parts, and write the labels and what else the table needs.

    ``ids`` are the names of the files of strings, or ``None``, the type of these, and that of the table.
    """
    wanted, (orders, kind, _) = Output(*output), ids
    labels, found, _ = Part.of_parts(folder, parts, how).found()
    facts: dict[str, Any] = {"ids": "numbers"}
    if orders is not None:
        facts["ids"] = "strings"
        found = (all_strings if wanted.name == "min" else StoredStrings)(folder, orders, kind)
    elif isinstance(found, MarkedIds):
        folder.write_array(f"{name}.words.npy", found.words)
        folder.write_array(f"{name}.before.npy", found.before)
        facts |= {"ids": "marks", "dtype": str(found.dtype)}
    elif found is not None:
        facts["ids"] = "integers"
        folder.write_array(f"{name}.ids.npy", found)
    result = Components(StreamedGraph(len(labels), 0, ids=found), "", 0.0, labels)
    arrays = ClusterTable(result, wanted.name, wanted.min_size).prepare()
    for what, array in arrays.items():
        folder.write_array(f"{name}.{what}.npy", array)
    facts |= {"arrays": list(arrays), "vertices": len(labels)}
    return facts | {"count": result.count, "largest": result.largest}


def cluster_shard(
    folder: TaskFolder, name: str, *, labels: str, ids: tuple, output: tuple, bounds: tuple, target: str
) -> dict:
    """Task: write the table of the vertices in a range, from the files of the task ``labels``."""
    facts, wanted = folder.facts_of(labels), Output(*output)
    found = {what: folder.mapped(f"{labels}.{what}.npy") for what in facts["arrays"]}
    graph = StreamedGraph(facts["vertices"], 0, ids=_ids(folder, labels, facts, ids[:2]))
    graph.ids_type = ids[2]
    table = ClusterTable(Components(graph, "", 0.0, found["labels"]), wanted.name, wanted.min_size)
    table.restore(found)
    return write_shard(folder, table.batches(*bounds), target)


def _ids(folder, labels, facts, ids):
    """The ids, which stay in their files."""
    if facts["ids"] == "strings":
        return StoredStrings(folder, *ids)
    if facts["ids"] == "marks":
        words, before = (folder.mapped(f"{labels}.{what}.npy") for what in ("words", "before"))
        return MarkedIds(words, before, np.dtype(facts["dtype"]))
    return folder.mapped(f"{labels}.ids.npy") if facts["ids"] == "integers" else None


def write_shard(folder: TaskFolder, batches: Any, target: str) -> dict:
    """Write record batches, at least one, as a shard at a path; return what the manifest says of it.

    The shard is not in the folder of the tasks, which notes its checksum.
    """
    import pyarrow as pa

    first = next(batches)
    rows = first.num_rows

    def counted_batches():
        nonlocal rows
        yield first
        for batch in batches:
            rows += batch.num_rows
            yield batch

    with writing(target), atomic_write(target) as part, open(part, "r+b") as file:
        write_parquet(pa.RecordBatchReader.from_batches(first.schema, counted_batches()), file)
    shard = shard_facts(Path(target), rows)
    folder.checksums[target] = shard["crc32"]
    return {"shard": shard, "columns": first.schema.names}


class StoredStream(ShardedStream):
    """The work of :func:`edgewise.stream_components` with ``client=`` and ``output=``, an :class:`Output`."""

    method = "rem, streamed"

    def __init__(self, output, path, columns, n_vertices=None, **how):
        self.output = output._replace(folder=os.path.abspath(output.folder))
        super().__init__(path, columns, Union(), n_vertices, **how)

    def _inputs(self):
        return super()._inputs() | {"output": self.output}

    def _last(self, folder, names, how, orders, plan, pairs):
        from edgewise.ingest.arrow import ColumnNumbers

        kind = None if orders is None else ColumnNumbers(*pairs.kinds).kind
        given: dict[str, Any] = {"ids": (orders, kind, self.ids_type), "output": tuple(self.output)}
        how = self._last_how(folder, names, how, orders, plan)
        name = f"{how['attempt']}-labels"
        task = Task(name, labelled, given | {"parts": names, "how": how}, "the last merge")
        found = self.task_run.run([task])[name]
        given |= {"labels": name}
        count, rows = found["vertices"], store.SHARD_ROWS
        bounds = [(start, min(start + rows, count)) for start in range(0, max(count, 1), rows)]
        with self.writing(folder) as write:
            write([(cluster_shard, given | {"bounds": one}) for one in bounds])
        return found

    @contextmanager
    def writing(self, folder):
        """Context with a function that has further shards written, and after which the output is there.

        The function takes tasks, and what these are given besides their target; it returns their facts.
        """
        begun = folder.facts("output")
        if begun is None:
            begun = {"part": os.urandom(8).hex()}
            folder.keep("output", begun)
        lasts = self.given_folder is not None
        done: dict = {}
        with timer("write shards"), new_folder(self.output.folder, begun["part"], lasts=lasts) as part:

            def write(shards):
                tasks = []
                for number, (run, given) in enumerate(shards, len(done)):
                    name = shard_name(number, write_parquet)
                    given = given | {"target": str(part / name)}
                    tasks.append(Task(name, run, given, "writing the clusters"))
                facts = self.task_run.run(tasks)
                done.update((task.name, facts[task.name]) for task in tasks)
                return facts

            yield write
            for file in part.iterdir():
                if file.name not in done:  # what a worker that was killed has left
                    file.unlink()
            shards = [facts["shard"] for facts in done.values()]
            write_manifest(part, shards, ("table", next(iter(done.values()))["columns"]))

    def _result(self, found, seconds):
        graph = self._graph(found["vertices"], None)
        graph.ids_type = None
        answer = self.output.folder, found["count"], found["largest"]
        return StoredComponents(graph, self.method, seconds, *answer, devices=self.device_names())
