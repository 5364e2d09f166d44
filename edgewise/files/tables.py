"""Tables with one edge a row: Parquet, Arrow IPC (Feather), and CSV with a row of names.

Tables of others go to the streaming reader of :mod:`edgewise.files.pairs`, which numbers ids as they come.
A graph that edgewise wrote carries what its edges do not say in the metadata of the schema (CSV cannot), so
that isolated vertices and directions come back.
"""

import json
from dataclasses import replace

from edgewise.errors import FileError, OptionError
from edgewise.files import edgelist
from edgewise.files.record import Edges, settings
from edgewise.files.streams import reading

ALLOWED = ("source", "target", "weight", "where", "null")
MARK = b"edgewise"
NAMES = ("source", "target", "weight")
#: Rows in each batch that is written.
BLOCK = 1 << 20


def read_several(path, options):
    """Read a folder, a pattern or a list of tables with the same columns, the first of which tells how."""
    from edgewise.files.pairs import parts_of
    from edgewise.files.sniff import sniff
    from edgewise.files.streams import Source

    parts = parts_of(path)
    first = Source(parts[0])
    kind = sniff(first, options)
    if len(parts) > 1 and kind not in ("parquet", "arrow", "csv"):
        raise FileError(first.path, "of several files each must be a table; join the others into one file")
    found = (read_csv if kind == "csv" else read)(first, options, parts)
    return found.graph(options.directed) if isinstance(found, Edges) else found


def read(source, options, parts=None):
    """Read a Parquet or Arrow file, or the ``parts`` that it is the first of."""
    options.only("a table", *ALLOWED)
    if source.compression is not None:
        raise FileError(
            source.path, f"is a table inside {source.compression}; decompress it (tables compress inside)"
        )
    with reading(source.path):
        schema = _schema(source)
    asked = options.source or options.where or options.weight or options.null != "error"
    if not asked and len(parts or [source]) == 1 and MARK in (schema.metadata or {}):
        return _ours(source, facts_of(source, schema.metadata))
    import pyarrow.types as kinds

    numeric = [kinds.is_integer(field.type) or kinds.is_floating(field.type) for field in schema]
    return _pairs(parts or source.path, source, options, schema.names, numeric)


def read_csv(source, options, parts=None):
    """Read a text table; one of plain integers, or with ``ids=`` given, takes the way of edge lists."""
    sample = edgelist.look(source)
    if not (parts or options.names_columns or options.where) and sample.rows and not _first_names(sample):
        return edgelist.read(source, options)
    if options.header is False:
        raise OptionError("columns have names only if there is a header; leave header= out or give positions")
    names = _header(source)
    if options.ids is not None and not (parts or options.where):
        return edgelist.read(source, _by_position(source, options, names))
    options.only("a table", "header", *ALLOWED)
    row = sample.rows[1] if len(sample.rows) > 1 else []
    return _pairs(parts or source.path, source, options, names, [_is_number(field) for field in row])


def _header(source) -> list[str]:
    """Names of the columns of a text table."""
    import csv

    line = next((line for line in source.lines() if line.strip()), None)
    if line is None:
        raise FileError(source.path, "the row of names is missing; a table needs one")
    mark = next((mark for mark in edgelist.DELIMITERS if mark.encode() in line), " ")
    return [name.strip() for name in next(csv.reader([line.decode("utf-8")], delimiter=mark))]


def _by_position(source, options, names):
    """The options with columns given by position."""
    ends, weight = _chosen(source, options, names)
    weight = False if weight is None else names.index(weight)
    first, second = (names.index(name) for name in ends)
    return replace(options, source=first, target=second, weight=weight, header=True)


