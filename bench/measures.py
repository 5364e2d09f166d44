"""Closeness of all vertices, on every core or on a GPU, beside igraph and NetworKit.

    python bench/measures.py whole --named rmat-14 city-100 --threads 2
    python bench/measures.py rate --named rmat22 --batches 8 --device cuda

``whole`` is the public call, on a new graph and again on the same one, and the programs' closeness of all
vertices: igraph's on one thread, NetworKit's on all.  Where that would take longer than ``--longest`` seconds
by the time of a sample of sources, the time is that of the sample, times vertices over sources, and
``estimated`` names the program.  Closeness must be equal, where a program has computed it.

``rate`` searches from some batches only, evenly spread over all, with the vertices numbered as in the call.
A visit is an entry of the rows for one source: the sources that have an edge, times all entries, which most
of them reach.  The floor reads every entry of the rows once for each batch, with the 64 bytes of its vertex,
at ``--bandwidth`` bytes a second.

``city-300`` is a grid of 300 x 300 junctions without a fifth of its edges, and ``city-300-shuffled`` the same
with its vertices numbered at random.
"""

import time
from functools import partial

import families
import numpy as np
from harness import compared, free, main, median_of, ms_of, part, seconds, timed

import edgewise as ew
from edgewise.device import arrays, threads
from edgewise.paths.csr import adjacency_of
from edgewise.paths.measures import bit_parallel
from edgewise.paths.measures.numbering import numbered

#: Sources of a sample by which a program's time is estimated.
SAMPLE = 24
#: Share of a city's edges that are left out.
DROPPED = 0.2


def graph_of(name):
    """A graph on the host."""
    kind, _, rest = name.partition("-")
    if kind != "city":
        return families.graph(name)
    side, _, order = rest.partition("-")
    return ew.generate.grid(int(side), dropped=DROPPED, shuffle=order == "shuffled")


def new(graph, device):
    """A new graph over the same rows."""
    made = ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None), directed=False)
    return made if device == "cpu" else made.to(device)


def igraph_closeness(graph):
    """What computes igraph's closeness of some vertices, or of all."""
    import igraph

    ends = np.stack([graph.sources, graph.targets], 1)
    theirs = igraph.Graph(graph.n_vertices, ends, directed=False)
    return lambda some=None: np.array(theirs.closeness(some, normalized=True))


def networkit_closeness(graph, n_threads):
    """What computes NetworKit's closeness; of some vertices: as many searches, on one thread."""
    import networkit

    networkit.setNumberOfThreads(n_threads)
    ends = graph.sources.astype(np.uint64), graph.targets.astype(np.uint64)
    theirs = networkit.GraphFromCoo((np.ones(len(ends[0])), ends), n=graph.n_vertices)

    def closeness(some=None):
        if some is not None:
            return [networkit.distance.BFS(theirs, int(one), storePaths=False).run() for one in some]
        kind = networkit.centrality.ClosenessVariant.GENERALIZED
        return np.array(networkit.centrality.Closeness(theirs, True, kind).run().scores())

    return closeness


def estimated(compute, graph, n_threads, longest):
    """Seconds of a program for all vertices, its closeness, and whether the time is an estimate."""
    degrees = np.diff(graph.offsets)
    some = np.random.default_rng(1).choice(np.flatnonzero(degrees), SAMPLE)
    expected = seconds(partial(compute, some.tolist())) * np.count_nonzero(degrees) / SAMPLE / n_threads
    if expected > longest:
        return expected, None, True
    found, spent = timed(compute)
    return spent, found, False


def peers(graph, given, found):
    """Milliseconds of the programs, those that are estimated, and whether their closeness is ours."""
    spent, by_sample, right = {}, [], True
    makers = {
        "igraph": (igraph_closeness, 1),
        "NetworKit": (partial(networkit_closeness, n_threads=given.threads or threads.most()), given.threads),
    }
    for name in given.peers:
        make, n_threads = makers[name]
        took, theirs, is_estimate = estimated(make(graph), graph, n_threads or threads.most(), given.longest)
        spent[name] = ms_of([took])
        by_sample += [name] if is_estimate else []
        if theirs is not None and name == "NetworKit":
            right = right and np.allclose(theirs, found.closeness, rtol=1e-9)
    return spent, by_sample, right


