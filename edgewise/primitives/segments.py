"""Scans and what is built of them, within the segments of an array: enumerate, copy, split, sort and pack.

Segment ``s`` of ``values`` are the items ``offsets[s]`` to ``offsets[s + 1] - 1``; segments may be empty.
All functions take arrays of one device, and return arrays there.  These are the primitives of Sengupta,
Harris, Zhang and Owens, "Scan primitives for GPU computing" (2007), as Manoochehri (2017, section 4.3)
describes them.

Sums of integers are one scan of the library, from which the sum before each segment is subtracted; so are
enumerations.  One value for each segment becomes one for each item by :func:`repeated`, on the CPU a call of
NumPy, and a split is two assignments with masks.  Other scans are those of
:mod:`~edgewise.primitives.work_efficient_scan`.  Sorting is two stable sorts of the library, by value and
then by segment, instead of quicksort by rounds of :func:`split_and_segment`.
"""

from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.primitives.array_operations import exclusive_scan
from edgewise.primitives.rows import row_numbers
from edgewise.primitives.work_efficient_scan import segmented_work_efficient_scan


def segment_numbers(offsets: Any) -> Any:
    """Return the number of the segment of each item: (n,) int64.

    Examples
    --------
    >>> import numpy as np
    >>> segment_numbers(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return row_numbers(offsets, np.int64)


def repeated(values: Any, offsets: Any) -> Any:
    """Return the value of its segment for each item, (n,), from one value for each segment.

    Examples
    --------
    >>> import numpy as np
    >>> repeated(np.array([7, 8, 9]), np.array([0, 2, 2, 5])).tolist()
    [7, 7, 9, 9, 9]
    """
    if arrays.device_of(offsets) == "cpu":
        return np.repeat(values, np.diff(offsets))
    return values[segment_numbers(offsets)]  # CuPy repeats by lists of the host only


def segmented_scan(values: Any, offsets: Any, operation: str = "sum", *, inclusive: bool = False) -> Any:
    """Scan each segment: the sum, least or largest of the items before each item, or up to it.

    Parameters
    ----------
    values : (n,) array
    offsets : (segments + 1,) int64 array
    operation : {'sum', 'min', 'max'}
    inclusive : bool
        Whether the item itself counts.  Otherwise the first item of a segment gets the identity: 0, the
        largest or the least number of the type.

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
    >>> segmented_scan(np.array([3, 1, 4, 1, 5]), np.array([0, 3, 5])).tolist()
    [0, 3, 4, 0, 1]
    >>> segmented_scan(np.array([3, 1, 4, 1, 5]), np.array([0, 3, 5]), "max", inclusive=True).tolist()
    [3, 3, 4, 1, 5]
    """
    if operation == "sum" and values.dtype.kind in "iu" and len(values):
        sums = exclusive_scan(values, values.dtype)
        return (sums[1:] if inclusive else sums[:-1]) - repeated(sums[offsets[:-1]], offsets)
    return segmented_work_efficient_scan(values, offsets, operation, inclusive=inclusive)


def segmented_enumerate(flags: Any, offsets: Any) -> Any:
    """Return how many items of its segment before each item have a true flag: (n,) int64.

    Examples
    --------
    >>> import numpy as np
    >>> segmented_enumerate(np.array([1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0]) > 0, np.array([0, 7, 11])).tolist()
    [0, 1, 1, 1, 2, 2, 3, 0, 1, 1, 2]
    """
    sums = exclusive_scan(flags)
    return sums[:-1] - repeated(sums[offsets[:-1]], offsets)


def segmented_copy(values: Any, offsets: Any, *, tail: bool = False) -> Any:
    """Copy the first item of each segment, or the last one, to all of its items.

    Examples
    --------
    >>> import numpy as np
    >>> segmented_copy(np.array(["c", "b", "a", "d", "e"]), np.array([0, 3, 5])).tolist()
    ['c', 'c', 'c', 'd', 'd']
    """
    chosen = (offsets[1:] if tail else offsets[:-1] + 1) - 1
    return repeated(values[chosen.clip(0, len(values) - 1)], offsets) if len(values) else values.copy()


def split_and_segment(values: Any, flags: Any, offsets: Any) -> tuple[Any, Any]:
    """Move the items of each segment whose flags are false before those whose flags are true, in order.

    Parameters
    ----------
    values : (n,) array
    flags : (n,) bool array
    offsets : (segments + 1,) int64 array

    Returns
    -------
    values : (n,) array
    offsets : (2 * segments + 1,) int64 array
        Each segment has become two.

    Examples
    --------
    >>> import numpy as np
    >>> flags = np.array([1, 0, 0, 0, 1, 0]) > 0
    >>> split, offsets = split_and_segment(np.array(list("abcdef")), flags, np.array([0, 3, 6]))
    >>> split.tolist(), offsets.tolist()
    (['b', 'c', 'a', 'd', 'f', 'e'], [0, 2, 3, 5, 6])
    """
    where, xp = arrays.device_of(offsets), arrays.namespace(offsets)
    n_false = (offsets[1:] - offsets[:-1]) - xp.diff(exclusive_scan(flags)[offsets])
    both = arrays.empty(2 * len(n_false) + 1, np.int64, where)
    both[0::2], both[1::2] = offsets, offsets[:-1] + n_false
    is_second = repeated(arrays.move(xp.arange(2 * len(n_false)) % 2 == 1, where), both)
    split = arrays.move(xp.empty_like(values), where)
    split[is_second], split[~is_second] = values[flags], values[~flags]
    return split, both


def segmented_order(values: Any, offsets: Any) -> Any:
    """Return the positions of the items in the order of :func:`segmented_sort`: (n,) int64.

    Unsigned numbers of at most 32 bits are sorted together with the numbers of their segments, in one sort;
    the order of equal ones is then left open.

    Examples
    --------
    >>> import numpy as np
    >>> segmented_order(np.array([5, 6, 7, 4, 3, 2, 1]), np.array([0, 5, 7])).tolist()
    [4, 3, 0, 1, 2, 6, 5]
    """
    numbers = segment_numbers(offsets)
    if values.dtype.kind == "u" and values.dtype.itemsize <= 4 and len(offsets) <= 2**31:
        return (numbers << 32 | values.astype(np.int64)).argsort()
    by_value = values.argsort(kind="stable")
    return by_value[numbers[by_value].argsort(kind="stable")]


def segmented_sort(values: Any, offsets: Any) -> Any:
    """Sort the items of each segment.

    Examples
    --------
    >>> import numpy as np
    >>> segmented_sort(np.array([5, 6, 7, 4, 3, 2, 1]), np.array([0, 5, 7])).tolist()
    [3, 4, 5, 6, 7, 1, 2]
    """
    return values[segmented_order(values, offsets)]


def segmented_pack(values: Any, flags: Any, offsets: Any) -> tuple[Any, Any]:
    """Keep the items whose flags are true; return them and the offsets of the segments that are left of them.

    Examples
    --------
    >>> import numpy as np
    >>> flags = np.array([1, 0, 1, 0, 0]) > 0
    >>> packed, offsets = segmented_pack(np.array([7, 8, 9, 3, 4]), flags, np.array([0, 3, 5]))
    >>> packed.tolist(), offsets.tolist()
    ([7, 9], [0, 2, 2])
    """
    return values[flags], exclusive_scan(flags)[offsets]
