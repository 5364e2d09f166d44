"""The parents of a stream: an array that grows with the vertex numbers, and joins edges from any device."""

import numpy as np

from edgewise.components.host_pipeline import HostPipeline, unite_numbers
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams
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
    """Trees over the vertices ``0 .. count - 1`` on one device.

    Memory for vertices beyond ``count`` is only reserved; on the host the system does not allocate it yet.

    Parameters
    ----------
    device : str
    count : int, optional
        Number of vertices, if it is known; otherwise the array grows.

    Attributes
    ----------
    array : index array
        Parents of the vertices, and room for more.
    count : int
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
        """Make room for ``count`` vertices, so that growing up to there copies nothing.

        Raises
        ------
        OutOfMemoryError
        """
        if count <= len(self.array):
            return
        if needed := self._missing_bytes(count):
            raise OutOfMemoryError(
                f"{self.device} has too little memory for vertices up to {count - 1:,}: {needed:,} bytes "
                f"needed, {arrays.free_memory(self.device):,} free; leave out {argument('n_vertices')} or "
                "number the ids"
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
        """Join the endpoints of edges, all below ``count``; the arrays may be overwritten on return.

        Parameters
        ----------
        sources, targets : (m,) contiguous integer arrays, on the host or a GPU
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

    def labels(self, last=False):
        """Smallest vertex of each vertex's tree, an index array; a copy unless this is the ``last`` use."""
        self.settle()
        with arrays.guard(self.device):
            labels = self.array[: self.count]
            labels = labels if last else labels.copy()
            compress(self.count, labels)
            arrays.synchronize(self.device)
        return labels.astype(index_type(self.count), copy=False)
