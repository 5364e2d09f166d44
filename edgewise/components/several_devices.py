"""Components on several devices: every worker labels its share, then the shares are merged.

The host gives all workers their work from one thread, since launching does not wait; CPU workers compute
while they are given theirs, so GPUs come first.
"""

from edgewise.components.merge import MERGES, choose_merge, merge_labels
from edgewise.device import arrays
from edgewise.errors import OptionError


def check_merge(merge, by=None):
    """Raise :class:`~edgewise.errors.OptionError` unless ``merge`` is known and goes with a split ``by``."""
    if merge != "auto" and merge not in MERGES:
        raise OptionError(f"merge {merge!r} is unknown; use auto or one of {', '.join(MERGES)}")
    if by is not None and merge != "auto" and MERGES[merge].by != by:
        raise OptionError(
            f"merge={merge!r} needs a graph split by {MERGES[merge].by}, not by {by}; "
            f"use graph.split(devices, by={MERGES[merge].by!r})"
        )


def check_forest(merge, method, options):
    """Raise :class:`~edgewise.errors.OptionError` where a merge that goes on from a common start cannot."""
    if merge == "forest" and (method not in ("auto", "rem") or options):
        raise OptionError(f"merge='forest' goes with method 'rem' without options, not {method!r}")


def placed(graph, team, merge):
    """``graph`` in the place of its one device, or spread over several as ``merge`` needs it."""
    if len(team) == 1:
        return graph.to(team[0].device)
    return graph.split(team, by="auto" if merge == "auto" else MERGES[merge].by)


def merge_for(split, merge):
    """Name of the merge for a split graph; ``None`` where there is nothing to merge."""
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
        As :func:`merge_for` says.

    Returns
    -------
    (n,) index array
        In the place of the first worker.
    """
    if merge is not None and MERGES[merge].merges == "split":
        return MERGES[merge].run(split)
    labels = label_parts(split, runs)
    if merge is not None and MERGES[merge].merges == "ranges":
        return MERGES[merge].run(split, labels)
    return merge_labels(split.team, labels, merge)


def label_parts(split, runs):
    """What every worker finds by itself."""
    labels = [None] * len(runs)
    for number in sorted(range(len(runs)), key=lambda number: split.team[number].device == "cpu"):
        with arrays.guard(split.team[number].device):
            labels[number] = runs[number]()
    return labels
