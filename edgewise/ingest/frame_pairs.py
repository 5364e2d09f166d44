"""Graphs of tables in memory with one pair per row: data frames, dicts of columns, structured arrays."""

from edgewise.errors import GraphError, OptionError, argument
from edgewise.ingest.arrow import checked, is_text, is_utf8, value_type
from edgewise.ingest.columns import check_one_kind, is_null, kinds_of
from edgewise.ingest.default_columns import choose_columns
from edgewise.ingest.frames import arrow_table, columns_of_objects, kind_of
from edgewise.ingest.id_types import plain_type
from edgewise.ingest.joined_columns import JoinedColumns
from edgewise.ingest.pair_columns import CHOICE, PairColumns, Pairs, numbers_in
from edgewise.ingest.scores import Kept, weight_column


def from_frame(graph_class, frame, directed, given):
    """Make a graph of a table with one edge a row: see :meth:`edgewise.Graph.from_frame`.

    ``given`` is a dict of its other arguments.
    """
    table, records = arrow_table(frame), _records(given.get("vertices"), given.get("vertex_id"))
    try:
        names, ends = table.schema.names, [given.get(name) for name in ("source", "target")]
    except UnicodeDecodeError:
        raise GraphError("the name of a column is not UTF-8 text; rename it") from None
    if (ends[0] is None) != (ends[1] is None):
        raise OptionError(f"{CHOICE} belong together; give both or neither")
    weight, kept = given.get("weight"), Kept(*(given.get(name) for name in Kept._fields))
    chosen = weight_column(weight, kept.score, names)
    columns = choose_columns(names, numbers_in(table.schema), ends[0], ends[1], chosen)
    where = kept.beside(weight).condition(names)
    joined = JoinedColumns(columns[:2], names)
    table = _with_any_ids(table, joined.stored(columns[:2]))
    known = None if records is None else records.known_ids()
    wanted = PairColumns(*columns[:3], where, given.get("null", "error"))
    pairs = Pairs(joined.schema(table.schema), wanted, table.num_rows, known)
    _check_values(frame, pairs, joined)
    needed = table.select(joined.stored(pairs.columns))
    for batch in checked(needed.to_batches()):
        pairs.add(joined.add_to(batch))
    sources, targets, weights, ids, count = pairs.finish()
    graph = graph_class(count, edges=(sources, targets, weights), directed=directed, ids=ids)
    graph.records, graph.frame_kind = records, kind_of(frame)
    graph.left_out = pairs.unknown
    graph.weight_name = columns.weight
    graph.assumed_weights = columns.weight if given.get("weight") is None else None
    graph.assumed_columns = columns[:2] if columns.assumed else None
    return graph


def _with_any_ids(table, names):
    """The table; without rows, its columns of ids hold nulls if their types are none of ids."""
    import pyarrow as pa

    for name in names if not table.num_rows else ():
        at = table.schema.get_field_index(name)
        if at >= 0 and plain_type(table.schema.field(at).type) is None:
            table = table.set_column(at, name, pa.nulls(0))
    return table


def _check_others(kinds, values, name):
    """Raise if there are values of no kind among those of one, which Arrow may convert to these."""
    other = next((one for one in values if kinds_of([one]) == {"others"} and not is_null(one)), None)
    if other is not None:
        raise GraphError(f"{name} holds {other!r} among {min(kinds - {'others'})}; convert them to one")


def _records(given, id_column):
    """The records in a table of vertices, if there is one."""
    from edgewise.ingest.records import Records, records_of_table

    if given is None and id_column is not None:
        raise OptionError(f"{argument('vertex_id')} is a column of {argument('vertices')}; give that too")
    if given is None or isinstance(given, Records):
        return given
    return records_of_table(arrow_table(given), id_column)


def _check_values(frame, pairs, joined):
    """Raise if the columns of ids hold Python values of several kinds, which Arrow may have made equal."""
    untyped = False
    for name in columns_of_objects(frame):
        if str(name) in joined.stored(pairs.id_columns):
            values = list(frame[name])
            check_one_kind(kinds := kinds_of(values), f"column {name!r}")
            if "others" in kinds and len(kinds) > 1:
                _check_others(kinds, values, f"column {name!r}")
            untyped = True
    left, right = pairs.kinds
    if untyped and is_text(left) and is_utf8(value_type(left)) != is_utf8(value_type(right)):
        held = f"column {pairs.id_columns[0]!r} holds {left}, {pairs.id_columns[1]!r} holds {right}"
        raise GraphError(f"{held}; convert one to the other")
