"""ECL-MST, spanning forests on GPUs: the time of each method on stand-ins of the publication's graphs.

Fallin, Gonzalez, Seo and Burtscher (SC 2023) measure 17 graphs: grids and road networks, whose forests need
many rounds, and random, power-law and co-author graphs, of which most edges are filtered.  Here are one or
two of each kind.  Weights are whole numbers from 1 to 1000, drawn by the endpoints; the publication draws
those of graphs without weights by a hash, too.
"""

from edgewise import generators
from edgewise.experiments.graphs import DELAUNAY, HELLAS, PAPERS, STREET, SYNTHETIC, StandIn, kron
from edgewise.experiments.report import Figure, Table, curves, headings
from edgewise.forest import METHODS, minimum_spanning_forest

WEIGHTS = (1, 1000)


def _grid(n, **where):
    return generators.grid(round(n**0.5), **where)


def _random(n, **where):
    return generators.uniform(n, 4 * n, **where)


def _roads(n, **where):
    return generators.grid(round(n**0.5), dropped=0.4, **where)


#: Some of the graphs of the publication, by their names there.
GRAPHS = {
    "2d-2e20": StandIn("grid", 2**20, _grid),
    "coPapersDBLP": StandIn(PAPERS, 540_486, HELLAS["coPapersDBLP"].make),
    "delaunay_n24": StandIn(DELAUNAY, 2**24, generators.delaunay),
    "europe_osm": StandIn(STREET, 50_912_018, HELLAS["europe_osm"].make),
    "kron_g500-logn21": StandIn(SYNTHETIC, 2**21, kron),
    "r4-2e23": StandIn("random", 2**23, _random),
    "USA-road-d.USA": StandIn(STREET, 23_947_347, _roads),
}


def forests(watch):
    """Each method on each graph, with its rows and weights on the device."""
    rows = [row for name in watch.wanted(*GRAPHS) for row in _of_graph(watch, name)]
    series = curves(rows, "graph", "ms", lambda row: row["method"])
    return Table(
        "forests",
        "Minimum spanning forests",
        "Fallin et al. 2023, the comparison of codes",
        headings(
            "graph: stand-in for | vertices | edges | method | ms | runs | rate: M edges/s | "
            "speedup: over the first method, x"
        ),
        rows,
        ["ECL-MST is 4.6 times (Titan V) and 4.5 times (RTX 3080 Ti) as fast as the next fastest code"],
        [Figure("forests", "Minimum spanning forests", "graph", "milliseconds", series, steep=True)],
    )


def _of_graph(watch, name):
    graph, first = watch.stand_in(name, GRAPHS), None
    if graph.weights is None:
        graph = generators.with_weights(graph, *WEIGHTS, seed=1)
    graph.prepare("components")
    for method, how in METHODS.items():
        if how.baseline or watch.device.partition(":")[0] not in how.devices:
            continue

        def run(method=method):
            forest = minimum_spanning_forest(graph, method=method)
            return forest.edges, forest.seconds

        timing = watch.time(name, f"minimum_spanning_forest(method={method})", run)
        first = first or timing["ms"]
        yield {
            "graph": name,
            "vertices": graph.n_vertices,
            "edges": graph.n_edges,
            "method": method,
            **timing,
            "rate": graph.n_edges / timing["ms"] / 1e3,
            "speedup": first / timing["ms"],
        }
