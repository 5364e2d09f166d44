"""Detecting the format of a file by its content; the suffix only breaks ties."""

import re

from edgewise.errors import argument
from edgewise.files.layout import has_names, look
from edgewise.files.rare_formats import sibling

#: First bytes of binary formats.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz"}
#: First bytes of files that are no graphs, and what to do with them.
FOREIGN = {
    b"FEA1": "is a Feather file of version 1; write it again with pyarrow.feather.write_feather",
    b"\x89HDF": "is HDF5; write the edges to Parquet or CSV",
    b"\xff\xfe": "is UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "is UTF-16 text; convert it to UTF-8",
    b"7z\xbc\xaf": "is a 7-Zip archive; unpack it first",
    b"%PDF": "is a PDF document, not a graph",
    b"\x80\x04\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"\x80\x05\x95": "is a Python pickle; write the edges to Parquet or .npz",
    b"SQLite": "is an SQLite database; export the edges to CSV",
}
TEXT = (
    ("mtx", re.compile(rb"\s*%{1,2}MatrixMarket|%%.*\bmatrix\b", re.IGNORECASE)),
    ("graphml", re.compile(rb"\s*<(?:graphml\b|(?:\?xml|!).*<graphml\b)", re.DOTALL)),
    ("tntp", re.compile(rb"\s*<NUMBER OF |(?=\s*<).*<END OF METADATA>", re.DOTALL)),
    ("gml", re.compile(rb"(?:[^\[\]]*\n)?[ \t\r]*graph\s*\[")),
    ("vlg", re.compile(rb"t \d+ \d+\s*\n\s*[ve] ")),
    ("dimacs", re.compile(rb"(?:c\b[^\n]*\n|\s)*p\s+(?:sp|max|edge|col)\s")),
    ("jlg", re.compile(rb"\d+,\d+,[ud][,\r\n]")),
)
#: Suffixes that decide where the content could be several formats, all of them rows of numbers or names.
TIES = {".graph": "metis", ".metis": "metis", ".mgraph": "metis", ".smat": "smat", ".ncol": "ncol"}


def sniff(source, options) -> str:
    """Return the name of the format of a source, or raise if edgewise reads no such format."""
    head = source.head
    binary = next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)
    if binary:
        return binary
    for magic, problem in FOREIGN.items():
        if head.startswith(magic):
            raise source.error(problem)
    if b"\0" in head:
        return _binary(source)
    if not head.strip():
        source.lines()  # lengthens the head
        head = source.head
    if not head.strip():
        raise source.error("holds nothing but blanks; a graph file has at least a header or one edge")
    return next((name for name, pattern in TEXT if pattern.match(head)), None) or _rows(source, options)


def _binary(source):
    if source.head[0] <= 1 and (len(source.head) >= 25 or source.suffix in (".sg", ".wsg")):
        return "gap"
    raise source.error(f"is binary, but of no known format; see {argument('format')} for those that are")


def _rows(source, options):
    """Distinguish the formats that consist of rows of numbers or names."""
    if source.suffix in TIES:
        return TIES[source.suffix]
    if source.suffix in (".v", ".e") and all(sibling(source, suffix) for suffix in (".v", ".e")):
        return "ldbc"
    if options.names_columns or options.where:
        return "csv"
    if source.head.lstrip()[:1] == b"<":
        raise source.error("is XML or HTML, but not GraphML; check the download")
    sample = look(source)
    if not sample.rows or options.header is False:
        return "el"
    if sample.delimiter == " " and _is_metis(source):
        return "metis"
    return "csv" if sample.delimiter != " " and has_names(sample, source.suffix) else "el"


def _is_metis(source):
    """Whether rows of numbers differ in length as METIS rows do, under a header that fits them."""
    lines = [line for line in source.lines(b"%") if line[:1] != b"%"]
    words = [line.split() for line in lines]
    if (
        len(words) < 2
        or not 2 <= len(words[0]) <= 4
        or not all(word.isdigit() for row in words for word in row)
    ):
        return False
    vertices, edges = int(words[0][0]), int(words[0][1])
    rows = words[1:]
    lengths = [len(row) for row in rows]
    if source.whole:
        plain = len(words[0]) == 2
        rows_fit = vertices <= len(rows) + 1 and not any(lengths[vertices:])
        return rows_fit and len(set(lengths)) > 1 and (not plain or sum(lengths) == 2 * edges)
    return max(lengths) > 3 and len(set(lengths)) > 2 and vertices > len(rows)
