"""Work-efficient scans, of an array and within its segments: a tree of sums, up and down.

The scan of Blelloch takes two sweeps over a balanced tree that is kept in the array itself.  The *up-sweep*
replaces the last item below each node by the sum of all items below it, level by level.  The *down-sweep*
begins with the identity at the root and gives each left child what its parent has, and each right child that
plus the sum of its left sibling; at the leaves this is the sum of all items before.  A level has half as many
pairs as the one below it, so that n items take 2 (n - 1) operations, where n is a power of two.  Arrays of
other lengths are padded.

Within segments, a flag at every item says whether it is the first one of a segment, its *head*.  The up-sweep
also keeps whether a head is below a node, and adds no further than to there.  In the down-sweep a right child
that begins with a head gets the identity, and one whose left sibling has a head below it gets the sum of that
sibling alone.

==========================================  ====================================
Manoochehri 2017, section 4.3.1             Here
==========================================  ====================================
Algorithm 4.1, up-sweep                     :func:`up_sweep`
Algorithm 4.2, down-sweep                   :func:`down_sweep`
Algorithm 4.3, up-sweep within segments     :func:`segmented_up_sweep`
Algorithm 4.4, down-sweep within segments   :func:`segmented_down_sweep`
==========================================  ====================================

Algorithm 4.3 is printed with a loop from level 1 on; it must begin at level 0, as 4.1 does.  Algorithm 4.4
tests the same flags in lines 6 and 8; line 8 must test those of the up-sweep, as the text says.  Its last
line resets a flag that is not looked at again, and is left out.  The thesis scans a tile in each thread block
and then the sums of the tiles; here a level is one parallel loop, for the CPU and for GPUs.

Blelloch, "Prefix sums and their applications" (1990); Sengupta, Harris, Zhang and Owens, "Scan primitives for
GPU computing" (2007).
"""

from typing import Any

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError, argument, one_of

#: What the scans compute, as kernels know it.
OPERATIONS = {"sum": 0, "min": 1, "max": 2}
SUM, MIN = 0, 1


@device
def combined(operation, one, other):
    """The sum, the least or the largest of two values."""
    if operation == SUM:
        return one + other
    if operation == MIN:
        return one if one < other else other
    return one if one > other else other


@each
def _sum_pair(pair, distance, operation, values):
    left = (2 * pair + 1) * distance - 1
    right = left + distance
    values[right] = combined(operation, values[left], values[right])


@each
def _pass_down(pair, distance, operation, values):
    left = (2 * pair + 1) * distance - 1
    right = left + distance
    sum_of_left = values[left]
    values[left] = values[right]
    values[right] = combined(operation, sum_of_left, values[right])


@each
def _sum_pair_of_segments(pair, distance, operation, values, flags):
    left = (2 * pair + 1) * distance - 1
    right = left + distance
    if flags[right] == 0:
        values[right] = combined(operation, values[left], values[right])
        flags[right] = flags[left]


@each
def _pass_down_in_segments(pair, distance, operation, identity, values, flags, heads):
    left = (2 * pair + 1) * distance - 1
    right = left + distance
    sum_of_left = values[left]
    values[left] = values[right]
    if heads[left + 1] != 0:
        values[right] = identity[0]
    elif flags[left] != 0:
        values[right] = sum_of_left
    else:
        values[right] = combined(operation, sum_of_left, values[right])


@each
def _mark_head(segment, offsets, heads):
    if offsets[segment] < offsets[segment + 1]:
        heads[offsets[segment]] = 1


@each
def _combine(item, operation, values, scanned):
    scanned[item] = combined(operation, scanned[item], values[item])


