"""The rows of a graph as searches read them: those of the edges that leave each vertex, and that come in."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.device.regions import workers
from edgewise.primitives import mean

#: Entries, evenly spaced, whose ends tell how uneven degrees are.
SAMPLED = 1024
#: Entries per vertex up to which a graph is thin, as road networks are: its rounds are many and small.
THIN = 5
#: Workers that a thin graph gets at most, unless it has very many vertices.
THIN_WORKERS = 16
#: Vertices of a thin graph for each worker, if it gets more than that.
VERTICES_PER_WORKER = 2**17
#: Bytes of a search's memory up to which it is kept for the next search of the same rows.
KEPT_BYTES = 2**27


@cache
def unreached(dtype):
    """The distance where no path leads: the largest value of integers, infinity of floats."""
    dtype = np.dtype(dtype)
    return dtype.type(np.inf) if dtype.kind == "f" else np.iinfo(dtype).max


class CSR(NamedTuple):
    """Compressed sparse rows, on any device; row ``v`` is ``neighbours[offsets[v]:offsets[v + 1]]``.

    ``offsets`` (n + 1,) int64, ``neighbours`` (entries,) uint32 or int64, with self-loops and repeated
    entries, ``weights`` (entries,) in the type of the distances; empty where every edge counts one.
    """

    offsets: Any
    neighbours: Any
    weights: Any

    @property
    def n_vertices(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    def on_host(self) -> "CSR":
        """Return the rows on the host."""
        return CSR(*(arrays.move(array, "cpu") for array in self))


class Spread(NamedTuple):
    """Least, largest and mean weight, as Python numbers; zeros where there is no edge."""

    least: int | float
    largest: int | float
    mean: float


def spread_of(weights) -> Spread:
    """Least, largest and mean of an array of weights."""
    if not len(weights):
        return Spread(0, 0, 0.0)
    weights = arrays.on_host_if_small(weights)
    with np.errstate(over="ignore"):
        middle = mean(weights)
    return Spread(weights.min().item(), weights.max().item(), middle)


def workers_for(rows) -> int:
    """Workers of a search by rounds on the CPU; with more of them a thin graph would take longer."""
    if not rows.is_thin:
        return workers()
    return min(workers(), max(THIN_WORKERS, rows.n_vertices // VERTICES_PER_WORKER))


class Adjacency:
    """Both directions of a graph's rows: of the edges that leave each vertex, and that come in.

    ``incoming`` is ``outgoing`` itself where every edge leads both ways; by default it is built when it is
    first read.
    """

    def __init__(self, outgoing: CSR, incoming: CSR | None = None, left_on_host: bool = False):
        self.outgoing, self._incoming = outgoing, incoming
        #: Whether a GPU reads the neighbours on the host.
        self.left_on_host = left_on_host
        self._memory: dict[Any, Any] = {}
        #: The contraction hierarchy of the rows, once there is one.
        self.hierarchy: Any = None
        #: Name of the method for which the user has prepared the graph, if that needs anything.
        self.prepared: str | None = None
        #: The hierarchy for routes, on the host, once there is one, and sweeps over it by types of distances.
        self.routes: Any = None
        self.sweeps: dict[Any, Any] = {}

    @property
    def offsets(self):
        """Offsets of the outgoing rows."""
        return self.outgoing.offsets

    @property
    def neighbours(self):
        """Neighbours in the outgoing rows."""
        return self.outgoing.neighbours

    @property
    def weights(self):
        """Weights of the outgoing rows."""
        return self.outgoing.weights

    @property
    def n_vertices(self) -> int:
        """Number of rows."""
        return self.outgoing.n_vertices

    @property
    def is_thin(self) -> bool:
        """Whether vertices have few entries, as those of road networks have."""
        return len(self.neighbours) <= THIN * self.n_vertices

    @property
    def is_small(self) -> bool:
        """Whether one core takes less time for a search than several."""
        return takes_one_core(self.n_vertices, len(self.neighbours))

    @property
    def symmetric(self) -> bool:
        """Whether every edge leads both ways, so that both directions are the same rows."""
        return self._incoming is self.outgoing

    @property
    def has_incoming(self) -> bool:
        """Whether the incoming rows are there already."""
        return self._incoming is not None

    @property
    def incoming(self) -> CSR:
        """Rows of the edges that come in; built once."""
        return self.build_incoming()

    def build_incoming(self) -> CSR:
        """Build the incoming rows if they are not there."""
        if self._incoming is None:
            with arrays.guard(arrays.device_of(self.offsets)):
                self._incoming = _reversed(self.outgoing)
        return self._incoming

    def borrow(self, search, n_workers):
        """Records of arrays that the last search of this name with so many workers has left, or None.

        The first use of new pages costs as much as a search of thousands of vertices.  Of two searches at the
        same time only one gets the arrays.
        """
        kept, records = self._memory.pop(search, (0, None))
        return records if kept == n_workers else None

    def keep(self, search, n_workers, *records, most=KEPT_BYTES):
        """Leave records of arrays, whose contents do not matter, to the next search if they are not large."""
        if sum(array.nbytes for record in records for array in record) <= most:
            self._memory[search] = n_workers, records

    @cached_property
    def spread(self) -> Spread:
        """Least, largest and mean weight."""
        return spread_of(self.weights)

    @cached_property
    def skew(self) -> float:
        """About the mean degree of the end of an entry, over that of a vertex: 1 if all degrees are equal."""
        n_entries = len(self.neighbours)
        if not n_entries:
            return 1.0
        neighbours, offsets = self.neighbours, self.offsets
        if max(n_entries, self.n_vertices) < arrays.HOST_ITEMS:
            neighbours, offsets = (arrays.move(array, "cpu") for array in (neighbours, offsets))
        ends = neighbours[:: -(-n_entries // SAMPLED)].astype(np.int64)
        degrees = offsets[ends + 1] - offsets[ends]
        return float(degrees.mean()) * self.n_vertices / n_entries

    def on_host(self) -> "Adjacency":
        """Return the rows on the host; the incoming ones are built there again if they are others."""
        outgoing = self.outgoing.on_host()
        return Adjacency(outgoing, outgoing if self.symmetric else None)


def adjacency_of(graph, name="unit", weights=None) -> Adjacency:
    """Rows of ``graph``, cached with it.

    ``name`` is ``"unit"`` where every edge counts one, else the type of the weights, which ``weights()``
    returns for all entries if the rows are not there yet.
    """

    def make():
        with arrays.guard(graph.device):
            values = arrays.empty(0, np.int32, graph.device) if weights is None else weights()
            rows = CSR(graph.offsets, graph.neighbours, values)
        return Adjacency(rows, None if graph.directed else rows, graph._of_host is not None)

    return graph.cached(("paths", name), make)


def takes_one_core(n_vertices: int, n_entries: int) -> bool:
    """Whether one core takes less time than several for a search of a graph with so many entries."""
    return n_vertices + n_entries < tuning.CPU.paths_alone


def bytes_with_incoming(term, size) -> float:
    """The bytes of a search and of the incoming rows, which are made before it."""
    from edgewise.ingest.row_buckets import WAITING, bytes_of_rows

    rows = bytes_of_rows(size._replace(weight=0))
    return rows + max(term(size), 2 * size.width * min(size.entries, WAITING))


def _reversed(rows):
    from edgewise.ingest.csr import reversed_rows

    weighted = len(rows.weights) > 0
    offsets, neighbours, entries = reversed_rows(rows.offsets, rows.neighbours, weighted)
    return CSR(offsets, neighbours, rows.weights[entries] if weighted else rows.weights)
