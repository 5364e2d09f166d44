"""Distance tables, trees and eccentricities of streets that are prepared, beside SciPy, igraph, networkit.

    python bench/tables_of_distances.py --side 1414 --threads 2      2 M vertices, beside others
    python bench/tables_of_distances.py --device cuda --side 4000 --others 0      16 M vertices, with floors

Streets are a grid of ``side * side`` crossings without a fifth of its minor edges.  Every eighth line is a
main street, on which one is twice as fast, and every 64th one four times.  ``table`` is the distances between
``--ends`` random crossings and as many others, ``trees`` those from ``--trees`` crossings to all, and
``eccentricities`` what :func:`edgewise.distance_measures` adds up from as many.  Times of ours are those of a
prepared graph; ``prepare`` is what that takes, and ``core_ms`` is the time of the other kind of hierarchy on
a GPU.  Others search from few sources, and their time is scaled to the number of ours; SciPy and igraph have
one thread, networkit as many as ours.  Distances must be equal.

The floor of a tree on a GPU is the time in which its distances are written and read once and the rows of the
hierarchy are read once for a batch; ``as_read`` counts the distances of neighbours as often as they are read.
"""

from functools import partial

import numpy as np
from harness import device_ms, main, ms_of, part, seconds, settle, timed

import edgewise as ew
from edgewise.device import arrays, threads
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy.phast import sweeps_of
from edgewise.paths.hierarchy.reductions import reduced
from edgewise.paths.sssp.weights import rows_in

#: Bytes a second that an H200 moves, as measured by copies.
BANDWIDTH = 4.3e12
#: Distances of other programs beyond this are none.
FAR = 1e300
#: Lines between two main streets, and how much faster they are; the rarest last.
FASTER = ((8, 2), (64, 4))


def streets(side, seed=1, dropped=0.2):
    """Streets of a city: see above."""
    rng, at = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    columns = []
    for ends in ((at[:, :-1], at[:, 1:]), (at[:-1].T, at[1:].T)):
        speed = np.ones(side, np.int64)
        for every, times in FASTER:
            speed[::every] = times
        speed = np.broadcast_to(speed[:, None], ends[0].shape)
        keep = (rng.random(speed.shape) >= dropped) | (speed > 1)
        lengths = rng.integers(800, 1201, speed.shape) // speed
        columns.append([one[keep] for one in (*ends, lengths)])
    sources, targets, lengths = (np.concatenate(one) for one in zip(*columns, strict=True))
    return ew.Graph.from_edges(sources, targets, weights=lengths.astype(np.int32), n_vertices=side * side)


def others(graph, n_threads):
    """Searches of other programs that are installed: functions of sources and targets, by name.

    ``targets`` are None for all.
    """
    found = {}
    host = graph.to("cpu")
    n, ends, weights = host.n_vertices, (host.sources, host.targets), host.weights.astype(float)
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        both = np.concatenate(ends), np.concatenate(ends[::-1])
        matrix = csr_array((np.concatenate([weights, weights]), both), shape=(n, n))

        def scipy(sources, targets):
            rows = dijkstra(matrix, indices=sources)
            return rows if targets is None else rows[:, targets]

        found["scipy"] = scipy
    except ImportError:
        print("SciPy is not installed", flush=True)
    try:
        import igraph

        there = igraph.Graph(n=n, edges=np.stack(ends, axis=1))
        found["igraph"] = lambda sources, targets: np.array(
            there.distances(
                sources.tolist(), None if targets is None else targets.tolist(), weights=weights.tolist()
            )
        )
    except ImportError:
        print("igraph is not installed", flush=True)
    try:
        import networkit

        networkit.setNumberOfThreads(n_threads)
        net = networkit.GraphFromCoo((weights, ends), n=n, weighted=True, directed=False)

        def by_networkit(sources, targets):
            given = [net, sources.tolist()] + ([] if targets is None else [targets.tolist()])
            search = networkit.distance.SPSP(*given).run()
            return np.array(search.getDistances())

        found["networkit"] = by_networkit
    except ImportError:
        print("networkit is not installed", flush=True)
    return found


def beside(row, given, graph, ends, distances):
    """A row with the times of other programs, scaled to all its sources, and whether distances are equal."""
    sources, targets = ends
    few = sources[: given.others]
    ours = np.where(distances[: len(few)] == unreached(distances.dtype), np.inf, distances[: len(few)])
    if given.others and "others" not in given.kept:
        given.kept["others"] = others(graph, threads.count())
    for name, search in given.kept.get("others", {}).items():
        found, took = timed(lambda search=search: search(few, targets))
        row[f"{name}_ms"] = 1e3 * took * len(sources) / len(few)
        row["right"] = row["right"] and np.array_equal(np.where(found > FAR, np.inf, found), ours)
    return row


def table(given, graph, sweeps, rng):
    """Distances between some crossings and others."""
    ends = [rng.choice(graph.n_vertices, given.ends, replace=False) for _ in range(2)]
    found, ms = clocked(lambda: ew.distance_table(graph, *ends), given)
    distances = arrays.move(found.distances, "cpu")
    row = {"what": "table", "sources": given.ends, "targets": given.ends, "ms": ms}
    search = ew.shortest_paths(graph.to("cpu"), ends[0][0], method="delta-stepping")
    row["right"] = np.array_equal(search.distances[ends[1]], distances[0])
    return beside(row, given, graph, ends, distances)