def up_sweep(values: Any, operation: str = "sum") -> None:
    """Replace the last item below each node of the tree by the sum of all items below it.

    Parameters
    ----------
    values : (n,) array
        Its length is a power of two; it is changed.
    operation : {'sum', 'min', 'max'}

    Raises
    ------
    OptionError
        Another length, or an unknown operation.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([3, 1, 7, 0, 4, 1, 6, 3])
    >>> up_sweep(values)
    >>> values.tolist()
    [3, 4, 7, 11, 4, 5, 6, 25]
    """
    kind = _checked(values, operation)
    for distance in _distances(values):
        _sum_pair(len(values) // (2 * distance), distance, kind, values)


def down_sweep(values: Any, operation: str = "sum") -> None:
    """Turn the sums of an up-sweep into the exclusive scan of the items before it.

    Parameters and errors are those of :func:`up_sweep`.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([3, 4, 7, 11, 4, 5, 6, 25])
    >>> down_sweep(values)
    >>> values.tolist()
    [0, 3, 4, 11, 11, 15, 16, 22]
    """
    kind = _checked(values, operation)
    values[-1] = identity_of(operation, values.dtype)
    for distance in reversed(_distances(values)):
        _pass_down(len(values) // (2 * distance), distance, kind, values)


def segmented_up_sweep(values: Any, flags: Any, operation: str = "sum") -> None:
    """Sum as :func:`up_sweep` does, back to the last head; keep whether a head is below each node.

    Parameters
    ----------
    values : (n,) array
        Its length is a power of two; it is changed.
    flags : (n,) uint8 array
        1 where a segment begins; it is changed.
    operation : {'sum', 'min', 'max'}

    Raises
    ------
    OptionError
        Another length, or an unknown operation.
    """
    kind = _checked(values, operation)
    for distance in _distances(values):
        _sum_pair_of_segments(len(values) // (2 * distance), distance, kind, values, flags)


def segmented_down_sweep(values: Any, flags: Any, heads: Any, operation: str = "sum") -> None:
    """Turn the sums of :func:`segmented_up_sweep` into the exclusive scan within the segments.

    Parameters
    ----------
    values : (n,) array
        As the up-sweep has left it; it is changed.
    flags : (n,) uint8 array
        As the up-sweep has left it.
    heads : (n,) uint8 array
        1 where a segment begins.
    operation : {'sum', 'min', 'max'}

    Raises
    ------
    OptionError
        A length that is no power of two, or an unknown operation.
    """
    kind, first = _checked(values, operation), identity_of(operation, values.dtype)
    identity = arrays.full(1, first, values.dtype, arrays.device_of(values))
    values[-1] = first
    for distance in reversed(_distances(values)):
        n_pairs = len(values) // (2 * distance)
        _pass_down_in_segments(n_pairs, distance, kind, identity, values, flags, heads)


def work_efficient_scan(values: Any, operation: str = "sum", *, inclusive: bool = False) -> Any:
    """Scan an array: the sum, least or largest of the items before each item, or up to it.

    Parameters
    ----------
    values : (n,) array
    operation : {'sum', 'min', 'max'}
    inclusive : bool
        Whether the item itself counts.  Otherwise the first item gets the identity: 0, the largest or the
        least number of the type.

    Returns
    -------
    (n,) array
        Of the type of the values; integers wrap around.

    Raises
    ------
    OptionError
        An unknown operation.

    Examples
    --------
    >>> import numpy as np
    >>> work_efficient_scan(np.array([3, 1, 7, 0, 4])).tolist()
    [0, 3, 4, 11, 11]
    """
    identity = identity_of(operation, values.dtype)
    if not len(values):
        return values.copy()
    scanned = _padded(values, identity)
    up_sweep(scanned, operation)
    down_sweep(scanned, operation)
    return _finished(scanned, values, operation, inclusive)


def segmented_work_efficient_scan(
    values: Any, offsets: Any, operation: str = "sum", *, inclusive: bool = False
) -> Any:
    """Scan each segment; ``offsets`` are the (segments + 1,) int64 beginnings of segments, and the end.

    Other parameters, and what is returned and raised, are those of :func:`work_efficient_scan`.

    Examples
    --------
    >>> import numpy as np
    >>> segmented_work_efficient_scan(np.array([3, 1, 4, 1, 5]), np.array([0, 3, 5])).tolist()
    [0, 3, 4, 0, 1]
    """
    identity = identity_of(operation, values.dtype)
    if not len(values):
        return values.copy()
    scanned = _padded(values, identity)
    heads = _padded(head_flags(offsets), 0)
    flags = heads.copy()
    segmented_up_sweep(scanned, flags, operation)
    segmented_down_sweep(scanned, flags, heads, operation)
    return _finished(scanned, values, operation, inclusive)


def head_flags(offsets: Any) -> Any:
    """Return 1 for each item that is the first one of a segment: (n,) uint8.

    Examples
    --------
    >>> import numpy as np
    >>> head_flags(np.array([0, 2, 2, 5])).tolist()
    [1, 0, 1, 0, 0]
    """
    heads = arrays.zeros(int(offsets[-1]), np.uint8, arrays.device_of(offsets))
    _mark_head(len(offsets) - 1, offsets, heads)
    return heads


def identity_of(operation: str, dtype: Any) -> Any:
    """What changes no value of a type by an operation: 0, the largest or the least number.

    Raises
    ------
    OptionError
        An unknown operation.
    """
    if operation not in OPERATIONS:
        raise OptionError(f"{argument('operation', operation)} is unknown; {one_of(operation, OPERATIONS)}")
    if operation == "sum":
        return 0
    if dtype.kind == "f":
        return np.inf if operation == "min" else -np.inf
    return np.iinfo(dtype).max if operation == "min" else np.iinfo(dtype).min


def _checked(values, operation):
    """The operation as kernels know it."""
    identity_of(operation, values.dtype)
    if len(values) & (len(values) - 1) or not len(values):
        raise OptionError(f"an array of {len(values):,} items has no balanced tree; pad it to a power of two")
    return OPERATIONS[operation]


def _distances(values):
    """Distance of the two items of a pair, on each level from the leaves up."""
    return [1 << level for level in range(len(values).bit_length() - 1)]


def _padded(values, identity):
    """A copy of the items, and as many identities as make their number a power of two."""
    padded = arrays.full(
        1 << (len(values) - 1).bit_length(), identity, values.dtype, arrays.device_of(values)
    )
    padded[: len(values)] = values
    return padded


def _finished(scanned, values, operation, inclusive):
    """The part of a padded scan that is one of the items."""
    scanned = scanned[: len(values)]
    if inclusive:
        _combine(len(values), OPERATIONS[operation], values, scanned)
    return scanned
