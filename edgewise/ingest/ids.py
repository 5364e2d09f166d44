"""External ids to vertex numbers, and back.

Integers are numbered in ascending order, strings in the order of their first appearance, row by row and
source before target; both are the same on every device and for every number of threads.  Back from an id to
its number, integers take a bisection and strings a look-up by Arrow.
"""

from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.index_type import index_type
from edgewise.ingest.arrow import (
    BATCH_ROWS,
    ColumnNumbers,
    arrow_array,
    is_utf8,
    numpy_array,
    value_type,
)
from edgewise.ingest.columns import (
    check_lengths,
    host_column,
    id_column,
    is_arrow,
    kinds_of,
    unmasked,
)
from edgewise.ingest.id_types import (
    describe,
    is_integer_column,
    is_tuple_type,
    joint_type,
    plain_columns,
    plain_ids,
    restored,
    to_plain,
)
from edgewise.primitives import unique
from edgewise.timer import timer


def number(sources, targets):
    """Number the distinct ids of an edge list: columns of one of the types of ids, without nulls.

    Returns (m,) ``sources`` and ``targets``, uint32 (int64 from 2**32 - 1 vertices on), on the device of the
    ids; the (n,) ids on the host, an int64 or uint64 NumPy array or an Arrow array, or ``None`` where they
    are ``0 .. n - 1`` themselves; and the number of vertices.

    >>> sources, targets, ids, count = number(np.array(["c", "a"]), np.array(["a", "b"]))
    >>> sources.tolist(), targets.tolist(), ids.to_pylist(), count
    ([0, 1], [1, 2], ['c', 'a', 'b'], 3)
    """
    if hasattr(sources, "__cuda_array_interface__") or arrays.device_of(sources, targets) != "cpu":
        return _number_on_device(sources, targets)
    typed = is_arrow(sources) and is_arrow(targets)
    columns = id_column(sources, "sources"), id_column(targets, "targets")
    check_lengths(*columns)
    kind, (sources, targets) = plain_columns(columns, ("sources", "targets"))
    texts = [not isinstance(column, np.ndarray) for column in (sources, targets)]
    if kind is None and (len(sources) or all(texts)):
        _check_both(*("strings" if text else "integers" for text in texts))
        if all(texts) and not typed:
            kinds = (value_type(column.type) for column in (sources, targets))
            _check_both(*("strings" if is_utf8(one) else "bytes" for one in kinds))
    *numbers, ids, count = (number_strings if all(texts) else number_integers)(sources, targets)
    return *numbers, restored(ids, kind, count), count


def _check_both(left, right):
    """Raise unless the two kinds of ids are the same."""
    if left != right:
        raise GraphError(f"sources are {left}, targets are {right}; convert one of them to the other")


def number_integers(sources, targets):
    """Number two NumPy columns of integers in ascending order; see :func:`number`."""
    from edgewise.ingest.integers import number_distinct

    if len(sources) == 0:
        return np.empty(0, np.uint32), np.empty(0, np.uint32), None, 0
    with timer("number ids"):
        columns = map(np.ascontiguousarray, _of_one_sign(_wide(sources), _wide(targets)))
        return _without_plain_ids(*number_distinct(*columns))


def number_strings(sources, targets):
    """Number two Arrow columns of strings or bytes in order of first appearance; see :func:`number`."""
    numbers = ColumnNumbers(sources.type, targets.type, len(sources))
    columns = np.empty(len(sources), np.uint32), np.empty(len(targets), np.uint32)
    done = 0
    with timer("number ids"):
        for left, right in aligned(sources, targets):
            part = slice(done, done + len(left))
            numbers.add(left, right, columns[0][part], columns[1][part])
            done += len(left)
        ids = numbers.ids()
    return *columns, ids, len(ids)


def aligned(left, right):
    """Chunks of two Arrow columns, cut at the same rows and not too long."""
    import pyarrow as pa

    table = pa.table({"left": left, "right": right})
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        yield batch.column(0), batch.column(1)


def _number_on_device(sources, targets):
    """Number integers on their device; the ids are copied to the host."""
    device = arrays.device_of(sources, targets)
    with arrays.guard(device):
        wide = _of_one_sign(_wide(sources), _wide(targets))
        ids, numbers = unique(arrays.namespace(device).concatenate(wide))
        numbers = numbers.astype(index_type(len(ids)))
        ids = arrays.move(ids, "cpu")
    return _without_plain_ids(numbers[: len(sources)], numbers[len(sources) :], ids)


