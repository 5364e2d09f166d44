"""Symmetric compressed sparse rows (CSR), as the methods read them, and their rows by length.

On a GPU a thread, a warp or a block reads a row.  A group of threads that is wider than
its row leaves lanes idle; one that is narrower reads memory piecemeal and delays its neighbours.  Rows are
therefore sorted into bins by length.  A nearly empty bin is joined to the next wider one, since every further
bin costs a launch and takes rows out of their order.
"""

from typing import Any, NamedTuple

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.primitives import count

#: A GPU gives a row longer than this to a block instead of a thread; and a length that no row has.
MAX_ROW, LONGEST = 64, 1 << 62
#: Longest rows for a thread and for a warp.
MAX_THREAD_ROW, MAX_WARP_ROW = 32, 1024
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
