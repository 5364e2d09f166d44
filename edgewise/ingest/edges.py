"""Checking, merging and converting edge lists, rows and matrices, on the device of their arrays."""

import operator

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument, one_of
from edgewise.index_type import MAX_UINT32, index_type
from edgewise.ingest.columns import (
    as_array,
    as_column,
    check_lengths,
    check_no_nulls,
    is_arrow,
    of_arrow,
    unmasked,
)
from edgewise.primitives import count, pack
from edgewise.primitives.rows import row_numbers

WEIGHT_TYPES = ("int32", "int64", "float32", "float64")
#: What 64 bits hold of the sum of whole weights, with room for the rounding of float64.
SUMS = 2**63 - 2**12
#: What may be done with self-loops.
SELF_LOOPS = ("keep", "drop")
#: What may be done with repeated edges.
REPEATED = ("keep", "first", "sum", "min", "max")


def two_columns(edges):
    """Sources and targets of edges of shape (m, 2) or (2, m), on their device; or of a list of pairs."""
    if isinstance(edges, list | tuple) and edges and all(isinstance(pair, tuple) for pair in edges):
        return _of_pairs(edges)
    if hasattr(edges, "__cuda_array_interface__"):
        edges = arrays.adopt(edges)
    elif not isinstance(edges, np.ndarray):
        edges = np.from_dlpack(edges) if hasattr(edges, "__dlpack__") else as_array(edges, "edges")
    shape = edges.shape
    if len(shape) != 2 or 2 not in shape:
        if shape == (0,):
            return edges, edges
        problem = f"edges have shape {shape}; two columns (m, 2) or two rows (2, m) are needed"
        raise GraphError(f"{problem}, or {argument('targets')}")
    if shape == (2, 2):
        problem = "edges of shape (2, 2) are two columns or two rows"
        raise GraphError(f"{problem}; give the two as {argument('sources')} and {argument('targets')}")
    return (edges[0], edges[1]) if shape[0] == 2 else (edges[:, 0], edges[:, 1])


def _of_pairs(pairs):
    wrong = next((position for position, pair in enumerate(pairs) if len(pair) != 2), None)
    if wrong is not None:
        problem = f"edge {wrong} is {pairs[wrong]!r}, not a pair of ids"
        raise GraphError(f"{problem}; give weights as {argument('weights')}, in a list of their own")
    return [source for source, _ in pairs], [target for _, target in pairs]


def endpoints(sources, targets, n_vertices):
    """Vertex numbers of the two columns of an edge list, number of vertices, and their ids or ``None``."""
    sources, targets = as_column(sources, "sources"), as_column(targets, "targets")
    check_lengths(sources, targets)
    with arrays.guard(_device(sources)):
        if n_vertices is None:
            from edgewise.ingest import ids

            sources, targets, names, count = ids.number(sources, targets)
            return (sources, targets), count, names
        try:
            n_vertices = operator.index(n_vertices)
        except TypeError:
            raise OptionError(f"{argument('n_vertices', n_vertices)} must be a whole number") from None
        if n_vertices < 0:
            raise GraphError(f"{argument('n_vertices', n_vertices)} is negative")
        columns = numbers(sources, n_vertices, "sources"), numbers(targets, n_vertices, "targets")
        return columns, n_vertices, None


def endpoints_among(known, sources, targets):
    """The same for endpoints among :class:`~edgewise.ingest.known_ids.KnownIds`."""
    from edgewise.ingest.arrow import arrow_array
    from edgewise.ingest.columns import host_column

    device = _device(as_column(sources, "sources"))
    ends = (sources, "sources"), (targets, "targets")
    columns = [known.plain(arrow_array(host_column(values, name)), name) for values, name in ends]
    check_lengths(*columns)
    numbers = tuple(np.empty(len(column), np.uint32) for column in columns)
    known.number(columns, numbers)
    names, count = known.finish(*numbers)
    return tuple(arrays.move(column, device) for column in numbers), count, names


