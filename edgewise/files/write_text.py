"""Writing columns of numbers or names as text, block by block, with pyarrow's formatter."""

import numpy as np

from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.id_types import as_text, is_plain

#: Rows formatted at a time.
BLOCK = 1 << 20
#: Names that an edge list cannot hold: the empty one, and those that look like comments or several fields.
UNFIT = r"^$|^[#%\x{FEFF}]|[\x00-\x20\x7f\",;|]"
#: The same for tables in text.
UNFIT_IN_TABLES = r"^$|^[ \t\x{FEFF}]|[ \t]$|\x00"


def write_columns(stream, count, columns, delimiter: str) -> None:
    """Write ``count`` rows of columns; ``columns`` takes a slice and returns the arrays of those rows."""
    import pyarrow as pa

    for start in range(0, count, BLOCK):
        arrays = columns(slice(start, min(start + BLOCK, count)))
        table = pa.table({str(i): arrow_array(array) for i, array in enumerate(arrays)})
        stream.write(formatted(table, delimiter))


def check_names(stream, ids, in_table=False) -> None:
    """Refuse ids that would not be read again from an edge list, or from a table in text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if ids is None or isinstance(ids, np.ndarray) or (in_table and not is_plain(ids.type)):
        return
    try:
        names = as_text(ids).cast(pa.large_string())
    except pa.ArrowInvalid:
        raise stream.error("has ids that are not UTF-8, which text cannot hold; write .parquet") from None
    first = pc.match_substring_regex(names, UNFIT_IN_TABLES if in_table else UNFIT).index(True).as_py()
    if first >= 0:
        name = names[first].as_py()
        if in_table:
            why = "is empty, has blanks around it, or a byte of zero or a byte order mark in it"
            problem = f"the id {name!r:.60} {why}, which text does not keep"
            raise stream.error(f"{problem}; write .parquet")
        problem = f"the id {name!r:.60} would not be read again from an edge list"
        reason = "ids are not empty, begin with neither # nor %, and hold no blanks, quotes, commas, ; or |"
        holding = ".csv or .parquet" if name and "\0" not in name and name == name.strip() else ".parquet"
        raise stream.error(f"{problem} ({reason}); write {holding}")


def formatted(table, delimiter: str):
    """Text of a table without its row of names; strings are in quotes only if one of them needs it."""
    import pyarrow as pa
    import pyarrow.csv as csv

    table = pa.table([as_text(column) for column in table.columns], table.column_names)
    batches = [batch for batch in table.to_batches() if batch.num_rows]  # empty ones repeat text
    table = pa.Table.from_batches(batches, table.schema)

    def in_style(quoting):
        sink = pa.BufferOutputStream()
        options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoting)
        csv.write_csv(table, sink, options)
        return sink.getvalue()

    try:
        return in_style("none")
    except pa.ArrowInvalid:
        return in_style("needed")


def edge_columns(graph):
    """Function of a slice of edges that returns the ids of both endpoints, and the weights if there are."""

    def make(part):
        ids = [graph.ids_of(graph.sources[part]), graph.ids_of(graph.targets[part])]
        return ids if graph.weights is None else [*ids, graph.weights[part]]

    return make


def numbers_from_one(vertices) -> np.ndarray:
    """Vertex numbers counted from one."""
    return vertices.astype(np.int64) + 1


def edges_with_integers(graph, stream, what: str, **limits):
    """Weights of the edges of a graph as integers, or ``None``; see :func:`as_integers`."""

    def name(edge):
        return edge_named(graph, graph.sources[edge], graph.targets[edge])

    return as_integers(stream, graph.weights, what, name, **limits)


def rows_with_integers(graph, stream, what: str, **limits):
    """Weights of the CSR entries of a graph as integers, or ``None``; see :func:`as_integers`."""

    def name(entry):
        row = np.searchsorted(graph.offsets, entry, "right") - 1
        return edge_named(graph, row, graph.neighbours[entry])

    return as_integers(stream, graph.csr_weights, what, name, **limits)


def edge_named(graph, source, target) -> str:
    """An edge in the words of a message."""
    first, second = graph.ids_of(np.array([source, target])).tolist()
    return f"the edge from {first!r} to {second!r}"


def as_integers(stream, weights, what: str, name, *, dtype=np.int64, least=None):
    """Weights as integers, for formats without fractions, checked before anything is written.

    Parameters
    ----------
    stream : Sink
    weights : array or None
        Of one or two dimensions.
    what : str
        The format.
    name : function
        Returns the words for the edge, or vertex, at a position.
    dtype : type
        Type of the integers in the format.
    least : int, optional
        The least weight of the format, if that is not the least of ``dtype``.
    """
    if weights is None:
        return None
    most = np.iinfo(dtype).max
    least = np.iinfo(dtype).min if least is None else least
    if weights.dtype.kind == "f":  # the largest integer itself is no float
        fits = (weights == np.floor(weights)) & (weights >= least) & (weights < float(most + 1))
    else:
        fits = (weights >= least) & (weights <= most)
    if not fits.all():
        wrong = np.unravel_index(int(fits.argmin()), fits.shape)
        problem = f"{what} has whole weights from {least} to {most} only"
        found = f"that of {name(int(wrong[0]))} is {weights[wrong].item()!r}"
        raise stream.error(f"{problem}, and {found}; scale the weights, or write .mtx, .txt or .parquet")
    return weights.astype(dtype, copy=False)


def settings(graph) -> dict:
    """What an edge list alone does not say, to be stored beside it."""
    return {"vertices": graph.n_vertices, "directed": int(graph.directed), "numbered": int(graph.ids is None)}
