"""Symmetric compressed sparse rows (CSR), as the methods read them, and their rows by length.

On a GPU a thread, a warp or a block reads a row.  A group of threads that is wider than
its row leaves lanes idle; one that is narrower reads memory piecemeal and delays its neighbours.  Rows are
therefore sorted into bins by length.  A nearly empty bin is joined to the next wider one, since every further
bin costs a launch and takes rows out of their order.

Methods that join edges list rows too long for one thread in the pass that meets them, and blocks join these
in the next.  A thread joins a vertex with a neighbour in about a microsecond, because it waits for their
parents, so that a row of a thousand entries would take longer than a whole graph without such rows.  Which
rows matter is known only when they are met: few vertices with long rows are outside the giant component, say.
The list stays on the device, and its first :data:`BLOCKS` rows begin at once, however long it is.
"""

from typing import Any, NamedTuple

from edgewise.cached_property import cached_property
from edgewise.device import arrays, device
from edgewise.device.warps import warp_aggregated_add
from edgewise.primitives import count

#: A length that no row has.
LONGEST = 1 << 62
#: Entries of the longest row that one thread of a GPU joins.
MAX_ROW = 64
#: Blocks that go through a list of long rows: about as many as run at once on a large GPU.
BLOCKS = 1024
#: Entries of the longest row that a thread reads, where rows are sorted into bins.
MAX_THREAD_ROW = 32
#: Entries of the longest row that a warp reads, where rows are sorted into bins.
MAX_WARP_ROW = 1024
#: A bin with fewer rows than this share of those in wider bins is joined to the next wider bin.
NEARLY_EMPTY = 1 / 16


class _Fields(NamedTuple):
    offsets: Any
    neighbours: Any
    max_row: int


class SymmetricCSR(_Fields):
    """Symmetric rows: ``offsets`` (n + 1,) int64 and ``neighbours`` (entries,) index array.

    Rows longer than ``max_row`` entries are too long for one thread; there are none on the CPU.
    """

    @cached_property
    def by_length(self):
        """Pairs of ``"block"``, ``"warp"`` or ``"thread"`` and the rows that it reads, longest rows first.

        A single pair with an empty array means all rows; otherwise rows without entries are left out.
        """
        every_row = self.neighbours[:0]
        if arrays.device_of(self.offsets) == "cpu":
            return [("thread", every_row)]
        lengths = self.offsets[1:] - self.offsets[:-1]
        bins = _bins(lengths)
        if len(bins) == 1:
            return [(bins[0][0], every_row)]
        return [
            (width, _rows_between(lengths, above, longest, every_row))
            for width, above, longest in reversed(bins)
        ]


def _rows_between(lengths, above, longest, like):
    """Rows with more than ``above`` and at most ``longest`` entries, as an index array like ``like``."""
    rows = arrays.namespace(lengths).flatnonzero((lengths > above) & (lengths <= longest))
    return arrays.move(rows.astype(like.dtype), arrays.device_of(like))


def _bins(lengths):
    """The bins in use: width, and the lengths between which its rows are (exclusive, inclusive)."""
    limits = {"thread": MAX_THREAD_ROW, "warp": MAX_WARP_ROW, "block": LONGEST}
    counts = {width: count(lengths <= longest) for width, longest in limits.items()}
    bins, above, n_binned = [], 0, count(lengths == 0)
    for width, longest in limits.items():
        n_rows, n_wider = counts[width] - n_binned, counts["block"] - counts[width]
        if n_rows > n_wider * NEARLY_EMPTY:
            bins.append((width, above, longest))
            above, n_binned = longest, counts[width]
    return bins or [("thread", 0, MAX_THREAD_ROW)]


def symmetric_csr(graph):
    """Symmetric rows of ``graph``: a :class:`SymmetricCSR`."""
    return graph.cached("symmetric_csr", lambda: _make_symmetric_csr(graph))


def _make_symmetric_csr(graph):
    with arrays.guard(graph.device):
        if graph.directed:
            from edgewise.ingest.csr import rows_from_edges

            offsets, neighbours, _ = rows_from_edges(graph.n_vertices, graph.sources, graph.targets, True)
        else:
            offsets, neighbours = graph.offsets, graph.neighbours
        return SymmetricCSR(offsets, neighbours, LONGEST if graph.device == "cpu" else MAX_ROW)


def new_list(csr):
    """Room for all long rows of a graph: an index array, and the number of blocks that go through it.

    They are not counted: each of them has more than ``max_row`` of the entries.
    """
    most = len(csr.neighbours) // (csr.max_row + 1)
    return arrays.empty(most, csr.neighbours.dtype, arrays.device_of(csr.offsets)), min(BLOCKS, most)


@device
def list_row(vertex, listed, counts, which):
    """Append a vertex to a list, whose length is ``counts[which]``."""
    listed[warp_aggregated_add(counts, which)] = vertex
