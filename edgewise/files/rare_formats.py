"""Text formats that are read and not written: Graphs.jl, vertex-labelled, TNTP, NCOL and LDBC Graphalytics.

``.jlg``, ``.lg`` of Graphs.jl
    ``n,m,u|d,name,...``, then ``source,target``, counted from one.
Vertex-labelled graphs of the subgraph-matching literature
    A line ``t n m``, then ``v id label degree`` for every vertex and ``e source target`` for every edge.
    Vertices count from zero; labels are skipped.  See Sun and Luo, "In-memory subgraph matching: an in-depth
    study", SIGMOD 2020.
TNTP of the Transportation Networks repository (github.com/bstabler/TransportationNetworks)
    A few lines ``<NAME> value``, then one link per row under a row of column names that begins with ``~``;
    fields are separated by tabs and rows end with ``;``.  Nodes count from one; links are directed.
NCOL
    ``name name [weight]`` in each row; a weight in all rows or in none.  See Adai et al., "LGL: creating
    a map of protein function with an algorithm for visualizing very large biological networks", J. Mol. Biol.
    340 (2004), as igraph reads it.
LDBC Graphalytics
    Vertices in ``name.v`` (an id each), edges in ``name.e``, facts in ``name.properties``.  Either of the
    first two names the graph; the properties, if present, say whether it is directed.  See Iosup et al., "The
    LDBC Graphalytics benchmark", arXiv:2011.15028, section 2.
"""

import os
import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError, argument
from edgewise.files.contents import Edges, check_count, counted_from_one
from edgewise.files.layout import Layout, count_in, fields_of, lay_out, look
from edgewise.files.streams import SUFFIXES, Source
from edgewise.files.text import line_of_row, read_columns, read_fields, shorten
from edgewise.files.text_blocks import whole_lines
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.numerals import NUMBER_OF_ARROW, about_number

TNTP_BLANKS = b" \t\r;"


def read_jlg(source, options) -> Edges:
    """Read a graph that Graphs.jl wrote."""
    options.only("Graphs.jl")
    words = (source.lines() or [b""])[0].decode("latin-1").split(",")
    if len(words) < 3 or not (words[0] + words[1]).isdecimal() or words[2] not in ("u", "d"):
        raise source.error("the first line must be 'n,m,u' or 'n,m,d'", 1)
    vertices, edges = (count_in(source, word, 1) for word in words[:2])
    columns = read_columns(source, Layout(delimiter=",", skip=1, comments=b"", min_id=1, max_id=vertices))
    check_count(source, edges, len(columns[0]), 1)
    return replace(counted_from_one(columns, vertices, words[2] == "d"), is_stated=True)


def read_labelled(source, options) -> Edges:
    """Read a vertex-labelled graph."""
    options.only("a vertex-labelled graph")
    lines = source.lines()
    words = lines[0].decode("latin-1").split() if lines else []
    if len(words) != 3 or words[0] != "t" or not (words[1] + words[2]).isdecimal():
        raise source.error("the first line must be 't n m'", 1)
    vertices, edges = (count_in(source, word, 1) for word in words[1:])
    with source.open() as stream:  # an edge has three fields, or four if edges have labels
        first = next((block for _, block in whole_lines(stream, vertices + 1)), b"")
    columns = max(len(first.split(b"\n", 1)[0].split()), 3)
    given: dict = {"first_field": "e", "comments": b"v#", "min_id": 0, "max_id": vertices - 1}
    layout = Layout(columns, (1, 2), skip=1, normalised=True, **given)
    sources, targets, _ = read_columns(source, layout)
    check_count(source, edges, len(sources), 1)
    return Edges(sources, targets, None, vertices)


def read_tntp(source, options) -> Edges:
    """Read a TNTP network; the weight is ``length`` unless another column is named."""
    options.only("TNTP", "weight")
    lines = source.lines()
    end = next((i for i, line in enumerate(lines) if line.startswith(b"<END OF METADATA>")), None)
    if end is None:
        raise source.error("the line '<END OF METADATA>' is missing; is this TNTP?")
    nodes, links = (_tntp_number(source, lines[:end], name) for name in (b"NODES", b"LINKS"))
    skip = next((i + 1 for i, line in enumerate(lines) if i > end and line.startswith(b"~")), end + 1)
    row = next((line for line in lines[skip:] if line.strip() and line[:1] != b"~"), b"1 1")
    count = len(fields_of(row, " ", TNTP_BLANKS))
    if count < 2:
        raise source.error("a link needs its two nodes at least; correct the row below", skip)
    names = [name.strip() for name in re.split(rb"[\t;]", lines[skip - 1].lstrip(b"~ \t"))]
    names = [name.decode("latin-1") for name in names if name][:count]
    weight = _tntp_weight(names, options.weight, source, skip)
    given: dict = {"blanks": TNTP_BLANKS, "comments": b"~", "min_id": 1, "max_id": nodes}
    layout = Layout(count, (0, 1), weight, skip=skip, weights="float64", normalised=True, **given)
    columns = read_columns(source, layout)
    check_count(source, links, len(columns[0]), skip)
    edges = counted_from_one(columns, nodes, directed=True)
    edges.weight_name, edges.is_assumed = None if weight is None else names[weight], options.weight is None
    return edges


