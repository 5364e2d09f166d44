"""Components on several devices: every worker labels its share of the edges, then the labels are merged.

One thread of the host starts all workers, since launches are asynchronous.  CPU workers compute before they
return, so GPUs are started first.
"""

from edgewise.components.merge import MERGES, choose_merge, merge_labels
from edgewise.device import arrays
from edgewise.errors import OptionError, argument


def check_merge(merge, by=None):
    """Raise :class:`~edgewise.errors.OptionError` unless ``merge`` is known and fits a split ``by``."""
    if merge != "auto" and merge not in MERGES:
        raise OptionError(f"merge {merge!r} is unknown; use auto or one of {', '.join(MERGES)}")
    if by is not None and merge != "auto" and MERGES[merge].by != by:
        needed = MERGES[merge].by
        raise OptionError(
            f"{argument('merge', merge)} needs a graph split by {needed}, not by {by}; "
            f"use graph.split(devices, by={needed!r})"
        )


def spread(graph, team, merge):
    """``graph`` on its one device, or split over several as ``merge`` needs it."""
    if len(team) == 1:
        return graph.to(team[0].device)
    return graph.split(team, by="auto" if merge == "auto" else MERGES[merge].by)


def merge_for(split, merge):
    """Name of the merge for a split graph; ``None`` if it has only one part."""
    if len(split.parts) == 1:
        return None
    return choose_merge(split) if merge == "auto" else merge


def label_split(split, runs, merge):
    """Label the components of a split graph.

    Parameters
    ----------
    split : SplitGraph
    runs : list of callables
        Each labels the components of one part's graph.
    merge : str or None
        As from :func:`merge_for`.

    Returns
    -------
    (n,) index array
        On the device of the first worker.
    """
    labels = label_parts(split, runs)
    if merge is None:
        return labels[0]
    if MERGES[merge].by == "range":
        return MERGES[merge].run(split, labels)
    return merge_labels(split.team, labels, merge)


def label_parts(split, runs):
    """Labels of each part, which its worker computes alone."""
    labels = [None] * len(runs)
    for number in sorted(range(len(runs)), key=lambda number: split.team[number].device == "cpu"):
        with arrays.guard(split.team[number].device):
            labels[number] = runs[number]()
    return labels
