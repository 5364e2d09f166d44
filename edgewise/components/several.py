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
        return graph.to(team[0].place)
    return graph.split(team, by="auto" if merge == "auto" else MERGES[merge].by)


def label_split(split, local, merge):
    """Label the components of a split graph.

    Parameters
    ----------
    split : SplitGraph
    local : callable
        ``local(graph)`` labels the components of one worker's graph.
    merge : str
        A name in ``MERGES`` that goes with the split, or ``"auto"``.

    Returns
    -------
    labels : (n,) index array
        In the place of the first worker.
    merge : str or None
        Name of the merge that was used; ``None`` where there was nothing to merge.
    """
    name = choose_merge(split) if merge == "auto" else merge
    if MERGES[name].merges == "split" and len(split.parts) > 1:
        return MERGES[name].run(split), name
    labels = _labels_of_parts(split, local)
    if len(labels) == 1:
        return labels[0], None
    if MERGES[name].merges == "ranges":
        return MERGES[name].run(split, labels), name
    return merge_labels(split.team, labels, name), name


def _labels_of_parts(split, local):
    """What every worker finds by itself."""
    labels = [None] * len(split.parts)
    for number in sorted(range(len(split.parts)), key=lambda number: split.team[number].place == "cpu"):
        part = split.parts[number]
        with arrays.guard(part.worker.place):
            labels[number] = local(part.graph)
    return labels


def synchronize(split):
    """Wait until every worker is done."""
    for place in set(split.team.places):
        arrays.synchronize(place)
