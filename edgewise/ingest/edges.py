"""Checking, merging and converting edge lists, rows and matrices, on the device of their arrays."""

import operator

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.index_type import MAX_UINT32, index_type
from edgewise.primitives import pack

WEIGHT_TYPES = ("int32", "int64", "float32", "float64")
#: Arcs hashed at a time, so that the temporary arrays stay in the cache.
BLOCK = 1 << 18


def endpoints(sources, targets, n_vertices):
    """Vertex numbers of the two columns of an edge list, number of vertices, and their ids or ``None``."""
    sources, targets = as_column(sources, "sources"), as_column(targets, "targets")
    if len(sources) != len(targets):
        problem = f"{len(sources)} sources but {len(targets)} targets"
        raise GraphError(f"{problem}; give one of each for every edge")
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
        columns = _numbers(sources, n_vertices, "sources"), _numbers(targets, n_vertices, "targets")
        return columns, n_vertices, None


def _device(column):
    return "cpu" if hasattr(column, "buffers") or hasattr(column, "chunks") else arrays.device_of(column)


def as_column(values, name):
    """An array of integers or strings out of whatever the caller has."""
    if hasattr(values, "__cuda_array_interface__"):
        values = arrays.adopt(values)
    elif hasattr(values, "chunks") or hasattr(values, "buffers"):
        return values if not _is_arrow_integer(values) else np.asarray(values)
    elif not isinstance(values, np.ndarray):
        values = np.from_dlpack(values) if hasattr(values, "__dlpack__") else _of_list(values, name)
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one value for every edge")
    if values.size == 0 and values.dtype == np.float64:
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuUOT":
        raise GraphError(f"{name} has type {values.dtype}; ids are integers or strings")
    return values


def _of_list(values, name):
    """An array of a list or series; mixed types and integers beyond 64 bits are refused."""
    array = np.asarray(values)
    if array.dtype.kind in "US" and not all(isinstance(value, (str, bytes)) for value in values):
        raise GraphError(f"{name} mix strings with other types; convert them to one")
    if array.dtype.kind in "fO" and all(isinstance(value, (int, np.integer)) for value in values):
        try:
            return np.array(values, np.uint64 if len(values) and max(values) > 2**63 - 1 else np.int64)
        except OverflowError:
            raise GraphError(f"{name} do not all fit into 64 bits; give them as strings") from None
    return array


def _is_arrow_integer(values):
    import pyarrow as pa

    return pa.types.is_integer(values.type) and not values.null_count


def _numbers(column, n_vertices, name):
    """Vertex numbers of the right type, once all are checked."""
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
            if getattr(weights, "null_count", 0):
                raise GraphError("a weight is null; fill or drop such edges first")
            weights = np.asarray(weights)
        weights = arrays.contiguous(arrays.move(weights, arrays.device_of(beside)))
        if weights.shape != beside.shape:
            problem = f"weights have shape {weights.shape}; {beside.shape} is needed"
            raise GraphError(f"{problem}, one for each edge")
        if weights.dtype.kind not in "iuf":
            raise GraphError(f"weights have type {weights.dtype}; use integers or floats")
        if weights.dtype.name not in WEIGHT_TYPES:
            if weights.dtype == np.uint64 and len(weights) and int(weights.max()) > np.iinfo(np.int64).max:
                raise GraphError("weights beyond 2**63 - 1 do not fit; use float64")
            floating = np.float32 if weights.itemsize < 4 else np.float64
            weights = weights.astype(floating if weights.dtype.kind == "f" else np.int64)
        return weights


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
        keys = (sources.astype(np.uint64) << np.uint64(32)) | targets
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
        return (keys >> np.uint64(32)).astype(sources.dtype), keys.astype(sources.dtype), weights


def _merge(xp, weights, begins, repeated):
    """One weight for each run of equal edges; ``begins`` marks where runs begin."""
    merged = weights[begins]
    if repeated == "first":
        return merged
    run = xp.cumsum(begins) - 1
    if repeated == "sum":
        merged = xp.zeros(len(merged), np.int64 if weights.dtype.kind == "i" else np.float64)
        xp.add.at(merged, run, weights.astype(merged.dtype))
    else:
        (xp.minimum if repeated == "min" else xp.maximum).at(merged, run, weights)
    return merged


def rows(offsets, neighbours):
    """Offsets and neighbours of the right types, after checking that they are rows."""
    offsets, neighbours = as_column(offsets, "offsets"), as_column(neighbours, "neighbours")
    with arrays.guard(_device(neighbours)):
        integers = all(getattr(a, "dtype", np.dtype(object)).kind in "iu" for a in (offsets, neighbours))
        if not integers or not len(offsets):
            raise GraphError("offsets and neighbours are integer arrays, and offsets has at least one entry")
        offsets = arrays.contiguous(offsets.astype(np.int64, copy=False))
        falling = offsets[1:] < offsets[:-1]
        if len(offsets) > 1 and bool(falling.any()):
            row = int(falling.argmax())
            raise GraphError(f"offsets fall from {int(offsets[row])} to {int(offsets[row + 1])} at row {row}")
        if int(offsets[0]) != 0 or int(offsets[-1]) != len(neighbours):
            run = f"from {int(offsets[0])} to {int(offsets[-1])}"
            raise GraphError(f"offsets run {run}; they must run from 0 to {len(neighbours)}")
        return offsets, _numbers(neighbours, len(offsets) - 1, "neighbours")


