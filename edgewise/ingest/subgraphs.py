"""The subgraph of some vertices, in the form that a graph was made of, on its device."""

from dataclasses import replace

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.ingest.representation import take_origin
from edgewise.primitives import exclusive_scan
from edgewise.primitives.rows import row_numbers


def induced(graph, marked):
    """Subgraph of the marked vertices, (n,) bool on the graph's device; see :meth:`Graph.subgraph`."""
    is_kept = arrays.move(marked, "cpu")
    with arrays.guard(graph.device):
        kept = np.flatnonzero(is_kept)
        numbers = _moved(exclusive_scan(marked)[:-1].astype(_kind(graph)), graph)
        if "edges" in graph.made_of:
            forms = {"edges": _edges(graph, marked, numbers)}
        else:
            forms = {"rows": _rows(graph, marked, numbers)}
    weights = None if graph.vertex_weights is None else graph.vertex_weights[kept]
    facts = {"directed": graph.directed, "ids": _ids(graph, kept), "vertex_weights": weights}
    part = type(graph)(len(kept), **forms, **facts)
    take_origin(part, graph)
    if graph.records is not None:
        part.records = _selected(graph.records, is_kept)
    return part


def _kind(graph):
    """Type of the vertex numbers of a graph, which its subgraphs keep."""
    return (graph.sources if "edges" in graph.made_of else graph.neighbours).dtype


def _moved(array, graph):
    return arrays.move(array, graph.device)  # under the simulator, NumPy's result has no device


def _edges(graph, marked, numbers):
    keep = marked[graph.sources] & marked[graph.targets]
    ends = (_moved(numbers[column[keep]], graph) for column in (graph.sources, graph.targets))
    return *ends, None if graph.weights is None else _moved(graph.weights[keep], graph)


def _rows(graph, marked, numbers):
    offsets, neighbours = graph.offsets, graph.neighbours
    keep = marked[neighbours] & marked[row_numbers(offsets, neighbours.dtype)]
    before = exclusive_scan(keep)
    lengths = (before[offsets[1:]] - before[offsets[:-1]])[marked]
    rows = exclusive_scan(lengths), numbers[neighbours[keep]]
    weights = None if graph.csr_weights is None else _moved(graph.csr_weights[keep], graph)
    return *(_moved(array, graph) for array in rows), weights


def _ids(graph, kept):
    """Ids of the vertices that are kept; ``None`` where these are their new numbers."""
    if graph.ids is None and (not len(kept) or kept[-1] == len(kept) - 1):
        return None
    return graph.ids_of(kept)


def _selected(records, kept):
    """Records (:class:`~edgewise.ingest.records.Records`) of some vertices: ``kept``, (n,) bool on the host.

    They are read from the same table when they are needed.
    """

    def batches(columns):
        import pyarrow as pa

        start = 0
        for batch in records.batches(columns):
            here = kept[start : start + batch.num_rows]
            if len(here) < batch.num_rows:
                raise GraphError(f"{records.name} has changed since its ids were read; read it again")
            yield batch.filter(pa.array(here))
            start += batch.num_rows

    count = None if records.rows is None else int(np.count_nonzero(kept[: records.rows]))
    return replace(records, batches=batches, rows=count)