def _without_plain_ids(sources, targets, ids):
    """The numbers, the ids unless they are the numbers themselves, and how many there are."""
    count = len(ids)
    plain = count == 0 or (int(ids[0]) == 0 and int(ids[-1]) == count - 1)
    return sources, targets, None if plain else ids, count


def ids_of_vertices(ids, n_vertices):
    """Distinct external ids of the vertices, as :attr:`Graph.ids` holds them, after a check; or ``None``."""
    if ids is None:
        return None
    kind, (ids,) = plain_columns([host_column(ids, "ids")], ["ids"])
    if len(ids) != n_vertices:
        raise GraphError(f"{len(ids)} ids for {n_vertices} vertices; give one for each")
    if not isinstance(ids, np.ndarray):
        half = len(ids) - len(ids) // 2  # the halves of an odd number overlap
        count = number_strings(ids[:half], ids[len(ids) - half :])[3]
    else:
        ids = _wide(ids)
        count = len(ids) if bool((ids[1:] > ids[:-1]).all()) else len(np.unique(ids))
    if count != n_vertices:
        raise GraphError(f"{n_vertices} vertices have {count} different ids; give each vertex its own")
    return restored(ids, kind, n_vertices)


def weights_of_vertices(weights, n_vertices):
    """Weights of the vertices, (n,) or (n, k), after a check; or ``None``."""
    if weights is None:
        return None
    weights = np.asarray(unmasked(weights, "vertex_weights"))
    if weights.dtype.kind not in "iuf" or weights.ndim not in (1, 2) or len(weights) != n_vertices:
        given = f"vertex_weights have type {weights.dtype} and shape {weights.shape}"
        raise GraphError(f"{given}; give a number, or a row of numbers, for each of {n_vertices} vertices")
    return weights


def _wide(column):
    beyond_int64 = column.dtype.kind == "u" and column.dtype.itemsize == 8  # in either order of bytes
    return column.astype(np.uint64 if beyond_int64 else np.int64, copy=False)


def _of_one_sign(sources, targets):
    """Two columns of 64 bits in one type: int64 if everything fits, else uint64."""
    if sources.dtype == targets.dtype:
        return sources, targets
    columns = sources, targets
    for kind in (np.int64, np.uint64):
        limits = np.iinfo(kind)
        if all(len(c) == 0 or (limits.min <= int(c.min()) and int(c.max()) <= limits.max) for c in columns):
            return tuple(column.astype(kind, copy=False) for column in columns)
    raise GraphError("ids run from below 0 to beyond 2**63 - 1; no integer type holds both, so give strings")


def vertices_of(graph, ids):
    """Vertex numbers of ``ids`` in ``graph``; see :meth:`edgewise.Graph.vertices_of`."""
    wanted = _as_column(ids, has_tuples(graph))
    if isinstance(wanted, list) and "booleans" in kinds_of(wanted):
        wrong = next(one for one in wanted if isinstance(one, (bool, np.bool_)))
        raise GraphError(f"vertex {wrong!r} is not in the graph: ids are integers or strings")
    if graph.ids is None:
        return _checked(_integers(wanted), graph.n_vertices)
    known, plain = graph.cached("plain ids", lambda: plain_ids(graph.ids)), wanted
    if known is not graph.ids:
        plain = _made_plain(graph.ids.type, wanted)
    found = (_of_integers if isinstance(known, np.ndarray) else _of_strings)(graph, known, plain)
    if (found < 0).any():
        raise GraphError(f"vertex {_shown(wanted[int((found < 0).argmax())])!r} is not in the graph")
    return found


def is_one_id(graph, ids) -> bool:
    """Whether a value is one id of a graph, and not several."""
    if isinstance(ids, tuple) and has_tuples(graph):
        return is_one_tuple(ids)
    return _is_single(ids)


def _is_single(ids):
    """Whether a value is no collection."""
    return isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__") or getattr(ids, "ndim", 1) == 0


def is_one_tuple(ids) -> bool:
    """Whether a tuple is an id, and not several of them."""
    return not all(isinstance(one, tuple) for one in ids)


def has_tuples(graph) -> bool:
    """Whether the ids of a graph are tuples."""
    return is_tuple_type(getattr(graph.ids, "type", None))


