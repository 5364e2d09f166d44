"""External ids to vertex numbers.

Integers are numbered in ascending order, strings in the order of their first appearance, row by row and
source before target; both are the same on every device and for every number of threads.
"""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.index_type import index_type
from edgewise.ingest.arrow import BATCH_ROWS, ColumnNumbers, is_text, value_type, with_plain_nulls
from edgewise.primitives import unique
from edgewise.timer import timer


def number(sources, targets):
    """Number the distinct ids of an edge list.

    Parameters
    ----------
    sources, targets : (m,) arrays
        Integers (NumPy, CuPy, Arrow) or strings (NumPy, Arrow, a dictionary of them), without nulls.

    Returns
    -------
    sources, targets : (m,) arrays
        Vertex numbers, uint32 (int64 from 2**32 - 1 vertices on), where the ids are.
    ids : (n,) array or None
        Id of each vertex, on the host: int64 or uint64 NumPy array or Arrow string array; ``None`` where the
        ids are ``0 .. n - 1`` themselves.
    n_vertices : int

    Raises
    ------
    GraphError
        Integers beside strings, a type that is no id, a null.

    Examples
    --------
    >>> from edgewise.ingest.ids import number
    >>> sources, targets, ids, count = number(np.array(["c", "a"]), np.array(["a", "b"]))
    >>> sources.tolist(), targets.tolist(), ids.to_pylist(), count
    ([0, 1], [1, 2], ['c', 'a', 'b'], 3)
    """
    if hasattr(sources, "__cuda_array_interface__") or arrays.device_of(sources, targets) != "cpu":
        return _number_on_device(sources, targets)
    sources, targets = _column(sources, "sources"), _column(targets, "targets")
    texts = [not isinstance(column, np.ndarray) for column in (sources, targets)]
    if not len(sources) and not len(targets) and not all(texts):
        return number_integers(sources, targets)
    if texts[0] != texts[1]:
        kinds = ["strings" if text else "integers" for text in texts]
        raise GraphError(f"sources are {kinds[0]}, targets are {kinds[1]}; convert one of them to the other")
    if len(sources) != len(targets):
        raise GraphError(
            f"{len(sources)} sources but {len(targets)} targets; give one of each for every edge"
        )
    return number_strings(sources, targets) if texts[0] else number_integers(sources, targets)


def number_integers(sources, targets):
    """Number integer ids in ascending order; see :func:`number`.

    Parameters
    ----------
    sources, targets : (m,) integer NumPy arrays
    """
    from edgewise.ingest.integers import number_distinct

    if len(sources) == 0:
        return np.empty(0, np.uint32), np.empty(0, np.uint32), None, 0
    with timer("number ids"):
        return _without_plain_ids(*number_distinct(*_alike(sources, targets)))


def number_strings(sources, targets):
    """Number string ids in order of first appearance; see :func:`number`.

    Parameters
    ----------
    sources, targets : (m,) pyarrow Array or ChunkedArray of strings or bytes, without nulls
    """
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
    """Number integers where they lie; the ids come to the host."""
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


def _column(values, name):
    """A NumPy array of integers, or an Arrow array of strings, out of a column of ids."""
    import pyarrow as pa

    if isinstance(values, np.ndarray) and values.dtype.kind not in "iu":
        values = _arrow(values, name)
    if isinstance(values, np.ndarray):
        return values
    values = with_plain_nulls(values)
    if values.null_count:
        null = values.is_null().index(True).as_py()
        raise GraphError(f"{name}[{null}] is null; drop such edges first")
    if is_text(values.type):
        return values
    if pa.types.is_null(value_type(values.type)):
        return pa.array([], pa.string())
    if pa.types.is_dictionary(values.type):
        return _column(values.cast(values.type.value_type), name)
    if pa.types.is_integer(values.type):
        return np.asarray(values)
    raise GraphError(f"{name} hold {values.type}; ids are integers or strings, so convert them")


def _arrow(values, name):
    """Arrow array of a NumPy array of strings or of Python objects."""
    import pyarrow as pa

    try:
        return pa.array(values.astype(object) if values.dtype.kind == "T" else values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        problem = f"{name} cannot be ids ({' '.join(str(error).split())})"
        raise GraphError(f"{problem}; give integers only or strings only") from error


def _alike(sources, targets):
    """Both columns as int64, or as uint64."""
    return tuple(np.ascontiguousarray(column) for column in _of_one_sign(_wide(sources), _wide(targets)))


def _wide(column):
    return column.astype(np.uint64 if column.dtype == np.uint64 else np.int64, copy=False)


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
