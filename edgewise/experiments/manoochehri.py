"""Manoochehri (2017), spanning forests with transactions: Tables 3.1 and 3.2, Figures 3.4 and 3.5.

The thesis measures road networks of the United States, and random and R-MAT graphs of GTgraph, on a Tesla K40
beside the fastest sequential algorithm of Boost and the transactions of Kang and Bader on a Core i7-6700.
Here stand-ins of the same sizes are made.  The method with transactions of two words by ``wound-wait``
stands beside the form of the thesis: its protocol, deactivated vertices, and the walk to the roots inside of
the transactions.  Beside both stand the plain method on the same device, and Kruskal's and SciPy's on the
CPU.  What transactions cost by themselves is in :mod:`~edgewise.experiments.bank`.
"""

from time import perf_counter
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.experiments.bank import MOVED
from edgewise.experiments.graphs import SIZES
from edgewise.experiments.machine_model import TRANSFER_BYTES, machine_of, seconds
from edgewise.experiments.published import MANOOCHEHRI as PUBLISHED
from edgewise.experiments.report import Figure, Table, curves_of_columns, headings
from edgewise.experiments.streets import street
from edgewise.forest import minimum_spanning_forest
from edgewise.generators import rmat, uniform
from edgewise.generators.derived import with_weights

ROAD, RANDOM, POWER_LAW = "road network", "random", "R-MAT"
#: Table 3.1: kind, vertices, and entries of the roads or edges of the others.
GRAPHS = {
    "USA": (ROAD, 23_900_000, 58_000_000),
    "W": (ROAD, 6_200_000, 15_000_000),
    "E": (ROAD, 3_500_000, 8_700_000),
    "FLA": (ROAD, 1_000_000, 2_700_000),
    "NY": (ROAD, 264_000, 733_000),
    "RND1": (RANDOM, 6_200_000, 15_000_000),
    "R-MAT1": (POWER_LAW, 6_200_000, 15_000_000),
    "RND2": (RANDOM, 6_200_000, 7_600_000),
    "R-MAT2": (POWER_LAW, 6_200_000, 7_600_000),
}
#: Figure 3.4: edges of random graphs of three million vertices.
DENSER = (15_000_000, 30_000_000, 45_000_000, 60_000_000, 75_000_000)
#: Figure 3.5: vertices of graphs of thirty million edges.
SPARSER = (3_000_000, 6_500_000, 10_000_000)
#: Weights are whole numbers from 1 to this.
HEAVIEST = 10_000
#: Times of one graph, in milliseconds.
WAYS = {
    "transactional": "with transactions",
    "thesis": "as in the thesis",
    "plain": "without",
    "kruskal": "Kruskal on the CPU",
    "scipy": "SciPy",
}
#: The form of the thesis; the length of its logs is not printed there.
THESIS = {"protocol": "priority", "deactivate": True, "log": 16}
#: Bytes of the word of an edge.
WORD = 8
#: Bytes of the number of a vertex.
ID = 4
#: Launches of a round.
LAUNCHES = 12
#: Seconds of a launch.
LAUNCH_SECONDS = 20e-6
#: Edges up to which SciPy is measured; it takes about 1 s for each million.
SCIPY_EDGES = 2_000_000