def _as_column(ids, are_tuples):
    """One id, or several, as a column."""
    if _is_single(ids) or (are_tuples and isinstance(ids, tuple) and is_one_tuple(ids)):
        return [ids]
    wanted = ids if hasattr(ids, "dtype") or hasattr(ids, "type") else list(ids)
    nested = list if are_tuples else (list, tuple)
    if getattr(wanted, "ndim", 1) > 1 or any(isinstance(one, nested) for one in wanted[:1]):
        raise GraphError("ids must be one id or a flat list of them; flatten it")
    return wanted


def _made_plain(kind, wanted):
    """A column as ids of an Arrow type are numbered."""
    try:
        column = arrow_array(host_column(wanted, "ids"))
        if len(column):
            joint_type(column.type, kind)
        plain = to_plain(column, kind, "ids")
    except (GraphError, ValueError):
        problem = (
            f"vertex {_shown(wanted[0])!r} is not in the graph"
            if len(wanted) == 1
            else "ids are not in the graph"
        )
        raise GraphError(f"{problem}: its ids are of type {describe(kind)}") from None
    return numpy_array(plain) if is_integer_column(plain) else plain


def _shown(value):
    """A value of NumPy or Arrow as one of Python, for a message."""
    return value.as_py() if hasattr(value, "as_py") else value.item() if hasattr(value, "dtype") else value


def _integers(wanted):
    """A column of integers, of Python's beyond int64; the error names an id that is none."""
    try:
        column = np.asarray(wanted)
    except OverflowError:
        column = np.asarray(wanted, object)
    if not len(column):
        return column.astype(np.int64)
    if column.dtype.kind in "iu":
        return column
    for one in wanted:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, (int, np.integer)):
            raise GraphError(f"vertex {one!r} is not in the graph: its ids are integers")
    if min(wanted) < -(2**63) or max(wanted) >= 2**64:
        raise GraphError(f"vertex {max(wanted, key=abs)} is not in the graph: its ids have 64 bits")
    return np.array(wanted, object)


def _checked(column, count):
    wrong = (column < 0) | (column >= count)
    if wrong.any():
        there = f"its vertices are 0 to {count - 1}" if count else "it has no vertices"
        raise GraphError(f"vertex {column[wrong.argmax()]} is not in the graph: {there}")
    return column.astype(np.int64)


def _of_integers(graph, known, wanted):
    """Numbers of integer ids, which are distinct; ascending where edgewise numbered them; -1 if unknown."""
    known, order = graph.cached("sorted ids", lambda: _sorted_ids(known))
    column, span = _integers(wanted), np.iinfo(known.dtype)
    if not len(known):
        return np.full(len(column), -1, np.int64)
    outside = ((column < span.min) | (column > span.max)).astype(bool)
    column = np.where(outside, 0, column).astype(known.dtype)
    positions = np.minimum(np.searchsorted(known, column), len(known) - 1)
    found = positions if order is None else order[positions]
    return np.where(outside | (known[positions] != column), -1, found).astype(np.int64)


def _sorted_ids(known):
    """The ids in ascending order, and their vertices where those are not 0, 1 ..."""
    order = None if bool((known[1:] > known[:-1]).all()) else np.argsort(known, kind="stable")
    return known if order is None else known[order], order


def _of_strings(graph, known, wanted):
    """Numbers of strings or bytes; -1 if unknown."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        column = _strings_of(wanted, known.type)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        wrong = next((one for one in wanted if not isinstance(one, str)), wanted[0])
        raise GraphError(f"vertex {wrong!r} is not in the graph: its ids are strings") from None
    found = pc.index_in(column, value_set=known)
    vertices = np.full(len(found), -1, np.int64)  # ``fill_null`` and ``to_numpy`` would import pandas
    vertices[numpy_array(found.is_valid().cast("uint8")).view(bool)] = numpy_array(found.drop_null())
    return vertices


def _strings_of(wanted, kind):
    """A column as an Arrow array; a list of strings by its bytes, since ``pyarrow.array`` imports pandas."""
    import pyarrow as pa

    width: Any = {pa.string(): np.int32, pa.large_string(): np.int64}.get(kind)
    if width is None or not isinstance(wanted, list) or not all(type(one) is str for one in wanted):
        return pa.array(wanted, kind)
    texts = [one.encode() for one in wanted]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    if offsets[-1] > np.iinfo(width).max:
        return pa.array(wanted, kind)
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(kind, len(texts), buffers)
