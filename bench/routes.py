"""Routes on street-like graphs: preparing, and searches between pairs, beside routingkit-cch and pandana.

    python bench/routes.py build --vertices 200000 --threads 1 2     preparing: seconds, memory, quality
    python bench/routes.py queries --vertices 200000 --threads 1 2   10,000 random pairs of a prepared graph

``streets`` are crossings of a grid without a quarter of its edges, joined by streets with five bends;
``grid`` is such a grid, and ``delaunay`` a triangulation of random points.  Weights are 100 to 1,000.

The peers are those that are installed.  ``routingkit-cch`` has an order to be chosen, by degrees (``degree``)
or by coordinates (``inertial``); building counts the order, the hierarchy and its customisation, on one core.
It answers one pair a call, on one core.  ``pandana`` builds and answers on all cores that OpenMP has, in a
process that is started with ``OMP_NUM_THREADS`` on so many.  Memory is the growth of the resident set at its
peak.  ``shortcuts`` are those for each edge, ``space`` is the mean number of vertices above one and itself,
and ``entries`` that of the entries of these, without any pruning.
"""

import math
import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from harness import in_turn, main, ms_of, part, timed

import edgewise as ew
from edgewise.device import threads
from edgewise.experiments.streets import BENDS, DROPPED, street
from edgewise.paths.hierarchy import kept

#: Graphs by name, of about so many vertices.
GRAPHS = {
    "streets": lambda n: street(n, seed=1),
    "grid": lambda n: ew.generate.grid(math.isqrt(n), dropped=DROPPED, seed=1),
    "delaunay": lambda n: ew.generate.delaunay(n, seed=1),
}
#: Vertices from which the space above is sampled, and pairs whose paths are asked for one by one.
SAMPLED, PATHS = 300, 500


def made(name, n):
    """A graph with weights, and its edges in both directions as the peers take them."""
    graph = ew.generate.with_weights(GRAPHS[name](n), 100, 1000, seed=3)
    graph = graph.with_weights(graph.weights.astype(np.int32))
    graph.offsets  # noqa: B018  rows are there before anything is timed
    ends = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
    return graph, ends


def fresh(graph):
    """The same graph, which is not prepared, with its rows."""
    again = graph.with_weights(graph.weights)
    again.offsets  # noqa: B018
    return again


def peak(action):
    """What an action returns, and the growth of the resident set at its peak, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmHWM")
    found = action()
    return found, resident("VmHWM") - before


def resident(field):
    """A size in MB that the system tells of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def quality(graph):
    """Shortcuts per edge, and the mean size of what lies above a vertex."""
    hierarchy = kept(graph)
    (offsets, neighbours, _), middles = hierarchy.outgoing
    shortcuts = np.count_nonzero(middles < graph.n_vertices)
    vertices = entries = 0
    for rank in np.random.default_rng(5).integers(0, graph.n_vertices, SAMPLED).tolist():
        above, waiting = {rank}, [rank]
        while waiting:
            lower = waiting.pop()
            entries += int(offsets[lower + 1] - offsets[lower])
            new = set(neighbours[offsets[lower] : offsets[lower + 1]].tolist()) - above
            above |= new
            waiting.extend(new)
        vertices += len(above)
    facts = {"shortcuts": shortcuts / graph.n_edges, "levels": len(hierarchy.levels) - 1}
    return facts | {"space": vertices / SAMPLED, "entries": entries / SAMPLED}


# -- Peers ---------------------------------------------------------------------------------------------------


