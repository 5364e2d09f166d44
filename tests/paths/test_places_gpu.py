"""Isochrones and nearest places of graphs on a GPU, beside those of the CPU."""

import pytest

import edgewise as ew
from edgewise.device.target import SIMULATED
from tests.paths.test_places import random_graph


def isochrones_on(device):
    for seed in range(24):
        graph, _, random = random_graph(seed)
        sources = random.integers(0, graph.n_vertices, 3).tolist()
        near = ew.nearest(graph.to(device), sources, 2)
        assert near.to_frame() == ew.nearest(graph, sources, 2).to_frame()
        for direction in ("from", "to"):
            host, there = (
                ew.isochrones(graph, sources, [2, 5], direction=direction, device=place)
                for place in ("cpu", device)
            )
            assert there.verify().to_frame() == host.to_frame()


@pytest.mark.gpu
def test_isochrones_on_a_gpu():
    isochrones_on("cuda")


@pytest.mark.simulator
@pytest.mark.skipif(not SIMULATED, reason="needs the simulator's engine")
def test_isochrones_on_the_simulated_gpu():
    isochrones_on("cuda")
