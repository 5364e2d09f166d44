"""Tables that are read once, row by row, and never held in memory.

Memory holds what the reducer keeps (:mod:`~edgewise.streams.union`, :mod:`~edgewise.streams.forest`), the ids
where they are not vertex numbers, and a few batches.  Threads decode row groups, and leave out the rows that
the condition does not keep.  They also join the pairs, beside each other, if the footers of the files say how
large the ids are: union-find needs no order.

A separate thread takes in the rows in order.  Ctrl-C, which Python raises in the main thread, therefore
never interrupts a batch: the thread stops after it and, if there is a checkpoint, saves it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from threading import Semaphore
from time import monotonic, perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from edgewise.device import arrays, threads
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, OptionError, argument
from edgewise.files.inputs import check_readable_again, local
from edgewise.files.pair_tables import parts_of
from edgewise.files.read_ahead import AHEAD_IN_PIECE
from edgewise.files.row_groups import PairFiles
from edgewise.files.streams import check_path, reading
from edgewise.files.text_table import AS_INFERRED, ATTEMPTS, Mismatch
from edgewise.ingest.arrow import is_text
from edgewise.ingest.columns import weight_type
from edgewise.ingest.pair_columns import PairBatches, PairColumns, integer_type
from edgewise.memory import release_unused
from edgewise.method import check_whole, is_number
from edgewise.streams.checkpoint import Checkpoint, check_labels
from edgewise.streams.graph import MarkedIds, StreamedGraph
from edgewise.streams.ids import DenseIds, NotDenseError, Plan, SparseIds, StringIds
from edgewise.timer import timer
from edgewise.unfinished import to_be_completed

#: Rows that are joined at a time.
BATCH_ROWS = 1 << 20
#: Share of the free memory that may be taken.
USABLE = 0.8
#: Ids up to this multiple of the number of rows may serve as vertex numbers.
SPARSEST = 8
#: Seconds between two checks of the reading thread.
POLL_SECONDS = 0.1


class Found(NamedTuple):
    """Labels and ids of the vertices, and the edges of the forest if one is kept."""

    labels: Any
    ids: Any
    forest: Any = None


class FileStream:
    """The work of :func:`edgewise.stream_components` and :func:`edgewise.stream_forest`.

    Parameters
    ----------
    path
        As of these.
    columns : dict
        Options of reading.
    problem : Union or KeepForest
        What is kept of the edges.
    n_vertices : int, optional
    team : DeviceTeam
    checkpoint : path-like, optional
    every : float

    ``resumed`` is the number of rows that were read by the run that saved the checkpoint, ``saved`` that of
    the checkpoint that this run has saved last, or ``None``.
    """

    def __init__(self, path, columns, problem, n_vertices=None, team=None, checkpoint=None, every=60.0):
        if n_vertices is not None:
            check_whole("n_vertices", n_vertices, 0)
        self.n_vertices: Any = None if n_vertices is None else int(n_vertices)
        if not is_number(every, whole=False) or not every >= 0:
            raise OptionError(f"{argument('every', every)} must be a number of seconds, 0 or more")
        self.team, self.every = team, every
        path = check_path(path)
        if checkpoint is not None:
            check_readable_again(path, "checkpoint")
        with ExitStack() as copies:
            self.shards = PairFiles(parts_of(copies.enter_context(local(path))), **columns)
            self.problem = problem.chosen(self.shards)
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
        self.begin, self.plan = (0, 0), None
        self.stopping = False
        #: The Arrow type in which the ids come out, or ``None``: as they are numbered.
        self.ids_type: Any = None
        self.unknown: dict[str, int] | None = None
        self.checkpoint = None if checkpoint is None else Checkpoint(checkpoint, self._inputs())

    def _max_vertices(self):
        """Largest number of vertices for which there is memory on the host and on every device."""
        counts = [arrays.free_memory("cpu") / self.problem.bytes_per_number["host"]]
        gpus = (device for device in self.team.devices if device != "cpu")
        counts += [arrays.free_memory(gpu) / self.problem.bytes_per_number["device"] for gpu in gpus]
        return int(USABLE * min(counts))

    def _inputs(self):
        inputs = {"files": self.shards.stamps, "columns": self.shards.id_columns}
        inputs |= {"where": self.columns["where"], "null": self.columns["null"]}
        schema = {field.name: str(field.type) for field in self.shards.first_schema()}
        return inputs | {"n_vertices": self.n_vertices, "schema": schema} | self.problem.facts

    def remove_checkpoint(self):
        """Remove the checkpoint, once the result is stored."""
        if self.checkpoint is not None:
            self.checkpoint.remove()

    def run(self, progress=None):
        """Read all files; return the result."""
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
        """The result of a call that has :class:`Found` something."""
        graph = self._graph(len(found.labels), found.ids)
        return self.problem.result(graph, found, seconds, self.reducer, self.device_names())

    def device_names(self) -> tuple[str, ...]:
        """The devices that have joined the rows."""
        return self.team.names

    def _graph(self, n_vertices, ids):
        """The vertices, and how many edges were read."""
        files = len(self.shards.paths)
        graph = StreamedGraph(n_vertices, self.edges, ids=ids, files=files, resumed=self.resumed)
        graph.assumed_columns, graph.ids_type = self.shards.assumed, self.ids_type
        graph.left_out = self.unknown
        return graph

    def _run(self, attempt, saved, progress):
        self.edges, self.position, self.resumed = 0, self.begin, 0
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = self._pairs(self.shards.schema(attempt))
        plan = self.plan or self.plan_for(pairs)
        first = self.reducer = self._reducer()
        pairs.ids = plan.mapping(self.reducer, pairs.kinds, self.n_vertices, self.numbered)
        try:
            if self.checkpoint is not None and saved is not None:
                with self.checkpoint.report_damage():
                    self._resume(pairs, *saved)
            if pairs.ids.kind == "dense" and self.shards.has_pieces(threads.count(), self.position[0]):
                pairs.ids.prepare_beside(plan.room)
            self._read_in_thread(pairs, attempt, plan.rows, progress)
            self._warn_if_empty(pairs)
            self.ids_type = pairs.type_to_restore()
            # those before the checkpoint were not saved
            self.unknown = pairs.unknown if saved is None else None
            with timer("number ids"):
                return self._finish(pairs)
        finally:
            self.reducer.close()
            if first is not self.reducer:
                first.close()
            release_unused()

    def _pairs(self, schema):
        """What takes in the pairs of tables with a schema."""
        return StreamedPairs(schema, self)

    def _reducer(self):
        """A new reducer for the pairs, once their ids are numbers."""
        return self.problem.reducer(self.team)

    def _warn_if_empty(self, pairs):
        """Warn if no row was kept."""
        pairs.warn_if_empty()

    def _forest(self):
        """The forest that the reducer keeps, if it keeps one."""
        return self.reducer.forest()

    def _finish(self, pairs):
        """The result of the reducer, after the last row."""
        forest = self._forest()
        sparse = isinstance(pairs.ids, SparseIds)
        order = np.argsort(pairs.ids.numbers.ids()) if sparse and forest is not None else None
        labels, ids = pairs.ids.finish()
        if order is None and isinstance(ids, MarkedIds) and forest is not None:
            order = ids.between(0, len(ids))
        if order is not None:
            renumbered = np.empty(self.reducer.count, labels.dtype)
            renumbered[order] = np.arange(len(order), dtype=labels.dtype)
            ends = {"sources": renumbered[forest.sources], "targets": renumbered[forest.targets]}
            forest = forest._replace(**ends)
        return Found(labels, ids, forest)

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
            limit = min(self._max_vertices(), max(self.problem.numbers_at_least, SPARSEST * expected))
        dtype = "uint64" if all(integer_type(kind) is np.uint64 for kind in pairs.kinds) else "int64"
        if least is not None and least >= 0 and largest > np.iinfo(np.int64).max:
            dtype = "uint64"  # one of the columns holds int64, but no negative number
        unknown = least is None and self.problem.needs_ranges
        if self.n_vertices is None and (unknown or (least is not None and (least < 0 or largest >= limit))):
            return Plan(n_rows, "sparse", dtype)
        room = min(limit, largest + 1) if largest is not None else self.n_vertices or 0
        return Plan(n_rows, "dense", dtype, limit, room)

    def _read_in_thread(self, pairs, attempt, n_rows, progress):
        """Read the rows in a thread, which Ctrl-C stops after the current batch, to save the checkpoint."""
        interrupted, self.stopping = None, False
        with to_be_completed(self.checkpoint is not None), ThreadPoolExecutor(1, "edgewise-stream") as pool:
            work = pool.submit(copy_context().run, self._read, pairs, attempt)
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

    def _read(self, pairs, attempt):
        saved_at = monotonic()
        leaves_nothing = pairs.ids.joins_beside and not self.problem.leaves_edges
        ahead = 0 if leaves_nothing else AHEAD_IN_PIECE  # no batch waits of which nothing is left
        found = self.shards.chosen(pairs, pairs.n_threads, attempt=attempt, after=self.position, ahead=ahead)
        try:
            while not self.stopping:
                piece = self._next(found, pairs, attempt)
                if piece is None:
                    break  # saving may still fail
                part, row, chosen = piece
                with reading(self.shards.paths[part], passing=Mismatch):
                    pairs.take(chosen)
                self.position = part, row + chosen.rows
                if self.checkpoint is not None and monotonic() - saved_at >= self.every:
                    self._save(self.checkpoint, pairs, attempt)
                    saved_at = monotonic()
        finally:
            found.close()
        if self.checkpoint is not None:
            self._save(self.checkpoint, pairs, attempt)

    def _next(self, found, pairs, attempt):
        """What is chosen of the next batch; if a file cannot be read, the state so far is saved."""
        try:
            with timer("decode"):
                return next(found, None)
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
            with pairs.alone():
                state = {**self.reducer.state(), **pairs.ids.state()}
            checkpoint.save(facts, state)
            self.saved = pairs.rows

    def _resume(self, pairs, facts, state):
        check_labels(state["labels"])
        (part, row), edges, rows = facts["position"], facts["edges"], facts["rows"]
        counted = all(is_number(number, whole=True) and number >= 0 for number in (part, row, edges, rows))
        if not counted or part >= len(self.shards.paths):
            raise ValueError("no position in the files")
        self.problem.check(state, edges)
        if facts["ids"] == SparseIds.__name__:
            pairs.ids = SparseIds(self.reducer, pairs.ids.dtype)
        elif facts["ids"] == DenseIds.__name__ and isinstance(pairs.ids, SparseIds):
            limit = self._max_vertices()
            pairs.ids = DenseIds(self.reducer, pairs.ids.dtype, self.n_vertices, limit)
        if facts["ids"] != SparseIds.__name__:
            self.reducer.restore(state)
        pairs.ids.restore(state)
        if isinstance(pairs.ids, SparseIds):
            self._keep(pairs.ids, self.problem.forest_of(state), state["ids"])
        self.position, self.edges = (part, row), edges
        self.resumed = pairs.rows = rows
        pairs.kept_any |= edges > 0

    def to_sparse(self, dense):
        """Continue with :class:`SparseIds`, after an id that is not a vertex number."""
        if self.problem.needs_ranges:
            raise GraphError("holds an id beyond the range that its footer states; write the file anew")
        forest = self.reducer.forest()
        labels, ids = dense.finish()
        self.reducer.close()
        self.reducer = self._reducer()
        sparse = SparseIds(self.reducer, dense.dtype)
        known = np.arange(len(labels), dtype=dense.dtype) if ids is None else ids.between(0, len(ids))
        sparse.join_integers(known, known[labels])
        self._keep(sparse, forest)
        return sparse

    def _keep(self, sparse, forest, ids=None):
        """Continue with a forest, if there is one, whose ends are ids, or positions in ``ids``."""
        if forest is None:
            return
        ends = forest[:2] if ids is None else [ids[column] for column in forest[:2]]
        self.reducer.continue_from(_numbered(sparse, forest, ends), sparse.numbers.count)

    def collect(self, ids, edges, alone):
        """Collect what is left of a batch that was joined when it was decoded, when ids were numbers."""
        if not edges:
            return
        if isinstance(ids, SparseIds):
            edges = _numbered(ids, edges, edges[:2])
            self.reducer.grow_to(ids.numbers.count)
        self.reducer.collect(edges, self.edges, alone)


def _numbered(sparse, edges, ends):
    """Edges with the numbers of their ends, which are ids."""
    numbers = sparse.numbers.add(*(column.astype(sparse.dtype) for column in ends))
    sources, targets = (np.array(column) for column in numbers)
    return edges._replace(sources=sources, targets=targets)


class Joined(NamedTuple):
    """A batch whose pairs were joined when it was decoded, with the edges that are left to be collected."""

    num_rows: int
    edges: Any


class StreamedPairs(PairBatches):
    """Pairs that are joined and not kept.

    The threads that decode join them beside each other where the order makes no difference: where ids are
    vertex numbers and the trees have room for all of them.  Other pairs wait for those before.
    """

    batch_rows = BATCH_ROWS
    takes_coded = True

    def __init__(self, schema, stream):
        weight, columns = stream.problem.weight, stream.columns
        (source, target), where = stream.shards.id_columns, columns["where"]
        super().__init__(schema, PairColumns(source, target, weight, where, columns["null"]))
        self.stream, self.ids = stream, cast("Any", None)
        self.weight_type = None if weight is None else weight_type(schema.field(weight))
        self.n_threads = threads.count()
        #: Threads that may join at once: one in interpreters, whose operations are not atomic.
        self.n_joining = 1 if INTERPRETED else self.n_threads
        self.joining = Semaphore(self.n_joining)

    def prepare(self):
        """Import the compiler and load the loops that number strings, while the first rows are decoded."""
        threads.use(self.n_threads)  # the number is local to each thread
        if isinstance(self.ids, StringIds):
            self.ids.numbers.strings.prepare()

    @contextmanager
    def alone(self):
        """Context in which no other thread joins."""
        for _ in range(self.n_joining):
            self.joining.acquire()
        try:
            yield
        finally:
            self.joining.release(self.n_joining)

    def choose(self, batch):
        """Yield what is to be taken in of a record batch; pairs are joined here where that can be."""
        for chosen in super().choose(batch):
            if (edges := self._join_beside(chosen.batch)) is not None:
                chosen = chosen._replace(batch=Joined(chosen.batch.num_rows, edges), keep=None)
            yield chosen

    def _join_beside(self, batch):
        """Join pairs beside other threads; return the edges that are left, or ``None`` if that fails."""
        if not self.ids.joins_beside:
            return None
        with self.joining:  # others may have been found to be no vertex numbers meanwhile
            columns = (batch.column(name) for name in self.id_columns)
            weights = self.stream.problem.values_of(batch, self)
            return self.ids.join_beside(*columns, weights) if self.ids.joins_beside else None

    def _take(self, batch):
        if isinstance(batch, Joined):
            self.stream.collect(self.ids, batch.edges, self.alone)
        else:
            with self.alone():
                self._join(batch)
                if self.ids.joins_beside:
                    self.stream.reducer.complete()  # trees that grow are no longer those that others join
        self.stream.edges += batch.num_rows

    def _join(self, batch):
        given = [*self._ids, self.row_in_file, self.stream.problem.weights_of(batch, self)]
        with timer("join"):
            try:
                self.ids.join(*given)
            except NotDenseError:
                self.ids = self.stream.to_sparse(self.ids)
                self.ids.join(*given)