def whole(given):
    """The public call on whole graphs."""
    if given.threads:
        threads.use(given.threads)
    given.facts |= {"threads": given.threads or threads.most()}
    for name in given.named:
        graph, device = graph_of(name), given.device
        ew.distance_measures(new(graph, device))  # compiles
        fresh, warm, numbering = [], [], []
        for _ in range(given.runs):
            ours = new(graph, device)
            fresh.append(seconds(partial(ew.distance_measures, ours)))
            warm.append(seconds(partial(ew.distance_measures, ours)))
            numbering.append(seconds(partial(numbered, adjacency_of(ours))))
        found = ew.distance_measures(ours)
        spent, by_sample, right = peers(graph, given, found)
        visits = np.count_nonzero(np.diff(graph.offsets)) * len(graph.neighbours)
        yield {
            "graph": name,
            "vertices": graph.n_vertices,
            "entries": len(graph.neighbours),
            "levels": len(found.hop_histogram) - 1,
            "fresh_ms": ms_of(fresh),
            "ms": ms_of(warm),
            "numbering_ms": ms_of(numbering),
            "visits_per_second": visits / (median_of({"ms": ms_of(fresh)}) / 1e3),
            "peers": spent,
            "estimated": by_sample,
            "right": right,
        }
        free()


def some_batches(sources, count):
    """The sources of some full batches, evenly spread."""
    size = bit_parallel.SOURCES
    batches = np.linspace(0, max(len(sources) // size - 1, 0), count).astype(np.int64)
    return np.concatenate([sources[size * one : size * (one + 1)] for one in np.unique(batches)])


def rate(given):
    """Visits a second of some batches."""
    if given.threads:
        threads.use(given.threads)
    given.facts |= {"threads": given.threads or threads.most()}
    for name in given.named:
        graph = new(graph_of(name), given.device)
        began = time.perf_counter()
        rows = numbered(adjacency_of(graph))
        arrays.synchronize(graph.device)
        numbering = time.perf_counter() - began
        rows = rows._replace(sources=some_batches(rows.sources, given.batches))
        search = partial(solve, rows, given.device)
        search()
        times = [seconds(search) for _ in range(given.runs)]
        n_batches, entries = -(-len(rows.sources) // bit_parallel.SOURCES), len(graph.neighbours)
        floor = n_batches * entries * (64 + 4) / given.bandwidth
        yield {
            "graph": name,
            "vertices": graph.n_vertices,
            "entries": entries,
            "sources": len(rows.sources),
            "numbering_ms": 1e3 * numbering,
            "ms": ms_of(times),
            "visits_per_second": len(rows.sources) * entries / np.median(times),
            "floor_ms": 1e3 * floor,
            "over_floor": np.median(times) / floor,
        }
        free()


def solve(rows, device):
    """Search from the sources of a numbering."""
    if device == "cpu":
        return bit_parallel.on_cpu(rows, bit_parallel.report_nothing)
    from edgewise.paths.measures import bit_parallel_gpu

    return bit_parallel_gpu.solve(rows, bit_parallel.report_nothing)


def ratios(rows):
    """Ratios to the programs, on new graphs."""
    for peer in ("igraph", "NetworKit"):
        pairs = [(row["graph"], median_of(row, "fresh_ms"), median_of(row["peers"], peer)) for row in rows]
        yield from compared(f"ours over {peer}, new graphs", pairs)


OPTIONS = {"device": "cpu", "named": ["city-100", "rmat-12"], "runs": 3, "threads": 0}
PARTS = {
    "whole": part(
        "measures-whole-{place}",
        whole,
        key=("graph",),
        summary=ratios,
        longest=20.0,
        peers=["igraph", "NetworKit"],
        **OPTIONS,
    ),
    "rate": part("measures-rate-{place}", rate, key=("graph",), batches=8, bandwidth=4.3e12, **OPTIONS),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
