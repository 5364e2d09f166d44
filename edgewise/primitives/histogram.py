"""Count how often each value occurs."""

from edgewise.device import arrays, each, fetch_add


@each
def _count(item, values, counts):
    fetch_add(counts, values[item], 1)


def histogram(values, bins, counts=None):
    """Add the number of occurrences of each value below ``bins`` to ``counts``.

    Parameters
    ----------
    values : (m,) integer array
        Every value lies in ``0 <= value < bins``.
    bins : int
    counts : (bins,) int64 array, optional
        Counted on top of; zeros by default.

    Returns
    -------
    (bins,) int64 array
    """
    if counts is None:
        counts = arrays.zeros(bins, "int64", arrays.place_of(values))
    _count(len(values), values, counts)
    return counts
