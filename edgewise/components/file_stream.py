"""Components of pairs files that are read once, row by row, and never held.

Memory holds one parent for every vertex, the ids where they are no vertex numbers, and a few row groups.
Decoding, in threads, runs beside the unions; both take what the cores give.  Integer ids are vertex numbers
as they are, up to the largest; a bit a vertex tells at the end which of them occur, and these alone are
numbered, so that the result is the one of reading the files into a graph.

The rows are gone through by a thread of their own, so that Ctrl-C, which Python raises in the main thread,
never breaks off a batch half-way: the thread stops after it and, if there is a checkpoint to write, writes
it.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from os import PathLike
from time import monotonic, perf_counter

import numpy as np

from edgewise.components.batch_stream import as_count
from edgewise.components.checkpoint import Checkpoint
from edgewise.components.id_mapping import Names, Sparse, SparseNumbers, WholeNumbers
from edgewise.components.merge import choose_label_merge
from edgewise.components.result import Components
from edgewise.components.stream_workers import Crew
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays, threads
from edgewise.errors import OptionError
from edgewise.files.pairs import parts_of
from edgewise.files.shards import Shards
from edgewise.files.streams import reading
from edgewise.files.textpairs import Mismatch
from edgewise.ingest.arrow import is_text
from edgewise.ingest.pair_columns import PairBatches
from edgewise.ingest.schema import integer_type
from edgewise.timer import timer

#: Rows that are joined at a time.
BATCH_ROWS = 1 << 20
#: Bytes that a number up to the largest id takes at the end, on the host, and while streaming on a device.
BYTES_A_NUMBER = {"host": 12, "device": 5}
#: Share of the free memory that may be taken.
USABLE = 0.8
#: Ids may be this large in any case, or this many times the number of rows, to be taken for vertex numbers.
SMALL, SPARSEST = 1 << 26, 8
#: Seconds between two looks at the thread.
LOOK = 0.1


class ShardStream:
    """The work of :func:`~edgewise.components.stream_files.stream_components`, step by step.

    Parameters are those of that function, with ``columns`` for ``source``, ``target``, ``where`` and
    ``null``, and the devices as a team.

    Attributes
    ----------
    resumed : int
        Rows that an earlier run had dealt with.
    saved : int or None
        Rows in the checkpoint that this run has written last.
    """

    def __init__(self, path, columns, n_vertices=None, team=None, merge="auto", checkpoint=None, every=60.0):
        self.most = None if n_vertices is None else as_count(n_vertices)
        self.columns, self.team, self.every = columns, team, _seconds(every)
        self.merge = choose_label_merge(team) if merge == "auto" else merge
        self.shards = Shards(parts_of(_checked(path)), **columns)
        if self._is_numbered():
            self.most = self.shards.facts["vertices"]
        self.resumed, self.saved, self.edges, self.position = 0, None, 0, (0, 0)
        self.stopping = False
        self.checkpoint = None if checkpoint is None else Checkpoint(checkpoint, self._inputs())

    def _is_numbered(self):
        """Whether this is a file of edgewise's own with vertex numbers, isolated vertices among them."""
        return self.shards.facts is not None and bool(self.shards.facts["numbered"])

    def _inputs(self):
        return {
            "files": self.shards.stamps,
            "columns": self.shards.ends,
            "where": self.columns["where"],
            "null": self.columns["null"],
            "n_vertices": self.most,
            "schema": {field.name: str(field.type) for field in self.shards.schema()},
        }

    def forget(self):
        """Remove the checkpoint: the result is where it belongs."""
        if self.checkpoint is not None:
            self.checkpoint.remove()

    def run(self, progress=None):
        """Read all files; return :class:`Components`."""
        start = perf_counter()
        found = None if self.checkpoint is None else self.checkpoint.load()
        for patient in (False, True) if found is None else (found[0].get("patient", False), True):
            try:
                labels, ids = self._run(patient, found, progress)
                break
            except Mismatch:
                found = None
        graph = StreamedGraph(
            len(labels), self.edges, ids=ids, files=len(self.shards.paths), resumed=self.resumed
        )
        several = {"devices": self.team.names, "merge": self.crew.merge} if len(self.team) > 1 else {}
        seconds = perf_counter() - start
        return Components(graph=graph, method="rem, streamed", seconds=seconds, _labels=labels, **several)

    def _run(self, patient, found, progress):
        self.edges, self.position, self.resumed = 0, (0, 0), 0
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = StreamedPairs(self.shards.schema(patient), self.shards.ends, self.columns, self)
        total = self._prepare(pairs)
        crew = self.crew
        try:
            if found is not None:
                with self.checkpoint.understood():
                    self._resume(pairs, *found)
            self._in_a_thread(pairs, patient, total, progress)
            with timer("number ids"):
                return pairs.sink.finish()
        finally:
            self.crew.close()
            if crew is not self.crew:
                crew.close()
            _give_back_memory()

    def _prepare(self, pairs):
        """Choose what becomes of the ids; return the number of rows, if that is known."""
        total, least, most = self.shards.survey(pairs.begin)
        self.crew = Crew(self.team, self.merge)
        if is_text(pairs.kinds[0]):
            if self.most is not None:
                raise OptionError("n_vertices= is for integer ids; these are strings")
            pairs.sink = Names(self.crew, pairs.kinds, total or 0)
            return total
        rows = total if total is not None else sum(size for _, size, _ in self.shards.stamps) // 4
        limit = min(_memory_for(self.team), max(SMALL, SPARSEST * rows)) if self.most is None else self.most
        kind = np.uint64 if all(integer_type(kind) is np.uint64 for kind in pairs.kinds) else np.int64
        if least is not None and least >= 0 and most > np.iinfo(np.int64).max:
            kind = np.uint64  # one of the columns holds int64, but no negative one
        if least is not None and self.most is None and (least < 0 or most >= limit):
            pairs.sink = SparseNumbers(self.crew, kind)
            return total
        pairs.sink = WholeNumbers(self.crew, kind, self.most, limit, self._is_numbered())
        self.crew.reserve(min(limit, most + 1) if most is not None else self.most or 0)
        return total

    def _in_a_thread(self, pairs, patient, total, progress):
        """Let a thread go through the rows; Ctrl-C stops it after the batch it is at."""
        interrupted, self.stopping = None, False
        count = threads.count()
        with ThreadPoolExecutor(1, "edgewise-stream") as pool:
            work = pool.submit(copy_context().run, self._go_through, pairs, patient, count)
            try:
                while not work.done():
                    try:
                        wait([work], LOOK)
                        if progress is not None and interrupted is None:
                            progress(pairs.rows, total)
                    except KeyboardInterrupt as error:
                        interrupted, self.stopping = error, True
            finally:
                self.stopping = True  # else the pool would wait for all rows before it lets an error out
        work.result()
        if interrupted is not None:
            raise interrupted

    def _go_through(self, pairs, patient, count):
        threads.use(count)  # each thread has its own
        saved = monotonic()
        batches = self.shards.batches(pairs, count, patient=patient, after=self.position)
        try:
            while not self.stopping:
                found = self._next(batches, pairs, patient)
                if found is None:
                    break  # what follows may still fail
                part, row, batch = found
                with reading(self.shards.paths[part], passing=Mismatch):
                    pairs.add(batch)
                self.position = part, row + batch.num_rows
                if self.checkpoint is not None and monotonic() - saved >= self.every:
                    self._save(pairs, patient)
                    saved = monotonic()
        finally:
            batches.close()
        if self.checkpoint is not None:
            self._save(pairs, patient)

    def _next(self, batches, pairs, patient):
        """The next batch; where a file fails, what the ones before have given is put aside."""
        try:
            with timer("decode"):
                return next(batches, None)
        except Mismatch:
            raise
        except Exception:
            if self.checkpoint is not None and pairs.rows > self.resumed:
                self._save(pairs, patient)
            raise

    def _save(self, pairs, patient):
        with timer("checkpoint"):
            facts = {
                "position": self.position,
                "rows": pairs.rows,
                "edges": self.edges,
                "patient": patient,
                "sink": type(pairs.sink).__name__,
            }
            self.checkpoint.save(facts, {"labels": self.crew.labels(), **pairs.sink.state()})
            self.saved = pairs.rows

    def _resume(self, pairs, facts, state):
        if facts["sink"] == SparseNumbers.__name__:
            pairs.sink = SparseNumbers(self.crew, pairs.sink.dtype)
        elif facts["sink"] == WholeNumbers.__name__ and isinstance(pairs.sink, SparseNumbers):
            pairs.sink = WholeNumbers(self.crew, pairs.sink.dtype, self.most, _memory_for(self.team))
        if facts["sink"] != SparseNumbers.__name__:
            self.crew.restore(state["labels"])
        pairs.sink.restore(state)
        self.position, self.edges = tuple(facts["position"]), facts["edges"]
        self.resumed = pairs.rows = facts["rows"]

    def number_sparse(self, sink):
        """Go on with numbered ids, now that one of them is no vertex number."""
        labels, ids = sink.finish()
        before, self.crew = self.crew, Crew(self.team, self.merge)
        before.close()
        sparse = SparseNumbers(self.crew, sink.dtype)
        known = np.arange(len(labels), dtype=sink.dtype) if ids is None else ids.between(0, len(ids))
        sparse.take_integers(known, known[labels])
        return sparse


