"""A graph whose edges are distributed over several devices.

*By edges*: every worker has an equal share of the edges, and all vertices.  *By range*: every worker owns a
range of consecutive vertices and the edges inside it, numbered from the start of the range.  An edge between
two ranges is *cut*: each of its two endpoints is stored by its owner.  With ids in local order (meshes,
streets, geometric graphs) few edges are cut, and a worker's arrays are as long as its range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, argument, one_of
from edgewise.index_type import index_type
from edgewise.ingest.representation import take_origin
from edgewise.workers.device_team import DeviceTeam, Worker, device_team

if TYPE_CHECKING:
    from edgewise.graph import Graph
    from edgewise.ingest.frames import Kind

WAYS = ("auto", "edges", "range")
#: Edges sampled to place the borders of ranges and to estimate how many would be cut.
SAMPLE_SIZE = 1 << 16
#: Share of cut edges up to which ``auto`` splits by range.
MAX_CUT = 0.02


class Part(NamedTuple):
    """A worker and the graph of its share of the edges, on its device.

    Vertex ``v`` of it is vertex ``first + v`` of the whole graph; ``first`` is 0 if the split is by edges.
    """

    worker: Worker
    graph: Graph
    first: int


class Cut(NamedTuple):
    """The edges between the parts numbered ``one`` and ``other``; entry ``i`` of both arrays is one edge.

    ``endpoints`` are vertices of part ``one``, on its device, ``other_endpoints`` of part ``other``, on that
    one's device: (k,) index arrays.
    """

    one: int
    other: int
    endpoints: Any
    other_endpoints: Any


class SplitGraph:
    """A graph distributed ``by`` edges or range over a ``team``, in ``parts`` and, by range, ``cuts``."""

    def __init__(self, n_vertices, parts, *, by="edges", cuts=(), directed=False, ids=None):
        self.n_vertices, self.directed, self.ids = int(n_vertices), bool(directed), ids
        self.parts, self.cuts, self.by = list(parts), list(cuts), by
        self.team = DeviceTeam(part.worker for part in self.parts)
        self.assumed_columns: tuple[str, ...] | None = None
        self.left_out: dict[str, int] | None = {}
        self.records: Any = None
        self.frame_kind: Kind = "arrow"

    @property
    def device(self) -> str:
        """Device of the first worker, which holds results."""
        return self.team[0].device

    @property
    def n_edges(self) -> int:
        """Number of edges, including cut ones."""
        return sum(part.graph.n_edges for part in self.parts) + sum(len(cut.endpoints) for cut in self.cuts)

    def to(self, device: str) -> Graph:
        """Return the graph on one device, with its edges in another order."""
        device, kind = arrays.resolve(device), index_type(self.n_vertices)
        firsts = [part.first for part in self.parts]
        sources = [(part.graph.sources, part.first) for part in self.parts]
        sources += [(cut.endpoints, firsts[cut.one]) for cut in self.cuts]
        targets = [(part.graph.targets, part.first) for part in self.parts]
        targets += [(cut.other_endpoints, firsts[cut.other]) for cut in self.cuts]
        with arrays.guard(device):
            columns = [
                _concatenate([_shift(piece, first, kind) for piece, first in column], device, kind)
                for column in (sources, targets)
            ]
        return self._graph(edges=(*columns, None))

    def ids_of(self, vertices):
        """External ids of an array of vertex numbers (on the host)."""
        return self._graph().ids_of(vertices)

    def _graph(self, edges=None):
        """A graph of all vertices, of the class that the parts have."""
        kind, facts = type(self.parts[0].graph), {"directed": self.directed, "ids": self.ids}
        graph = kind(self.n_vertices, edges=edges, **facts)
        take_origin(graph, self)
        return graph

    def __repr__(self):
        counts = f"{self.n_vertices:,} vertices, {self.n_edges:,} edges"
        return f"<SplitGraph: {counts}, by {self.by} on {', '.join(self.team.names)}>"


def split(graph: Graph, devices, by: str = "auto") -> SplitGraph:
    """Distribute the edges of ``graph`` over devices; see :meth:`edgewise.Graph.split`."""
    team = device_team(devices)
    if by not in WAYS:
        raise OptionError(f"{argument('by', by)} is unknown; {one_of(by, WAYS)}")
    with arrays.guard(graph.device):
        sample = None if by == "edges" else _sample_edges(graph)
        borders = None if by == "edges" else _borders(sample, graph.n_vertices, len(team))
        if by == "auto" and _cut_share(sample, borders) > MAX_CUT:
            by = "edges"
    divided = _by_edges(graph, team) if by == "edges" else _by_range(graph, team, borders)
    take_origin(divided, graph)
    return divided


def _by_edges(graph, team):
    parts = []
    for worker, start, stop in _shares(graph, team):
        with arrays.guard(worker.device):
            columns = (_copy_to(c[start:stop], worker.device) for c in (graph.sources, graph.targets))
            parts.append(Part(worker, type(graph)(graph.n_vertices, edges=(*columns, None)), 0))
    return SplitGraph(graph.n_vertices, parts, directed=graph.directed, ids=graph.ids)


def _shares(graph, team):
    """Each worker with start and stop of its equal share of the edges."""
    bounds = [graph.n_edges * number // len(team) for number in range(len(team) + 1)]
    return zip(team, bounds, bounds[1:])


def _sample_edges(graph):
    """Smaller and larger endpoint of a sample of the edges, on the host."""
    size = min(SAMPLE_SIZE, graph.n_edges)
    chosen = arrays.namespace(graph.sources).arange(size, dtype=np.int64) * graph.n_edges // max(size, 1)
    columns = [arrays.move(c[chosen], "cpu").astype(np.int64) for c in (graph.sources, graph.targets)]
    return np.minimum(*columns), np.maximum(*columns)


def _borders(sample, n_vertices, count):
    """Starts of ``count`` ranges with about the same number of edges each, and the end of the last."""
    small, _ = sample
    inner = np.linspace(0, n_vertices, count + 1)[1:-1]
    if len(small):
        inner = np.sort(small)[np.arange(1, count) * len(small) // count]
    return np.array([0, *inner, n_vertices], np.int64)


def _cut_share(sample, borders):
    """Estimated share of the edges that ranges with these borders would cut."""
    one, other = (_owners(endpoints, borders, np) for endpoints in sample)
    return float((one != other).mean()) if len(one) else 0.0


def _owners(vertices, borders, xp):
    return xp.searchsorted(borders[1:-1], vertices, side="right")


def _by_range(graph, team, borders):
    """Every worker sorts an equal share of the edges by owner and sends them to the owners."""
    kind = index_type(graph.n_vertices)
    inside: list[tuple[list, list]] = [([], []) for _ in team]
    cut: dict[tuple[int, int], tuple[list, list]] = {}
    for worker, start, stop in _shares(graph, team):
        with arrays.guard(worker.device):
            columns = [_copy_to(c[start:stop], worker.device) for c in (graph.sources, graph.targets)]
            if not graph.directed and len(columns[0]):
                xp = arrays.namespace(columns[0])
                columns = [xp.minimum(*columns), xp.maximum(*columns)]  # halves the pairs of owners
            for (one, other), pair in _by_owners(columns[0], columns[1], borders, kind):
                goal = inside[one] if one == other else cut.setdefault((one, other), ([], []))
                for pieces, owner, piece in zip(goal, (one, other), pair):
                    pieces.append(_copy_to(piece, team[owner].device))
    parts = []
    for worker, pieces, first, stop in zip(team, inside, borders, borders[1:]):
        with arrays.guard(worker.device):
            edges = [_concatenate(column, worker.device, kind) for column in pieces]
        parts.append(Part(worker, type(graph)(stop - first, edges=(*edges, None)), int(first)))
    cuts = []
    for owners, pair in sorted(cut.items()):
        ends = (_concatenate(column, team[owner].device, kind) for column, owner in zip(pair, owners))
        cuts.append(Cut(*owners, *ends))
    return SplitGraph(graph.n_vertices, parts, by="range", cuts=cuts, directed=graph.directed, ids=graph.ids)


def _by_owners(sources, targets, borders, kind):
    """Yield pairs of owners and the endpoints of their edges, numbered from each owner's first vertex."""
    if not len(sources):
        return
    xp = arrays.namespace(sources)
    here = xp.asarray(borders.astype(kind))
    owner, other_owner = _owners(sources, here, xp), _owners(targets, here, xp)
    both = owner * len(borders) + other_owner
    codes = xp.flatnonzero(xp.bincount(both, minlength=len(borders) ** 2))
    for code in arrays.move(codes, "cpu").tolist():
        one, other = divmod(code, len(borders))
        chosen = both == code
        ends = ((sources, one), (targets, other))
        yield (one, other), tuple(_shift(end[chosen], -int(borders[owner]), kind) for end, owner in ends)


def _shift(vertices, by, kind):
    """``vertices + by`` as vertex numbers, on the same device."""
    number = vertices.dtype.type(abs(by))
    with arrays.on(arrays.device_of(vertices)):
        return (vertices + number if by >= 0 else vertices - number).astype(kind, copy=False)


def _copy_to(array, device):
    """``array`` on ``device``, contiguous."""
    return arrays.contiguous(arrays.move(array, device))


def _concatenate(pieces, device, kind):
    """The pieces one after the other, on ``device``."""
    with arrays.on(device):
        pieces = [arrays.move(piece, device) for piece in pieces]
        if not pieces:
            return arrays.empty(0, kind, device)
        return pieces[0] if len(pieces) == 1 else arrays.namespace(device).concatenate(pieces)
