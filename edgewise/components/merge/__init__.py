"""Merging: from what each of several workers has found to the labels of the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from edgewise.components.merge.forest import forest
from edgewise.components.merge.pairwise import pairwise_hook, pairwise_rem
from edgewise.components.merge.peer import peer
from edgewise.components.merge.ranges import ranges
from edgewise.workers.device_team import DeviceTeam
from edgewise.workers.topology import all_access

__all__ = ["LABEL_MERGES", "MERGES", "Merge", "choose_label_merge", "choose_merge", "merge_labels"]


@dataclass(frozen=True)
class Merge:
    """One way to merge: what it merges, how the graph must be split, what it is, where it comes from."""

    run: Callable
    merges: str  # "labels": (team, parents); "split": (split); "ranges": (split, labels)
    summary: str
    source: str

    @property
    def by(self) -> str:
        """How the graph must be split: ``"edges"`` or ``"range"``."""
        return "range" if self.merges == "ranges" else "edges"


MERGES = {
    "pairwise-rem": Merge(
        pairwise_rem, "labels", "all labels in a tree of rounds, joined by Rem", "Hellås 2018, Alg. 12"
    ),
    "pairwise-hook": Merge(pairwise_hook, "labels", "the same, joined by Hook-atomic", "Hellås 2018, 5.2.2"),
    "peer": Merge(peer, "labels", "a tree of rounds, labels read where they lie", "direct peer access"),
    "forest": Merge(
        forest, "split", "a common start, then only the unions made since", "after ConnectIt's forests"
    ),
    "ranges": Merge(
        ranges, "ranges", "vertex ranges, cut edges contracted to pairs of roots", "Groute, PPoPP 2017"
    ),
}


#: Names of those that need no more than everybody's labels.
LABEL_MERGES = tuple(name for name, found in MERGES.items() if found.merges == "labels")


def choose_merge(split) -> str:
    """Name of the merge for a split graph: a rule read off measurements (``docs/components.md``)."""
    return "ranges" if split.by == "range" else choose_label_merge(split.team)


def choose_label_merge(team: DeviceTeam) -> str:
    """Name of the merge for labels that the members of ``team`` have found."""
    return "peer" if all_access(team) else "pairwise-rem"


def merge_labels(team: DeviceTeam, parents: list, merge: str = "auto"):
    """Merge the labels that several workers have found for the same vertices.

    Parameters
    ----------
    team : DeviceTeam
    parents : list of (n,) index arrays
        Compressed labels, one array a worker, in its place.  They may be overwritten.
    merge : str
        A name in ``MERGES`` that merges labels, or ``"auto"``.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker: the smallest vertex of each component.
    """
    if len(team) == 1:
        return parents[0]
    name = choose_label_merge(team) if merge == "auto" else merge
    return MERGES[name].run(team, parents)
