"""Tables with one edge a row: Parquet, Arrow IPC (Feather), CSV with a row of names, and JSON Lines.

Tables are read by :mod:`edgewise.files.pair_tables`, which numbers ids batch by batch.  A graph that edgewise
wrote (:mod:`edgewise.files.write_tables`) has, in the metadata of the schema, what its edges do not say.
"""

import json
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

import numpy as np

from edgewise.errors import OptionError, argument
from edgewise.files import edgelist
from edgewise.files.contents import MARK, Edges, redirected
from edgewise.files.formats import MAGIC, Options
from edgewise.files.json_lines import is_json_lines
from edgewise.files.layout import are_integers, look
from edgewise.files.pair_tables import batches_ahead, read_pairs, table_of
from edgewise.files.store import is_store
from edgewise.files.streams import Source, reading, styled
from edgewise.files.text import NeedlessZeros
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.default_columns import choose_columns, joined_names
from edgewise.ingest.numerals import about_number, is_foreign, is_number
from edgewise.ingest.pair_columns import PairColumns, check_distinct, numbers_in
from edgewise.ingest.scores import Kept, weight_column

ALLOWED = ("source", "target", "weight", "where", "threshold", "score", "null", "vertices", "vertex_id")
#: Formats of tables, of which several files can be read as one.
TABLES = ("parquet", "arrow", "csv", "tsv", "jsonl", "npy", "npz", "dups")


def read(source, options, parts=None):
    """Read a Parquet or Arrow file, or one of records, or the ``parts`` that it is the first of."""
    options.only("a table", *ALLOWED)
    if source.compression is not None:
        raise source.error(f"is a table inside {source.compression}; decompress it (tables compress inside)")
    with reading(source.path):
        schema = table_of(source).schema
    unweighted, is_one = options.weight is False, len(parts or [source]) == 1 or is_store(parts)
    others = replace(options, format=None, directed=None, progress=None)
    others = replace(others, weight=None) if unweighted else others
    if others == Options() and MARK in (schema.metadata or {}) and is_one:
        edges = _of_edgewise(source, facts_of(source, schema.metadata), parts)
        return replace(edges, weights=None, weight_name=None) if unweighted else edges
    return _pairs(parts or source.path, *_chosen(source, options, schema.names, numbers_in(schema)))


def read_csv(source, options, parts=None):
    """Read a text table; one whose ids are plain integers takes the way of edge lists."""
    options = options.with_ids_as_records()
    sample = look(source)
    if not sample.rows or not edgelist.is_headed(source, sample, options):
        if sample.rows and not (parts or options.names_columns or options.kept != Kept()):
            return edgelist.read(source, options.for_format("el"))
        remedy = f"leave {argument('header')} out or give positions"
        remedy = "add a row with the names" if options.joins_columns else remedy
        raise OptionError(f"columns have names only if there is a header; {remedy}")
    names, rows = sample.rows[0], sample.rows[1:]
    fields = [[row[at] for row in rows if at < len(row)] for at in range(len(names))]
    numeric = partial(_hold_numbers, source, names, fields)
    columns, options = _chosen(source, options, names, numeric)
    check_distinct(*columns[:3])
    positions = [names.index(name) for name in columns[:2] if name in names]
    integers = are_integers([field for at in positions for field in fields[at][:1]])
    if integers and not (parts or options.where or options.ids or len(positions) < 2):
        at = False if columns.weight is None else names.index(columns.weight)
        given = replace(options, source=positions[0], target=positions[1], weight=at, header=True)
        with suppress(NeedlessZeros):
            edges = edgelist.read(source, given)
            edges.weight_name, edges.is_assumed = columns.weight, options.weight is None
            edges.id_columns = columns[:2] if columns.assumed else None
            if edges.sources.dtype != np.uint64:
                return edges
        options = replace(options, ids="string")  # as those of a table that is one of several, or streamed
    options.only("a table", "header", "ids", "sep", "decimal", *ALLOWED)
    return _pairs(parts or styled(source.path, source.style), columns, options)


def _hold_numbers(source, names, fields, position):
    """Whether the first fields of a column of a text table, by its position, are numbers."""
    name, fields = names[position], [field for field in fields[position] if field]
    other = next((field for field in fields if not is_number(field, source.decimal)), None)
    marks = ".", source.decimal
    somehow = all(is_foreign(one) or any(is_number(one, mark) for mark in marks) for one in fields)
    if other is not None and (somehow or name.lower() in ("weight", "weights")):
        problem = f"column {name!r}: {about_number(other, source.decimal)}"
        raise source.error(f"{problem}, or pass {argument('weight', False)}")
    return bool(fields) and other is None