def trees(given, graph, sweeps, rng):
    """Distances from some crossings to all, in batches."""
    n = graph.n_vertices
    sources = rng.choice(n, given.trees, replace=False)
    found, ms = clocked(lambda: ew.all_pairs_shortest_paths(graph, sources=sources), given)
    distances = arrays.move(found.distances[: max(1, given.others)], "cpu")
    row = {"what": "trees", "sources": len(sources), "ms": ms, "ms_a_tree": ms["median"] / len(sources)}
    search = ew.shortest_paths(graph.to("cpu"), sources[0], method="delta-stepping")
    row["right"] = np.array_equal(search.distances, distances[0])
    if graph.device != "cpu":
        del found
        flat = arrays.empty(n * len(sources), sweeps.dtype, graph.device)
        row["kernels_ms"] = device_ms(lambda: sweeps.solve(sources, flat), given.rounds)
        row |= floors(sweeps, row["kernels_ms"]["median"] / len(sources), written=True)
    return beside(row, given, graph, (sources, None), distances)


def floors(sweeps, ms, written):
    """Floors of a tree in milliseconds, and the time over the first."""
    rows, width = sweeps.by_level.descent.rows, sweeps.width_of(64)
    n = rows.n_vertices
    entries, item = len(rows.neighbours), sweeps.dtype.itemsize
    structure = (entries * (rows.neighbours.itemsize + rows.weights.itemsize) + 12 * n) / width
    result = (2 if written else 0) * n * item
    least, read = structure + result + 2 * n * item, structure + result + (n + entries) * item
    in_ms = [1e3 * one / BANDWIDTH for one in (least, read)]
    return {"floor_ms": in_ms[0], "over_floor": ms / in_ms[0], "as_read_ms": in_ms[1]}


def one(given, graph, sweeps, rng):
    """Distances from one crossing to all."""
    source = int(rng.integers(0, graph.n_vertices))
    row, found = {"what": "one tree"}, []
    ways = {"ms": "phast", "unprepared_ms": "delta-stepping"}
    if graph.device != "cpu":
        ways |= {"unprepared_ms": "near-far", "core_ms": "contraction-hierarchy"}
    for column, method in ways.items():
        search = partial(ew.shortest_paths, graph, source, method=method)
        distances, row[column] = clocked(search, given)
        found.append(arrays.move(distances.distances, "cpu"))
    return row | {"right": all(np.array_equal(found[0], other) for other in found[1:])}


def eccentricities(given, graph, sweeps, rng):
    """The largest distance from some crossings, and the sums of all vertices."""
    sources = rng.choice(graph.n_vertices, given.trees, replace=False)
    found, ms = clocked(lambda: reduced(sweeps, sources, lambda *done: None), given)
    row = {"what": "eccentricities", "sources": len(sources), "ms": ms}
    row["ms_a_tree"] = ms["median"] / len(sources)
    search = ew.shortest_paths(graph.to("cpu"), sources[0], method="delta-stepping")
    farthest = search.eccentricity if search.n_reached == graph.n_vertices else search.unreached
    if graph.device != "cpu":
        row |= floors(sweeps, row["ms_a_tree"], written=False)
    return row | {"right": bool(found[0][0] == farthest)}


def clocked(action, given):
    """What an action returns, and the spread of its milliseconds after a run that warms it up."""
    times, found = [], None
    for _ in range(given.rounds + 1):
        del found  # before the next one takes as much memory
        found, took = timed(action)
        times.append(took)
    return found, ms_of(times[1:])


def rows(given):
    """Rows of the result."""
    if given.threads:
        threads.use(given.threads)
    given.kept = {}
    graph = streets(given.side)
    common = {"vertices": graph.n_vertices, "threads": threads.count()}
    took = seconds(lambda: graph.prepare("routes"))
    hierarchy = graph.cached("routes", lambda: None)
    entries = len(hierarchy.incoming.rows.neighbours) / graph.n_vertices
    yield common | {
        "what": "prepare",
        "ms": ms_of([took]),
        "entries": entries,
        "levels": len(hierarchy.levels) - 1,
    }
    if given.device != "cpu":
        there = graph.to(given.device)
        there.cached("routes", lambda: hierarchy)
        there.prepared = graph.prepared
        graph = there
    took = seconds(lambda: sweeps_of(rows_in(graph), np.int32))
    sweeps, rng = sweeps_of(rows_in(graph), np.int32), np.random.default_rng(2)
    yield common | {"what": "first sweeps", "ms": ms_of([took])}
    calls = {"table": table, "one": one, "trees": trees, "eccentricities": eccentricities}
    for name, call in calls.items():
        if name not in given.without:
            yield common | call(given, graph, sweeps, rng)
            settle(give_back=True)


if __name__ == "__main__":
    options = {
        "side": 1414,
        "threads": 0,
        "device": "cpu",
        "ends": 1000,
        "trees": 128,
        "others": 4,
        "rounds": 3,
    }
    key = ("what", "vertices", "threads", "sources")
    main(__doc__, part("tables-{kind}", rows, key=key, **options, without=str))
