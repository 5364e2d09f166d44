"""Minimum and maximum spanning forests: the lightest, or heaviest, edges that hold every component together.

Edges are compared by their weights, then by their positions in the edge list of the graph, so there is one
forest, and every method, device and number of threads finds it (:mod:`~edgewise.forest.order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import NamedTuple, Never, Unpack

import numpy as np

from edgewise import memory, tuning
from edgewise.device import arrays, threads
from edgewise.errors import GraphError, OutOfMemoryError, argument
from edgewise.forest.filter import Entries, are_ascending
from edgewise.forest.order import is_packed, order_of
from edgewise.forest.renumbering import is_renumbered
from edgewise.forest.result import SpanningForest
from edgewise.graph import Graph
from edgewise.method import (
    Driver,
    Method,
    Option,
    check_device,
    check_graph,
    check_method,
    check_one_or_several,
    check_weights,
    is_of_rows,
    refuse_client,
    worker_names,
)
from edgewise.needs import Needs, Size, Term, size_of
from edgewise.weights import SIMILARITY, WeightOptions, weighted_front
from edgewise.workers import device_team

__all__ = ["METHODS", "SpanningForest", "minimum_spanning_forest"]


#: Bytes of a word, or of a position.
WORD = 8
#: Bytes of the number of a round.
ROUND = 4
#: Edges for each vertex that Kruskal's algorithm sorts at a time, where there are more.
SORTED = 3


@dataclass(frozen=True)
class ForestMethod(Method):
    """A method for spanning forests.

    ``run(n_vertices, entries, **options)``, where ``entries`` are :class:`~edgewise.forest.filter.Entries`,
    returns two arrays on the device of its arguments: the entries of the edges of the forest, in any order,
    and -1 in between or behind: int64, at most ``n_vertices``; and the smallest vertex of each vertex's tree:
    (n_vertices,) of the index type.  A third value are its
    :class:`~edgewise.transactions.statistics.Rounds` of transactions.
    ``memory`` takes a :class:`Listed`, too.
    """


class Listed(NamedTuple):
    """The entries of a forest: whether those of rows, whether words hold positions, and on which device."""

    from_rows: bool
    packed: bool
    device: str

    def of(self, size):
        """How many there are, and the bytes of a word."""
        return size.entries if self.from_rows else size.edges, WORD if self.packed else 2 * WORD

    def rows(self, size):
        """The bytes of the numbers of their rows."""
        return size.width * size.entries if self.from_rows else 0


def bytes_of_boruvka(size: Size, listed: Listed) -> float:
    """Both ends and the word of each edge; where trees are renumbered, three arrays of vertices again."""
    count, word = listed.of(size)
    again = size.width + 2 * WORD if is_renumbered(size.vertices, listed.device) else 0
    return (2 * size.width + word) * count + (size.width + WORD + word + again) * size.vertices


def bytes_of_kruskal(size: Size, listed: Listed) -> float:
    """The words of all edges, and again those of the lightest ones, sorted."""
    count, word = listed.of(size)
    moved = WORD * min(count, SORTED * size.vertices)
    return word * count + moved + (size.width + WORD) * size.vertices + listed.rows(size)


def bytes_of_transactions(size: Size, listed: Listed) -> float:
    """Each edge at both ends, twice while the lists are made; for each vertex six words and a round."""
    count, word = listed.of(size)
    lists = word + 4 * (size.width + WORD)
    return lists * count + (3 * size.width + 6 * WORD + ROUND) * size.vertices + listed.rows(size)


#: The protocols of :data:`edgewise.transactions.PROTOCOLS`, which is not imported for other methods.
PROTOCOLS = (
    "wound-wait",
    "priority",
    "pessimistic",
    "invisible",
    "tl2",
    "block",
    "block-nonblocking",
    "reservations",
)

METHODS = {
    "boruvka": ForestMethod(
        Driver("edgewise.forest.boruvka:boruvka"),
        "every tree takes its first edge; the heavy edges are filtered",
        "Boruvka 1926; ECL-MST, 2023",
        memory=bytes_of_boruvka,
    ),
    "kruskal": ForestMethod(
        Driver("edgewise.forest.kruskal:kruskal"),
        "edges in order; the heavy edges are filtered before they are sorted",
        "Kruskal 1956; Osipov et al. 2009",
        devices=("cpu",),
        memory=bytes_of_kruskal,
    ),
    "transactional": ForestMethod(
        Driver("edgewise.forest.transactional:transactional"),
        "every tree finds its first edge; trees are merged by transactions",
        "Manoochehri 2017, chapter 3",
        memory=bytes_of_transactions,
        options={
            "protocol": Option(choices=PROTOCOLS),
            "deactivate": Option(choices=(False, True)),
            "log": Option(),
        },
        baseline=True,
    ),
}


class ForestOptions(WeightOptions, total=False):
    """Options of the methods and of every public function, and one that is refused."""

    protocol: str
    deactivate: bool
    log: int
    client: Never


@weighted_front
def minimum_spanning_forest(
    graph: Graph,
    *,
    maximum: bool = False,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    **options: Unpack[ForestOptions],
) -> SpanningForest:
    """Find the minimum spanning forest of a graph: a spanning tree of least weight for each component.

    Parameters
    ----------
    graph : Graph
        Undirected, with weights, which may be negative, zero or infinite.  Self-loops are never in a forest.
    maximum : bool
        Find the forest of largest weight instead, as for scores, where more is nearer.
    method : str
        A name in ``METHODS``, or ``"auto"``: selected by the number of edges and the device.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.  Edges that are too many for its memory are sent to it in segments.
    devices : str or list of str, optional
        Several devices that share the edges: ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as
        ``["cuda:0", "cuda:1"]``; ``"cpu:0"``, ``"cpu:1"`` ... are workers on the CPU.  The result is on the
        device of the graph.
    protocol : str, optional
        Option of ``transactional``: a name in :data:`edgewise.transactions.PROTOCOLS`; ``"wound-wait"`` by
        default, ``"priority"`` is that of the thesis.
    deactivate : bool, optional
        Option of ``transactional``: read the edges of a vertex no more when all of them are inside its tree.
    log : int, optional
        Option of ``transactional``: the transactions walk to the roots themselves, with logs of so many words
        at first.  By default the roots are found outside, and a transaction has two words.

    Returns
    -------
    SpanningForest
        Of edges of equal weight those come first that are earlier in the edge list of the graph, also with
        ``maximum=True``, so there is one answer only.

    Raises
    ------
    GraphError
        A directed graph, a graph without weights, or a weight that is NaN; weights that were taken by default
        from a column that sounds like a score, without ``maximum=True`` or ``weight``.
    OptionError
        An unknown method or option, or both of ``device`` and ``devices``; a ``client``.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "a", "d"], ["b", "c", "c", "e"], weights=[0.9, 0.4, 0.8, 0.7])
    >>> forest = ew.minimum_spanning_forest(graph, maximum=True)
    >>> forest.edges.tolist(), round(forest.weight, 1)
    ([0, 2, 3], 2.4)
    """
    refuse_client(options, "stream_forest")
    check_graph(graph)
    check_method(method, METHODS, options)
    check_one_or_several(device, devices)
    _check_weights(graph, maximum)
    if devices is None:
        taken: tuple[str, ...] = (graph.device if device is None else arrays.resolve(device),)
        names = worker_names(taken[0])
    else:
        team = device_team(devices)
        taken, names = team.devices, team.names
    for one in taken:
        check_device(method, one, METHODS)
    if len(taken) == 1:
        try:
            return _solve(graph.to(taken[0]), method, maximum, names, options)
        except OutOfMemoryError:
            if taken[0] == "cpu":
                raise
    return _solve_by_shares(graph, method, maximum, device_team(names), options)


def _check_weights(graph, maximum):
    """Refuse a graph that has no spanning forest, or probably not the one that is wanted."""
    if graph.directed:
        raise GraphError("a spanning forest needs an undirected graph; use Graph.undirected()")
    if (graph.csr_weights if graph.has_rows else graph.weights) is None:
        given = argument("weights")
        raise GraphError(
            f"the graph has no weights, so no spanning forest is better than another; give {given}"
        )
    if graph.assumed_weights:
        refuse_scores(graph.assumed_weights, maximum)


def refuse_scores(name, maximum):
    """Refuse a column that was taken as the weights by default, if it sounds like a score."""
    if not maximum and SIMILARITY.search(name):
        problem = f"the weights are the column {name!r}, which sounds like a score, where more is nearer"
        raise GraphError(
            f"{problem}; use {argument('maximum', True)}, or {argument('weight', name)} if more is farther"
        )


def _solve(graph, method, maximum, names, options):
    """Solve a graph on its device."""
    with arrays.guard(graph.device):
        entries = _entries(graph, maximum)
        name = choose(graph.device, len(entries.targets)) if method == "auto" else method
        if graph.device != "cpu":  # there the front has asked
            _check_memory(graph, entries, name)
        arrays.synchronize(graph.device)
        start = perf_counter()
        hooked_by, labels, *others = METHODS[name].run(graph.n_vertices, entries, **options)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    found = hooked_by, labels, maximum, bool(entries.both)
    transactions = others[0] if others else None
    return SpanningForest(graph, name, seconds, *found, devices=names, transactions=transactions)


def _solve_by_shares(graph, method, maximum, team, options):
    """Solve a graph by several devices, or by one that has not enough memory for the whole."""
    from edgewise.forest.reduction import Goal
    from edgewise.forest.several import forest_by_shares

    with arrays.guard(graph.device):
        _entries(graph, maximum)  # checks the weights as the graph has them
        columns = graph.sources, graph.targets, graph.weights
        arrays.synchronize(graph.device)
    share = len(columns[0]) // len(team.devices)
    names = {one: choose(one, share) if method == "auto" else method for one in team.devices}
    start = perf_counter()
    runs = {one: partial(METHODS[name].run, **options) for one, name in names.items()}
    goals = {one: Goal(graph.n_vertices, maximum, run) for one, run in runs.items()}
    positions, labels, n_segments = forest_by_shares(goals.__getitem__, columns, team)
    seconds, name = perf_counter() - start, " and ".join(sorted(set(names.values())))
    if n_segments:
        name += f", in {n_segments} segments"
    positions, labels = (arrays.move(one, graph.device) for one in (positions, labels))
    return SpanningForest(graph, name, seconds, positions, labels, maximum, devices=team.names)


def choose(device, n_entries=None):
    """Kruskal's algorithm, which joins trees on one core, on few cores; Boruvka's on many, and on GPUs.

    Without a number of entries these are many.
    """
    limits = tuning.CPU
    is_small = n_entries is not None and n_entries < limits.forest_entries
    on_one_core = device == "cpu" and (is_small or threads.count() < limits.forest_threads)
    return "kruskal" if on_one_core else "boruvka"


def needs(graph, *, maximum=False, method="auto", **options) -> Needs:
    """How a call would solve a graph on the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    size, from_rows, weights = size_of(graph), is_of_rows(graph), (graph._edges or graph._rows)[2]
    name = choose("cpu", size.entries if from_rows else size.edges) if method == "auto" else method
    listed = Listed(from_rows, weights is None or is_packed(weights), "cpu")
    return Needs(("rows" if from_rows else "edges",), name, partial(_term(name), listed=listed), size)


