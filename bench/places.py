"""Isochrones and nearest places on streets, beside pandana, SciPy, igraph and networkit in one run.

    python bench/places.py isochrones --side 500
    python bench/places.py nearest --side 500 --without pandana

Streets are a grid of ``side`` times ``side`` junctions, a quarter of whose edges are missing, with whole
lengths from 50 to 499 metres.  Each program gets the graph in its own form beforehand; pandana's has a
contraction hierarchy, whose time is a column of its own.  Times are those of calls on that graph, in turn.

Isochrones: the vertices within a distance of each of many sources.  SciPy returns rows of distances to all
vertices, so it gets few sources at a time and their finite distances are collected; igraph and networkit
search without a limit.  Times are by source, since slow programs get the first sources only.

Nearest: the nearest k of the places for every vertex.  SciPy finds the nearest one only.
"""

import time
from functools import cache, partial

import numpy as np
from harness import compared, in_turn, main, ms_of, part, timed

import edgewise as ew
from edgewise.device import threads

#: Sources that a program without limit gets, and that SciPy gets at a time.
FEW = 2


def streets(side):
    """A graph with lengths."""
    graph = ew.generate.grid(side, dropped=0.25, seed=1)
    return graph.with_weights(np.random.default_rng(2).integers(50, 500, graph.n_edges))


class Forms:
    """The graph in the forms of the programs, each made once."""

    def __init__(self, side):
        self.graph, self.side, self.seconds = streets(side), side, {}

    @cache  # noqa: B019
    def scipy(self):
        """A matrix."""
        from scipy.sparse import csr_array

        graph = self.graph
        offsets, neighbours = graph.offsets, graph.neighbours.astype(np.int32)
        return csr_array((graph.csr_weights.astype(np.float64), neighbours, offsets))

    @cache  # noqa: B019
    def igraph(self):
        """A graph, with the weights."""
        import igraph

        ends = np.stack([self.graph.sources, self.graph.targets], axis=1)
        return igraph.Graph(n=self.graph.n_vertices, edges=ends), self.graph.weights.tolist()

    @cache  # noqa: B019
    def networkit(self):
        """A graph."""
        import networkit

        graph = self.graph
        ends = graph.sources.astype(np.uint64), graph.targets.astype(np.uint64)
        made = networkit.GraphFromCoo((graph.weights.astype(np.float64), ends), graph.n_vertices, True, False)
        return made

    @cache  # noqa: B019
    def pandana(self):
        """A network, with coordinates."""
        import pandana
        import pandas as pd

        graph, places = self.graph, self.coordinates()
        lengths = pd.DataFrame({"metres": graph.weights.astype(np.float64)})
        ends = pd.Series(graph.sources.astype(np.int64)), pd.Series(graph.targets.astype(np.int64))
        start = time.perf_counter()
        made = pandana.Network(*map(pd.Series, places), *ends, lengths)
        self.seconds["pandana"] = time.perf_counter() - start
        return made

    def coordinates(self):
        """Rows and columns of the junctions."""
        return np.divmod(np.arange(self.graph.n_vertices, dtype=np.float64), self.side)


def has(program, given):
    """Whether a program is there, and wanted."""
    from importlib.util import find_spec

    return program not in given.without and find_spec(program) is not None


def within_by_scipy(forms, sources, far):
    """The number of vertices within a distance of sources, and the sum of their distances."""
    from scipy.sparse.csgraph import dijkstra

    found = total = 0
    for first in range(0, len(sources), FEW):
        rows = dijkstra(forms.scipy(), indices=sources[first : first + FEW], limit=far)
        inside = rows[np.isfinite(rows)]
        found, total = found + len(inside), total + inside.sum()
    return found, total


def within_by_igraph(forms, sources, far):
    """The same, by searches without a limit."""
    graph, weights = forms.igraph()
    rows = np.array(graph.distances(source=sources.tolist(), weights=weights))
    inside = rows[rows <= far]
    return len(inside), inside.sum()


def within_by_networkit(forms, sources, far):
    """The same, by searches without a limit, one for each source."""
    import networkit

    found = total = 0
    for source in sources:
        search = networkit.distance.Dijkstra(forms.networkit(), int(source), False)
        search.run()
        row = np.array(search.getDistances())
        inside = row[row <= far]
        found, total = found + len(inside), total + inside.sum()
    return found, total


def within_by_pandana(forms, sources, far):
    """The same, by the table of pandana."""
    table = forms.pandana().nodes_in_range(sources.tolist(), far)
    return len(table), table["weight"].sum() if "weight" in table else table.iloc[:, -1].sum()


def within_by_edgewise(forms, sources, far):
    """The same, by the public call."""
    found = ew.isochrones(forms.graph, sources, [far / 3, far])
    return len(found.vertices), found.distances.sum(dtype=np.float64)


