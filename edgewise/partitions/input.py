"""What a graph brings to a partition: weights and parts that are checked, and rows without self-loops."""

import numpy as np

from edgewise.device import arrays, device, each, each_row, fetch_add, fetch_min, store
from edgewise.errors import GraphError, OptionError, argument
from edgewise.partitions.levels import NARROW, Level, are_few, with_rows
from edgewise.primitives import exclusive_scan
from edgewise.primitives.rows import row_numbers
from edgewise.result import check_same_graph

#: Sums of weights are below this number, so that products with small numbers fit into 64 bits.
WEIGHT_BOUND = 2**53
#: Entries that one thread adds up.
BLOCK = 1 << 12
#: Edges that are compared at a time.
SPAN = 1 << 18
_NONE = 2**62
#: What a weight of 1 becomes beside vertices or edges of weight 0, which weigh 1 then.
UNIT = 256


def vertex_weights_of(graph, given):
    """Weights of the vertices, (n,) int64 on the host: those given, or those of the graph, or ones.

    Ones take no memory.
    """
    n = graph.n_vertices
    weights = graph.vertex_weights if given is None else given
    if weights is None:
        return np.broadcast_to(np.int64(1), n)
    weights = arrays.move(weights, "cpu") if hasattr(weights, "dtype") else np.asarray(weights)
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim == 2 and len(weights) == n:
        problem = (
            f"the graph has {weights.shape[1]} weights for each vertex (ncon={weights.shape[1]} in METIS)"
        )
        raise GraphError(f"{problem}, and parts are balanced by one; choose a column or add them up")
    if weights.shape != (n,):
        problem = f"vertex weights have shape {weights.shape}; one for each of {n} vertices is needed"
        raise GraphError(f"{problem}; give {argument('vertex_weights')}")
    if weights.dtype.kind not in "iu":
        raise GraphError(f"vertex weights have type {weights.dtype}; use integers, such as rounded multiples")
    wrong = np.flatnonzero(weights < 0)
    if len(wrong):
        raise GraphError(f"the weight of vertex {wrong[0]} is {weights[wrong[0]]}; use 0 or more")
    if weights.astype(np.float64).sum() >= WEIGHT_BOUND:
        raise GraphError("the vertex weights add up to 2**53 or more; divide them by a number")
    return weights.astype(np.int64)


def checked_parts(graph, parts, k):
    """Parts as an int64 array on the host, one from 0 to ``k - 1`` for each vertex, or an error."""
    parts = arrays.move(parts, "cpu") if hasattr(parts, "dtype") else np.asarray(parts)
    if parts.dtype.kind not in "iu" and len(parts):
        raise GraphError(f"parts have type {parts.dtype}; use integers")
    if parts.ndim != 1:
        raise GraphError(f"parts have shape {parts.shape}; one for each vertex is needed")
    check_same_graph(graph, len(parts), "the partition")
    if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1):
        raise OptionError(f"{argument('k', k)} must be a whole number larger than 0")
    parts = parts.astype(np.int64)
    wrong = np.flatnonzero((parts < 0) | (parts >= (len(parts) if k is None else k)))
    if len(wrong):
        span = "0 up, fewer than there are vertices" if k is None else f"0 to {k - 1}"
        raise GraphError(f"parts[{wrong[0]}] is {parts[wrong[0]]}; parts are numbered from {span}")
    return parts