def _term(method) -> Term:
    """The bytes that a method takes; all have a term."""
    return METHODS[method].memory or bytes_of_boruvka


def _check_memory(graph, entries, method) -> None:
    """Raise unless the bytes are free on the device, since a host promises more than it has."""
    device, n_vertices = arrays.device_of(entries.targets), graph.n_vertices
    listed = Listed(len(entries.offsets) > 0, bool(entries.order.packed), device)
    count, width = len(entries.targets), entries.targets.dtype.itemsize
    needed = int(_term(method)(Size(n_vertices, count, count, width, 0, 0), listed))
    if needed > memory.UNCHECKED_BYTES and needed > (free := arrays.free_memory(device)):
        problem = f"{device} has too little memory for a spanning forest of {n_vertices:,} vertices"
        sizes = f"{needed:,} bytes needed, {free:,} free"
        raise OutOfMemoryError(f"{problem}: {sizes}; leave out edges that are not needed, or stream them")


def _entries(graph, maximum):
    """The edge list of the graph, or else its rows, each edge of which is listed twice."""
    from_rows = is_of_rows(graph)
    if from_rows:
        targets, weights, offsets = graph.neighbours, graph.csr_weights, graph.offsets
        sources = arrays.empty(0, targets.dtype, graph.device)
    else:
        sources, targets, weights = graph.sources, graph.targets, graph.weights
        offsets = arrays.empty(0, np.int64, graph.device)
    graph.cached("forest weights", lambda: check_weights(graph, (sources, targets), weights))
    is_by_rows = from_rows and graph.device != "cpu"
    ascending = is_by_rows and graph.cached("ascending rows", lambda: are_ascending(offsets, targets))
    order = order_of(weights, maximum)
    return Entries(sources, targets, offsets, int(from_rows), order, int(ascending))
