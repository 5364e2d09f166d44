"""NumPy ``.npz``: edgewise's own arrays, or what ``scipy.sparse.save_npz`` wrote.

edgewise stores the form that the graph has, uncompressed and without pickles: ``sources`` and ``targets``,
or ``offsets`` and ``neighbours``; then ``weights``, ``vertex_weights``, and ``ids`` (names as one run of
bytes and where each begins).  ``edgewise`` holds the version of this layout, ``shape`` the vertices and
whether directed.
"""

import json
from contextlib import suppress
from typing import Any

import numpy as np

from edgewise.errors import FileError, GraphError, argument
from edgewise.files.contents import check_room, matrix_edges, with_ids, writable
from edgewise.files.streams import EXPANSION, FREE_BYTES, check_memory, one_line, reading
from edgewise.graph import Graph
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.id_types import describe, is_plain
from edgewise.ingest.ids import ids_of_vertices, weights_of_vertices
from edgewise.ingest.matrices import entries_of, real

VERSION = 1
#: Arrays of a graph, besides its form.
FACTS = ("edgewise", "shape", "weights", "vertex_weights", "ids", "ids_offsets")
FORMS = (("offsets", "neighbours"), ("sources", "targets"))
#: Arrays of SciPy's formats, besides ``format``, ``shape`` and ``data``; the class takes them in this order.
SCIPY = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "dia": ("offsets",),
    "coo": ("row", "col"),
}


def graph_of(source):
    """The graph in an archive, as the file says."""
    from edgewise.files.formats import Options

    found = read(source, Options())
    return found if isinstance(found, Graph) else found.graph()


def read(source, options):
    """Read an archive."""
    options.only(".npz")
    from zipfile import BadZipFile

    with reading(source.path, passing=(BadZipFile, RuntimeError)), source.seekable() as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                return _from_archive(source, options, archive)
        except (BadZipFile, RuntimeError) as error:  # RuntimeError: encrypted, or of an unknown compression
            raise source.error(f"the archive is cut off or damaged ({error}); copy it again") from error


def _from_archive(source, options, archive):
    names = set(archive.files)
    check_expansion(source.size, archive.zip)
    if {"format", "shape", "data"} <= names:
        return _of_scipy(source, options, archive)
    form = next((form for form in FORMS if {*form, "shape"} <= names), None)
    if form is None:
        content = ", ".join(sorted(names)) or "nothing"
        raise source.error(f"holds {content}, no graph; use edgewise.write or scipy.sparse.save_npz")
    arrays = {name: _array(source, archive, name) for name in (*form, *FACTS) if name in names}
    return _of_edgewise(arrays, form, options)


def check_memory_of_arrays(path, memory):
    """Raise unless the arrays of a file, if it is an archive, are in at most ``memory`` bytes."""
    from zipfile import BadZipFile, ZipFile, is_zipfile

    with reading(path), suppress(BadZipFile):  # which is reported where the file is read
        if not is_zipfile(path):
            return
        with ZipFile(path) as archive:
            stored = sum(member.file_size for member in archive.infolist())
    if stored > memory:
        problem = f"its arrays need {stored:,} bytes, and {argument('memory')} is {memory:,}"
        raise FileError(path, f"{problem}; convert it to Parquet, which is read piece by piece")


def check_expansion(size, archive):
    """Raise unless the members of a zip archive of some bytes are in proportion to it, and there is room."""
    stored = sum(member.file_size for member in archive.infolist())
    if stored > max(FREE_BYTES, EXPANSION * size):
        problem = f"its arrays hold more than {EXPANSION} times its {size:,} bytes"
        raise GraphError(f"{problem}; if this is right, save them without compression (numpy.savez)")
    check_memory(stored, "the arrays need")


def _array(source, archive, name):
    """An array of the archive in native byte order; its header may hold anything."""
    try:
        array = archive[name]
        return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
    except MemoryError:
        raise
    except Exception as error:
        problem = "is missing" if isinstance(error, KeyError) else f"is damaged ({one_line(error)})"
        raise source.error(f"the array {name!r} {problem}; write the file again") from error