def ids_given(ids, n_vertices):
    """The ids of all vertices, as the caller gives them, as ids known beforehand."""
    from edgewise.ingest.arrow import arrow_array
    from edgewise.ingest.columns import host_column
    from edgewise.ingest.known_ids import known_ids

    if n_vertices is not None:
        raise OptionError(f"{argument('n_vertices')} and {argument('ids')} both count the vertices; give one")
    given = arrow_array(host_column(ids, "ids"))
    known = known_ids(given.type, "ids")
    known.extend(given)
    return known


def _device(column):
    return "cpu" if is_arrow(column) else arrays.device_of(column)


def numbers(column, n_vertices, name):
    """Vertex numbers of the right type, once all are checked."""
    if is_arrow(column):
        check_no_nulls(column, name)
    if getattr(column, "dtype", np.dtype(object)).kind not in "iu":
        problem = f"{name} are not integers, yet {argument('n_vertices')} is given"
        raise GraphError(f"{problem}; leave it out for external ids")
    if len(column):
        least, most = int(column.min()), int(column.max())
        if least < 0 or most >= n_vertices:
            bad = int((column < 0).argmax() if least < 0 else (column >= n_vertices).argmax())
            span = f"0 to {n_vertices - 1}"
            raise GraphError(f"{name}[{bad}] is {int(column[bad])}; vertex numbers run from {span}")
    return arrays.contiguous(column.astype(index_type(n_vertices), copy=False))


def weights_like(weights, beside):
    """Weights as an array beside ``beside``, or ``None``."""
    if weights is None:
        return None
    with arrays.guard(arrays.device_of(beside)):
        if hasattr(weights, "__cuda_array_interface__"):
            weights = arrays.adopt(weights)
        elif not isinstance(weights, np.ndarray):
            if is_arrow(weights):
                weights = of_arrow(weights, "weights")
                if getattr(weights, "null_count", 0):
                    raise GraphError("a weight is null; fill or drop such edges first")
            weights = as_array(weights, "weights")
        weights = unmasked(weights, "weights")
        weights = arrays.contiguous(arrays.move(weights, arrays.device_of(beside)))
        if weights.shape != beside.shape:
            problem = f"weights have shape {weights.shape}; {beside.shape} is needed"
            raise GraphError(f"{problem}, one for each edge")
        if weights.dtype.kind not in "iuf":
            raise GraphError(f"weights have type {weights.dtype}; use integers or floats")
        if not weights.dtype.isnative:
            weights = weights.astype(weights.dtype.newbyteorder("="))
        if weights.dtype.name not in WEIGHT_TYPES:
            if weights.dtype == np.uint64 and len(weights) and int(weights.max()) > np.iinfo(np.int64).max:
                raise GraphError("weights beyond 2**63 - 1 do not fit; use float64")
            floating = np.float32 if weights.itemsize < 4 else np.float64
            weights = weights.astype(floating if weights.dtype.kind == "f" else np.int64)
        return weights


def check_choices(self_loops, repeated):
    """Refuse what is no choice of :func:`simplify`."""
    for name, choice, known in (("self_loops", self_loops, SELF_LOOPS), ("repeated", repeated, REPEATED)):
        if choice not in known:
            raise OptionError(f"{argument(name, choice)} is unknown; {one_of(choice, known)}")


def simplify(edges, count, directed, self_loops, repeated):
    """Drop self-loops and merge repeated edges; ``edges`` is (sources, targets, weights)."""
    sources, targets, weights = edges
    with arrays.guard(arrays.device_of(sources)):
        if self_loops == "drop":
            sources, targets, weights = pack(sources != targets, sources, targets, weights)
        if repeated == "keep":
            return sources, targets, weights
        if count > MAX_UINT32:
            raise OptionError(f"merging repeated edges needs fewer than {MAX_UINT32 + 1} vertices")
        xp = arrays.namespace(sources)
        if not directed:
            sources, targets = xp.minimum(sources, targets), xp.maximum(sources, targets)
        # an operator with a number makes CuPy import SciPy
        keys = xp.left_shift(sources.astype(np.uint64), np.uint64(32)) | targets
        if weights is None:
            keys.sort()
        else:
            order = xp.argsort(keys, kind="stable")
            keys, weights = keys[order], weights[order]
        begins = arrays.full(len(keys), True, np.bool_, arrays.device_of(sources))
        begins[1:] = keys[1:] != keys[:-1]
        if weights is not None:
            weights = _merge(xp, weights, begins, repeated)
        keys = keys[begins]
        return xp.right_shift(keys, np.uint64(32)).astype(sources.dtype), keys.astype(sources.dtype), weights


