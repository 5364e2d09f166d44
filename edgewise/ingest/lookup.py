"""From external ids back to vertex numbers.

Integers were numbered in ascending order, so a bisection finds each.  Strings are looked up by Arrow.
"""

import numpy as np

from edgewise.errors import GraphError


def vertices_of(graph, ids):
    """Vertex numbers of ``ids`` in ``graph``; see :meth:`edgewise.Graph.vertices_of`."""
    asked = _listed(ids)
    if graph.ids is None:
        return _checked(_integers(asked), graph.n_vertices)
    return _of_integers(graph, asked) if isinstance(graph.ids, np.ndarray) else _of_strings(graph, asked)


def _listed(ids):
    """One id, or several, as a column."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__") or getattr(ids, "ndim", 1) == 0:
        return [ids]
    asked = ids if hasattr(ids, "dtype") or hasattr(ids, "type") else list(ids)
    if getattr(asked, "ndim", 1) > 1 or any(isinstance(one, (list, tuple)) for one in asked[:1]):
        raise GraphError("ids must be one id or a flat list of them; flatten it")
    return asked


def _integers(asked):
    """A column of integers; an id that is none is named."""
    try:
        column = np.asarray(asked)
    except OverflowError:
        column = np.asarray(asked, object)
    if column.dtype.kind in "iu" or not len(column):
        return column.astype(np.int64) if not len(column) else column
    for one in asked:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, (int, np.integer)):
            raise GraphError(f"vertex {one!r} is not in the graph: its ids are integers")
    largest = max(asked, key=abs)
    if -(2**63) <= min(asked) and max(asked) < 2**64:
        return np.array(asked, object)
    raise GraphError(f"vertex {largest} is not in the graph: its ids have 64 bits")


def _checked(column, count):
    wrong = (column < 0) | (column >= count)
    if wrong.any():
        there = f"its vertices are 0 to {count - 1}" if count else "it has no vertices"
        raise GraphError(f"vertex {column[wrong.argmax()]} is not in the graph: {there}")
    return column.astype(np.int64)


def _of_integers(graph, asked):
    """Numbers of integer ids, which are distinct; ascending where edgewise numbered them."""
    known, order = _sorted_ids(graph)
    column, span = _integers(asked), np.iinfo(known.dtype)
    outside = np.array([not span.min <= int(one) <= span.max for one in column], bool)
    column = np.where(outside, 0, column).astype(known.dtype)
    found = np.minimum(np.searchsorted(known, column), max(len(known) - 1, 0))
    wrong = outside | (known[found] != column if len(known) else True)
    if wrong.any():
        raise GraphError(f"vertex {asked[int(wrong.argmax())]} is not in the graph")
    return (found if order is None else order[found]).astype(np.int64)


def _sorted_ids(graph):
    """The ids in ascending order, and their vertices where those are not 0, 1 ...; found once and kept."""
    if "sorted ids" not in graph.kept:
        known = graph.ids
        order = None if bool((known[1:] > known[:-1]).all()) else np.argsort(known, kind="stable")
        graph.kept["sorted ids"] = (known if order is None else known[order]), order
    return graph.kept["sorted ids"]


def _of_strings(graph, asked):
    import pyarrow as pa
    import pyarrow.compute as pc

    known = graph.ids
    try:
        column = pa.array(asked, known.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        wrong = next((one for one in asked if not isinstance(one, str)), asked[0])
        raise GraphError(f"vertex {wrong!r} is not in the graph: its ids are strings") from None
    found = pc.index_in(column, value_set=known)
    if found.null_count:
        wrong = column[pc.is_null(found).to_pylist().index(True)]
        raise GraphError(f"vertex {wrong.as_py()!r} is not in the graph")
    return found.to_numpy(zero_copy_only=False).astype(np.int64)
