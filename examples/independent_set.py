"""A maximal independent set by transactions: vertices without a common edge, to which no other can be added.

One transaction for each vertex reads the states of its neighbours, and adds the vertex if none of them is in
the set.  Two neighbours that looked at each other at the same time would both be added; transactions prevent
that.  Nobody leaves the set, so once every vertex has had its turn the set is maximal.

    python examples/independent_set.py            on the CPU
    python examples/independent_set.py cuda       on a GPU
"""

import sys

import numpy as np

import edgewise as ew
from edgewise.device import arrays
from edgewise.transactions import TransactionalMemory, check_body, read, write

OUT, IN = 0, 1


def join(tx, vertex, offsets, neighbours):
    """Add a vertex to the set, unless one of its neighbours is in it."""
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        if neighbours[entry] != vertex and read(tx, neighbours[entry]) == IN:
            return
    write(tx, vertex, IN)


def is_maximal(states, offsets, neighbours):
    """Whether no two neighbours are in the set, and every other vertex has a neighbour in it."""
    sources = np.repeat(np.arange(len(states)), np.diff(offsets))
    edges = sources != neighbours
    in_set = states == IN
    covered = np.bincount(sources[edges], in_set[neighbours[edges]], len(states)) > 0
    return not (covered & in_set).any() and (covered | in_set).all()


def main():
    """Check the body under many interleavings of a small graph, and run it on a large one."""
    small = ew.generate.uniform(12, 20, seed=1)
    states = np.full(small.n_vertices, OUT)
    checked = check_body(join, states, 12, small.offsets, small.neighbours, holds=is_maximal, log=12)
    print(f"{checked.histories} histories of {checked.commits} transactions are serializable")

    graph = ew.generate.uniform(100_000, 300_000, seed=1).to(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    states = arrays.full(graph.n_vertices, OUT, np.int32, graph.device)
    done = TransactionalMemory(states, log=32).run(join, graph.n_vertices, graph.offsets, graph.neighbours)
    found = (arrays.move(one, "cpu") for one in (states, graph.offsets, graph.neighbours))
    assert is_maximal(*found)
    print(f"{int(states.sum()):,} of {len(states):,} vertices in the set, abort rate {done.abort_rate:.4f}")


if __name__ == "__main__":
    main()