def _first_names(sample):
    """Whether the ids of the first row under the header are names."""
    rows = sample.rows[1:2] or sample.rows
    return not all(edgelist.INTEGER.fullmatch(field) for field in rows[0][:2])


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _pairs(path, source, options, names, numeric):
    """Hand the chosen columns to the streaming reader."""
    from edgewise.files.pairs import read_pairs

    ends, weight = _chosen(source, options, names, len(numeric) > 2 and numeric[2])
    return read_pairs(
        path,
        *ends,
        weight=weight,
        where=options.where,
        null=options.null,
        progress=options.progress,
    )


def _chosen(source, options, names, third=False):
    """Names of the ends and of the weight; ``third`` tells whether a third column can be one."""
    ends = ends_of(source, options, names)
    weight = None if options.weight is False else _name(options.weight, names)
    if third and options.weight is None and options.source is None and len(names) == 3:
        weight = names[2]
    for name in (*ends, weight):
        if name is not None and name not in names:
            problem = f"no column {name!r}; there are {', '.join(names)}"
            raise FileError(source.path, f"{problem}: choose with source=, target= and weight=")
    return ends, weight


def ends_of(source, options, names):
    """Names of the columns with the ends: as asked for, or the usual ones, or the first two of a few."""
    if options.source is not None:
        return _name(options.source, names), _name(options.target, names)
    if set(NAMES[:2]) <= set(names):
        return NAMES[:2]
    if len(names) < 2:
        raise FileError(
            source.path, f"only one column ({', '.join(names)}); a table of edges needs two ids in each row"
        )
    if len(names) > 3:
        problem = f"{len(names)} columns: {', '.join(names[:12])}"
        raise FileError(source.path, f"{problem}; choose the ends with source= and target=")
    return names[0], names[1]


def _name(column, names):
    """Name of a column given by name or position."""
    if column is None or column in names or not str(column).isdecimal() or int(column) >= len(names):
        return column
    return names[int(column)]


def _schema(source):
    if source.head.startswith(b"PAR1"):
        import pyarrow.parquet as parquet

        return parquet.read_schema(source.path)
    with source.open() as stream:
        return _arrow_reader(source, stream).schema


def _arrow_reader(source, stream):
    """Reader of an Arrow file, or stream, or Feather file."""
    import pyarrow.ipc as ipc

    return ipc.open_file(stream) if source.head.startswith(b"ARROW1") else ipc.open_stream(stream)


def _ours(source, facts) -> Edges:
    """A graph that edgewise wrote."""
    with reading(source.path):
        table = _whole_table(source)
    columns = [table.column(name) for name in table.column_names]
    if facts["numbered"] or not str(columns[0].type).endswith("string"):
        columns[:2] = [column.to_numpy() for column in columns[:2]]
    weights = columns[2].to_numpy() if len(columns) > 2 else None
    vertices = facts["vertices"] if facts["numbered"] else None
    return Edges(*columns[:2], weights, vertices, bool(facts["directed"]))


def facts_of(source, metadata) -> dict:
    """What edgewise wrote into the metadata."""
    try:
        facts = json.loads(metadata[MARK])
        return {name: int(facts[name]) for name in ("vertices", "directed", "numbered")}
    except (ValueError, KeyError, TypeError) as error:
        problem = "the metadata of edgewise are damaged; name the columns with source= and target="
        raise FileError(source.path, problem) from error


def _whole_table(source):
    if source.head.startswith(b"PAR1"):
        import pyarrow.parquet as parquet

        return parquet.read_table(source.path)
    with source.open() as stream:
        return _arrow_reader(source, stream).read_all()


def edge_table(graph, part):
    """Table of some edges of a graph."""
    import pyarrow as pa

    from edgewise.files.lines import edge_columns

    arrays = edge_columns(graph)(part)
    table = pa.table(dict(zip(NAMES, arrays, strict=False)))
    return table.replace_schema_metadata({MARK: json.dumps(settings(graph)).encode()})


def edge_tables(graph):
    """Tables of the edges of a graph, a block at a time, at least one."""
    for start in range(0, max(graph.n_edges, 1), BLOCK):
        yield edge_table(graph, slice(start, min(start + BLOCK, graph.n_edges)))
