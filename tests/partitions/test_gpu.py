"""Partitions on a GPU are those on the CPU, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.partitions import PRESETS, partition

pytestmark = pytest.mark.gpu


def graphs():
    grid = ew.generate.grid(60, 60)
    yield grid, None
    yield ew.generate.rmat(12, edge_factor=8, seed=1).simplified(), None
    yield ew.generate.with_weights(grid, 1, 9, seed=2), np.arange(3600) % 5 + 1


@pytest.mark.parametrize("preset", ["default", "strong"])
@pytest.mark.parametrize("k", [2, 9])
def test_parts_are_those_of_the_cpu(monkeypatch, k, preset):
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, partitions_level=0))
    monkeypatch.setitem(PRESETS, preset, PRESETS[preset]._replace(most_starts=8))
    for graph, sizes in graphs():
        how = {"preset": preset, "vertex_weights": sizes}
        there, here = (partition(graph.to(device), k, **how).on_host() for device in ("cuda", "cpu"))
        assert there.parts.tolist() == here.parts.tolist() and there.edge_cut == here.edge_cut
        there.verify()
