"""Core numbers on one core of the CPU, held against igraph, networkit and NetworkX.

    python bench/cores.py                  about a million edges each
    python bench/cores.py --size 12        smaller graphs of 2**12 vertices

Calls of the methods on rows that are there, and of the peers on graphs of their own that are there; building
is not timed.  Ours and the peers run in turn on one thread, and all core numbers are compared.  Times are
seconds of processor time, which a busy machine changes little; the median of each counts.
"""

import numpy as np
import record
from vertex_peers import arguments, compare, table

import edgewise as ew
from edgewise.cores import METHODS
from edgewise.cores.simple_rows import simple_rows


def graphs(size):
    """Pairs of a name and a function that makes the graph."""
    make = ew.generate
    yield "rmat", lambda: make.rmat(size - 1, seed=1)
    yield "uniform", lambda: make.uniform(1 << size, 8 << size, seed=1)
    yield "delaunay", lambda: make.delaunay(1 << size, seed=1)
    yield "grid", lambda: make.grid(1 << size // 2 + 1, seed=1)
    yield "trees", lambda: make.uniform(4 << size, 4 << size, seed=1)


def ours(graph):
    """Calls that return core numbers, by method."""
    rows = simple_rows(graph)
    return {name: lambda run=method.run: run(rows) for name, method in METHODS.items()}


def of_igraph(graph, igraph):
    ends = np.column_stack([graph.sources, graph.targets]).astype(np.int64)
    return igraph.Graph(n=graph.n_vertices, edges=ends).coreness


def of_networkit(graph, networkit):
    ends = tuple(column.astype(np.uint64) for column in (graph.sources, graph.targets))
    theirs = networkit.GraphFromCoo(ends, n=graph.n_vertices, directed=False)

    def run():
        by_buckets = networkit.centrality.CoreDecomposition(theirs, enforceBucketQueueAlgorithm=True)
        return np.asarray(by_buckets.run().scores())

    return run


def of_networkx(graph, networkx):
    theirs = networkx.from_edgelist(zip(graph.sources.tolist(), graph.targets.tolist()))
    theirs.add_nodes_from(range(graph.n_vertices))

    def run():
        found = networkx.core_number(theirs)
        return [found[vertex] for vertex in range(graph.n_vertices)]

    return run


PEERS = {"igraph": of_igraph, "networkit": of_networkit, "networkx": of_networkx}


def main():
    given = arguments(__doc__)
    rows = []
    for name, make in graphs(given.size):
        if given.only and name not in given.only:
            continue
        graph = make().simplified()
        rows.append({"graph": name, **compare(graph, ours(graph), PEERS, given)})
        table(rows[-1:])
    print(record.write("cores-cpu", rows))


if __name__ == "__main__":
    main()
