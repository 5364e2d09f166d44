"""Strong components on a GPU are those on the CPU, bit for bit."""

import numpy as np
import pytest

import edgewise as ew

pytestmark = pytest.mark.gpu


def graphs():
    """Directed graphs as rows, in which none, some or all edges lead both ways."""
    draw = np.random.default_rng(3)
    for made in (
        ew.generate.rmat(14, edge_factor=8, seed=1),
        ew.generate.uniform(20_000, 40_000, seed=2),
        ew.generate.grid(200, 150),
    ):
        for share in (0, 0.4, 1):
            back = draw.random(made.n_edges) < share
            sources, targets = made.sources, made.targets
            ends = np.append(sources, targets[back]), np.append(targets, sources[back])
            rows = ew.Graph.from_edges(*ends, n_vertices=made.n_vertices, directed=True)
            yield ew.Graph(made.n_vertices, rows=(rows.offsets, rows.neighbours, None), directed=True)


def test_labels_are_those_of_the_cpu():
    for graph in graphs():
        there, here = (ew.strongly_connected_components(graph.to(device)) for device in ("cuda", "cpu"))
        assert np.array_equal(there.on_host().labels, here.labels) and there.count == here.count
