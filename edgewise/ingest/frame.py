"""Tables in memory to graphs."""

from edgewise.errors import GraphError
from edgewise.ingest.pairs import Pairs


def from_frame(graph_class, frame, source, target, weight, where, null, directed):
    """Make a graph of a table with one edge a row: see :meth:`edgewise.Graph.from_frame`."""
    table = _table(frame)
    pairs = Pairs(table.schema, source, target, weight, where, null, expected=table.num_rows)
    needed = table.select(pairs.columns)
    for batch in needed.to_batches():
        pairs.add(batch)
    sources, targets, weights, ids, count = pairs.finish()
    return graph_class(count, edges=(sources, targets, weights), directed=directed, ids=ids)


def _table(frame):
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, dict):
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
            raise GraphError(f"the table cannot be read as Arrow: {str(error).splitlines()[0]}") from None
    kind = type(frame).__name__
    hint = "call .collect() first" if kind == "LazyFrame" else "pandas, polars and Arrow tables do"
    raise GraphError(f"{kind} is no table: it needs __arrow_c_stream__ or to be a dict of columns; {hint}")
