"""Edge lists: one edge per row, two ids and perhaps a weight between blanks, tabs, commas, ``|`` or ``;``.

This reads SNAP's files (comments with ``#``), those with ``%`` comments, LAW-like pairs, comma-separated
pairs with or without a first row of names, GAP's ``.el`` and ``.wel``, and lists whose first row counts
vertices and edges (see :mod:`edgewise.files.header_counts`).  Ids are external: integers or names, and only
vertices that occur exist.

Rows of a single id at the end are isolated vertices, or the file was cut off.  One such row may be the rest
of an edge, so it is an error.  Several cannot come from a cut: if all of them are at the end, and none of
their ids occurs in an edge, they are isolated vertices.
"""

import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError
from edgewise.files.contents import Edges, counted_from_one, settings
from edgewise.files.header_counts import has_count, without_count
from edgewise.files.layout import Layout, fields_of, has_names, lay_out, look
from edgewise.files.normalise_text import whole_lines
from edgewise.files.text import read_columns

#: Comment that edgewise writes, so that isolated vertices and directions are read again.
SETTINGS = re.compile(rb"^[#%]\s*edgewise: vertices=(\d+) directed=([01]) numbered=([01])", re.MULTILINE)


def read(source, options) -> Edges:
    """Read an edge list."""
    options.only("an edge list", "source", "target", "weight", "null", "one_based", "header", "ids")
    sample = look(source)
    if not sample.rows:
        return _settled(source, options, np.empty(0, np.int64), np.empty(0, np.int64), None)
    header = options.header or (options.header is None and has_names(sample, source.suffix))
    counts = not header and options.source is None and has_count(sample)
    layout = lay_out(source, sample, options, first=1 if header or counts else 0)
    try:
        columns = read_columns(source, layout)
    except FileError as error:
        return _read_with_isolated(source, layout, error)
    if options.one_based is None and options.source is None and layout.ids == "int64" and not header:
        counted = without_count(source, columns, options.format, sample.rows[0] if counts else None)
        if counted is not None:
            return counted
    return _settled(source, options, *columns)


def _settled(source, options, sources, targets, weights) -> Edges:
    """Apply what edgewise wrote into the comments, or the caller's choice of numbering."""
    stored = SETTINGS.search(source.head)
    vertices, directed, numbered = (int(group) for group in stored.groups()) if stored else (None, 0, 0)
    if options.one_based is not None:
        vertices = int(max(sources.max(), targets.max())) + (not options.one_based) if len(sources) else 0
        if options.one_based:
            return counted_from_one((sources, targets, weights), vertices)
        return Edges(sources, targets, weights, vertices)
    numbered = numbered and isinstance(sources, np.ndarray)
    return Edges(sources, targets, weights, vertices if numbered else None, bool(directed))


def _read_with_isolated(source, layout: Layout, error: FileError) -> Edges:
    """Read a list that failed at ``error.line`` as one that ends in isolated vertices, or raise the error."""
    isolated = None
    if error.line is not None and layout.ids != "string":
        isolated = _single_ids(source, layout, error.line)
    if isolated is None or len(isolated) < 2:
        raise error
    sources, targets, weights = read_columns(source, replace(layout.tolerant(), null="drop"))
    joined = np.unique(np.concatenate([sources, targets]))
    if np.isin(isolated, joined).any() or len(np.unique(isolated)) < len(isolated):
        raise error
    ids = np.sort(np.concatenate([joined, isolated]))
    sources, targets = (np.searchsorted(ids, column) for column in (sources, targets))
    return Edges(sources, targets, weights, len(ids), ids=ids)


def _single_ids(source, layout, first):
    """Ids of the rows from line ``first`` on, if each is one integer, else ``None``."""
    ids = []
    with source.open() as stream:
        for _, block in whole_lines(stream, first - 1):
            for line in block.split(b"\n"):
                fields = fields_of(line, layout.delimiter if layout.delimiter != "\t" else " ")
                names = [field for field in fields if field]
                if len(fields) > 1 or not all(name.removeprefix("-").isdecimal() for name in names):
                    return None
                ids += map(int, names)
    return np.array(ids, np.int64) if all(abs(number) < 2**63 for number in ids) else None


def write(graph, stream) -> None:
    """Write one edge per line, ids separated by tabs, after a comment with what the edges do not say."""
    from edgewise.files.write_text import edge_columns, write_columns

    marks = " ".join(f"{name}={value}" for name, value in settings(graph).items())
    stream.write(f"# edgewise: {marks}\n# Nodes: {graph.n_vertices} Edges: {graph.n_edges}\n".encode())
    write_columns(stream, edge_columns(graph), "\t")
