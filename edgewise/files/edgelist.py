"""Edge lists: one edge per row, two ids and perhaps a weight between blanks, tabs, commas, ``|`` or ``;``.

This reads SNAP's files (comments with ``#``), those with ``%`` comments, LAW-like pairs, comma-separated
pairs with or without a first row of names, GAP's ``.el`` and ``.wel``, and lists and matrices whose first row
counts: ``n m``, or ``rows columns entries`` (``.smat``).  Only vertices whose ids occur exist.

A row that counts looks like an edge.  It is taken for a count only if it fits exactly; where it could still
be an edge the file is refused until ``format=`` decides, because a wrong guess would not be noticed.

Several rows of a single id, all at the end and none of them in an edge, are isolated vertices.  A single such
row may be the rest of an edge in a file that was cut off, so it is an error.
"""

import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError, argument
from edgewise.files.contents import Edges, check_count, counted_from_one, matrix_edges
from edgewise.files.layout import (
    TABLE_SUFFIXES,
    UNNAMED,
    Layout,
    Sample,
    are_integers,
    count_in,
    fields_of,
    has_names,
    is_count,
    lay_out,
    look,
)
from edgewise.files.text import read_columns
from edgewise.files.text_blocks import whole_lines
from edgewise.files.text_ids import NEEDLESS

#: Comment that edgewise writes, so that isolated vertices and directions are read again.
SETTINGS = re.compile(rb"^[#%]\s*edgewise: vertices=(\d+) directed=([01]) numbered=([01])", re.MULTILINE)
#: Digits of most integers of 64 bits.
INTEGER64 = re.compile(r"-?[0-9]{1,19}")
#: In shorter lists a first edge looks like a count too easily.
MIN_EDGES = 16
#: A comment that counts edges, as SNAP writes them: then no row does.
DECLARED = re.compile(rb"^[#%].*Edges:\s*(\d+)", re.MULTILINE | re.IGNORECASE)


def read(source, options) -> Edges:
    """Read an edge list."""
    columns, records = ("source", "target", "weight"), ("vertices", "vertex_id")
    options.only("an edge list", *columns, *records, "null", "one_based", "header", "ids", "sep", "decimal")
    options = options.with_ids_as_records()
    sample = look(source)
    if not sample.rows:
        return _settled(source, options, np.empty(0, np.int64), np.empty(0, np.int64), None)
    header = is_headed(source, sample, options)
    if options.joins_columns:
        raise source.error("ids of several columns are for tables; write a row with the names of the columns")
    if header and sample.delimiter != " " and len(sample.rows) > 1:
        n_names, fields = len(sample.rows[0]), len(sample.rows[1])
        if n_names != fields:
            raise source.error(
                f"{fields} fields below {n_names} names of columns; correct it", sample.skip + 2
            )
    counts = not header and options.source is None and has_count(sample)
    layout = lay_out(source, sample, options, first=1 if header or counts else 0)
    inferred = options.ids is None and options.one_based is None
    layout = replace(layout, exact=inferred and layout.ids != "string")
    if sample.delimiter != " " and (header or source.suffix in TABLE_SUFFIXES):
        layout = replace(layout, comments=b"")  # rows of a table, which may begin with any character
    try:
        columns = read_columns(source, layout)
    except FileError as error:
        return _read_with_isolated(source, layout, error)
    if options.one_based is None and options.source is None and layout.ids == "int64" and not header:
        counted = without_count(source, columns, options.format, sample.rows[0] if counts else None)
        if counted is not None:
            return counted
    edges = _settled(source, options, *columns)
    shown = sample.rows[0] if header else []
    if layout.weight is not None and layout.weight < len(shown):
        edges.weight_name, edges.is_assumed = shown[layout.weight], options.weight is None
    return edges


def is_headed(source, sample: Sample, options) -> bool:
    """Whether the first row names the columns; in a list that edgewise wrote it does not."""
    if options.header is None and SETTINGS.match(source.head):
        return False
    if options.header is None and source.suffix == UNNAMED and (options.format or options.names_columns):
        return options.names_columns or options.format.lower() in ("csv", "tsv")
    if options.header is not None:
        return options.header
    is_table = (options.format or "").lower() in ("csv", "tsv")
    return has_names(sample, ".csv" if is_table else source.suffix)


def _settled(source, options, sources, targets, weights) -> Edges:
    """Apply what edgewise wrote into the comments, or the caller's choice of numbering."""
    stored = SETTINGS.search(source.head)
    groups = [group.decode() for group in stored.groups()] if stored else []
    vertices, directed, numbered = (count_in(source, group) for group in groups) if stored else (None, 0, 0)
    if options.one_based is not None:
        largest = max(column.max(initial=0) for column in (sources, targets))
        vertices = count_in(source, str(largest)) + (not options.one_based) if len(sources) else 0
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
    ids: list[int] = []
    with source.open() as stream:
        for _, block in whole_lines(stream, first - 1):
            for line in block.split(b"\n"):
                fields = fields_of(line, layout.delimiter if layout.delimiter != "\t" else " ")
                names = [field for field in fields if field]
                if len(fields) > 1 or not all(map(INTEGER64.fullmatch, names)):
                    return None
                if layout.exact and any(re.match(NEEDLESS, name) for name in names):
                    return None
                ids += map(int, names)
    return np.array(ids, np.int64) if all(abs(number) < 2**63 for number in ids) else None


