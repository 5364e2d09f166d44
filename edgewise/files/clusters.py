"""Writing clusters: one row per vertex, with its external id and its component."""

from edgewise.files import formats

#: Rows of a row group.
GROUP = 1 << 20


def write_clusters(path, result, *, format: str | None = None, representative: bool = False) -> None:
    """Write the id and the component of every vertex to a Parquet, Arrow, CSV or TSV file.

    A component is its smallest vertex number, which is the row of its first member, counted from 0;
    ``representative`` adds a column with the id of that member.
    """
    if not (hasattr(result, "graph") and hasattr(result, "labels")):
        formats.write(result, path, format)
        return
    if hasattr(result.graph, "ids_between") and not representative:
        formats.write(_in_batches(result), path, format)
        return
    table = clusters_table(result.graph.ids, result.labels, representative=representative)
    formats.write(table, path, format)


def _in_batches(result):
    """The table of a result that makes its ids on request, a row group at a time."""
    import pyarrow as pa

    from edgewise.device import arrays

    labels, between = arrays.move(result.labels, "cpu"), result.graph.ids_between

    def batch(start, stop):
        columns = [arrow_array(between(start, stop)), arrow_array(labels[start:stop])]
        return pa.RecordBatch.from_arrays(columns, ["id", "component"])

    starts = range(0, max(len(labels), 1), GROUP)
    batches = (batch(start, min(start + GROUP, len(labels))) for start in starts)
    return pa.RecordBatchReader.from_batches(batch(0, 0).schema, batches)


def clusters_table(ids, labels, *, representative: bool = False):
    """Table of the clusters, over the arrays given and without a copy; no ``ids`` are ``0 .. n - 1``."""
    import numpy as np
    import pyarrow as pa

    from edgewise.device import arrays

    labels = arrow_array(arrays.move(labels, "cpu"))
    ids = arrow_array(np.arange(len(labels), dtype=np.int64) if ids is None else ids)
    columns = {"id": ids, "component": labels}
    if representative:
        columns["representative"] = ids.take(labels)
    return pa.table(columns)


def arrow_array(array):
    """Arrow array over the memory of a NumPy array (``pyarrow.array`` would import pandas for this)."""
    import numpy as np
    import pyarrow as pa

    if not isinstance(array, np.ndarray):
        return array
    array = np.ascontiguousarray(array)
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)])
