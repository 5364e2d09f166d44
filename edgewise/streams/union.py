"""The reducer of streams of components: arrays of parents that grow with the vertex numbers.

A *reducer* takes in the edges of a stream, whose ends are vertex numbers, and keeps what stands for them.
:class:`Union` and :class:`~edgewise.streams.forest.KeepForest` are the problems of streams of tables: they
make a reducer for the devices of a team, and a result of what it has found.

:class:`Parents` are on one device and join edges from any device.  :class:`UnionReducer` has parents on each
device of a team, which are merged at the end.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from threading import get_ident
from typing import Any

import numpy as np

from edgewise.components.merge import choose_label_merge, merge_labels
from edgewise.components.rem import fetch_later, union
from edgewise.components.result import Components
from edgewise.components.segments import HostPipeline, unite_numbers
from edgewise.components.trees import compress
from edgewise.device import arrays, compiled, each, streams, threads
from edgewise.errors import OutOfMemoryError, argument
from edgewise.index_type import index_type
from edgewise.primitives.thread_pool import ThreadPool

#: Vertices for which parents that grow have room at first.
FIRST_ROOM = 1 << 10
#: Rows of a block of a part.
BLOCK = 1 << 18
#: Share of the free memory that parents may take.
USABLE = 0.9


@each
def make_further_singletons(index, first, parent):
    """Make a vertex from ``first`` on a tree of its own."""
    parent[first + index] = first + index


@compiled
def join_alone(parent, has_self_loop, sources, targets):
    """Join the endpoints of edges by one thread; return False at the first one without a parent."""
    end = np.uint64(len(parent))
    for edge in range(np.uint64(len(sources))):
        fetch_later(edge, parent, sources, targets)
        source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
        if source >= end or target >= end:
            return False
        if source == target:
            has_self_loop[source] = 1
        union(parent, source, target)
    return True


@compiled
def copy_known(end, has_self_loop, sources, targets, copied_sources, copied_targets):
    """Copy edges, and mark vertices with a self-loop; return False at the first one beyond the ``end``."""
    end = np.uint64(end)
    for edge in range(np.uint64(len(sources))):
        source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
        if source >= end or target >= end:
            return False
        if source == target:
            has_self_loop[source] = 1
        copied_sources[edge], copied_targets[edge] = source, target
    return True


class Parents:
    """Trees over the vertices ``0 .. count - 1`` on one device, in ``array``; without ``count`` it grows.

    Memory for vertices beyond ``count`` is only reserved; on the host the system does not allocate it yet.
    """

    def __init__(self, device, count=None):
        self.device, self.count = device, 0
        self.grows = count is None
        #: Pipelines to a GPU: of calls of :meth:`join`, and of each thread that joins beside others.
        self.pipeline: Any = None
        self.pipelines: dict[int, HostPipeline] = {}
        with arrays.guard(device):
            self.array = arrays.empty(0, np.uint32, device)
        self.grow_to(count or 0)

    def grow_to(self, count):
        """Ensure at least ``count`` vertices; a full array doubles if memory allows."""
        if count <= self.count:
            return
        if count > len(self.array):
            capacity = max(count, 2 * len(self.array), FIRST_ROOM) if self.grows else count
            self.reserve(count if self._missing_bytes(capacity) else capacity)
        with arrays.guard(self.device):
            make_further_singletons(count - self.count, self.count, self.array)
            arrays.synchronize(self.device)  # edges are joined in other streams
        self.count = count

    def _missing_bytes(self, count):
        """The bytes that parents of ``count`` vertices take if they do not fit; otherwise 0."""
        needed = count * np.dtype(index_type(count)).itemsize
        return needed if needed > USABLE * arrays.free_memory(self.device) else 0

    def reserve(self, count):
        """Make room for ``count`` vertices, so that growing up to there copies nothing."""
        if count <= len(self.array):
            return
        if needed := self._missing_bytes(count):
            problem = f"{self.device} has too little memory for vertices up to {count - 1:,}"
            sizes = f"{needed:,} bytes needed, {arrays.free_memory(self.device):,} free"
            raise OutOfMemoryError(
                f"{problem}: {sizes}; leave out {argument('n_vertices')} or number the ids"
            )
        self.settle()
        with arrays.guard(self.device):
            array = arrays.empty(count, index_type(count), self.device)
            array[: self.count] = self.array[: self.count]
        self.array, self.pipeline, self.pipelines = array, None, {}

    def settle(self):
        """Wait for the edges that are still being copied to a GPU or joined there."""
        for pipeline in [*self.pipelines.values(), self.pipeline]:
            if pipeline is not None:
                pipeline.settle()

    def join(self, columns, largest, weights=None):
        """Join the endpoints of edges, none above ``largest``.

        The arrays are contiguous integers on the host or a GPU, and may be overwritten on return.
        """
        self.grow_to(largest + 1)
        sources, targets = columns
        with arrays.guard(self.device):
            if self.device != "cpu" and arrays.device_of(sources) == arrays.device_of(targets) == "cpu":
                self.pipeline = self.pipeline or HostPipeline(self.array)
                self.pipeline.join(sources, targets)
                if streams.is_pinned(sources) or streams.is_pinned(targets):
                    self.settle()
                return
            self.settle()
            columns = [arrays.move(column, self.device) for column in (sources, targets)]
            unite_numbers(len(columns[0]), self.array, *columns)

    def join_beside(self, columns, has_self_loop):
        """Join edges as :class:`UnionReducer` does; return whether all have endpoints that are vertices."""
        end = min(self.count, len(has_self_loop))
        if self.device == "cpu":
            return bool(join_alone(self.array[:end], has_self_loop, *columns))
        with arrays.guard(self.device):
            if (thread := get_ident()) not in self.pipelines:
                self.pipelines[thread] = HostPipeline(self.array, buffers=1)
            write = partial(copy_known, end, has_self_loop, *columns)
            return bool(self.pipelines[thread].join_written(len(columns[0]), write))

    def state(self):
        """Arrays by name, on the host."""
        return {"labels": arrays.move(self.labels(), "cpu")}

    def restore(self, state):
        """Start from the state of an earlier run."""
        labels = state["labels"]
        self.grow_to(len(labels))
        with arrays.guard(self.device):
            self.array[: len(labels)] = arrays.move(labels.astype(self.array.dtype), self.device)
            arrays.synchronize(self.device)

    def labels(self, last=False):
        """Smallest vertex of each vertex's tree, an index array; a copy unless this is the ``last`` use."""
        self.settle()
        with arrays.guard(self.device):
            labels = self.array[: self.count]
            labels = labels if last else labels.copy()
            compress(self.count, labels)
            arrays.synchronize(self.device)
        return labels.astype(index_type(self.count), copy=False)