def _of_edgewise(arrays, form, options):
    if "edgewise" in arrays and arrays["edgewise"].tolist() != VERSION:
        raise GraphError("was written by another version of edgewise; convert it with that version")
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] < 0 or shape[1] not in (0, 1):
        raise GraphError(f"shape is {one_line(shape)[:40]}; it must be the number of vertices, and 0 or 1")
    vertices, directed = int(shape[0]), bool(shape[1]) or bool(options.directed)
    check_room(vertices)
    weights = arrays.get("weights") if options.weight is not False else None
    given: dict[str, Any] = {"weights": weights, "directed": directed}
    if form[0] == "offsets":
        graph = Graph.from_csr(*(arrays[name] for name in form), **given)
        if graph.n_vertices != vertices:
            raise GraphError(f"{graph.n_vertices} rows of {vertices} vertices; write the file again")
    else:
        graph = Graph.from_edges(*(arrays[name] for name in form), n_vertices=vertices, **given)
    graph.vertex_weights = weights_of_vertices(arrays.get("vertex_weights"), vertices)
    return with_ids(graph, ids_of_vertices(_stored_ids(arrays), vertices))


def _of_scipy(source, options, archive):
    import scipy.sparse

    name = _array(source, archive, "format").tolist()
    name = name.decode("latin-1") if isinstance(name, bytes) else name
    if not isinstance(name, str) or name not in SCIPY:
        raise source.error(f"a matrix in the format {str(name)[:40]!r}; save it as one of {', '.join(SCIPY)}")
    data, shape = (_array(source, archive, part) for part in ("data", "shape"))
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1] or shape[0] < 0:
        raise source.error(f"the matrix has the shape {one_line(shape)[:40]}; only a square one is a graph")
    vertices = int(shape[0])
    check_room(vertices)
    if name == "coo" and "coords" in archive.files:
        parts = tuple(np.atleast_1d(_array(source, archive, "coords")))
    else:
        parts = tuple(_array(source, archive, part) for part in SCIPY[name])
    if not all(part.dtype.kind in "iu" for part in parts):
        raise source.error("the indices of the matrix are no integers; save it again")
    content = (data, parts) if name == "coo" else (data, *parts)
    try:
        matrix = getattr(scipy.sparse, f"{name}_array")(content, shape=(vertices, vertices))
    except (ValueError, TypeError, LookupError) as error:
        raise source.error(f"the matrix is damaged ({one_line(error)}); save it again") from error
    sources, targets, values = entries_of(matrix)
    weights = None if options.weight is False or values.dtype.kind == "b" else real(values)
    return matrix_edges((sources, targets, weights), vertices, directed=options.directed)


def _stored_ids(arrays):
    """The ids as an array, or as an Arrow array of names."""
    if "ids_offsets" not in arrays:
        return arrays.get("ids")
    import pyarrow as pa

    offsets, letters = arrays["ids_offsets"], arrays.get("ids", np.empty(0))
    kinds = {np.dtype(np.int32): pa.string(), np.dtype(np.int64): pa.large_string()}
    if offsets.dtype not in kinds or offsets.ndim != 1 or not len(offsets) or letters.dtype != np.uint8:
        raise GraphError("the names of the vertices are damaged; write the file again")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    try:
        names = pa.Array.from_buffers(kinds[offsets.dtype], len(offsets) - 1, buffers)
        names.validate(full=True)
    except pa.ArrowInvalid as error:
        raise GraphError(f"the names of the vertices are damaged ({one_line(error)})") from error
    return names


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
        **_ids(stream, graph.ids),
    }
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})


def write_npz(rows, stream) -> None:
    """Write edges, a reader of tables, as the graph of their own: a shard."""
    from pyarrow.types import is_integer

    from edgewise.files.contents import MARK

    table = rows.read_all()
    columns, facts = table.columns, json.loads((table.schema.metadata or {}).get(MARK, "{}"))
    ends = [numpy_array(one) if is_integer(one.type) else one.combine_chunks() for one in columns[:2]]
    vertices, directed = facts.get("vertices"), bool(facts.get("directed"))
    given: dict[str, Any] = {"n_vertices": vertices if facts.get("numbered") else None, "directed": directed}
    weights = numpy_array(columns[2]) if len(columns) > 2 else None
    write(Graph.from_edges(*map(writable, ends), weights=writable(weights), **given), stream)


def _ids(stream, ids):
    """Ids as plain arrays."""
    if ids is None or isinstance(ids, np.ndarray):
        return {"ids": ids}
    import pyarrow as pa

    if not is_plain(ids.type):
        problem = f"holds ids that are integers or strings, and these are {describe(ids.type)}"
        raise stream.error(f"{problem}; write .parquet or .arrow")

    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    ids = pa.concat_arrays([ids.cast(pa.large_string())])
    offsets = np.frombuffer(ids.buffers()[1], np.int64)[ids.offset : ids.offset + len(ids) + 1]
    letters = np.frombuffer(ids.buffers()[2] or b"", np.uint8)
    return {"ids": letters[offsets[0] : offsets[-1]], "ids_offsets": offsets - offsets[0]}
