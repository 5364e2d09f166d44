"""The graph of a stream: its vertices and ids are known, its edges were not kept."""

import numpy as np

from edgewise.device import arrays
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError
from edgewise.graph import Graph
from edgewise.ingest.id_types import restored
from edgewise.ingest.integers import Marks, write_marked
from edgewise.ingest.representation import take_origin


class StreamedGraph(Graph):
    """A graph without its edges, of which ``n_edges`` were read from ``files`` files (0 for arrays).

    ``resumed`` is the number of rows that were read by the run that saved the checkpoint.
    """

    def __init__(self, n_vertices, n_edges, device="cpu", ids=None, files=0, resumed=0):
        super().__init__(n_vertices)
        self._n_edges, self._device, self._ids = n_edges, device, ids
        self.left_out = None  # not counted, unless the stream says so
        #: The Arrow type in which the ids come out, or ``None``: as they were numbered.
        self.ids_type = None
        self.files, self.resumed = files, resumed
        #: Whether the edges had weights, which were used.
        self.had_weights = False
        #: Tasks that workers of an executor ran at a time; 0 if the process did the work itself.
        self.workers = 0

    @property
    def n_edges(self) -> int:
        return self._n_edges

    @property
    def device(self) -> str:
        return self._device

    def to(self, device):
        """Return the graph as one on ``device``; there is nothing to copy."""
        facts = self._ids, self.files, self.resumed
        graph = StreamedGraph(self.n_vertices, self._n_edges, arrays.resolve(device), *facts)
        graph.workers, graph.had_weights, graph.ids_type = self.workers, self.had_weights, self.ids_type
        take_origin(graph, self)
        return graph

    @property
    def is_weighted(self) -> bool:
        return self.had_weights

    @property
    def ids(self):
        """External id of each vertex, or ``None`` where these are the vertex numbers."""
        made = self._ids.between(0, self.n_vertices) if hasattr(self._ids, "between") else self._ids
        return restored(made, self.ids_type, self.n_vertices)

    @ids.setter
    def ids(self, ids):
        self._ids = ids

    def ids_between(self, start, stop):
        """Ids of the vertices ``start .. stop - 1``, made at each call."""
        if self._ids is None:
            made = np.arange(start, stop, dtype=np.int64)
        else:
            made = self._ids.between(start, stop) if hasattr(self._ids, "between") else self._ids[start:stop]
        return restored(made, self.ids_type, len(made))

    def ids_of(self, vertices):
        """External ids of an array of vertex numbers, without making those of the others."""
        if hasattr(self._ids, "between"):
            return restored(self._ids.take(vertices), self.ids_type, len(vertices))
        return super().ids_of(vertices)

    def _edge_list(self):
        raise GraphError("the edges were not kept; read the files into a graph for this")

    _csr = _edge_list

    def __repr__(self):
        return f"<Graph: {self.n_vertices:,} vertices, {self._n_edges:,} edges that were not kept>"


class MarkedIds:
    """Ascending ids held as one bit for each number that may be one.

    Bit ``id % 64`` of ``words[id // 64]`` is set where the id occurs; ``before`` are the numbers of ids below
    each word, and of all.
    """

    def __init__(self, words, before, dtype=np.int64):
        self.words, self.before, self.dtype = words, before, dtype

    def __len__(self):
        return int(self.before[-1])

    def between(self, start, stop):
        """The ids numbered ``start .. stop - 1``."""
        if start >= stop:
            return np.empty(0, self.dtype)
        first = int(np.searchsorted(self.before, start, "right")) - 1
        last = int(np.searchsorted(self.before, stop, "left"))
        skipped, marked = int(self.before[first]), int(self.before[last])
        ids, marks = (
            np.empty(marked - skipped, np.uint64),
            Marks(self.words[first:last], self.before[first:last]),
        )
        with few_steps(len(ids)):
            write_marked(last - first, 64 * first, skipped, marks, ids)
        return ids[start - skipped : stop - skipped].view(self.dtype)

    def take(self, numbers):
        """The ids of some numbers."""
        numbers = np.asarray(numbers)
        words = np.searchsorted(self.before, numbers, "right") - 1
        left = numbers - self.before[words].astype(np.int64)
        bits, words = self.words[words], words.astype(np.int64)
        places = np.zeros(len(numbers), np.uint64)
        for width in (32, 16, 8, 4, 2, 1):  # the bit with as many others below it
            below = np.bitwise_count(bits >> places & np.uint64((1 << width) - 1)).astype(np.int64)
            above = left >= below
            left -= below * above
            places += np.uint64(width) * above
        return (64 * words + places.astype(np.int64)).astype(self.dtype, copy=False)
