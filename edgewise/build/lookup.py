"""From external ids back to vertex numbers.

Integers were numbered in ascending order, so a bisection finds each.  Strings are looked up by Arrow.
"""

import numpy as np

from edgewise.errors import GraphError


def vertices_of(graph, ids):
    """Vertex numbers of ``ids`` in ``graph``; see :meth:`edgewise.Graph.vertices_of`."""
    one = isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__") or getattr(ids, "ndim", 1) == 0
    asked = [ids] if one else ids
    if graph.ids is None:
        return _checked(_integers(asked), graph.n_vertices)
    return _of_integers(graph.ids, asked) if isinstance(graph.ids, np.ndarray) else _of_strings(graph, asked)


def _integers(asked):
    column = np.asarray(asked)
    if column.dtype.kind not in "iu" and len(column):
        raise GraphError(f"vertex {asked[0]!r} is not in the graph: its ids are integers")
    return column


def _checked(column, count):
    wrong = (column < 0) | (column >= count)
    if wrong.any():
        raise GraphError(
            f"vertex {column[wrong.argmax()]} is not in the graph: its vertices are 0 to {count - 1}"
        )
    return column.astype(np.int64)


def _of_integers(known, asked):
    """Numbers of integer ids, which are distinct; ascending where edgewise numbered them."""
    column = _integers(asked)
    ascending = bool((known[1:] > known[:-1]).all())
    order = None if ascending else np.argsort(known, kind="stable")
    found = np.searchsorted(known, column, sorter=order)
    found = np.minimum(found, max(len(known) - 1, 0))
    found = found if order is None or not len(known) else order[found]
    wrong = known[found] != column if len(known) else np.ones(len(column), bool)
    if wrong.any():
        raise GraphError(f"vertex {column[wrong.argmax()]} is not in the graph")
    return found.astype(np.int64)


def _of_strings(graph, asked):
    import pyarrow as pa
    import pyarrow.compute as pc

    known = graph.ids
    try:
        column = pa.array(asked, known.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        raise GraphError(f"vertex {asked[0]!r} is not in the graph: its ids are strings") from None
    found = pc.index_in(column, value_set=known)
    if found.null_count:
        wrong = column[pc.is_null(found).to_pylist().index(True)]
        raise GraphError(f"vertex {wrong.as_py()!r} is not in the graph")
    return found.to_numpy(zero_copy_only=False).astype(np.int64)