WITHIN = {
    "edgewise": (within_by_edgewise, None),
    "pandana": (within_by_pandana, None),
    "scipy": (within_by_scipy, 10 * FEW),
    "igraph": (within_by_igraph, FEW),
    "networkit": (within_by_networkit, FEW),
}


def isochrones(given):
    """Vertices within distances of many sources."""
    forms = Forms(given.side)
    n = forms.graph.n_vertices
    given.facts |= {"threads": threads.count(), "vertices": n, "edges": forms.graph.n_edges}
    for far in given.far:
        every = np.random.default_rng(3).choice(n, given.sources, replace=False)
        rights, slow = [], []
        programs = [name for name in WITHIN if name == "edgewise" or has(name, given)]
        ways, few = {}, {name: every[: WITHIN[name][1]] for name in programs}
        for name in programs:
            ways[name] = partial(WITHIN[name][0], forms, few[name], far), None
            ours, (theirs, spent) = WITHIN["edgewise"][0](forms, few[name], far), timed(ways[name][0])
            rights.append(bool(np.allclose(ours, theirs, rtol=1e-6)))
            slow += [name] * (spent > given.longest)
        spent = in_turn(ways, given.rounds, once=slow)
        times = {name: ms_of([one / len(few[name]) for one in found]) for name, found in spent.items()}
        size = within_by_edgewise(forms, every, far)[0] / len(every)
        yield {
            "far": far,
            "vertices_each": round(size, 1),
            "sources": {name: len(few[name]) for name in programs},
            "right": all(rights),
            "ms_each": times,
            "prepared_s": dict(forms.seconds),
        }


def nearest_by_edgewise(forms, places, k):
    """Distances of the k nearest places, summed up by rank."""
    return ew.nearest(forms.graph, places, k).distances


def nearest_by_scipy(forms, places, k):
    """Those of the nearest one."""
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(forms.scipy(), indices=places, min_only=True)[:, None]


def nearest_by_pandana(forms, places, k):
    """The same, by the table of pandana."""
    import pandas as pd

    network, coordinates = forms.pandana(), forms.coordinates()
    network.set_pois("places", 1e7, k, *(pd.Series(one[places]) for one in coordinates))
    return network.nearest_pois(1e7, "places", num_pois=k).to_numpy()


NEAREST = {"edgewise": nearest_by_edgewise, "scipy": nearest_by_scipy, "pandana": nearest_by_pandana}


def agree(one, other):
    """Whether distances are equal where both are finite."""
    one, other = (np.where(rows < 1e7, rows, 1e7).astype(np.float64) for rows in (one, other))
    return bool(np.allclose(one[:, : other.shape[1]], other[:, : one.shape[1]], rtol=1e-6))


def nearest(given):
    """The nearest of places for every vertex."""
    forms = Forms(given.side)
    n = forms.graph.n_vertices
    given.facts |= {"threads": threads.count(), "vertices": n, "edges": forms.graph.n_edges}
    for count in given.places:
        places = np.sort(np.random.default_rng(4).choice(n, count, replace=False))
        for k in given.k:
            programs = [name for name in NEAREST if name == "edgewise" or has(name, given)]
            programs = [name for name in programs if k == 1 or name != "scipy"]
            ways = {
                name: (partial(NEAREST[name], forms, places, k), lambda found: found) for name in programs
            }
            spent = in_turn(ways, given.rounds, same=agree, long=given.longest)
            times = {name: ms_of(found) for name, found in spent.items()}
            yield {"places": count, "k": k, "right": True, "ms": times, "prepared_s": dict(forms.seconds)}


def summary(column):
    """A function that returns lines on the ratios to each program."""

    def lines(rows):
        for peer in ("pandana", "scipy", "igraph", "networkit"):
            of = [row for row in rows if peer in row[column]]
            name = [
                ", ".join(f"{key} {row[key]}" for key in ("far", "places", "k") if key in row) for row in of
            ]
            medians = [[row[column][one]["median"] for one in ("edgewise", peer)] for row in of]
            yield from compared(f"edgewise over {peer}", [(a, *b) for a, b in zip(name, medians)])

    return lines


PARTS = {
    "isochrones": part(
        "places-isochrones-{place}",
        isochrones,
        key=("far",),
        summary=summary("ms_each"),
        side=500,
        far=[1000.0, 3000.0, 10000.0],
        sources=1000,
        rounds=5,
        longest=10.0,
        without=str,
    ),
    "nearest": part(
        "places-nearest-{place}",
        nearest,
        key=("places", "k"),
        summary=summary("ms"),
        side=500,
        places=[25, 2500],
        k=[1, 3],
        rounds=5,
        longest=10.0,
        without=str,
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