class StreamedPairs(PairBatches):
    """Pairs that are joined and forgotten."""

    batch_rows = BATCH_ROWS

    def __init__(self, schema, ends, columns, stream):
        super().__init__(schema, *ends, where=columns["where"], null=columns["null"])
        self.stream, self.sink = stream, None

    def _take(self, batch):
        left, right = (batch.column(name) for name in self.id_columns)
        with timer("join"):
            try:
                self.sink.take(left, right, self.row_in_file)
            except Sparse:
                self.sink = self.stream.number_sparse(self.sink)
                self.sink.take(left, right, self.row_in_file)
        self.stream.edges += batch.num_rows


def _memory_for(team):
    """Largest number of vertices for which there is memory everywhere."""
    found = [USABLE * arrays.free_memory("cpu") / BYTES_A_NUMBER["host"]]
    found += [
        USABLE * arrays.free_memory(where) / BYTES_A_NUMBER["device"]
        for where in team.devices
        if where != "cpu"
    ]
    return int(min(found))


def _checked(path):
    """The path or the paths, after a look at whether they are any."""
    for one in path if isinstance(path, list | tuple) else [path]:
        if not isinstance(one, str | PathLike | list | tuple):
            raise OptionError(f"path={one!r} is no path; give a file, folder or pattern, or a list of them")
    return path


def _seconds(every):
    if not isinstance(every, int | float | np.number) or isinstance(every, bool) or not every >= 0:
        raise OptionError(f"every={every!r} must be a number of seconds, 0 or more")
    return every


def _give_back_memory():
    """Return to the system what decoding has left behind in Arrow's pool."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
