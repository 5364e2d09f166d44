"""Edge lists: one edge a row, two ids and perhaps a weight between blanks, tabs, commas, ``|`` or ``;``.

Read are SNAP's files (comments with ``#``), those with ``%`` comments, LAW-like pairs, comma-separated
pairs with or without a first row of names, GAP's ``.el`` and ``.wel``, and lists whose first row counts
vertices and edges (see :mod:`edgewise.files.header_counts`).  Ids are external: integers or names, and only
vertices that occur exist.
"""

import re
from dataclasses import dataclass

import numpy as np

from edgewise.errors import FileError, OptionError
from edgewise.files.columns import read_columns
from edgewise.files.header_counts import without_count
from edgewise.files.isolated import read_with_lone
from edgewise.files.layout import Layout, fields_of
from edgewise.files.record import Edges, numbered_from_one, settings

COMMENTS = b"#%"
#: Comment that edgewise writes, so that isolated vertices and directions come back.
SETTINGS = re.compile(rb"^[#%]\s*edgewise: vertices=(\d+) directed=([01]) numbered=([01])", re.MULTILINE)
INTEGER = re.compile(r"-?\d+")
DELIMITERS = ",\t|;"


@dataclass
class Sample:
    """First rows of a text: how many comment lines precede them, and their fields."""

    skip: int
    rows: list[list[str]]
    delimiter: str


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
        return read_with_lone(source, layout, error)
    if options.one_based is None and options.source is None and layout.ids == "int64" and not header:
        counted = without_count(source, *columns, options.format, sample.rows[0] if counts else None)
        if counted is not None:
            return counted
    return _settled(source, options, *columns)


def look(source, comments: bytes = COMMENTS) -> Sample:
    """Split the first rows of a text into fields."""
    lines, skip = source.lines(comments), 0
    while skip < len(lines) and (not lines[skip].strip() or lines[skip][:1] in _each(comments)):
        skip += 1
    rows = [line for line in lines[skip:] if line.strip() and line[:1] not in _each(comments)]
    delimiter = next((mark for mark in DELIMITERS if rows and mark.encode() in rows[0].strip()), " ")
    if delimiter == "\t" and _numeric(fields_of(rows[0], " ")[:2]):
        delimiter = " "
    return Sample(skip, [fields_of(row, delimiter) for row in rows], delimiter)


def _each(characters):
    return [characters[i : i + 1] for i in range(len(characters))]


def _numeric(fields):
    return len(fields) > 0 and all(INTEGER.fullmatch(field) for field in fields)


def has_count(sample: Sample) -> bool:
    """Whether the first row has two numbers where all others have three fields: it can only be a count."""
    first, rest = sample.rows[0], sample.rows[1:]
    lonely = len(rest) == 1 and first[1:] != ["1"]
    return _numeric(first) and len(first) == 2 and len(rest) > 0 and not lonely and {*map(len, rest)} == {3}


def has_names(sample: Sample, suffix: str) -> bool:
    """Whether the first row names the columns.

    It does if it holds no number where the second row has them (between blanks: where all other rows have
    two). If all rows hold names only the suffix can tell: ``.csv`` and ``.tsv`` files start with a row of
    names.
    """
    first, rest = sample.rows[0], sample.rows[1:]
    if _has_number(first):
        return False
    if sample.delimiter == " ":
        return len(first) > 1 and len(rest) > 0 and all(len(row) > 1 and _numeric(row[:2]) for row in rest)
    return (len(rest) > 0 and _has_number(rest[0])) or suffix in (".csv", ".tsv")


def _has_number(fields):
    return any(re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", field, re.IGNORECASE) for field in fields)


def lay_out(source, sample: Sample, options, first: int = 0) -> Layout:
    """Decide which columns to read, and as what; rows before number ``first`` are no edges."""
    rows = sample.rows[first:] or sample.rows
    count = len(rows[0])
    ends, weight = _positions(source, options, count, sample.skip + 1)
    strings = options.ids == "string" or (
        options.ids is None and not _numeric([rows[0][end] for end in ends])
    )
    if strings and options.one_based is not None:
        raise OptionError("one_based= means nothing for ids that are names; leave it out")
    numbers = weight is not None and _numeric([row[weight] for row in rows if len(row) > weight])
    tabs = sample.delimiter == " " and any(b"\t" in line for line in source.lines()[sample.skip :][:1])
    return Layout(
        columns=count,
        ends=ends,
        weight=weight,
        delimiter="\t" if tabs else sample.delimiter,
        skip=sample.skip + first,
        ids="string" if strings else "int64",
        weights="int64" if numbers else "float64",
        clean=strings or options.null == "drop",
        quoted=sample.delimiter != " ",
        least=None if options.one_based is None else int(options.one_based),
        null=options.null,
    )


def _positions(source, options, count, line):
    """Columns of the ends and of the weight."""
    if options.names_columns:
        raise OptionError(
            "source=, target= and weight= are names, but the rows have none; give positions from 0 on"
        )
    if count < 2:
        raise FileError(source.path, "only one column found; an edge list needs two ids in every row", line)
    if count > 3 and options.source is None and options.weight is None:
        problem = f"{count} columns found; choose with source=, target= and weight= (positions from 0 on)"
        raise FileError(source.path, problem, line)
    ends = (0, 1) if options.source is None else (int(options.source), int(options.target))
    weight = options.weight
    if weight is None and count == 3 and options.source is None:
        weight = 2
    weight = None if weight is None or weight is False else int(weight)
    if max(*ends, weight or 0) >= count or min(*ends, weight or 0) < 0:
        raise FileError(
            source.path, f"the rows have {count} columns; positions run from 0 to {count - 1}", line
        )
    return ends, weight


def _settled(source, options, sources, targets, weights) -> Edges:
    """Apply what edgewise wrote into the comments, or what the caller says about numbering."""
    found = SETTINGS.search(source.head)
    vertices, directed, numbered = (int(group) for group in found.groups()) if found else (None, 0, 0)
    if options.one_based is not None:
        vertices = int(max(sources.max(), targets.max())) + (not options.one_based) if len(sources) else 0
        if options.one_based:
            one = np.int64(1)
            return Edges(sources - one, targets - one, weights, vertices, False, numbered_from_one(vertices))
        return Edges(sources, targets, weights, vertices)
    numbered = numbered and isinstance(sources, np.ndarray)
    return Edges(sources, targets, weights, vertices if numbered else None, bool(directed))


def write(graph, stream) -> None:
    """Write one edge a line, ids separated by tabs, after a comment that keeps what the edges do not say."""
    from edgewise.files.lines import edge_columns, write_columns

    marks = " ".join(f"{name}={value}" for name, value in settings(graph).items())
    stream.write(f"# edgewise: {marks}\n# Nodes: {graph.n_vertices} Edges: {graph.n_edges}\n".encode())
    write_columns(stream, edge_columns(graph), "\t")
