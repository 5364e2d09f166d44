"""A graph whose edges lie on several devices.

*By edges*: every worker has an equal share of the edges, and all vertices.  *By range*: every worker owns a
run of consecutive vertices and the edges inside it, numbered from the start of the run; an edge between two
runs is *cut*: each of its two ends lies with the owner.  With ids in local order (meshes, streets,
geometric graphs) few edges are cut, and a worker's arrays are as long as its run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.index_type import index_type
from edgewise.workers.device_team import DeviceTeam, Worker, device_team

if TYPE_CHECKING:
    from edgewise.graph import Graph

WAYS = ("auto", "edges", "range")
#: Edges looked at to place the borders of ranges and to judge how many would be cut.
SAMPLED = 1 << 16
#: Share of cut edges up to which ``auto`` splits by range.
MOST_CUT = 0.02


class Part(NamedTuple):
    """One worker's share.

    Attributes
    ----------
    worker : Worker
    graph : Graph
        Its edges, in its place; vertex ``v`` of it is vertex ``first + v`` of the whole.
    first : int
        0 where the split is by edges.
    """

    worker: Worker
    graph: Graph
    first: int


class Cut(NamedTuple):
    """The edges between two parts; entry ``i`` of both arrays is one edge.

    Attributes
    ----------
    one, other : int
        Numbers of the parts.
    ends, other_ends : (k,) index arrays
        Vertices of part ``one``, in its place, and of part ``other``, in that one's place.
    """

    one: int
    other: int
    ends: Any
    other_ends: Any


class SplitGraph:
    """A graph spread over a team of devices; made by :meth:`edgewise.Graph.split`.

    Attributes
    ----------
    n_vertices : int
    directed : bool
    ids : array or None
        External id of each vertex, on the host.
    team : DeviceTeam
    by : {'edges', 'range'}
    parts : list of Part
    cuts : list of Cut
        Empty where the split is by edges.
    """

    def __init__(self, n_vertices, parts, *, by="edges", cuts=(), directed=False, ids=None):
        self.n_vertices, self.directed, self.ids = int(n_vertices), bool(directed), ids
        self.parts, self.cuts, self.by = list(parts), list(cuts), by
        self.team = DeviceTeam(part.worker for part in self.parts)

    @property
    def device(self) -> str:
        """Place of the first worker, where results end up."""
        return self.team[0].device

    @property
    def n_edges(self) -> int:
        """Number of edges, cut ones included."""
        return sum(part.graph.n_edges for part in self.parts) + sum(len(cut.ends) for cut in self.cuts)

    def to(self, device: str) -> Graph:
        """Put the edges together again, in another order, in one place.

        Raises
        ------
        DeviceError, OutOfMemoryError
        """
        device, kind = arrays.resolve(device), index_type(self.n_vertices)
        firsts = [part.first for part in self.parts]
        pieces = [(p.graph.sources, p.graph.targets, p.first, p.first) for p in self.parts]
        pieces += [(cut.ends, cut.other_ends, firsts[cut.one], firsts[cut.other]) for cut in self.cuts]
        with arrays.guard(device):
            ends = [
                _joined([_renumbered(piece[end], piece[2 + end], kind) for piece in pieces], device, kind)
                for end in (0, 1)
            ]
        return self._whole(edges=(*ends, None))

    def ids_of(self, vertices):
        """External ids of an array of vertex numbers (on the host)."""
        return self._whole().ids_of(vertices)

    def _whole(self, edges=None):
        """A graph of all vertices, of the class that the parts have."""
        return type(self.parts[0].graph)(self.n_vertices, edges=edges, directed=self.directed, ids=self.ids)

    def __repr__(self):
        return (
            f"<SplitGraph: {self.n_vertices:,} vertices, {self.n_edges:,} edges, by {self.by} on "
            f"{', '.join(self.team.names)}>"
        )


def split(graph: Graph, devices, by: str = "auto") -> SplitGraph:
    """Spread the edges of ``graph`` over devices; see :meth:`edgewise.Graph.split`."""
    team = device_team(devices)
    if by not in WAYS:
        raise OptionError(f"by={by!r} is unknown; use one of {', '.join(WAYS)}")
    with arrays.guard(graph.device):
        sample = None if by == "edges" else _sampled_ends(graph)
        borders = None if by == "edges" else _borders(sample, graph.n_vertices, len(team))
        if by == "auto" and _cut_share(sample, borders) > MOST_CUT:
            by = "edges"
    return _by_edges(graph, team) if by == "edges" else _by_range(graph, team, borders)


def _by_edges(graph, team):
    parts = []
    for worker, start, stop in _shares(graph, team):
        with arrays.guard(worker.device):
            ends = (_moved(end[start:stop], worker.device) for end in (graph.sources, graph.targets))
            parts.append(Part(worker, type(graph)(graph.n_vertices, edges=(*ends, None)), 0))
    return SplitGraph(graph.n_vertices, parts, directed=graph.directed, ids=graph.ids)


def _shares(graph, team):
    """Workers with start and stop of their equal shares of the edges."""
    marks = [graph.n_edges * number // len(team) for number in range(len(team) + 1)]
    return zip(team, marks, marks[1:])


def _sampled_ends(graph):
    """Smaller and larger end of a sample of the edges, on the host."""
    edges = graph.n_edges
    xp = arrays.namespace(graph.sources)
    chosen = xp.arange(min(SAMPLED, edges), dtype=np.int64) * edges // max(min(SAMPLED, edges), 1)
    ends = [arrays.move(end[chosen], "cpu").astype(np.int64) for end in (graph.sources, graph.targets)]
    return np.minimum(*ends), np.maximum(*ends)


def _borders(sample, n_vertices, count):
    """Starts of ``count`` ranges with about the same number of edges each, and the end of the last."""
    small, _ = sample
    inner = np.linspace(0, n_vertices, count + 1)[1:-1]
    if len(small):
        inner = np.sort(small)[np.arange(1, count) * len(small) // count]
    return np.array([0, *inner, n_vertices], np.int64)


def _cut_share(sample, borders):
    """Estimated share of the edges that ranges with these borders would cut."""
    small, large = sample
    if not len(small):
        return 0.0
    return float((_owners(small, borders, np) != _owners(large, borders, np)).mean())


def _owners(vertices, borders, xp):
    return xp.searchsorted(borders[1:-1], vertices, side="right")


def _by_range(graph, team, borders):
    """Every worker sorts out an equal share of the edges, and sends each to the owners of its ends."""
    kind = index_type(graph.n_vertices)
    inside = [([], []) for _ in team]
    cut = {}
    for worker, start, stop in _shares(graph, team):
        with arrays.guard(worker.device):
            ends = (_moved(end[start:stop], worker.device) for end in (graph.sources, graph.targets))
            for (one, other), pair in _sorted_out(*ends, borders, kind):
                goal = inside[one] if one == other else cut.setdefault((one, other), ([], []))
                for pieces, owner, piece in zip(goal, (one, other), pair):
                    pieces.append(_moved(piece, team[owner].device))
    parts = []
    for worker, pieces, first, stop in zip(team, inside, borders, borders[1:]):
        with arrays.guard(worker.device):
            edges = [_joined(ends, worker.device, kind) for ends in pieces]
        parts.append(Part(worker, type(graph)(stop - first, edges=(*edges, None)), int(first)))
    cuts = [
        Cut(one, other, *(_joined(ends, team[owner].device, kind) for ends, owner in zip(pair, (one, other))))
        for (one, other), pair in sorted(cut.items())
    ]
    return SplitGraph(graph.n_vertices, parts, by="range", cuts=cuts, directed=graph.directed, ids=graph.ids)


def _sorted_out(sources, targets, borders, kind):
    """Yield the owners of the ends and these ends, numbered from their owner's first vertex."""
    if not len(sources):
        return
    xp = arrays.namespace(sources)
    here = xp.asarray(borders.astype(kind))
    small, large = xp.minimum(sources, targets), xp.maximum(sources, targets)
    owner, other_owner = _owners(small, here, xp), _owners(large, here, xp)
    both = owner * len(borders) + other_owner
    met = xp.flatnonzero(xp.bincount(both, minlength=len(borders) ** 2))
    for code in arrays.move(met, "cpu").tolist():
        one, other = divmod(code, len(borders))
        chosen = both == code
        yield (
            (one, other),
            (
                _renumbered(small[chosen], -int(borders[one]), kind),
                _renumbered(large[chosen], -int(borders[other]), kind),
            ),
        )


def _renumbered(vertices, by, kind):
    """``vertices + by``, as vertex numbers, in their place."""
    number = vertices.dtype.type(abs(by))
    with arrays.on(arrays.device_of(vertices)):
        return (vertices + number if by >= 0 else vertices - number).astype(kind, copy=False)


def _moved(array, device):
    """``array`` in ``device``; a slice of it by itself where it is there already."""
    return arrays.contiguous(arrays.move(array, device))


def _joined(pieces, device, kind):
    """The pieces one after the other, in ``device``."""
    with arrays.on(device):
        pieces = [arrays.move(piece, device) for piece in pieces]
        if not pieces:
            return arrays.empty(0, kind, device)
        return pieces[0] if len(pieces) == 1 else arrays.namespace(device).concatenate(pieces)
