"""NumPy ``.npz``: edgewise's own arrays, or what ``scipy.sparse.save_npz`` wrote.

edgewise stores the form that the graph has, uncompressed and without pickles: ``sources`` and ``targets``,
or ``offsets`` and ``neighbours``; then ``weights``, ``vertex_weights``, and ``ids`` (names as one run of
bytes and where each begins).  ``edgewise`` holds the version of this layout, ``shape`` the vertices and
whether directed.
"""

import numpy as np

from edgewise.files.contents import matrix_edges, with_ids
from edgewise.files.matrixmarket import entries_of
from edgewise.files.streams import reading
from edgewise.graph import Graph

VERSION = 1


def read(source, options):
    """Read an archive."""
    options.only(".npz", "weight")
    from zipfile import BadZipFile

    with reading(source.path, passing=(BadZipFile, RuntimeError)), source.seekable() as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                return _from_archive(source, options, archive, file)
        except (BadZipFile, RuntimeError) as error:  # RuntimeError: encrypted, or of an unknown compression
            raise source.error(f"the archive is cut off or damaged ({error}); copy it again") from error


def _from_archive(source, options, archive, file):
    names = set(archive.files)
    if ({"sources", "targets"} <= names or {"offsets", "neighbours"} <= names) and "shape" in names:
        return _of_edgewise(archive, names, options)
    if {"format", "shape", "data"} <= names:
        return _scipy(source, options, file)
    content = ", ".join(sorted(names)) or "nothing"
    raise source.error(f"holds {content}, no graph; use edgewise.write or scipy.sparse.save_npz")


def _of_edgewise(archive, names, options):
    vertices, directed = (int(number) for number in archive["shape"])
    weights = archive["weights"] if "weights" in names and options.weight is not False else None
    vertex_weights = archive["vertex_weights"] if "vertex_weights" in names else None
    ids = _stored_ids(archive, names)
    if "offsets" in names:
        offsets, neighbours = archive["offsets"], archive["neighbours"]
        graph = Graph(vertices, rows=(offsets, neighbours, weights), directed=bool(directed))
    else:
        edges = archive["sources"], archive["targets"]
        graph = Graph.from_edges(*edges, weights=weights, n_vertices=vertices, directed=bool(directed))
    graph.vertex_weights = vertex_weights
    return with_ids(graph, ids)


def _scipy(source, options, file):
    import scipy.sparse

    file.seek(0)
    matrix = scipy.sparse.load_npz(file)
    if matrix.shape[0] != matrix.shape[1]:
        raise source.error(f"the matrix has shape {matrix.shape}; only a square matrix is a graph")
    sources, targets, weights = entries_of(source.path, matrix)
    if options.weight is False or matrix.dtype.kind == "b":
        weights = None
    return matrix_edges((sources, targets, weights), matrix.shape[0], directed=options.directed)


def _stored_ids(archive, names):
    if "ids" not in names:
        return None
    if "ids_offsets" not in names:
        return archive["ids"]
    import pyarrow as pa

    buffers = [None, pa.py_buffer(archive["ids_offsets"]), pa.py_buffer(archive["ids"])]
    kind = pa.large_string() if archive["ids_offsets"].dtype == np.int64 else pa.string()
    return pa.Array.from_buffers(kind, len(archive["ids_offsets"]) - 1, buffers)


def write(graph, stream) -> None:
    """Write the arrays that the graph has."""
    if graph.has_edges:
        form = {"sources": graph.sources, "targets": graph.targets, "weights": graph.weights}
    else:
        form = {"offsets": graph.offsets, "neighbours": graph.neighbours, "weights": graph.csr_weights}
    arrays = {
        "edgewise": np.int64(VERSION),
        "shape": np.array([graph.n_vertices, graph.directed], np.int64),
        "vertex_weights": graph.vertex_weights,
        **form,
        **_ids(graph.ids),
    }
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})


def _ids(ids):
    """Ids as plain arrays."""
    if ids is None or isinstance(ids, np.ndarray):
        return {"ids": ids}
    import pyarrow as pa

    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    ids = pa.concat_arrays([ids.cast(pa.large_string())])
    offsets = np.frombuffer(ids.buffers()[1], np.int64)[ids.offset : ids.offset + len(ids) + 1]
    letters = np.frombuffer(ids.buffers()[2] or b"", np.uint8)
    return {"ids": letters[offsets[0] : offsets[-1]], "ids_offsets": offsets - offsets[0]}