def _merge(xp, weights, begins, repeated):
    """One weight for each run of equal edges; ``begins`` marks where runs begin."""
    merged = weights[begins]
    if repeated == "first":
        return merged
    run = xp.cumsum(begins) - 1
    if repeated == "sum":
        _check_sums(xp, weights, run)
        merged = xp.zeros(len(merged), np.int64 if weights.dtype.kind == "i" else np.float64)
        xp.add.at(merged, run, weights.astype(merged.dtype))
    else:
        (xp.minimum if repeated == "min" else xp.maximum).at(merged, run, weights)
    return merged


def _check_sums(xp, weights, run):
    """Raise if a sum of whole weights may not fit into 64 bits; ``run`` is the number of the edge of each."""
    if weights.dtype.kind != "i" or not len(weights):
        return
    largest = max(abs(int(weights.min())), abs(int(weights.max())))
    if largest * int(xp.bincount(run).max()) < SUMS:
        return
    sums = xp.zeros(int(run[-1]) + 1, np.float64)
    xp.add.at(sums, run, xp.abs(weights.astype(np.float64)))
    if float(sums.max()) >= SUMS:
        remedy = f"convert them to float64, or choose another {argument('repeated')}"
        raise GraphError(f"the weights of repeated edges may add up to more than 64 bits hold; {remedy}")


def rows(offsets, neighbours):
    """Offsets and neighbours of the right types, after checking that they are rows."""
    offsets, neighbours = as_column(offsets, "offsets"), as_column(neighbours, "neighbours")
    with arrays.guard(_device(neighbours)):
        integers = all(getattr(a, "dtype", np.dtype(object)).kind in "iu" for a in (offsets, neighbours))
        if not integers or not len(offsets):
            raise GraphError("offsets and neighbours are integer arrays, and offsets has at least one entry")
        offsets = arrays.contiguous(offsets.astype(np.int64, copy=False))
        falling = offsets[1:] < offsets[:-1]
        if len(offsets) > 1 and count(falling):
            row = int(falling.argmax())
            raise GraphError(f"offsets fall from {int(offsets[row])} to {int(offsets[row + 1])} at row {row}")
        if int(offsets[0]) != 0 or int(offsets[-1]) != len(neighbours):
            run = f"from {int(offsets[0])} to {int(offsets[-1])}"
            raise GraphError(f"offsets run {run}; they must run from 0 to {len(neighbours)}")
        return offsets, numbers(neighbours, len(offsets) - 1, "neighbours")


def edges_from_rows(offsets, neighbours, weights, directed):
    """Edge list of rows; of an undirected graph, the entries whose neighbour is not below the row."""
    sources = row_numbers(offsets, neighbours.dtype)
    if directed:
        return sources, neighbours, weights
    return pack(sources <= neighbours, sources, neighbours, weights)


def bytes_to_make_edges(size, directed) -> int:
    """Bytes at the peak of :func:`edges_from_rows`, for a :class:`~edgewise.needs.Size`."""
    rows = size.width * size.entries
    return rows + max(12 * size.vertices, 0 if directed else size.entries + bytes_of_edges(size, directed))


def bytes_of_edges(size, directed) -> int:
    """Bytes of the edge list with its weights, of which a directed graph has the sources only."""
    return size.edges * (size.width if directed else 2 * size.width + size.weight)


def count_edges(offsets, neighbours):
    """Number of edges of undirected rows, in which an edge has two entries and a self-loop one."""
    n_self_loops = count(row_numbers(offsets, neighbours.dtype) == neighbours)
    return (len(neighbours) + n_self_loops) // 2
