"""What joins the edges of a stream: arrays of parents that grow with the vertex numbers.

:class:`Parents` are on one device and join edges from any device.  :class:`StreamWorkers` join batches into
parents of their own, which are merged at the end.
"""

from queue import Queue
from threading import Thread

import numpy as np

from edgewise.components.merge import merge_labels
from edgewise.components.segments import HostPipeline, unite_numbers
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams, threads
from edgewise.errors import OutOfMemoryError, argument
from edgewise.index_type import index_type

#: Smallest capacity of parents that grow.
MIN_CAPACITY = 1 << 10
#: Share of the free memory that parents may take.
USABLE = 0.9


@each
def make_further_singletons(index, first, parent):
    """Make a vertex from ``first`` on a tree of its own."""
    parent[first + index] = first + index


class Parents:
    """Trees over the vertices ``0 .. count - 1`` on one device, in ``array``; without ``count`` it grows.

    Memory for vertices beyond ``count`` is only reserved; on the host the system does not allocate it yet.
    """

    def __init__(self, device, count=None):
        self.device, self.count = device, 0
        self.grows = count is None
        self.pipeline = None
        with arrays.guard(device):
            self.array = arrays.empty(0, np.uint32, device)
        self.grow_to(count or 0)

    def grow_to(self, count):
        """Ensure at least ``count`` vertices; a full array doubles if memory allows."""
        if count <= self.count:
            return
        if count > len(self.array):
            capacity = max(count, 2 * len(self.array), MIN_CAPACITY) if self.grows else count
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
        self.array, self.pipeline = array, None

    def settle(self):
        """Wait for the edges that are still being copied to a GPU or joined there."""
        if self.pipeline is not None:
            self.pipeline.settle()

    def join(self, sources, targets):
        """Join the endpoints of edges, all below ``count``.

        The arrays are contiguous integers on the host or a GPU, and may be overwritten on return.
        """
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

    def add(self, columns, largest):
        """Join the endpoints of edges, none above ``largest``."""
        self.grow_to(largest + 1)
        self.join(*columns)

    def restore(self, labels):
        """Start from the labels of all vertices of an earlier run."""
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


class StreamWorkers:
    """The devices of a team, which join batches of edges; their labels are merged by ``merge``."""

    def __init__(self, team, merge="auto"):
        self.team, self.merge = team, merge
        self.parents = [Parents(device) for device in team.devices]
        self.batches: Queue = Queue(len(team))
        self.errors: list[BaseException] = []
        self.n_threads = threads.count()
        several = self.parents if len(team) > 1 else ()
        self.threads = [Thread(target=self._work, args=(parents,), daemon=True) for parents in several]
        for thread in self.threads:
            thread.start()

    def close(self):
        """Stop the workers after the batches that are queued."""
        for _ in self.threads:
            self.batches.put(None)
        while self.threads:
            self.threads.pop().join()
        for parents in self.parents:
            parents.settle()

    def _work(self, parents):
        threads.use(self.n_threads)
        while (batch := self.batches.get()) is not None:
            try:
                if not self.errors:
                    parents.add(*batch)
            except BaseException as error:
                self.errors.append(error)
            finally:
                self.batches.task_done()

    def reserve(self, count):
        """Make room for ``count`` vertices on every device."""
        for parents in self.parents:
            parents.reserve(count)

    def join(self, columns, largest):
        """Join the endpoints of edges, none above ``largest``; the arrays must not be changed later."""
        if len(self.parents) == 1:
            self.parents[0].add(columns, largest)
            return
        self._raise()
        self.batches.put((columns, largest))

    def _raise(self):
        if self.errors:
            raise self.errors[0]

    def settle(self):
        """Wait until all edges are joined."""
        if len(self.parents) > 1:
            self.batches.join()
            self._raise()
        for parents in self.parents:
            parents.settle()

    def labels(self, last=False):
        """Current labels on the host; a copy unless this is the ``last`` use."""
        self.settle()
        count = max(parents.count for parents in self.parents)
        for parents in self.parents:
            parents.grow_to(count)
        labels = [parents.labels(last) for parents in self.parents]
        return arrays.move(merge_labels(self.team, labels, self.merge), "cpu")

    def state(self):
        """Arrays by name for a checkpoint."""
        return {"labels": self.labels()}

    def restore(self, state):
        """Start from the state of an earlier run."""
        self.parents[0].restore(state["labels"])
