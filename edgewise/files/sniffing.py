"""How a format is detected by content; the suffix decides only between formats that can look the same."""

import re

from edgewise.errors import argument
from edgewise.files.formats import DUPS, MAGIC, magic, named
from edgewise.files.json_lines import is_json_lines
from edgewise.files.layout import COMMENTS, COUNT_DIGITS, TABLE_SUFFIXES, has_names, look
from edgewise.files.rare_formats import sibling
from edgewise.ingest.scores import Kept

#: First characters of meshes, and the header of a METIS mesh.
MESH = re.compile(rb"\s*(?:# vtk DataFile|\$MeshFormat|MeshVersionFormatted|(?:<\?xml[^>]*>\s*)?<VTKFile)")
METIS_MESH = re.compile(rb"(?:%[^\n]*\n|\s)*\d+(?:[ \t]+\d+)?[ \t\r]*\n[ \t]*\d")
#: First characters of rows that are of no text format read as rows.
MARKUP = {b"{": "JSON", b"[": "JSON", b"<": "XML or HTML"}
TEXT = (
    ("el", re.compile(rb"# edgewise: vertices=")),  # as edgewise writes it, whatever the names look like
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


def format_of(source, options) -> str:
    """Name of the format that is given, if the content can be of it; else of the format of the content."""
    if not options.format:
        return sniff(source, options)
    name, binary = named(options.format), magic(source)
    if name == "dups" != binary:
        raise source.error(f"does not end in {DUPS}, by which such a file is known; rename it")
    if binary != (name if name in (*MAGIC.values(), "dups") else None):
        found = f"is {binary}" if binary else f"is not {name}"
        problem = f"{found} by its first bytes, against {argument('format', name)}"
        raise source.error(f"{problem}; leave that out, or name another file")
    if b"\0" in source.head and not binary and name != "gap":
        raise source.error(f"is binary, against {argument('format', name)}; leave that out")
    return name


def sniff(source, options) -> str:
    """Return the name of the format of a source, or raise if edgewise reads no such format."""
    if binary := magic(source):
        return binary
    head = source.head
    if b"\0" in head:
        return _binary(source)
    if not head.strip():
        source.lines()  # lengthens the head
        head = source.head
    if not head.strip():
        raise source.error("holds nothing but blanks; a graph file has at least a header or one edge")
    if MESH.match(head) or (source.suffix == ".mesh" and METIS_MESH.match(head)):
        problem = "is a mesh, not a graph; read it with ew.read_mesh, or divide it with"
        edges = f"; if it holds edges, pass {argument('format', 'el')}" if source.suffix == ".mesh" else ""
        raise source.error(f"{problem} edgewise partition --mesh{edges}")
    return next((name for name, pattern in TEXT if pattern.match(head)), None) or _rows(source, options)


def _binary(source):
    for zeros, letters, codec in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
        if all(source.head[letters::2]) and not any(source.head[zeros::2]):
            choice = f"name its encoding, such as {argument('encoding', codec)}"
            raise source.error(f"has a zero in every second byte, as UTF-16 has without a mark; {choice}")
    if source.head[0] <= 1 and (len(source.head) >= 25 or source.suffix in (".sg", ".wsg")):
        return "gap"
    raise source.error(f"is binary, but of no known format; see {argument('format')} for those that are")


def _rows(source, options):
    """Distinguish the formats that consist of rows of numbers or names."""
    if is_json_lines(source):
        return "jsonl"
    _refuse_markup(source)
    if source.suffix in TIES:
        return TIES[source.suffix]
    if source.suffix in (".v", ".e") and all(sibling(source, suffix) for suffix in (".v", ".e")):
        return "ldbc"
    if options.names_columns or options.kept != Kept():
        return "csv"
    sample = look(source)
    if not sample.rows or options.header is False:
        return "el"
    if sample.delimiter == " " and _is_metis(source):
        return "metis"
    table = sample.delimiter != " " or source.suffix in TABLE_SUFFIXES
    return "csv" if table and (options.header or has_names(sample, source.suffix)) else "el"


def _refuse_markup(source):
    """Refuse text with rows that look like JSON, XML or HTML; names may, if the format is given."""
    for number, line in enumerate(source.lines(COMMENTS), 1):
        if found := MARKUP.get(line.lstrip()[:1]):
            readable = "JSON Lines (one object per line)" if found == "JSON" else "GraphML"
            problem = f"looks like {found} that is not {readable}; check the file"
            choice = f"{argument('format', 'el')} or {argument('format', 'csv')}"
            raise source.error(f"{problem}, or pass {choice} if this is a name", number)


def _is_metis(source):
    """Whether rows of numbers differ in length as METIS rows do, under a header that fits them."""
    lines = [line for line in source.lines(b"%") if line[:1] != b"%"]
    words = [line.split() for line in lines]
    numeric = all(word.isdigit() for row in words for word in row)
    if len(words) < 2 or not 2 <= len(words[0]) <= 4 or not numeric or max(map(len, words[0])) > COUNT_DIGITS:
        return False
    vertices, edges = int(words[0][0]), int(words[0][1])
    rows = words[1:]
    lengths = [len(row) for row in rows]
    if source.whole:
        plain = len(words[0]) == 2
        rows_fit = vertices <= len(rows) + 1 and not any(lengths[vertices:])
        return rows_fit and len(set(lengths)) > 1 and (not plain or sum(lengths) == 2 * edges)
    return max(lengths) > 3 and len(set(lengths)) > 2 and vertices > len(rows)