def coordinates(name, n, n_vertices):
    """Coordinates of the vertices of a grid, or of streets by the crossings where they begin; else None."""
    if name == "delaunay":
        return None
    crossings, side = np.arange(n_vertices), math.isqrt(n)
    if name == "streets":
        side = math.isqrt(round(n / (1 + BENDS * 2 * (1 - DROPPED))))
        begin = ew.generate.grid(side, dropped=DROPPED, seed=1).sources
        crossings = np.repeat(np.arange(side * side), 1 + BENDS * np.bincount(begin, minlength=side * side))
    return (crossings // side).astype(float), (crossings % side).astype(float)


def routingkit(order, graph, ends, axes):
    """The customised hierarchy of routingkit-cch, with one of its orders."""
    import routingkit_cch

    n, (sources, targets), weights = graph.n_vertices, ends, graph.weights.tolist()
    tail, head = np.concatenate([sources, targets]).tolist(), np.concatenate([targets, sources]).tolist()
    if order == "inertial":
        ranks = routingkit_cch.compute_order_inertial(n, tail, head, *(axis.tolist() for axis in axes))
    else:
        ranks = routingkit_cch.compute_order_degree(n, tail, head)
    cch = routingkit_cch.CCH(ranks, tail, head, False)
    return cch, routingkit_cch.CCHMetric(cch, weights + weights)


def pandana(graph, ends, axes):
    """The network of pandana."""
    import pandas
    from pandana import Network

    x, y = np.random.default_rng(1).random((2, graph.n_vertices)) if axes is None else axes
    sources, targets, weights = (pandas.Series(column) for column in (*ends, graph.weights.astype(float)))
    return Network(pandas.Series(x), pandas.Series(y), sources, targets, pandas.DataFrame({"w": weights}))


def peers(name, graph, ends, given):
    """Builders of the peers that are installed, by name."""
    axes, ways = coordinates(name, given.vertices, graph.n_vertices), {}
    if find_spec("routingkit_cch"):
        ways["routingkit-cch, degree"] = partial(routingkit, "degree", graph, ends, axes)
        if axes is not None:
            ways["routingkit-cch, inertial"] = partial(routingkit, "inertial", graph, ends, axes)
    if find_spec("pandana"):
        ways["pandana"] = partial(pandana, graph, ends, axes)
    return {way: make for way, make in ways.items() if way not in given.without}


def cores_of(way):
    """Cores that a peer has: one, or those that OpenMP has, where 0 stands for all."""
    return int(os.environ.get("OMP_NUM_THREADS", 0)) if way == "pandana" else 1


# -- Preparing -----------------------------------------------------------------------------------------------


def build(given):
    """Preparing a graph: a row for each number of threads, and for each peer."""
    for name in given.graphs:
        graph, ends = made(name, given.vertices)
        made(name, 2000)[0].prepare("routes")  # which compiles
        facts = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges}
        for count in given.threads:
            threads.use(count)
            spent = []
            for _ in range(given.rounds):
                new = fresh(graph)
                (found, taken), memory = peak(lambda new=new: timed(lambda: new.prepare("routes")))
                spent.append(taken)
            row = {**facts, "method": "edgewise", "threads": count, "seconds": min(spent)}
            yield row | {"memory_mb": memory} | quality(found)
        for way, make in peers(name, graph, ends, given).items():
            (_, taken), memory = peak(lambda make=make: timed(make))
            row = {**facts, "method": way, "threads": cores_of(way)}
            yield row | {"seconds": taken, "memory_mb": memory}


# -- Queries -------------------------------------------------------------------------------------------------


def ours(graph, sources, targets, count):
    """Distances along the hierarchy of a prepared graph."""
    return ew.routes(graph, sources, targets, threads=count)


def with_pandana(network, sources, targets):
    """Distances by one call of pandana."""
    return np.array(network.shortest_path_lengths(sources, targets))


def with_routingkit(built, sources, targets):
    """Distances by a call for each pair."""
    import routingkit_cch

    query = routingkit_cch.CCHQuery(built[1])
    return [query.run(*pair).distance for pair in zip(sources.tolist(), targets.tolist(), strict=True)]


def joined(found):
    """Distances as floats, infinite where no path leads; that is a number of millions in pandana."""
    if isinstance(found, list):
        return np.array([math.inf if distance is None else distance for distance in found])
    if isinstance(found, np.ndarray):
        return np.where(found > 4e6, np.inf, found)
    return np.where(found.reachable, found.distances.astype(float), np.inf)


def queries(given):
    """Searches of random pairs: a row for each number of threads, and for each peer."""
    for name in given.graphs:
        graph, ends = made(name, given.vertices)
        graph.prepare("routes")
        pairs = np.random.default_rng(5).integers(0, graph.n_vertices, (2, given.pairs))
        ways = {("edgewise", count): partial(ours, graph, *pairs, count) for count in given.threads}
        for way, make in peers(name, graph, ends, given).items():
            search = with_pandana if way == "pandana" else with_routingkit
            ways[way, cores_of(way)] = partial(search, make(), *pairs)
        ways = {way: (action, joined) for way, action in ways.items()}
        for (way, count), spent in in_turn(ways, given.rounds, same=np.allclose).items():
            facts = {"graph": name, "vertices": graph.n_vertices, "method": way, "threads": count}
            yield {**facts, "microseconds": 1e6 * min(spent) / given.pairs, "ms": ms_of(spent)}
        (path,) = in_turn({"path": (partial(paths_of, ours(graph, *pairs, 1)), None)}, 1).values()
        facts = {"graph": name, "vertices": graph.n_vertices, "method": "edgewise, path", "threads": 1}
        yield {**facts, "microseconds": 1e6 * min(path) / PATHS}


def paths_of(found):
    """Paths of some of the pairs, one by one."""
    for pair in range(PATHS):
        found.path(pair)


COMMON = {"graphs": [*GRAPHS], "threads": [1, 2], "without": str, "rounds": 3}
KEY = ("graph", "vertices", "method", "threads")
PARTS = {
    "build": part("routes-build", build, key=KEY, vertices=200_000, **COMMON),
    "queries": part("routes-queries", queries, key=KEY, vertices=200_000, pairs=10_000, **COMMON),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