def positive(sizes):
    """Weights of 1 or more in place of weights of 0 or more, both on the host, and the unit of the former.

    A part that is within its limit by the new weights is so by the old ones: with a unit ``u``, the new limit
    is ``u * limit + u - 1``.  Where all weights are 0, so that nothing is to be balanced, vertices weigh 1.
    """
    if arrays.is_one_number(sizes) or sizes.all():
        return (sizes, 1) if len(sizes) == 0 or sizes[0] else (np.broadcast_to(np.int64(1), len(sizes)), 1)
    total = int(sizes.sum())
    if not total:
        return np.broadcast_to(np.int64(1), len(sizes)), 1
    unit = min(UNIT, (WEIGHT_BOUND - len(sizes)) // total)
    if unit < 2:
        raise GraphError(
            "the vertex weights, some of which are 0, add up to 2**52 or more; divide them by a number"
        )
    return np.maximum(unit * sizes, 1), unit


def total_weight(sizes):
    """Sum of the weights of the vertices on the host."""
    return len(sizes) * int(sizes[0]) if arrays.is_one_number(sizes) else int(sizes.sum())


def count_above(sizes, limit):
    """Number of the vertices on the host that weigh more than ``limit``."""
    if arrays.is_one_number(sizes):
        return len(sizes) * int(sizes[0] > limit)
    return int(np.count_nonzero(sizes > limit))


@each_row
def _find_self_loop(row, lane, lanes, offsets, neighbours, found):
    for entry in range(offsets[row] + lane, offsets[row + 1], lanes):
        if neighbours[entry] == row:
            store(found, 0, 1)


@device
def _is_kept(row, entry, form, keeps_zeros):
    """Whether an entry is no self-loop, and its weight not 0 unless these are kept, too."""
    _, neighbours, weights = form
    if neighbours[entry] == row:
        return False
    return keeps_zeros != 0 or weights[entry] != 0


@each_row
def _count_kept(row, lane, lanes, form, keeps_zeros, counts):
    found = np.int64(0)
    for entry in range(form[0][row] + lane, form[0][row + 1], lanes):
        found += _is_kept(row, entry, form, keeps_zeros)
    if found:
        fetch_add(counts, row, found)


@each_row
def _copy_kept(row, lane, lanes, form, keeps_zeros, cursors, kept):
    """Copy the entries of a row that are kept, in any order."""
    neighbours, weights = kept
    for entry in range(form[0][row] + lane, form[0][row + 1], lanes):
        if _is_kept(row, entry, form, keeps_zeros):
            place = fetch_add(cursors, row, 1)
            neighbours[place] = form[1][entry]
            if len(weights):
                weights[place] = form[2][entry]


@each
def _survey(block, weights, firsts, sums):
    """Add up the weights of a block; note the first one that is negative, and whether one is 0."""
    whole, real = np.int64(0), 0.0
    for entry in range(block * BLOCK, min((block + 1) * BLOCK, len(weights))):
        weight = weights[entry]
        if not weight >= 0:
            fetch_min(firsts, 0, entry)
        elif weight == 0:
            store(firsts, 2, 1)
        whole += np.int64(weight)
        real += np.float64(weight)
    fetch_add(firsts, 1, whole)
    fetch_add(sums, 0, real)


def has_self_loops(graph):
    """Whether an edge of a graph leads from a vertex to itself; kept with the graph."""
    return graph.cached("self-loops", lambda: _search_self_loops(graph))


def _search_self_loops(graph):
    if not graph.has_rows:
        sources, targets, _ = graph._edges
        return any(
            (sources[at : at + SPAN] == targets[at : at + SPAN]).any() for at in range(0, len(sources), SPAN)
        )
    if are_few(graph.offsets, graph.neighbours):
        return bool((graph.neighbours == row_numbers(graph.offsets, np.uint32)).any())
    found = arrays.zeros(1, np.int32, graph.device)
    _find_self_loop(graph.n_vertices, graph.offsets, graph.neighbours, found, width="warp")
    return bool(found[0])


def level_of(graph, sizes, scale, *, connects=False):
    """The finest level of a graph, the total weight of its entries, and whether its weights are the graph's.

    Edges of weight 0, which no cut counts, are left out, or weigh 1 beside edges of much larger weights if
    they are to connect parts.
    """
    offsets, neighbours, weights = graph.offsets, graph.neighbours, graph.csr_weights
    where = graph.device
    if neighbours.dtype != np.uint32:
        raise GraphError("a partition needs a graph of fewer than 2**32 - 1 vertices")
    if has_self_loops(graph):
        offsets, neighbours, weights = _kept((offsets, neighbours, weights), True)
    total, has_zeros = len(neighbours), False
    if weights is None:
        weights = arrays.empty(0, np.int32 if total <= NARROW else np.int64, where)
    else:
        weights, total, has_zeros = _checked_weights((offsets, neighbours, weights), scale)
        if has_zeros and connects:
            unit = max(1, min(UNIT, (WEIGHT_BOUND - len(weights)) // max(total, 1)))
            weights, total = (
                arrays.namespace(weights).maximum(weights.astype(np.int64) * unit, 1),
                unit * total,
            )
            weights = arrays.move(weights, where)
        elif has_zeros:
            offsets, neighbours, weights = _kept((offsets, neighbours, weights), False)
    none = arrays.empty(0, neighbours.dtype, where)
    sizes = arrays.empty(0, np.int64, where) if arrays.is_one_number(sizes) else arrays.move(sizes, where)
    level = Level(offsets, neighbours, weights, sizes, none)
    return with_rows(level), total, not (has_zeros and connects) and scale is None


def _kept(form, keeps_zeros):
    """Offsets, neighbours and weights (or ``None``) without self-loops, and without weights of 0."""
    offsets, neighbours, weights = form
    where, n = arrays.device_of(offsets), len(offsets) - 1
    given = arrays.empty(0, np.int32, where) if weights is None else weights
    form, counts = (offsets, neighbours, given), arrays.zeros(n, np.int64, where)
    _count_kept(n, form, int(keeps_zeros), counts, width="warp")
    offsets = exclusive_scan(counts)
    kept = tuple(arrays.empty(int(offsets[-1]) if len(one) else 0, one.dtype, where) for one in form[1:])
    _copy_kept(n, form, int(keeps_zeros), offsets[:-1].copy(), kept, width="warp")
    return offsets, kept[0], None if weights is None else kept[1]


def _checked_weights(form, scale):
    """Weights as integers of 0 or more, their sum, and whether there are any that are 0."""
    offsets, neighbours, weights = form
    where = arrays.device_of(offsets)
    if weights.dtype.kind == "f":
        if scale is None:
            raise GraphError(
                f"the weights are floats ({weights.dtype}), and parts need integers; "
                f"use {argument('scale', 1000)} to multiply and round them, or {argument('weight', False)}"
            )
        xp = arrays.namespace(weights)
        if not bool(xp.isfinite(weights).all()) or bool((weights < 0).any()):
            raise GraphError("a weight is negative, infinite or NaN; use positive numbers")
        scaled = xp.maximum(xp.rint(xp.minimum(weights * scale, float(WEIGHT_BOUND))), 1)
        weights = arrays.move(xp.where(weights > 0, scaled, 0).astype(np.int64), where)
    firsts, sums = arrays.full(3, _NONE, np.int64, where), arrays.zeros(1, np.float64, where)
    firsts[1:] = 0
    _survey(-(-len(weights) // BLOCK), weights, firsts, sums)
    first = int(firsts[0])
    if first != _NONE:
        row = int(np.searchsorted(arrays.move(offsets, "cpu"), first, side="right")) - 1
        ends = f"{row} and {int(neighbours[first])}"
        problem = f"the weight of the edge between vertices {ends} is {weights[first]}"
        raise GraphError(f"{problem}; use 0 or more, or leave the edge out")
    if float(sums[0]) >= WEIGHT_BOUND:
        raise GraphError("the weights of the edges add up to 2**53 or more; divide them by a number")
    total = int(firsts[1])
    weights = weights.astype(np.int32 if total <= NARROW else np.int64, copy=False)
    return weights, total, bool(int(firsts[2]))


def targets_of(given, k, name="target_weights"):
    """Shares of the parts, (k,) float64 on the host, which add up to 1; errors call the argument ``name``."""
    if given is None:
        return np.full(k, 1 / k)
    targets = np.asarray(given)
    if targets.shape != (k,) or targets.dtype.kind not in "iuf":
        problem = f"{argument(name)} mismatches the parts"
        raise OptionError(f"{problem}; it must be one number for each of {k} parts")
    targets = targets.astype(np.float64)
    wrong = np.flatnonzero(~((targets > 0) & np.isfinite(targets)))
    if len(wrong):
        one = wrong[0]
        problem = f"{argument(name)}: the share of part {one} is {targets[one]}"
        raise OptionError(f"{problem}; shares are non-negative, and may not be 0")
    return targets / targets.sum()