def row_numbers(offsets, kind):
    """Row of every entry."""
    if arrays.device_of(offsets) == "cpu":
        return np.repeat(np.arange(len(offsets) - 1, dtype=kind), np.diff(offsets))
    xp, device = arrays.namespace(offsets), arrays.device_of(offsets)
    rows = xp.searchsorted(offsets[1:], xp.arange(int(offsets[-1])), side="right").astype(kind)
    return arrays.move(rows, device)  # under the simulator, NumPy's result has no device


def edges_from_rows(offsets, neighbours, weights, directed):
    """Edge list of rows; of an undirected graph, the entries whose neighbour is not below the row."""
    sources = row_numbers(offsets, neighbours.dtype)
    if directed:
        return sources, neighbours, weights
    return pack(sources <= neighbours, sources, neighbours, weights)


def count_edges(offsets, neighbours):
    """Number of edges of undirected rows, in which an edge has two entries and a self-loop one."""
    n_self_loops = int((row_numbers(offsets, neighbours.dtype) == neighbours).sum())
    return (len(neighbours) + n_self_loops) // 2


def check_symmetric(graph):
    """Raise unless every edge of the undirected ``graph`` is in both rows, with one weight."""
    with arrays.guard(graph.device):
        offsets, neighbours, weights = graph._rows
        sources = row_numbers(offsets, neighbours.dtype)
        there = _sorted_entries(sources, neighbours, weights)
        back = _sorted_entries(neighbours, sources, weights)
        for one, other in zip(there, back, strict=True):
            wrong = one != other
            if bool(wrong.any()):
                entry = int(wrong.argmax())
                pair = f"{int(there[0][entry])} and {int(there[1][entry])}"
                raise GraphError(
                    f"the rows are not symmetric near the entry that joins {pair}; "
                    f"pass {argument('directed', True)}, or both directions with one weight"
                )


def _sorted_entries(sources, targets, weights):
    """Columns of the entries in an order that depends on their values only."""
    xp = arrays.namespace(sources)
    columns = [sources, targets] if weights is None else [sources, targets, weights]
    order = xp.arange(len(sources))
    for column in reversed(columns):
        order = order[xp.argsort(column[order], kind="stable")]
    return [column[order] for column in columns]


def is_symmetric(sources, targets, weights=None) -> bool:
    """Whether each arc (i, j) comes with as many arcs (j, i) of the same weight, without sorting.

    Each arc adds a 64-bit hash of its (smaller endpoint, larger endpoint, weight), positive if its target is
    the larger one, else negative.  The sum of a symmetric list is zero; that of an unsymmetric one is zero
    only by a collision, with probability about 2**-64.
    """
    total = 0
    for start in range(0, len(sources), BLOCK):
        part = slice(start, start + BLOCK)
        total += _signed_sum(sources[part], targets[part], None if weights is None else weights[part])
    return total % 2**64 == 0


def _signed_sum(sources, targets, weights):
    low, high = np.minimum(sources, targets).astype(np.uint64), np.maximum(sources, targets).astype(np.uint64)
    mixed = _mix(_mix(low) + high)
    if weights is not None:
        kind = np.float64 if weights.dtype.kind == "f" else np.int64
        mixed = _mix(mixed + (weights.astype(kind) + kind(0)).view(np.uint64))
    return int(mixed[sources < targets].sum()) - int(mixed[sources > targets].sum())


def _mix(value):
    """Finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def first_unmatched(sources, targets, weights=None) -> tuple[int, int] | None:
    """Endpoints (i, j) of the first arc without a matching arc (j, i) of the same weight."""
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    keys = [high, low] if weights is None else [weights, high, low]
    order = np.lexsort(keys)
    changed = np.zeros(len(order), bool)
    changed[:1] = True
    for key in keys:
        changed[1:] |= key[order][1:] != key[order][:-1]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(changed) - 1
    balance = np.bincount(group, np.sign(targets.astype(np.int64) - sources.astype(np.int64)))
    unmatched = np.flatnonzero(balance[group] != 0)
    return (int(sources[unmatched[0]]), int(targets[unmatched[0]])) if len(unmatched) else None


def from_scipy(graph_class, matrix, directed):
    """Make a graph of a square sparse matrix: see :meth:`edgewise.Graph.from_scipy`."""
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise GraphError(f"a SciPy sparse matrix is needed, not {type(matrix).__name__}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"the matrix has shape {matrix.shape}; an adjacency matrix is square")
    if matrix.dtype.kind == "c":
        raise GraphError("the matrix is complex; take its real part or absolute values")
    entries = matrix.tocoo()
    weights = None if matrix.dtype.kind == "b" else entries.data
    sources, targets = entries.row, entries.col
    symmetric = is_symmetric(sources, targets, entries.data)
    if directed is None:
        directed = not symmetric
    if not directed and symmetric:
        upper = sources <= targets
        sources, targets = sources[upper], targets[upper]
        weights = None if weights is None else weights[upper]
    n_vertices = matrix.shape[0]
    return graph_class.from_edges(sources, targets, weights=weights, n_vertices=n_vertices, directed=directed)
