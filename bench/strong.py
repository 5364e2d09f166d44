"""Strong components on one core of the CPU, held against SciPy, igraph, networkit and NetworkX.

    python bench/strong.py                 about two million edges each
    python bench/strong.py --size 12       smaller graphs of 2**12 vertices

Calls of the methods on rows and edges that are there, and of the peers on graphs of their own that are there;
building is not timed.  Ours and the peers run in turn on one thread, and all components are compared.  Times
are seconds of processor time, which a busy machine changes little; the median of each counts.
"""

import numpy as np
import record
from vertex_peers import arguments, compare, table

import edgewise as ew
from edgewise.strong import METHODS


def graphs(size):
    """Pairs of a name and a function that makes a directed graph."""
    make = ew.generate
    yield "rmat", lambda: make.rmat(size - 1, directed=True, seed=1)
    yield "uniform, degree 8", lambda: make.uniform(1 << size, 8 << size, directed=True, seed=1)
    yield "uniform, degree 2", lambda: make.uniform(4 << size, 8 << size, directed=True, seed=1)
    yield "uniform, degree 1.1", lambda: make.uniform(4 << size, int(4.4 * 2**size), directed=True, seed=1)
    yield "streets", lambda: streets(size)


def streets(size):
    """A triangulation in which some edges lead one way only."""
    mesh = ew.generate.delaunay(1 << size, seed=1)
    draw = np.random.default_rng(1).random(mesh.n_edges)
    forth, back = draw < 0.7, draw > 0.4
    ends = mesh.sources, mesh.targets
    sources, targets = (np.append(one[forth], other[back]) for one, other in (ends, ends[::-1]))
    return ew.Graph.from_edges(sources, targets, n_vertices=mesh.n_vertices, directed=True)


def ours(graph):
    """Calls that return labels, by method."""
    forms = {"rows": (graph.offsets, graph.neighbours), "edges": (graph.sources, graph.targets)}
    n = graph.n_vertices
    return {
        name: lambda method=method: method.run(n, *forms[method.reads]) for name, method in METHODS.items()
    }


def least_members(members, n):
    """Labels by a list of components."""
    labels = np.empty(n, np.int64)
    for component in members:
        labels[component] = min(component)
    return labels


def of_numbers(numbers):
    """Labels by the number of each vertex's component."""
    numbers = np.asarray(numbers)
    least = np.full(numbers.max() + 1, len(numbers))
    np.minimum.at(least, numbers, np.arange(len(numbers)))
    return least[numbers]


def of_scipy(graph, csgraph):
    matrix = graph.to_scipy()
    matrix.sum_duplicates()  # it does not return from rows with repeated entries
    return lambda: csgraph.connected_components(matrix, connection="strong")[1], of_numbers


def of_igraph(graph, igraph):
    ends = np.column_stack([graph.sources, graph.targets]).astype(np.int64)
    theirs = igraph.Graph(n=graph.n_vertices, edges=ends, directed=True)
    return lambda: theirs.connected_components("strong").membership, of_numbers


def of_networkit(graph, networkit):
    ends = tuple(column.astype(np.uint64) for column in (graph.sources, graph.targets))
    theirs = networkit.GraphFromCoo(ends, n=graph.n_vertices, directed=True)

    def run():
        return networkit.components.StronglyConnectedComponents(theirs).run()

    return run, lambda found: of_numbers(found.getPartition().getVector())


def of_networkx(graph, networkx):
    theirs = networkx.from_edgelist(
        zip(graph.sources.tolist(), graph.targets.tolist()), create_using=networkx.DiGraph
    )
    theirs.add_nodes_from(range(graph.n_vertices))
    members = lambda found: least_members(map(list, found), graph.n_vertices)  # noqa: E731
    return lambda: list(networkx.strongly_connected_components(theirs)), members


PEERS = {
    "scipy.sparse.csgraph": of_scipy,
    "igraph": of_igraph,
    "networkit": of_networkit,
    "networkx": of_networkx,
}


def main():
    given = arguments(__doc__)
    rows = []
    for name, make in graphs(given.size):
        if given.only and name not in given.only:
            continue
        graph = make().simplified()
        rows.append({"graph": name, **compare(graph, ours(graph), PEERS, given)})
        table(rows[-1:])
    print(record.write("strong-cpu", rows))


if __name__ == "__main__":
    main()
