"""Whether a list of arcs holds every arc in both directions, in one pass and without sorting.

Each arc adds a 64-bit hash of its (smaller endpoint, larger endpoint, weight), positive if its target is the
larger one, else negative.  The sum of a symmetric list is zero; that of an unsymmetric one is zero only by a
collision, with probability about 2**-64.
"""

import numpy as np

#: Arcs hashed at a time, so that the temporary arrays stay in the cache.
BLOCK = 1 << 18


def is_symmetric(sources, targets, weights=None) -> bool:
    """Whether each arc (i, j) comes with as many arcs (j, i) of the same weight."""
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
