"""GAP benchmark suite ``.sg`` and ``.wsg``: compressed sparse rows as in memory.

All numbers are little-endian: one byte that is 1 if the graph is directed, the number of entries and of
vertices (64 bits each), the offsets (64 bits), and the entries: 32-bit vertex numbers, in ``.wsg`` each
followed by a 32-bit weight.  Directed files repeat offsets and entries for the incoming arcs, which
edgewise derives itself.
"""

import struct

import numpy as np

from edgewise.files.contents import Rows, check_room
from edgewise.files.streams import check_memory, read_fully, reading
from edgewise.files.write_text import rows_with_integers
from edgewise.ingest.symmetry import check_symmetric

HEADER = struct.Struct("<?qq")
CAPACITY = np.iinfo(np.int32).max


def read(source, options) -> Rows:
    """Read a serialised graph."""
    options.only("GAP")
    with reading(source.path), source.open() as stream:
        directed, entries, vertices = header_of(source, read_fully(stream, HEADER.size))
        offsets = _array(source, stream, vertices + 1, np.int64)
        entries = _entries(source, offsets, entries)
        width = _width(source, directed, vertices, entries)
        fields = _array(source, stream, entries * width, np.int32).reshape(-1, width)
    neighbours = np.ascontiguousarray(fields[:, 0])
    if len(neighbours) and (neighbours.min() < 0 or neighbours.max() >= vertices):
        raise source.error(f"a neighbour is outside 0 .. {vertices - 1}; the file is damaged")
    neighbours = neighbours.view(np.uint32)
    weights = np.ascontiguousarray(fields[:, 1]) if width == 2 and options.weight is not False else None
    if not directed and not options.directed:
        check_symmetric(offsets, neighbours, weights)
    return Rows(offsets, neighbours, weights, directed)


def header_of(source, start):
    """Whether the graph is directed, its entries and vertices, by the first bytes."""
    if len(start) < HEADER.size or start[0] > 1:
        raise source.error("the header of a GAP graph is damaged; convert the graph again")
    directed, entries, vertices = HEADER.unpack(start)
    fits = source.compression is not None or sizes(False, vertices, 0)[0] <= source.size
    if not (0 <= vertices <= CAPACITY and entries >= 0 and fits):
        raise source.error(f"a header with {vertices} vertices and {entries} entries cannot be right")
    check_room(vertices)
    return directed, entries, vertices


def _array(source, stream, count, kind):
    check_memory(count * np.dtype(kind).itemsize, f"{count:,} numbers need")
    array = np.empty(count, np.dtype(kind).newbyteorder("<"))
    space = array.data.cast("B") if count else memoryview(b"")
    while space:
        taken = stream.readinto(space)
        if not taken:
            raise source.error("the file ends too early; copy it again")
        space = space[taken:]
    return array


def _entries(source, offsets, promised):
    """Number of entries; GAP rounds an odd number down when undirected rows have self-loops."""
    rising = bool((offsets[1:] >= offsets[:-1]).all()) and offsets[0] == 0
    if not rising or int(offsets[-1]) - promised not in (0, 1):
        raise source.error("the offsets do not fit the header; the file is damaged")
    return int(offsets[-1])


def _width(source, directed, vertices, entries):
    """Numbers per entry: two if the file has weights, by its length, or else by its name."""
    lengths = sizes(directed, vertices, entries)
    length = _length(source)
    if length in lengths:
        return 2 if source.suffix == ".wsg" and lengths[0] == lengths[1] else 1 + lengths.index(length)
    needed = f"{lengths[0]} (.sg) or {lengths[1]} (.wsg)"
    raise source.error(f"{length} bytes where {needed} are needed; the file is cut off")


def sizes(directed: bool, vertices: int, entries: int) -> tuple[int, int]:
    """Bytes of a file without and with weights."""
    halves = 1 + directed
    plain, weighted = (halves * (8 * (vertices + 1) + width * entries) for width in (4, 8))
    return HEADER.size + plain, HEADER.size + weighted


def _length(source) -> int:
    if source.compression is None:
        return source.size
    length = 0
    with source.open() as stream:
        while part := stream.read(1 << 22):
            length += len(part)
    return length


def write(graph, stream) -> None:
    """Write ``.wsg`` for a path with that suffix, or with another than ``.sg`` if there are weights."""
    if graph.n_vertices > CAPACITY:
        raise stream.error(f"GAP graphs have at most {CAPACITY} vertices; write .npz")
    weighted, weights = stream.suffix == ".wsg" or (stream.suffix != ".sg" and graph.is_weighted), None
    if weighted and not graph.is_weighted:
        raise stream.error("a .wsg file needs weights; write .sg")
    if weighted:
        weights = rows_with_integers(graph, stream, ".wsg", dtype=np.int32)
    stream.write(HEADER.pack(graph.directed, len(graph.neighbours), graph.n_vertices))
    _write_rows(graph, stream, weights)
    if graph.directed:
        edges = graph.targets, graph.sources, graph.weights
        back = type(graph)(graph.n_vertices, edges=edges, directed=True)
        _write_rows(back, stream, back.csr_weights if weighted else None)


def _write_rows(graph, stream, weights):
    """Write rows, and in them the weights of 32 bits, unless they are ``None``."""
    stream.write(np.ascontiguousarray(graph.offsets, "<i8").data)
    step = 1 << 22
    for first in range(0, len(graph.neighbours), step):
        part = slice(first, first + step)
        fields = graph.neighbours[part].astype("<i4")
        if weights is not None:
            fields = np.column_stack([fields, weights[part].astype("<i4")])
        stream.write(np.ascontiguousarray(fields).data)
