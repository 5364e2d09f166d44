"""The parents of a stream: an array that grows with the numbers it meets and takes edges from anywhere."""

import numpy as np

from edgewise.components.host_pipeline import Feeder, unite_numbers
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams
from edgewise.errors import OutOfMemoryError
from edgewise.index_type import index_type

#: Parents that a stream of unknown size begins with.
LEAST = 1 << 10
#: Share of the free memory that parents may take.
USABLE = 0.9


@each
def make_further_singletons(index, first, parent):
    """Make a vertex from ``first`` on a tree of its own."""
    parent[first + index] = first + index


class Parents:
    """Trees over the vertices ``0 .. count - 1`` in one place.

    Memory is only reserved for vertices beyond ``count``; on the host that takes up nothing.

    Parameters
    ----------
    device : str
    count : int, optional
        Number of vertices, if it is known; else it grows.

    Attributes
    ----------
    array : index array
        Parents of the vertices, and room for more.
    count : int
    """

    def __init__(self, device, count=None):
        self.device, self.count = device, 0
        self.grows = count is None
        self.feeder = None
        with arrays.guard(device):
            self.array = arrays.empty(0, np.uint32, device)
        self.hold(count or 0)

    def hold(self, count):
        """Let there be ``count`` vertices at least; the array doubles when it is full, if it can."""
        if count <= self.count:
            return
        if count > len(self.array):
            roomy = max(count, 2 * len(self.array), LEAST) if self.grows else count
            self.reserve(count if self._missing(roomy) else roomy)
        with arrays.guard(self.device):
            make_further_singletons(count - self.count, self.count, self.array)
            arrays.synchronize(self.device)  # edges are joined in other streams
        self.count = count

    def _missing(self, count):
        """The bytes that parents of so many vertices take, if there are not as many; else 0."""
        needed = count * np.dtype(index_type(count)).itemsize
        return needed if needed > USABLE * arrays.free_memory(self.device) else 0

    def reserve(self, count):
        """Make room for ``count`` vertices, so that growing up to there moves nothing.

        Raises
        ------
        OutOfMemoryError
        """
        if count <= len(self.array):
            return
        if missing := self._missing(count):
            raise OutOfMemoryError(
                f"{self.device} has too little memory for vertices up to {count - 1:,}: {missing:,} bytes "
                f"needed, {arrays.free_memory(self.device):,} free; leave out n_vertices= or number the ids"
            )
        self.settle()
        with arrays.guard(self.device):
            array = arrays.empty(count, index_type(count), self.device)
            array[: self.count] = self.array[: self.count]
        self.array, self.feeder = array, None

    def settle(self):
        """Wait for the edges that are still under way to a GPU."""
        if self.feeder is not None:
            self.feeder.settle()

    def join(self, sources, targets):
        """Join the ends of edges, all of them vertices; the arrays may be overwritten when this returns.

        Parameters
        ----------
        sources, targets : (m,) contiguous integer arrays, on the host or a GPU
        """
        with arrays.guard(self.device):
            if self.device != "cpu" and arrays.device_of(sources) == arrays.device_of(targets) == "cpu":
                self.feeder = self.feeder or Feeder(self.array)
                self.feeder.feed(sources, targets)
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
