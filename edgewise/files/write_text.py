"""Writing columns of numbers or names as text, block by block, with pyarrow's formatter."""

import numpy as np

from edgewise.errors import FileError
from edgewise.ingest.arrow import arrow_array

#: Rows formatted at a time.
BLOCK = 1 << 20
#: Names that an edge list cannot hold: the empty one, and those that look like comments or several fields.
UNFIT = r"^$|^[#%]|[\x00-\x20\x7f\",;|]"
#: The same for tables in text.
UNFIT_IN_TABLES = r"^$|^[ \t]|[ \t]$"


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

    if ids is None or isinstance(ids, np.ndarray):
        return
    try:
        names = ids.cast(pa.large_string())
    except pa.ArrowInvalid:
        raise stream.error("has ids that are not UTF-8, which text cannot hold; write .parquet") from None
    first = pc.match_substring_regex(names, UNFIT_IN_TABLES if in_table else UNFIT).index(True).as_py()
    if first >= 0:
        name = names[first].as_py()
        if in_table:
            problem = f"the id {name!r:.60} is empty or has blanks around it, which text does not keep"
            raise stream.error(f"{problem}; write .parquet")
        problem = f"the id {name!r:.60} would not be read again from an edge list"
        reason = "ids are not empty, begin with neither # nor %, and hold no blanks, quotes, commas, ; or |"
        holding = ".csv or .parquet" if name and "\0" not in name and name == name.strip() else ".parquet"
        raise stream.error(f"{problem} ({reason}); write {holding}")


def formatted(table, delimiter: str):
    """Text of a table without its row of names; strings are in quotes only if one of them needs it."""
    import pyarrow as pa
    import pyarrow.csv as csv

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


def integer_weights(path, weights, what: str):
    """Weights as int64, for formats without fractions."""
    if weights is None:
        return None
    if weights.dtype.kind == "f" and not (np.mod(weights, 1) == 0).all():
        remedy = "scale the weights or write .mtx, .txt or .parquet"
        raise FileError(path, f"{what} has whole weights only; {remedy}")
    return weights.astype(np.int64)


def settings(graph) -> dict:
    """What an edge list alone does not say, to be stored beside it."""
    return {"vertices": graph.n_vertices, "directed": int(graph.directed), "numbered": int(graph.ids is None)}