def write(graph, stream) -> None:
    """Write one edge per line, ids separated by tabs, after a comment with what the edges do not say."""
    from edgewise.files.write_text import check_names, edge_columns, settings, write_columns

    check_names(stream, graph.ids)
    marks = " ".join(f"{name}={value}" for name, value in settings(graph).items())
    stream.write(f"# edgewise: {marks}\n# Nodes: {graph.n_vertices} Edges: {graph.n_edges}\n".encode())
    write_columns(stream, graph.n_edges, edge_columns(graph), "\t")


def read_smat(source, options) -> Edges:
    """Read a matrix known to begin with ``rows columns entries``, then ``row column [value]`` from 0 on."""
    options.only("a matrix", "weight", "null")
    sample = look(source)
    fields = sample.rows[0] if sample.rows else []
    line = sample.skip + 1
    if len(fields) != 3 or not all(map(is_count, fields)) or fields[0] != fields[1]:
        raise source.error("the first row must be 'n n m': a square matrix and its entries", line)
    vertices, _, count = (count_in(source, field, line) for field in fields)
    if count == 0:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), None, vertices)
    layout = lay_out(source, sample, options, first=1)
    layout = replace(layout, ids="int64", min_id=0, max_id=vertices - 1)
    entries = read_columns(source, layout)
    check_count(source, count, len(entries[0]), line)
    return matrix_edges(entries, vertices, directed=options.directed)


def has_count(sample: Sample) -> bool:
    """Whether the first row has two numbers where all others have three fields: it can only be a count."""
    first, rest = sample.rows[0], sample.rows[1:]
    single = len(rest) == 1 and first[1:] != ["1"]
    return len(first) == 2 and are_integers(first) and not single and {*map(len, rest)} == {3}


def without_count(source, columns, form, header=None) -> Edges | None:
    """Take the first row away if it counts vertices and edges; ``None`` if it is an edge.

    ``form`` is the caller's word on the first row: ``'el'``, ``'el1'`` or ``None``.  ``header`` is the first
    row, if it is not among the columns because it alone has two fields.
    """
    sources, targets, weights = columns
    if header is not None:
        counts, rest = [count_in(source, field, 1) for field in header], columns
    elif form == "el" or len(sources) == 0:
        return None
    else:
        counts = [int(sources[0]), int(targets[0])]
        if form == "el1":
            counts = [count_in(source, str(count), 1) for count in counts]
        rest = [None if column is None else column[1:] for column in columns]
    if form == "el1" or header is not None:
        check_count(source, counts[1], len(rest[0]), 1)
    elif weights is not None:
        return _refuse_smat(source, counts, weights)
    elif not _looks_counted(source, *counts, *rest[:2]):
        return None
    return _numbered(source, counts[0], *rest)


def _refuse_smat(source, endpoints, weights):
    """Refuse to guess whether a self-loop in the first row is the ``n n m`` of a matrix."""
    fits = endpoints[0] == endpoints[1] and len(weights) > 1 and weights[0] == len(weights) - 1
    if fits and not DECLARED.search(source.head):
        row = f"{endpoints[0]} {endpoints[1]} {weights[0]:.0f}"
        raise _ambiguous(source, f"the row '{row}' may count entries or be an edge", "smat")


def _looks_counted(source, vertices, edges, sources, targets):
    """Whether the first row fits as a count; refuses to guess where it fits as an edge too."""
    if edges != len(sources) or edges == 0 or DECLARED.search(source.head):
        return False
    short = len(sources) < MIN_EDGES
    if _first_number(vertices, sources, targets, external=not short) is None:
        return False
    if short or (sources == edges).any() or (targets == edges).any():
        row = f"{vertices} {edges}"
        raise _ambiguous(source, f"the row '{row}' may count vertices and edges or be an edge", "el1")
    return True


def _ambiguous(source, problem, form):
    choice = f"{argument('format', form)} or {argument('format', 'el')}"
    return source.error(f"{problem}; say which with {choice}", 1)


def _first_number(vertices, sources, targets, external=True):
    """First vertex number if the endpoints are numbers, -1 if they are ``vertices`` ids, else ``None``."""
    if len(sources) == 0:
        return 0
    least, most = min(sources.min(), targets.min()), max(sources.max(), targets.max())
    if least >= 0 and most < vertices:
        return 0
    if least >= 1 and most <= vertices:
        return 1
    return -1 if external and len(np.unique(np.concatenate([sources, targets]))) == vertices else None


def _numbered(source, vertices, sources, targets, weights):
    first = _first_number(vertices, sources, targets)
    if first is None:
        problem = f"{vertices} vertices promised, but the ids are neither numbers up to that nor so many ids"
        raise source.error(f"{problem}; correct the header or take it out", 1)
    if first < 0:
        return Edges(sources, targets, weights)
    if first:
        return counted_from_one((sources, targets, weights), vertices)
    return Edges(sources, targets, weights, vertices)