class UnionReducer:
    """The devices of a team, which join batches of edges; their labels are merged by ``merge``."""

    def __init__(self, team, merge="auto"):
        self.team, self.merge = team, choose_label_merge(team) if merge == "auto" else merge
        self.parents = [Parents(device) for device in team.devices]
        self.n_threads = threads.count()
        self.pool = ThreadPoolExecutor(len(team)) if len(team) > 1 else None
        #: The parents of each thread that joins beside others.
        self.parents_of: dict[int, Parents] = {}
        #: Parents that join no batch, and the batches that have been given out.
        self.idle: SimpleQueue = SimpleQueue()
        self.batches: list[Future] = []
        for parents in self.parents:
            self.idle.put(parents)

    def close(self):
        """Stop the threads after the batches that have been given out."""
        if self.pool is not None:
            self.pool.shutdown()
        for parents in self.parents:
            parents.settle()

    def _work(self, parents, *batch):
        threads.use(self.n_threads)
        try:
            parents.join(*batch)
        finally:
            self.idle.put(parents)

    def reserve(self, count):
        """Make room for ``count`` vertices on every device."""
        for parents in self.parents:
            parents.reserve(count)

    def join(self, columns, largest, weights=None):
        """Join the endpoints of edges, none above ``largest``; the arrays must not be changed later."""
        if self.pool is None:
            self.parents[0].join(columns, largest)
            return
        parents = self.idle.get()
        self._check(lambda batch: batch.done())
        self.batches.append(self.pool.submit(self._work, parents, columns, largest))

    def prepare_beside(self, count):
        """Make trees of ``count`` vertices for :meth:`join_beside`; return whether that can be used."""
        for parents in self.parents:
            parents.grow_to(count)
        return True

    def join_beside(self, columns, has_self_loop, weights=None):
        """Join the endpoints of edges while other threads do so too, and mark vertices with a self-loop.

        Returns (), since nothing is left to be collected; or None, and may have joined some edges, if one has
        an endpoint that is no vertex yet.
        """
        turn = len(self.parents_of) % len(self.parents)  # of two threads the same is no harm
        parents = self.parents_of.setdefault(get_ident(), self.parents[turn])
        return () if parents.join_beside(columns, has_self_loop) else None

    def _check(self, which):
        """Raise the error of a batch that has failed, among those for which ``which`` holds."""
        for batch in filter(which, self.batches):
            batch.result()
        self.batches = [batch for batch in self.batches if not batch.done()]

    def complete(self):
        """Wait until all batches that have been given out are joined."""
        self._check(lambda batch: True)

    def labels(self, last=False):
        """Current labels on the host; a copy unless this is the ``last`` use."""
        self.complete()
        count = max(parents.count for parents in self.parents)
        for parents in self.parents:
            parents.settle()
            parents.grow_to(count)
        labels = [parents.labels(last) for parents in self.parents]
        return arrays.move(merge_labels(self.team, labels, self.merge), "cpu")

    def collect(self, edges, first, alone):
        """Nothing: the edges are joined."""

    def forest(self):
        """Nothing: the labels stand for all edges."""

    def state(self):
        """Arrays by name for a checkpoint."""
        return {"labels": self.labels()}

    def restore(self, state):
        """Start from the state of an earlier run."""
        self.parents[0].restore(state)