def read_json(source, options, parts=None):
    """Read JSON Lines."""
    options.only("JSON Lines", *ALLOWED)
    if not is_json_lines(source):
        raise source.error('is not JSON Lines; write one object, such as {"from": 1, "to": 2}, per line')
    schema = table_of(source).schema
    path = parts or styled(source.path, source.style)
    return _pairs(path, *_chosen(source, options, schema.names, numbers_in(schema)))


def _pairs(path, columns, options):
    """Read the chosen columns of a table."""
    unweighted = options.weight is None and options.source is None and columns.alone
    wanted = PairColumns._make([*columns[:3], options.where, options.null, unweighted])
    directed = options.directed
    if directed is None and options.source is None:
        directed = _direction(path if isinstance(path, list) else [path])
    graph = read_pairs(path, wanted, options.progress, options.ids, options.vertices)
    graph = redirected(graph, directed)
    graph.weight_name = columns.weight
    graph.assumed_weights = columns.weight if options.weight is None else None
    graph.assumed_columns = columns[:2] if columns.assumed else None
    return graph


def _direction(parts):
    """Whether edgewise wrote all parts from directed graphs; an error if it wrote only some of them so."""
    found: dict = {}
    for part in parts:
        source = Source(part)
        metadata: dict = {}
        if source.head.startswith(tuple(MAGIC)):
            with reading(source.path):
                metadata = table_of(source).schema.metadata or {}
        found.setdefault(MARK in metadata and bool(facts_of(source, metadata)["directed"]), source)
    if len(found) > 1:
        problem = f"holds a directed graph, but {found[False].path} does not"
        choice = f"{argument('directed', True)} or {argument('directed', False)}"
        raise found[True].error(f"{problem}; say what they are together with {choice}")
    return True in found


def _chosen(source, options, names, is_number):
    """The chosen columns (:class:`~edgewise.ingest.default_columns.Columns`), and options for these names.

    The function ``is_number`` tells whether the column at a position holds numbers.
    """
    with reading(source.path):
        weight = weight_column(options.weight, options.score, names)
        columns = choose_columns(names, is_number, options.source, options.target, weight)
        where = options.kept.condition(names)
    for name in columns[:3]:
        if name is not None and name not in names and not joined_names(name, names):
            problem = f"no column {name!r}; there are {', '.join(names)}"
            choice = f"{argument('source')}, {argument('target')} and {argument('weight')}"
            raise source.error(f"{problem}: choose with {choice}")
    return columns, replace(options, where=where, threshold=None, score=None)


def _of_edgewise(source, facts, parts=None) -> Edges:
    """A graph that edgewise wrote, in one file or in the ``parts`` of a store."""
    import pyarrow as pa
    from pyarrow.types import is_integer

    sources = [source] if len(parts or [source]) == 1 else map(Source, parts)
    with reading(source.path):
        table = pa.concat_tables(map(_whole_table, sources))
    columns = table.columns
    if len(columns) not in (2, 3) or any(column.null_count for column in columns):
        raise _damaged(source)
    if facts["numbered"] or all(is_integer(column.type) for column in columns[:2]):
        columns[:2] = map(numpy_array, columns[:2])
    weights = numpy_array(columns[2]) if len(columns) > 2 else None
    vertices = facts["vertices"] if facts["numbered"] else None
    name = table.column_names[2] if len(columns) > 2 else None
    edges = Edges(columns[0], columns[1], weights, vertices, bool(facts["directed"]))
    edges.weight_name, edges.is_assumed = name, False
    return edges


def facts_of(source, metadata) -> dict:
    """What edgewise wrote into the metadata."""
    try:
        facts = json.loads(metadata[MARK])
        facts = {name: int(facts[name]) for name in ("vertices", "directed", "numbered")}
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise _damaged(source) from error
    if facts["vertices"] < 0:
        raise _damaged(source)
    return facts


def _damaged(source):
    choice = f"{argument('source')} and {argument('target')}"
    return source.error(f"the metadata of edgewise are damaged; name the columns with {choice}")


def _whole_table(source):
    import pyarrow as pa

    table = table_of(source)
    with closing(batches_ahead(table, table.schema.names)) as batches:
        return pa.Table.from_batches(batches, table.schema.remove_metadata())
