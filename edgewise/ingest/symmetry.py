"""Whether each arc comes with its reverse: of matrices, and of the rows of undirected graphs.

Each arc adds a hash of its (smaller endpoint, larger endpoint, weight), with the sign of its direction.  The
sum of a symmetric list is zero; that of an unsymmetric one is zero only by a collision, with probability
about 2**-64.  Nothing is sorted, and every arc is read once.

The hash is Philox-2x32 with seven rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
1, 2, 3", SC 2011), which gives different pairs of 32-bit numbers different values.  Its products and the sums
of its halves do not exceed 64 bits, so that interpreter and compilers agree without wrap-around.
"""

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, argument
from edgewise.ingest.csr import few_edges
from edgewise.ingest.row_buckets import first_row
from edgewise.primitives.rows import row_numbers

#: Arcs whose hashes are added at a time.
BLOCK = 1 << 12
ROUNDS = 7
#: Mask of the lower half of a word.
_MASK = np.uint64(0xFFFFFFFF)
#: Bits of half a word.
_HALF = np.uint64(32)
#: Bits of -0.0 as a float64.
_SIGN = np.uint64(1 << 63)
#: Factor of the left half in each round.
_MULTIPLIER = np.uint64(0xD256D193)
#: First key, and what is added to the key after each round.
_WEYL = np.uint64(0x9E3779B9)
_ZERO = np.uint64(0)


@device
def _mix(left, right):
    key = _WEYL
    for _ in range(ROUNDS):
        product = _MULTIPLIER * left
        left, right = (product >> _HALF) ^ key ^ right, product & _MASK
        key = (key + _WEYL) & _MASK
    return left, right


@each
def _sum_hashes(block, offsets, sources, targets, bits, floating, sums):
    """Add the hashes of a block of arcs, of which ``offsets`` or ``sources`` are empty, or ``bits``.

    If there are offsets, the arcs are the entries of rows.  The bits are those of the weights.
    """
    first_sum, second_sum = np.int64(0), np.int64(0)
    row = first_row(offsets, block * BLOCK)
    for arc in range(block * BLOCK, min((block + 1) * BLOCK, len(targets))):
        if len(offsets):
            while offsets[row + 1] <= arc:
                row += 1
            source = np.uint64(row)
        else:
            source = np.uint64(sources[arc])
        target = np.uint64(targets[arc])
        low, high = min(source, target), max(source, target)
        left, right = _mix(low & _MASK, high & _MASK)
        if high > _MASK:
            left, right = _mix(left ^ (low >> _HALF), right ^ (high >> _HALF))
        if len(bits):
            weight = _ZERO if floating and bits[arc] == _SIGN else bits[arc]  # -0.0 equals 0.0
            left, right = _mix(left ^ (weight >> _HALF), right ^ (weight & _MASK))
        sign = np.int64(source < target) - np.int64(source > target)
        first_sum += sign * np.int64(left)
        second_sum += sign * np.int64(right)
    sums[2 * block] = first_sum
    sums[2 * block + 1] = second_sum


def _sum_few(sources, targets, bits, floating):
    """The sums of the same hashes, by NumPy."""
    source, target = sources.astype(np.uint64), targets.astype(np.uint64)
    low, high = np.minimum(source, target), np.maximum(source, target)
    left, right = _mix(low & _MASK, high & _MASK)
    wide = high > _MASK
    if wide.any():
        mixed = _mix(left ^ (low >> _HALF), right ^ (high >> _HALF))
        left, right = np.where(wide, mixed[0], left), np.where(wide, mixed[1], right)
    if len(bits):
        weight = np.where(bits == _SIGN, _ZERO, bits) if floating else bits
        left, right = _mix(left ^ (weight >> _HALF), right ^ (weight & _MASK))
    sign = (source < target).astype(np.int64) - (source > target)
    return np.array([(sign * one.astype(np.int64)).sum() for one in (left, right)])


def is_symmetric(sources, targets, weights=None) -> bool:
    """Whether each arc (i, j) comes with as many arcs (j, i) of the same weight; the arrays on one device."""
    return _is_symmetric(arrays.empty(0, np.int64, arrays.device_of(targets)), sources, targets, weights)


def _is_symmetric(offsets, sources, targets, weights):
    """The same for arcs whose sources, or the offsets of whose rows, are there, and the other array empty."""
    where = arrays.device_of(targets)
    blocks = -(-len(targets) // BLOCK)
    floating = weights is not None and weights.dtype.kind == "f"
    if weights is None:
        bits = arrays.empty(0, np.uint64, where)
    else:
        wide = weights.astype(np.float64 if floating else np.int64, copy=False)
        bits = arrays.contiguous(wide).view(np.uint64)
    if where == "cpu" and len(targets) <= few_edges(where):
        sources = row_numbers(offsets, targets.dtype) if len(offsets) else sources
        return not bool(_sum_few(sources, targets, bits, floating).any())
    ends = arrays.contiguous(sources), arrays.contiguous(targets)
    sums = arrays.full(2 * blocks, 0, np.int64, where)
    _sum_hashes(blocks, offsets, *ends, bits, int(floating), sums)
    return not bool(sums.reshape(-1, 2).sum(axis=0).any())


def first_unmatched(sources, targets, weights=None) -> tuple[int, int] | None:
    """Endpoints (i, j) of the first arc, on the host, without a matching arc (j, i) of the same weight."""
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


def first_unmatched_entry(offsets, neighbours, weights=None) -> tuple[int, int] | None:
    """The first (row, neighbour) of an entry whose reverse is missing, or ``None`` if rows are symmetric."""
    with arrays.guard(arrays.device_of(neighbours)):
        if _is_symmetric(offsets, neighbours[:0], neighbours, weights):
            return None
        sources = row_numbers(offsets, neighbours.dtype)
    columns = (None if a is None else arrays.move(a, "cpu") for a in (sources, neighbours, weights))
    return first_unmatched(*columns)


def check_symmetric(offsets, neighbours, weights=None, first=0) -> None:
    """Raise unless every edge is in both rows, with one weight; messages count vertices from ``first``."""
    entry = first_unmatched_entry(offsets, neighbours, weights)
    if entry is not None:
        raise GraphError(unmatched(entry, weights is not None, first))


def unmatched(entry, weighted, first=0) -> str:
    """What is wrong with rows that have no reverse of an entry, and the remedy."""
    row, neighbour = (end + first for end in entry)
    alike = " with the same weight" if weighted else ""
    problem = f"vertex {row} lists {neighbour}, but not the other way round{alike}"
    return f"{problem}; correct it, or pass {argument('directed', True)}"
