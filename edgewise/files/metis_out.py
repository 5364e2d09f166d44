"""Writing METIS ``.graph``; the format is told in :mod:`edgewise.files.metis`."""

import numpy as np

from edgewise.errors import FileError
from edgewise.files.lines import numbers_from_one, whole_weights

#: Vertices whose rows are formatted at a time.
BLOCK = 1 << 16


def write(graph, stream) -> None:
    """Write a METIS graph; directed graphs and self-loops have no place in one."""
    if graph.directed:
        raise FileError(stream.path, "METIS graphs are undirected; read the graph with directed=False")
    if bool((graph.sources == graph.targets).any()):
        raise FileError(stream.path, "METIS has no self-loops; read the graph with self_loops='drop'")
    weights = whole_weights(stream.path, graph.csr_weights, "METIS")
    vertex_weights = whole_weights(stream.path, graph.vertex_weights, "METIS")
    ncon = 0 if vertex_weights is None else 1 if vertex_weights.ndim == 1 else vertex_weights.shape[1]
    kind = f" 0{int(ncon > 0)}{int(weights is not None)}" if ncon or weights is not None else ""
    ending = f" {ncon}" if ncon > 1 else ""
    stream.write(f"{graph.n_vertices} {graph.n_edges}{kind}{ending}\n".encode())
    for first in range(0, graph.n_vertices, BLOCK):
        part = slice(first, min(first + BLOCK, graph.n_vertices))
        stream.write(_text(graph, part, weights, vertex_weights))


def _text(graph, part, weights, vertex_weights) -> bytes:
    """Rows of some vertices as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = graph.offsets[part.start : part.stop + 1]
    entries = slice(int(offsets[0]), int(offsets[-1]))
    fields = numbers_from_one(graph.neighbours[entries])
    if weights is not None:
        fields = np.column_stack([fields, weights[entries]]).ravel()
    ends = (offsets - offsets[0]) * (1 if weights is None else 2)
    if vertex_weights is not None:
        prefix = vertex_weights[part].reshape(part.stop - part.start, -1)
        fields = np.insert(fields, np.repeat(ends[:-1], prefix.shape[1]), prefix.ravel())
        ends = ends + prefix.shape[1] * np.arange(len(ends))
    words = pa.array(fields).cast(pa.string())
    rows = pc.binary_join(
        pa.LargeListArray.from_arrays(pa.array(ends), words).cast(pa.list_(pa.string())), " "
    )
    return ("\n".join(rows.to_pylist()) + "\n").encode()
