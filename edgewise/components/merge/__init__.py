"""Merging: from the labels that each of several workers has computed to those of the whole graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgewise.components.merge.pairwise import pairwise_hook, pairwise_rem
from edgewise.components.merge.peer import peer
from edgewise.components.merge.ranges import ranges
from edgewise.method import Method
from edgewise.workers.device_team import DeviceTeam
from edgewise.workers.topology import all_access

__all__ = ["LABEL_MERGES", "MERGES", "Merge", "choose_label_merge", "choose_merge", "merge_labels"]


@dataclass(frozen=True)
class Merge(Method):
    """One way to merge labels.

    ``run(team, labels)`` merges labels that all workers have computed for all vertices (split by edges);
    ``run(split, labels)`` merges those of vertex ranges.  ``labels`` is a list of compressed labels, one
    index array per worker on its device, which may be overwritten.  Both return the compressed labels of the
    whole graph, an (n,) index array on the first worker's device.

    Attributes
    ----------
    by : {'edges', 'range'}
        How the graph must be split.
    """

    by: str = field(default="edges", kw_only=True)


MERGES = {
    "pairwise-rem": Merge(
        pairwise_rem, "all labels in a tree of rounds, joined by Rem", "Hellås 2018, Alg. 12"
    ),
    "pairwise-hook": Merge(
        pairwise_hook, "the same, joined by Hook-atomic", "Hellås 2018, 5.2.2", baseline=True
    ),
    "peer": Merge(peer, "a tree of rounds, labels read over the link", "direct peer access"),
    "ranges": Merge(
        ranges, "vertex ranges, cut edges contracted to pairs of roots", "Groute, PPoPP 2017", by="range"
    ),
}
#: Names of the merges that need nothing but the labels of all workers.
LABEL_MERGES = tuple(name for name, merge in MERGES.items() if merge.by == "edges")


def choose_merge(split) -> str:
    """Name of the merge for a split graph: a rule read off measurements (``docs/components.md``)."""
    return "ranges" if split.by == "range" else choose_label_merge(split.team)


def choose_label_merge(team: DeviceTeam) -> str:
    """Name of the merge for labels that the members of ``team`` have computed for all vertices."""
    return "peer" if all_access(team) else "pairwise-rem"


def merge_labels(team: DeviceTeam, labels: list, merge: str = "auto"):
    """Merge the labels that several workers have computed for the same vertices.

    Parameters
    ----------
    team : DeviceTeam
    labels : list of (n,) index arrays
        Compressed labels, one array per worker, on its device.  They may be overwritten.
    merge : str
        A name in ``LABEL_MERGES``, or ``"auto"``.

    Returns
    -------
    (n,) index array
        Compressed labels on the first worker's device: the smallest vertex of each component.
    """
    if len(team) == 1:
        return labels[0]
    name = choose_label_merge(team) if merge == "auto" else merge
    return MERGES[name].run(team, labels)
