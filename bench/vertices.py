"""Numbers of vertices on one core of the CPU, beside SciPy, igraph, networkit and NetworkX.

    python bench/vertices.py strong                 strong components, about two million edges each
    python bench/vertices.py cores --size 12        core numbers of smaller graphs of 2**12 vertices

Calls of the methods on rows and edges that are there, and of the peers on graphs of their own that are there;
building is not timed.  Ours and the peers run in turn on one thread, and all answers are compared.  Times are
of the processor, which a busy machine changes little; the median of each counts.
"""

import time
from functools import partial
from importlib.util import find_spec

import numpy as np
from harness import in_turn, main, ms_of, part

import edgewise as ew
from edgewise.cores import METHODS as CORES
from edgewise.cores.simple_rows import simple_rows
from edgewise.device import threads
from edgewise.experiments import peers as libraries
from edgewise.paths.csr import adjacency_of
from edgewise.strong import METHODS as STRONG

#: The peer that is written in Python, which runs once.
SLOW = "networkx"


def strong_graphs(size):
    """Makers of directed graphs by name."""
    make, n, some = ew.generate, 4 << size, {"directed": True, "seed": 1}
    return {
        "rmat": partial(make.rmat, size - 1, **some),
        "uniform, degree 8": partial(make.uniform, 1 << size, 8 << size, **some),
        "uniform, degree 2": partial(make.uniform, n, 8 << size, **some),
        "uniform, degree 1.1": partial(make.uniform, n, int(4.4 * 2**size), **some),
        "streets": partial(streets, size),
    }


def streets(size):
    """A triangulation in which some edges lead one way only."""
    mesh = ew.generate.delaunay(1 << size, seed=1)
    draw = np.random.default_rng(1).random(mesh.n_edges)
    forth, back = draw < 0.7, draw > 0.4
    ends = mesh.sources, mesh.targets
    sources, targets = (np.append(one[forth], other[back]) for one, other in (ends, ends[::-1]))
    return ew.Graph.from_edges(sources, targets, n_vertices=mesh.n_vertices, directed=True)


def core_graphs(size):
    """Makers of graphs by name."""
    make = ew.generate
    return {
        "rmat": partial(make.rmat, size - 1, seed=1),
        "uniform": partial(make.uniform, 1 << size, 8 << size, seed=1),
        "delaunay": partial(make.delaunay, 1 << size, seed=1),
        "grid": partial(make.grid, 1 << size // 2 + 1, seed=1),
        "trees": partial(make.uniform, 4 << size, 4 << size, seed=1),
    }


def strong_methods(graph):
    """Calls that return labels, by method."""
    forms = {"rows": (graph.offsets, graph.neighbours), "edges": (graph.sources, graph.targets)}
    forms["adjacency"] = (adjacency_of(graph),)
    return {name: partial(one.run, graph.n_vertices, *forms[one.reads]) for name, one in STRONG.items()}


def core_methods(graph):
    """Calls that return core numbers, by method."""
    rows = simple_rows(graph)
    return {name: partial(method.run, rows) for name, method in CORES.items()}


def strong_scipy(graph):
    from scipy.sparse.csgraph import connected_components

    matrix = graph.to_scipy()
    matrix.sum_duplicates()  # it does not return from rows with repeated entries
    solve = partial(connected_components, matrix, connection="strong")
    return solve, lambda found: libraries.smallest_labels(found[1])


def strong_igraph(graph):
    made = libraries.igraph_graph(graph, False)
    return lambda: made.connected_components("strong").membership, libraries.smallest_labels


def strong_networkit(graph):
    nk, made = libraries.networkit_graph(graph, False)
    nk.setNumberOfThreads(1)
    find = nk.components.StronglyConnectedComponents
    return lambda: find(made).run(), lambda found: libraries.smallest_labels(found.getPartition().getVector())


def strong_networkx(graph):
    nx, made = libraries.networkx_graph(graph, False)
    read = partial(libraries.labels_of_sets, n_vertices=graph.n_vertices)
    return lambda: list(nx.strongly_connected_components(made)), read


def core_igraph(graph):
    return libraries.igraph_graph(graph, False).coreness, np.asarray


def core_networkit(graph):
    nk, made = libraries.networkit_graph(graph, False)
    nk.setNumberOfThreads(1)
    find = partial(nk.centrality.CoreDecomposition, made, enforceBucketQueueAlgorithm=True)
    return lambda: find().run(), lambda found: np.asarray(found.scores())


def core_networkx(graph):
    nx, made = libraries.networkx_graph(graph, False)
    return lambda: nx.core_number(made), lambda found: [found[vertex] for vertex in range(graph.n_vertices)]


#: By problem: graphs, methods, and peers by the module that they need.
PROBLEMS = {
    "strong": (
        strong_graphs,
        strong_methods,
        {
            "scipy.sparse.csgraph": strong_scipy,
            "igraph": strong_igraph,
            "networkit": strong_networkit,
            "networkx": strong_networkx,
        },
    ),
    "cores": (
        core_graphs,
        core_methods,
        {"igraph": core_igraph, "networkit": core_networkit, "networkx": core_networkx},
    ),
}


def rows(problem, given):
    """A row for each graph, with the times of every method and peer."""
    makers, methods, peers = PROBLEMS[problem]
    threads.use(1)
    for name, make in makers(given.size).items():
        if given.graphs and name not in given.graphs:
            continue
        graph = make().simplified()
        calls = {method: (run, np.asarray) for method, run in methods(graph).items()}
        chosen = [peer for peer in peers if peer not in given.without and find_spec(peer.partition(".")[0])]
        calls |= {peer: peers[peer](graph) for peer in chosen}
        times = in_turn(calls, given.runs, clock=time.process_time, once=(SLOW,))
        row = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges}
        yield row | {"ms": {name: ms_of(spent) for name, spent in times.items()}}


PARTS = {
    name: part(f"{name}-cpu", partial(rows, name), key=("graph",), graphs=str, size=18, runs=5, without=str)
    for name in PROBLEMS
}

if __name__ == "__main__":
    main(__doc__, PARTS)