def generated(kind, vertices, edges, watch):
    """A stand-in of a kind and size, with weights, on the first device."""
    divisor, fewest = SIZES[watch.size]
    n, m, where = max(vertices // divisor, fewest), max(edges // divisor, fewest), {"device": watch.device}
    if kind == ROAD:
        graph = street(n, seed=1, **where)
    elif kind == RANDOM:
        graph = uniform(n, m, seed=1, **where)
    else:
        scale = max(round(np.log2(n)), 4)
        graph = rmat(scale, edge_factor=m / 2**scale, seed=1, **where)
    return with_weights(graph, 1, HEAVIEST, seed=2)


def measured(watch, name, make, scipy=False):
    """Times of the ways to find the forest of one graph, and the abort rate of its transactions."""
    graph = watch.graph(name, make)
    if graph.weights is None:  # of a file
        graph = with_weights(graph, 1, HEAVIEST, seed=2)
    row = {"vertices": graph.n_vertices, "edges": graph.n_edges}
    last: dict[str, Any] = {}

    def run(way, graph, method, options):
        def find():
            found = minimum_spanning_forest(graph, method=method, **options)
            last[way] = found.transactions
            return found.edges, found.seconds

        return find

    ways = {
        "transactional": (graph, "transactional", {}),
        "thesis": (graph, "transactional", THESIS),
        "plain": (graph, "boruvka" if watch.device == "cpu" else "auto", {}),
        "kruskal": (graph.to("cpu"), "kruskal", {}),
    }
    for way, (where, method, options) in ways.items():
        given = ", ".join(f"{key}={value}" for key, value in {"method": method, **options}.items())
        label = f"minimum_spanning_forest({given})"
        row[way] = watch.time(name, label, run(way, where, method, options))["ms"]
    if scipy and graph.n_edges <= SCIPY_EDGES:
        row["scipy"] = _by_scipy(graph, watch, name)
    transactions = last["transactional"]
    rounds = len(transactions.rounds)
    estimate = model(graph, rounds, machine_of(watch.device))
    return row | {
        "abort_rate": transactions.abort_rate,
        "thesis_rate": last["thesis"].abort_rate,
        "rounds": rounds,
        "in_transactions": 1e3 * transactions.seconds,
        "cost": row["transactional"] / row["plain"],
        "rate": row["edges"] / row["transactional"] / 1e3,
        "model": estimate,
        "off": row["transactional"] / estimate if estimate else None,
    }


def model(graph, rounds, machine):
    """Milliseconds in the TMM model (:mod:`~edgewise.experiments.machine_model`); ``None`` if unknown.

    A round reads the word of every entry, one after the other, and of those that still join two trees, half
    as many in each round, the neighbour and its parent, which is somewhere else.  Transactions and flattening
    touch roots and vertices.  The span is that of the launches.
    """
    if machine is None:
        return None
    entries, n = 2 * graph.n_edges, graph.n_vertices
    in_rows = (rounds * entries * WORD + 2 * entries * ID + 2 * rounds * n * ID) / TRANSFER_BYTES
    elsewhere = 2 * entries + 2 * n * MOVED["wound-wait"] + 2 * rounds * n
    launches = rounds * LAUNCHES * LAUNCH_SECONDS / machine.step
    return 1e3 * seconds(machine, transfers=in_rows + elsewhere, span=launches)


def _by_scipy(graph, watch, name):
    """Milliseconds of SciPy's function, whose matrix adds up or drops repeated edges."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    watch.report(f"{name}: scipy.sparse.csgraph.minimum_spanning_tree")
    columns = (graph.weights, graph.sources, graph.targets)
    weights, sources, targets = (arrays.move(column, "cpu") for column in columns)
    matrix = coo_matrix((weights, (sources, targets)), (graph.n_vertices,) * 2).tocsr()
    start = perf_counter()
    minimum_spanning_tree(matrix)
    return 1e3 * (perf_counter() - start)


def forests(watch):
    """Tables 3.1 and 3.2: roads, random and R-MAT graphs of the published sizes."""
    rows = []
    for name in watch.wanted(*GRAPHS):
        kind, vertices, edges = GRAPHS[name]
        halved = edges // 2 if kind == ROAD else edges  # the thesis counts both directions of a road
        row = measured(
            watch, name, lambda kind=kind, n=vertices, m=halved: generated(kind, n, m, watch), True
        )
        keys = ("published", "published_serial", "published_parallel", "published_rate")
        published = PUBLISHED[name] if watch.size == "paper" else [None] * len(keys)
        rows.append({"graph": name, "kind": kind, **row, **dict(zip(keys, published))})
    return Table(
        "forests",
        "Spanning forests with transactions, and without",
        "Manoochehri 2017, Tables 3.1 and 3.2",
        headings(
            "graph: stand-in for | kind | vertices | edges | transactional: with transactions, ms | "
            "in_transactions: of it in transactions, ms | model: estimate, ms | "
            "off: measured/estimate, x | rounds | abort_rate: abort rate | "
            "thesis: as in the thesis, ms | thesis_rate: its abort rate | "
            "published_rate: published, K40 | plain: without, ms | cost: with/without, x | "
            "kruskal: Kruskal on the CPU, ms | scipy: SciPy, ms | rate: M edges/s | "
            "published: published, K40, ms | published_serial: published, serial, ms | "
            "published_parallel: published, Kang and Bader, ms"
        ),
        rows,
        [
            "USA: 13.4 s on the K40, 4.3 M edges/s; 60.5 s by Boost on one core",
            "USA by Nasre et al. on a Tesla C2070: 1.61 M edges/s",
            "R-MAT of 1 M vertices and 8.3 M edges: 3.6 M edges/s on the K40",
            "the same by Nasre et al. on the C2070: 0.31 M edges/s",
            "abort rates from 0.01 (random) to 0.77 (the smallest road network)",
        ],
        [
            Figure(
                "forests",
                "Spanning forests with transactions, and without",
                "graph",
                "milliseconds",
                curves_of_columns(rows, "graph", WAYS),
                steep=True,
            )
        ],
    )


def denser(watch):
    """Figure 3.4: random graphs of three million vertices and 15 to 75 million edges."""
    sizes = [(RANDOM, 3_000_000, edges) for edges in DENSER]
    published = ["75 M edges: 21 times as fast on the K40 as the sequential algorithm"]
    return _series(watch, "denser", "Denser random graphs", "Figure 3.4", sizes, published)


def sparser(watch):
    """Figure 3.5: random and R-MAT graphs of three to ten million vertices and 30 million edges."""
    sizes = [(kind, n, 30_000_000) for kind in (RANDOM, POWER_LAW) for n in SPARSER]
    published = ["R-MAT of 3 M vertices: 3.3 M edges/s on the K40; more vertices take longer"]
    return _series(watch, "sparser", "More vertices for the same edges", "Figure 3.5", sizes, published)


def _series(watch, name, title, source, sizes, published):
    rows = []
    for kind, vertices, edges in sizes:
        label = f"{kind}, {vertices / 1e6:g} M vertices, {edges / 1e6:g} M edges in the thesis"
        if any(watch.wanted(label)):
            row = measured(watch, label, lambda kind=kind, n=vertices, m=edges: generated(kind, n, m, watch))
            rows.append({"graph": label, "kind": kind, **row})
    across = "edges" if name == "denser" else "vertices"
    columns = {key: words for key, words in WAYS.items() if key != "scipy"}
    return Table(
        name,
        title,
        f"Manoochehri 2017, {source}",
        headings(
            "graph: stand-in for | vertices | edges | transactional: with transactions, ms | "
            "abort_rate: abort rate | thesis: as in the thesis, ms | thesis_rate: its abort rate | "
            "plain: without, ms | cost: with/without, x | kruskal: Kruskal on the CPU, ms | rate: M edges/s"
        ),
        rows,
        published,
        [
            Figure(
                name,
                title,
                across,
                "milliseconds",
                curves_of_columns(rows, across, columns, "{kind}, {}"),
                steep=True,
            )
        ],
    )
