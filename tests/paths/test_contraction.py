"""Contraction hierarchies: their distances are those of Dijkstra's algorithm."""

import random

import numpy as np
import pytest

from tests.paths.hierarchies import contracted, dijkstra


def ascended(upward, rank):
    """Distances of the ranks that are reached from one of them, by ascending."""
    found = {rank: 0}
    for lower in range(rank, upward.rows.n_vertices):
        if lower in found:
            for entry in range(upward.rows.offsets[lower], upward.rows.offsets[lower + 1]):
                higher, weight = int(upward.rows.neighbours[entry]), int(upward.rows.weights[entry])
                found[higher] = min(found.get(higher, found[lower] + weight), found[lower] + weight)
    return found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_paths_ascend_and_descend(seed, directed):
    draw = random.Random(seed)
    n = draw.randrange(1, 12)
    edges = [(draw.randrange(n), draw.randrange(n), draw.randrange(6)) for _ in range(draw.randrange(3 * n))]
    order = draw.sample(range(n), n)
    hierarchy = contracted(n, edges, order, directed)
    for source in range(n):
        forth = ascended(hierarchy.outgoing, int(hierarchy.ranks[source]))
        for target, right in enumerate(dijkstra(n, edges, source, directed)):
            back = ascended(hierarchy.incoming, int(hierarchy.ranks[target]))
            least = min((forth[rank] + back[rank] for rank in forth.keys() & back.keys()), default=None)
            assert least == right


def test_no_two_vertices_of_a_level_are_adjacent():
    hierarchy = contracted(5, [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)])
    rows, level = (
        hierarchy.outgoing.rows,
        np.repeat(np.arange(len(hierarchy.levels) - 1), np.diff(hierarchy.levels)),
    )
    for rank in range(5):
        assert all(level[rows.neighbours[rows.offsets[rank] : rows.offsets[rank + 1]]] > level[rank])