class Union:
    """Problem of a stream of components: which vertices the edges join.

    ``merge`` is how the labels of several devices are merged.
    """

    #: Column of the weights; there are none.
    weight = None
    #: What a checkpoint depends on beside the inputs.
    facts: dict = {}
    #: Bytes per number up to the largest id: at the end, on the host, and while streaming, on a device.
    bytes_per_number = {"host": 12, "device": 5}
    #: Ids below this may serve as vertex numbers, however few rows there are.
    numbers_at_least = 1 << 26
    #: Whether ids serve as vertex numbers only where footers say how large they are, and whether edges are
    #: left of a batch that is joined beside others.
    needs_ranges, leaves_edges = False, False

    def __init__(self, merge="auto"):
        self.merge = merge

    def chosen(self, files):
        """The problem for some files; there is nothing to choose."""
        return self

    def in_parts(self):
        """The problem for the tables that tasks have written."""
        return self

    def reducer(self, team):
        """A new reducer on the devices of a team."""
        return UnionReducer(team, self.merge)

    def weights_of(self, batch, pairs):
        """Weights of a batch; there are none."""

    values_of = weights_of

    def check(self, state, n_edges):
        """Raise ValueError unless this can be the state of a stream of so many edges; labels are checked."""

    def forest_of(self, state):
        """The forest in the state of a stream; there is none."""

    def result(self, graph, found, seconds, reducer, devices):
        """The result of a stream."""
        merge = reducer.merge if len(reducer.team) > 1 else None
        return Components(graph, "rem, streamed", seconds, found.labels, devices=devices, merge=merge)

    # what a task writes of it

    def columns(self, pairs, forest):
        """Columns of a part beside the ends of its pairs, and their types."""
        return {}

    def blocks(self, labels, forest, marks):
        """Yield blocks of pairs that join the vertices of each component; unmark them."""
        pool = ThreadPool(-(-len(labels) // BLOCK))
        together = pool.n_workers * BLOCK
        for start in range(0, len(labels), together):
            firsts = range(start, min(start + together, len(labels)), BLOCK)
            yield from pool.starmap(_joined_block, [(labels, marks, first) for first in firsts])


def _joined_block(labels, marks, first):
    """The vertices of a block that are not roots, and their roots."""
    block = labels[first : first + BLOCK]
    vertices = np.arange(first, first + len(block), dtype=labels.dtype)
    others = np.flatnonzero(block != vertices)
    vertices, roots = vertices[others], block[others]
    marks[vertices], marks[roots] = 0, 0
    return vertices, roots
