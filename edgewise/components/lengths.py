"""Rows sorted by their lengths into those for a thread, a warp and a block of a GPU.

A team wider than its row leaves lanes idle, a narrower one reads memory piecemeal and makes its neighbours
wait.  The bins say which team suits which row; a bin that is next to nothing is left to the next wider team,
which can do it without harm, since every further bin costs a launch and takes rows out of their order.
"""

from edgewise.device import arrays

#: Longest rows for a thread and for a warp.
SHORT, MIDDLE = 32, 1024
#: A bin with fewer rows than this share of those in wider bins goes to the next wider team.
NEXT_TO_NOTHING = 1 / 16


def by_length(offsets, neighbours):
    """Tell rows apart by length.

    Parameters
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array

    Returns
    -------
    list of (width, chosen)
        The rows that a team of that width should take, as an index array, longest rows first; an empty array
        stands for all rows.  Rows without entries are left out where rows are told apart at all.
    """
    everything = neighbours[:0]
    if arrays.device_of(offsets) == "cpu":
        return [("thread", everything)]
    lengths = offsets[1:] - offsets[:-1]
    bins = _bins(lengths)
    if len(bins) == 1:
        return [(bins[0][0], everything)]
    return [(width, _between(lengths, above, most, neighbours)) for width, above, most in reversed(bins)]


def _between(lengths, above, most, like):
    """Rows longer than ``above`` entries and no longer than ``most``."""
    found = arrays.namespace(lengths).flatnonzero((lengths > above) & (lengths <= most))
    return arrays.move(found.astype(like.dtype), arrays.device_of(like))


def _bins(lengths):
    """Width of each bin in use, and the lengths between which its rows are."""
    limits = {"thread": SHORT, "warp": MIDDLE, "block": 2**62}
    counts = {width: int((lengths <= most).sum()) for width, most in limits.items()}
    bins, above, done = [], 0, int((lengths == 0).sum())
    for width, most in limits.items():
        mine, wider = counts[width] - done, counts["block"] - counts[width]
        if mine > wider * NEXT_TO_NOTHING:
            bins.append((width, above, most))
            above, done = most, counts[width]
    return bins or [("thread", 0, SHORT)]
