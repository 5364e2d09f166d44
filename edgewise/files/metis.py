"""METIS and Chaco ``.graph`` (also the format of the 10th DIMACS challenge).

Line ``v`` lists the neighbours of vertex ``v``, counted from one, after a header ``n m [fmt [ncon]]``.  The
digits of ``fmt`` say, from the left, whether each line begins with a vertex size, then ``ncon`` vertex
weights, and whether every neighbour is followed by the weight of its edge.  See Karypis, "METIS, a software
package for partitioning unstructured graphs", version 5.1, section 4.1.  Sizes weigh the communication volume
of METIS' ``-objtype=vol`` alone.  Graphs here have none, so sizes other than 1 are left out with a warning.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from edgewise.errors import argument, warn
from edgewise.files.contents import Rows, numbered_from_one
from edgewise.files.layout import count_in
from edgewise.files.text import line_of_row, read_fields, shorten
from edgewise.files.write_text import as_integers, numbers_from_one, rows_with_integers
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.symmetry import unmatched

COMMENTS = b"%"
#: Vertices whose rows are written at a time.
BLOCK = 1 << 16


@dataclass
class Header:
    """First row of the file; ``skip`` lines precede the rows of the vertices."""

    vertices: int
    edges: int
    sizes: int
    vertex_weights: int
    edge_weights: bool
    skip: int


def read(source, options) -> Rows:
    """Read a METIS graph.

    A file with ``m`` entries instead of ``2 m``, each edge in one row only, is read as directed (some tools
    write such files); a size digit that the rows contradict is ignored, as the challenge's own files require.
    """
    options.only("METIS")
    header = header_of(source)
    fields, lengths = read_fields(source, header.skip, COMMENTS, "int64", _complaint)
    lengths = _one_row_each(source, header, lengths)
    promised = header.edges * (1 + header.edge_weights)
    announced = dict.fromkeys((header.sizes, 0))
    parts = {sizes: _without_prefix(source, header, (fields, lengths), sizes) for sizes in announced}
    for wanted in (2 * promised, promised):  # in both rows, or in one
        for sizes, (entries, *others) in parts.items():
            if entries is not None and len(entries) == wanted:
                if sizes:
                    _check_sizes(source, header, fields[np.cumsum(lengths) - lengths])
                return _rows(source, header, options, (entries, *others))
    count = len(parts[0][0]) // (1 + header.edge_weights)
    problem = f"{header.edges} edges need {2 * header.edges} entries, but {count} found"
    raise source.error(f"{problem}; the file is cut off or the header is wrong", header.skip)


def header_of(source) -> Header:
    """The first row of a file."""
    lines = source.lines(COMMENTS)
    rows = (i for i, line in enumerate(lines) if line.strip() and line[:1] not in COMMENTS)
    skip = next(rows, len(lines) - 1)
    words = lines[skip].split() if lines else []
    if not 2 <= len(words) <= 4 or not all(word.isdigit() for word in words):
        raise source.error("the first row of METIS must be 'n m', 'n m fmt' or 'n m fmt ncon'", skip + 1)
    digits = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(digits) > 3 or not set(digits) <= {"0", "1"}:
        raise source.error(f"fmt={digits} is unknown to METIS; use up to three digits 0 or 1", skip + 1)
    vertices, edges, *ncon = (count_in(source, w.decode(), skip + 1) for w in (*words[:2], *words[3:]))
    vertex_weights = int(digits[1]) * (ncon[0] if ncon else 1)
    return Header(vertices, edges, int(digits[0]), vertex_weights, digits[2] == "1", skip + 1)


def _complaint(line):
    return f"a field is not an integer: {shorten(line)}; METIS has whole numbers only"


def _one_row_each(source, header, lengths):
    """Lengths of exactly one row a vertex; blank lines at the end are no rows."""
    if len(lengths) < header.vertices:
        problem = f"{header.vertices} vertices promised, but only {len(lengths)} rows found"
        raise source.error(f"{problem}; the file is cut off", header.skip)
    extra = np.flatnonzero(lengths[header.vertices :])
    if len(extra):
        line = line_of_row(source, header.skip, COMMENTS, header.vertices + int(extra[0]))
        raise source.error(f"a row beyond the {header.vertices} vertices that the header promises", line)
    return lengths[: header.vertices]


def _without_prefix(source, header, rows, sizes):
    """Split the fields into neighbours (with their weights) and vertex weights."""
    (fields, lengths), prefix = rows, sizes + header.vertex_weights
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if not prefix:
        return fields, starts, None
    short = np.flatnonzero(lengths < prefix)
    if len(short) and sizes:
        return None, starts, None
    if len(short):
        line = line_of_row(source, header.skip, COMMENTS, int(short[0]))
        raise source.error(f"{prefix} vertex weights expected at the start of the row", line)
    prefixes = starts[:-1, None] + np.arange(prefix)
    is_entry = np.ones(len(fields), bool)
    is_entry[prefixes] = False
    weights = fields[prefixes[:, sizes:]].astype(np.int64) if header.vertex_weights else None
    if weights is not None and header.vertex_weights == 1:
        weights = weights[:, 0]
    return fields[is_entry], starts - prefix * np.arange(len(starts)), weights


def _check_sizes(source, header, sizes):
    """Warn that the sizes of the vertices are left out, unless each is 1, as without sizes."""
    if len(negative := np.flatnonzero(sizes < 0)):
        line = line_of_row(source, header.skip, COMMENTS, int(negative[0]))
        raise source.error(f"the vertex size {sizes[negative[0]]} is negative; correct it", line)
    if (sizes != 1).any():
        left_out = "the vertex sizes that fmt announces are left out"
        meaning = "they weigh the communication volume of METIS alone, where every vertex counts once here"
        warn(f"{source.path}:{header.skip}: {left_out}; {meaning}")


def _rows(source, header, options, parts):
    entries, starts, vertex_weights = parts
    weights = None
    if header.edge_weights:
        odd = np.flatnonzero(np.diff(starts) % 2)
        if len(odd):
            line = line_of_row(source, header.skip, COMMENTS, int(odd[0]))
            raise source.error("a neighbour without the weight that fmt promises", line)
        entries, weights, starts = entries[::2].copy(), entries[1::2].astype(np.int64), starts // 2
    _check_range(source, header, entries, starts)
    entries -= 1
    if entries.dtype == np.int32:
        entries = entries.view(np.uint32)  # the type of vertex numbers, so that this is no copy
    ids = numbered_from_one(header.vertices)
    rows = Rows(starts, entries, weights, len(entries) != 2 * header.edges, ids, vertex_weights)
    if not rows.directed and not options.directed:
        _check_symmetric(source, header, rows)
    if options.weight is False:
        rows.weights = None
    return rows


def _check_range(source, header, entries, starts):
    if len(entries) and not (entries.min() >= 1 and entries.max() <= header.vertices):
        wrong = np.flatnonzero((entries < 1) | (entries > header.vertices))
        row = int(np.searchsorted(starts, wrong[0], "right")) - 1
        line = line_of_row(source, header.skip, COMMENTS, row)
        problem = f"neighbour {entries[wrong[0]]} is not in 1 .. {header.vertices}; correct it or the header"
        raise source.error(problem, line)


def _check_symmetric(source, header, rows):
    entry = rows.unmatched()
    if entry is not None:
        line = line_of_row(source, header.skip, COMMENTS, entry[0])
        raise source.error(unmatched(entry, rows.weights is not None, first=1), line)


def write(graph, stream) -> None:
    """Write a METIS graph, which is undirected and has no self-loops."""
    if graph.directed:
        raise stream.error(f"METIS graphs are undirected; read the graph with {argument('directed', False)}")
    if bool((graph.sources == graph.targets).any()):
        raise stream.error(f"METIS has no self-loops; read the graph with {argument('self_loops', 'drop')}")
    weights = rows_with_integers(graph, stream, "METIS", least=0)
    vertex_weights = as_integers(stream, graph.vertex_weights, "METIS", partial(_vertex, graph), least=0)
    ncon = 0 if vertex_weights is None else 1 if vertex_weights.ndim == 1 else vertex_weights.shape[1]
    kind = f" 0{int(ncon > 0)}{int(weights is not None)}" if ncon or weights is not None else ""
    ending = f" {ncon}" if ncon > 1 else ""
    stream.write(f"{graph.n_vertices} {graph.n_edges}{kind}{ending}\n".encode())
    for first in range(0, graph.n_vertices, BLOCK):
        part = slice(first, min(first + BLOCK, graph.n_vertices))
        stream.write(_text(graph, part, weights, vertex_weights))


def _vertex(graph, number):
    return f"the vertex {graph.ids_of(np.array([number])).tolist()[0]!r}"


def _text(graph, part, weights, vertex_weights) -> bytes:
    """Rows of some vertices as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = graph.offsets[part.start : part.stop + 1]
    entries = slice(int(offsets[0]), int(offsets[-1]))
    fields = numbers_from_one(graph.neighbours[entries])
    if weights is not None:
        fields = np.column_stack([fields, weights[entries]]).ravel()
    row_ends = (offsets - offsets[0]) * (1 if weights is None else 2)
    if vertex_weights is not None:
        prefix = vertex_weights[part].reshape(part.stop - part.start, -1)
        fields = np.insert(fields, np.repeat(row_ends[:-1], prefix.shape[1]), prefix.ravel())
        row_ends = row_ends + prefix.shape[1] * np.arange(len(row_ends))
    words = arrow_array(fields).cast(pa.string())
    rows = pa.LargeListArray.from_arrays(arrow_array(row_ends), words).cast(pa.list_(pa.string()))
    blank = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b" "))
    lines = pc.binary_join(rows, blank[0])  # for the text " " it would import pandas
    return ("\n".join(lines.to_pylist()) + "\n").encode()