def _tntp_number(source, lines, name):
    number = re.search(rb"<NUMBER OF " + name + rb">\s*(\d+)", b"\n".join(lines))
    if not number:
        raise source.error(f"the line '<NUMBER OF {name.decode()}>' is missing; is this TNTP?")
    return count_in(source, number[1].decode())


def _tntp_weight(names, wanted, source, line):
    """Position of the weight."""
    if wanted is False or (wanted is None and "length" not in names):
        return None
    name = "length" if wanted is None else wanted
    if isinstance(name, int) or name not in names:
        raise source.error(f"no column {name!r}; there are {', '.join(names)}", line)
    return names.index(name)


def read_ncol(source, options) -> Edges:
    """Read an undirected graph with names, and weights if the rows have them."""
    options.only("NCOL", *(["ids"] if options.ids == "string" else []))
    fields, lengths = read_fields(source, 0, b"#", "string", _complaint)
    wrong = np.flatnonzero((lengths != 0) & (lengths != 2) & (lengths != 3))
    if len(wrong):
        line = line_of_row(source, 0, b"#", int(wrong[0]))
        problem = f"two names and perhaps a weight expected, but found {lengths[wrong[0]]} fields"
        raise source.error(problem, line)
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    weights = None
    if options.weight is not False and (lengths == 3).any():
        bare = np.flatnonzero(lengths == 2)
        if len(bare):
            line = line_of_row(source, 0, b"#", int(bare[0]))
            problem = (
                f"a row without a weight, of which {np.count_nonzero(lengths == 3):,} other rows have one"
            )
            raise source.error(f"{problem}; fill it in, or pass {argument('weight', False)}", line)
        weights = _ncol_weights(source, fields.take(starts + 2), lengths)
    return Edges(fields.take(starts), fields.take(starts + 1), weights)


def _complaint(line):
    return f"cannot be parsed: {shorten(line)}; correct the line"


def _ncol_weights(source, fields, lengths):
    """Weights of all rows, each the third of three fields."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def check(row):
        if problem := about_number(fields[row].as_py()):
            line = line_of_row(source, 0, b"#", int(np.flatnonzero(lengths)[row]), blank_rows=True)
            raise source.error(f"the weight {problem}, or pass {argument('weight', False)}", line)

    wrong = pc.match_substring_regex(fields, NUMBER_OF_ARROW).index(False).as_py()
    if wrong >= 0:
        check(wrong)
    weights = numpy_array(fields.cast(pa.float64()))
    for row in np.flatnonzero(np.isinf(weights)).tolist():
        check(row)
    return weights


def sibling(source, suffix: str) -> str | None:
    """Path of the file of the same LDBC graph with another suffix, compressed or not."""
    return next((path for end in ("", *SUFFIXES) if os.path.isfile(path := source.stem + suffix + end)), None)


def read_ldbc(source, options) -> Edges:
    """Read an LDBC graph from its two files; vertices without edges are included."""
    options.only("LDBC", "weight")
    vertices, edges = (_ldbc_part(source, suffix) for suffix in (".v", ".e"))
    ids = np.unique(read_columns(vertices, Layout(columns=1, endpoints=(0, 0), normalised=True))[0])
    properties = sibling(source, ".properties")
    facts = b"" if properties is None else Source(properties).head
    stated = re.search(rb"\.directed\s*=\s*(true|false)", facts, re.IGNORECASE)
    directed = stated is not None and stated[1].lower() == b"true"
    sample = look(edges)
    if not sample.rows:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), None, len(ids), directed, ids)
    layout = replace(lay_out(edges, sample, options), ids="int64")
    sources, targets, weights = read_columns(edges, layout)
    sources, targets = (_ldbc_numbers(edges, ids, column) for column in (sources, targets))
    return Edges(sources, targets, weights, len(ids), directed, ids, is_stated=stated is not None)


def _ldbc_part(source, suffix):
    if source.suffix == suffix:
        return source
    path = sibling(source, suffix)
    if path is None:
        raise source.error(f"{source.stem}{suffix} is missing; LDBC graphs have two files, .v and .e")
    return Source(path)


def _ldbc_numbers(edges, ids, column):
    """Vertex numbers of ids."""
    numbers = np.minimum(np.searchsorted(ids, column), max(len(ids) - 1, 0))
    known = ids[numbers] == column if len(ids) else np.zeros(len(column), bool)
    if not known.all():
        stranger = column[int((~known).argmax())]
        raise FileError(edges.path, f"vertex {stranger} is not in the .v file; add it there")
    return numbers
