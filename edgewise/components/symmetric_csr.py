"""Symmetric compressed sparse rows (CSR), as the methods read them, and two facts about them.

*Rows by length.*  On a GPU a thread, a warp or a block reads a row.  A group of threads that is wider than
its row leaves lanes idle; one that is narrower reads memory piecemeal and delays its neighbours.  Rows are
therefore sorted into bins by length.  A nearly empty bin is joined to the next wider one, since every further
bin costs a launch and takes rows out of their order.

*Locality of the ids*: whether most edges join vertices with close numbers, estimated from a sample.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, each, fetch_add
from edgewise.primitives import count
from edgewise.primitives.rows import row_of

#: A GPU gives a row longer than this to a block instead of a thread.
MAX_ROW = 64
#: Number of edges or entries sampled to judge locality, and the share of the vertices that counts as close.
SAMPLE_SIZE, CLOSE = 4096, 1 / 64
#: Longest rows for a thread and for a warp.
MAX_THREAD_ROW, MAX_WARP_ROW = 32, 1024
#: A bin with fewer rows than this share of those in wider bins is joined to the next wider bin.
NEARLY_EMPTY = 1 / 16


class _Fields(NamedTuple):
    offsets: Any
    neighbours: Any
    max_row: int
    n_long: int


class SymmetricCSR(_Fields):
    """Symmetric rows: ``offsets`` (n + 1,) int64 and ``neighbours`` (entries,) index array.

    ``n_long`` rows are longer than ``max_row`` entries, too long for one thread; there are none on the CPU.
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
    limits = {"thread": MAX_THREAD_ROW, "warp": MAX_WARP_ROW, "block": 2**62}
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
        if arrays.device_of(offsets) == "cpu":
            return SymmetricCSR(offsets, neighbours, 2**62, 0)
        n_long = count(offsets[1:] - offsets[:-1] > MAX_ROW)
        return SymmetricCSR(offsets, neighbours, MAX_ROW, n_long)


def has_local_ids(graph):
    """Whether most neighbours have close numbers."""
    return graph.cached("has_local_ids", lambda: _judge_locality(graph))


@each
def count_close(number, sample, sources, offsets, targets, close):
    """Count a sampled entry if its ends are close; rows are those of ``offsets`` if there are no sources."""
    entry = number * len(targets) // sample.size
    source = np.int64(sources[entry]) if len(sources) > 0 else np.int64(row_of(entry, offsets))
    if abs(source - np.int64(targets[entry])) <= sample.limit:
        fetch_add(close, 0, 1)


class _Sample(NamedTuple):
    size: int
    limit: int


def _judge_locality(graph):
    with arrays.on(graph.device):
        from_edges = "edges" in graph.made_of
        targets = graph.targets if from_edges else symmetric_csr(graph).neighbours
        size, xp = min(SAMPLE_SIZE, len(targets)), arrays.namespace(targets)
        where = arrays.device_of(targets)
        if where != "cpu" and size:
            close, none = arrays.zeros(1, np.int64, where), arrays.empty(0, np.int64, where)
            ends = (graph.sources, none) if from_edges else (targets[:0], symmetric_csr(graph).offsets)
            count_close(size, _Sample(size, int(graph.n_vertices * CLOSE)), *ends, targets, close)
            return 2 * int(close[0]) > size
        sample = xp.arange(size, dtype=np.int64) * len(targets) // max(size, 1)
        if from_edges:
            starts = graph.sources[sample]
        else:
            starts = xp.searchsorted(symmetric_csr(graph).offsets, sample, side="right") - 1
        distance = abs(starts.astype(np.int64) - targets[sample].astype(np.int64))
        return bool((distance <= graph.n_vertices * CLOSE).mean() > 0.5) if size else True
