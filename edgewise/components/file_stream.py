"""Components of pairs files that are read once, row by row, and never held in memory.

Memory holds one parent per vertex, the ids where they are not vertex numbers, and a few row groups, which
threads decode beside the unions.

A separate thread reads the rows.  Ctrl-C, which Python raises in the main thread, therefore never interrupts
a batch: the thread stops after it and, if there is a checkpoint, saves it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from contextvars import copy_context
from time import monotonic, perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from edgewise.components.checkpoint import Checkpoint, check_labels
from edgewise.components.edge_stream import as_count
from edgewise.components.id_mapping import DenseIds, NotDenseError, SparseIds, StringIds
from edgewise.components.merge import LABEL_MERGES, choose_label_merge
from edgewise.components.parents import StreamWorkers
from edgewise.components.result import Components
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays, threads
from edgewise.errors import OptionError, argument, closest
from edgewise.files.inputs import check_readable_again, local
from edgewise.files.pair_tables import parts_of
from edgewise.files.row_groups import PairFiles
from edgewise.files.streams import check_path, reading
from edgewise.files.text_table import AS_INFERRED, ATTEMPTS, Mismatch
from edgewise.ingest.arrow import is_text
from edgewise.ingest.pair_columns import PairBatches, PairColumns, integer_type
from edgewise.method import check_one_or_several, is_number
from edgewise.timer import timer
from edgewise.unfinished import to_be_completed
from edgewise.workers import device_team

#: Options of :func:`edgewise.read` that apply to a stream of tables.
READING = ("source", "target", "where", "threshold", "score", "null", "sep", "decimal", "encoding")
#: Other arguments of streams of files, for suggestions.
NAMED = "path n_vertices weight maximum device devices merge checkpoint client memory output threads progress"
#: Rows that are joined at a time.
BATCH_ROWS = 1 << 20
#: Share of the free memory that may be taken.
USABLE = 0.8
#: Ids up to this multiple of the number of rows may serve as vertex numbers.
SPARSEST = 8
#: Seconds between two checks of the reading thread.
POLL_SECONDS = 0.1


def check_reading(given):
    """Refuse options of reading that mean nothing for a stream."""
    for name in given:
        if name not in READING:
            meant = f"; did you mean {near}?" if (near := closest(name, [*READING, *NAMED.split()])) else ""
            knows = f"a stream of tables, which knows {', '.join(READING)}{meant}"
            raise OptionError(f"{argument(name)} means nothing for {knows}")


def stream_team(device, devices, merge):
    """The devices of a stream, after a check that their labels can be merged."""
    check_one_or_several(device, devices)
    if merge not in ("auto", *LABEL_MERGES):
        names = ", ".join(("auto", *LABEL_MERGES))
        raise OptionError(f"{argument('merge', merge)} is not for streams; use one of {names}")
    if merge != "auto" and devices is None:
        given, wanted = argument("merge", merge), argument("devices")
        raise OptionError(f"{given} is for several devices; add {wanted} or leave it out")
    return device_team(arrays.resolve(device or "cpu") if devices is None else devices)


class Plan(NamedTuple):
    """How the ids of a stream become vertex numbers.

    Attributes
    ----------
    rows : int or None
        Rows of all files, if that is known.
    ids : str
        ``"strings"``, ``"sparse"`` or ``"dense"`` integers.
    dtype : str
        Type of integers.
    limit, room : int
        Dense integers are smaller than ``limit``, as far as is known smaller than ``room``.
    """

    rows: int | None
    ids: str
    dtype: str = "int64"
    limit: int = 0
    room: int = 0


class FileStream:
    """The work of :func:`edgewise.stream_components`; the options of reading are a dict, the devices a team.

    ``resumed`` is the number of rows that were read by the run that saved the checkpoint, ``saved`` that of
    the checkpoint that this run has saved last, or ``None``.
    """

    #: Bytes per number up to the largest id: at the end, on the host, and while streaming, on a device.
    bytes_per_number = {"host": 12, "device": 5}
    #: Ids up to this value may serve as vertex numbers, however few rows there are.
    small = 1 << 26

    def __init__(self, path, columns, n_vertices=None, team=None, merge="auto", checkpoint=None, every=60.0):
        self.n_vertices = None if n_vertices is None else as_count(n_vertices)
        if not is_number(every, whole=False) or not every >= 0:
            raise OptionError(f"{argument('every', every)} must be a number of seconds, 0 or more")
        self.team, self.every = team, every
        self.merge = choose_label_merge(team) if merge == "auto" else merge
        path = check_path(path)
        if checkpoint is not None:
            check_readable_again(path, "checkpoint")
        with ExitStack() as copies:
            self.shards = PairFiles(parts_of(copies.enter_context(local(path))), **columns)
            #: Copies of inputs that are no local files, until all have been read.
            self.copies = copies.pop_all()
        self.columns = {"null": "error"} | columns | {"where": self.shards.where}
        facts = self.shards.facts
        #: Whether edgewise wrote this graph with vertex numbers, including isolated vertices.
        self.numbered = facts is not None and bool(facts["numbered"])
        if facts is not None and self.numbered:
            self.n_vertices = facts["vertices"]
        self.resumed, self.saved, self.edges, self.position = 0, None, 0, (0, 0)
        #: File and row where reading begins, and the plan, if it is known beforehand.
        self.begin, self.plan = (0, 0), cast("Any", None)
        self.stopping = False
        #: The Arrow type in which the ids come out, or ``None``: as they are numbered.
        self.ids_type: Any = None
        self.unknown: dict[str, int] | None = None
        self.checkpoint = None if checkpoint is None else Checkpoint(checkpoint, self._inputs())

    def _max_vertices(self):
        """Largest number of vertices for which there is memory on the host and on every device."""
        counts = [arrays.free_memory("cpu") / self.bytes_per_number["host"]]
        gpus = (device for device in self.team.devices if device != "cpu")
        counts += [arrays.free_memory(gpu) / self.bytes_per_number["device"] for gpu in gpus]
        return int(USABLE * min(counts))

    def _inputs(self):
        inputs = {"files": self.shards.stamps, "columns": self.shards.id_columns}
        inputs |= {"where": self.columns["where"], "null": self.columns["null"]}
        schema = {field.name: str(field.type) for field in self.shards.first_schema()}
        return inputs | {"n_vertices": self.n_vertices, "schema": schema}

    def remove_checkpoint(self):
        """Remove the checkpoint, once the result is stored."""
        if self.checkpoint is not None:
            self.checkpoint.remove()

    def run(self, progress=None):
        """Read all files; return :class:`Components`."""
        start = perf_counter()
        saved = None if self.checkpoint is None else self.checkpoint.load()
        begun = AS_INFERRED if saved is None else saved[0].get("attempt")
        with self.copies:
            for attempt in ATTEMPTS[begun if begun in ATTEMPTS else AS_INFERRED :]:
                try:
                    found = self._run(attempt, saved, progress)
                    break
                except Mismatch:
                    saved = None
        return self._result(found, perf_counter() - start)

    def _result(self, found, seconds):
        """The result of a call that found labels and ids."""
        labels, ids = found
        graph, merge = self._graph(labels, ids), self.merge if len(self.team) > 1 else None
        return Components(graph, "rem, streamed", seconds, labels, devices=self.device_names(), merge=merge)

    def device_names(self) -> tuple[str, ...]:
        """The devices that have joined the rows."""
        return self.team.names

    def _graph(self, labels, ids):
        """The vertices, and how many edges were read."""
        files = len(self.shards.paths)
        graph = StreamedGraph(len(labels), self.edges, ids=ids, files=files, resumed=self.resumed)
        graph.assumed_columns, graph.ids_type = self.shards.assumed, self.ids_type
        graph.left_out = self.unknown
        return graph

    def _run(self, attempt, saved, progress):
        import pyarrow as pa

        self.edges, self.position, self.resumed = 0, self.begin, 0
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = self._pairs(self.shards.schema(attempt))
        n_rows = self._prepare(pairs)
        workers = self.workers
        try:
            if self.checkpoint is not None and saved is not None:
                with self.checkpoint.report_damage():
                    self._resume(pairs, *saved)
            self._read_in_thread(pairs, attempt, n_rows, progress)
            self._warn_if_empty(pairs)
            self.ids_type = pairs.type_to_restore()
            # those before the checkpoint were not saved
            self.unknown = pairs.unknown if saved is None else None
            with timer("number ids"):
                return self._finish(pairs)
        finally:
            self.workers.close()
            if workers is not self.workers:
                workers.close()
            pa.default_memory_pool().release_unused()  # the memory that decoding has left

    def _pairs(self, schema):
        """What takes in the rows of tables with a schema."""
        return StreamedPairs(schema, self.shards.id_columns, self)

    def _workers(self):
        """What joins the pairs, once their ids are numbers."""
        return StreamWorkers(self.team, self.merge)

    def _warn_if_empty(self, pairs):
        """Warn if no row was kept."""
        pairs.warn_if_empty()

    def _finish(self, pairs):
        """What has been found, after the last row."""
        return pairs.ids.finish()

    def _prepare(self, pairs):
        """Start the workers and the mapping of the ids; return the number of rows if that is known."""
        plan = self.plan or self.plan_for(pairs)
        self.workers = self._workers()
        if plan.ids == "strings":
            pairs.ids = StringIds(self.workers, pairs.kinds, plan.rows or 0)
        elif plan.ids == "sparse":
            pairs.ids = SparseIds(self.workers, np.dtype(plan.dtype))
        else:
            pairs.ids = DenseIds(
                self.workers, np.dtype(plan.dtype), self.n_vertices, plan.limit, self.numbered
            )
            self.workers.reserve(plan.room)
        return plan.rows

    def plan_for(self, pairs):
        """The :class:`Plan` for all files, by what their footers state."""
        n_rows, least, largest = self.shards.survey(pairs.begin)
        if is_text(pairs.kinds[0]):
            if self.n_vertices is not None:
                raise OptionError(f"{argument('n_vertices')} is for integer ids; these are strings")
            return Plan(n_rows, "strings")
        limit = self.n_vertices
        if limit is None:
            expected = n_rows if n_rows is not None else sum(size for _, size, _ in self.shards.stamps) // 4
            limit = min(self._max_vertices(), max(self.small, SPARSEST * expected))
        dtype = "uint64" if all(integer_type(kind) is np.uint64 for kind in pairs.kinds) else "int64"
        if least is not None and least >= 0 and largest > np.iinfo(np.int64).max:
            dtype = "uint64"  # one of the columns holds int64, but no negative number
        if least is not None and self.n_vertices is None and (least < 0 or largest >= limit):
            return Plan(n_rows, "sparse", dtype)
        room = min(limit, largest + 1) if largest is not None else self.n_vertices or 0
        return Plan(n_rows, "dense", dtype, limit, room)

    def _read_in_thread(self, pairs, attempt, n_rows, progress):
        """Read the rows in a thread, which Ctrl-C stops after the current batch, to save the checkpoint."""
        interrupted, self.stopping = None, False
        n_threads = threads.count()
        with to_be_completed(self.checkpoint is not None), ThreadPoolExecutor(1, "edgewise-stream") as pool:
            work = pool.submit(copy_context().run, self._read, pairs, attempt, n_threads)
            try:
                while not work.done():
                    try:
                        wait([work], POLL_SECONDS)
                        if progress is not None and interrupted is None:
                            progress(pairs.rows, n_rows)
                    except KeyboardInterrupt as error:
                        interrupted, self.stopping = error, True
            finally:
                self.stopping = True  # otherwise the pool would read all rows before an error is raised
        work.result()
        if interrupted is not None:
            raise interrupted

    def _read(self, pairs, attempt, n_threads):
        threads.use(n_threads)  # the number is local to each thread
        saved_at = monotonic()
        batches = self.shards.batches(pairs, n_threads, attempt=attempt, after=self.position)
        try:
            while not self.stopping:
                piece = self._next(batches, pairs, attempt)
                if piece is None:
                    break  # saving may still fail
                part, row, batch = piece
                with reading(self.shards.paths[part], passing=Mismatch):
                    pairs.add(batch)
                self.position = part, row + batch.num_rows
                if self.checkpoint is not None and monotonic() - saved_at >= self.every:
                    self._save(self.checkpoint, pairs, attempt)
                    saved_at = monotonic()
        finally:
            batches.close()
        if self.checkpoint is not None:
            self._save(self.checkpoint, pairs, attempt)

    def _next(self, batches, pairs, attempt):
        """The next batch; if a file cannot be read, the state so far is saved."""
        try:
            with timer("decode"):
                return next(batches, None)
        except Mismatch:
            raise
        except Exception:
            if self.checkpoint is not None and pairs.rows > self.resumed:
                self._save(self.checkpoint, pairs, attempt)
            raise

    def _save(self, checkpoint, pairs, attempt):
        with timer("checkpoint"):
            facts = {"position": self.position, "rows": pairs.rows, "edges": self.edges}
            facts |= {"attempt": attempt, "ids": type(pairs.ids).__name__}
            checkpoint.save(facts, {**self.workers.state(), **pairs.ids.state()})
            self.saved = pairs.rows

    def _resume(self, pairs, facts, state):
        check_labels(state["labels"])
        (part, row), edges, rows = facts["position"], facts["edges"], facts["rows"]
        counted = all(is_number(number, whole=True) and number >= 0 for number in (part, row, edges, rows))
        if not counted or part >= len(self.shards.paths):
            raise ValueError("no position in the files")
        if facts["ids"] == SparseIds.__name__:
            pairs.ids = SparseIds(self.workers, pairs.ids.dtype)
        elif facts["ids"] == DenseIds.__name__ and isinstance(pairs.ids, SparseIds):
            limit = self._max_vertices()
            pairs.ids = DenseIds(self.workers, pairs.ids.dtype, self.n_vertices, limit)
        if facts["ids"] != SparseIds.__name__:
            self.workers.restore(state)
        pairs.ids.restore(state)
        self.position, self.edges = (part, row), edges
        self.resumed = pairs.rows = rows
        pairs.kept_any |= edges > 0

    def to_sparse(self, dense):
        """Continue with :class:`SparseIds`, after an id that is not a vertex number."""
        labels, ids = dense.finish()
        before, self.workers = self.workers, self._workers()
        before.close()
        sparse = SparseIds(self.workers, dense.dtype)
        known = np.arange(len(labels), dtype=dense.dtype) if ids is None else ids.between(0, len(ids))
        sparse.join_integers(known, known[labels])
        return sparse


class StreamedPairs(PairBatches):
    """Pairs that are joined and not kept."""

    batch_rows = BATCH_ROWS

    def __init__(self, schema, names, stream):
        columns = PairColumns(names[0], names[1], None, stream.columns["where"], stream.columns["null"])
        super().__init__(schema, columns)
        self.stream, self.ids = stream, cast("Any", None)

    def _take(self, batch):
        left, right = (batch.column(name) for name in self.id_columns)
        with timer("join"):
            try:
                self.ids.join(left, right, self.row_in_file)
            except NotDenseError:
                self.ids = self.stream.to_sparse(self.ids)
                self.ids.join(left, right, self.row_in_file)
        self.stream.edges += batch.num_rows
