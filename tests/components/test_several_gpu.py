"""Any number of GPUs, every split and every merge: the labels of one CPU core, bit for bit."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import MERGES
from edgewise.device import arrays
from tests.components.test_gpu import LARGE

pytestmark = pytest.mark.gpu


def teams():
    """1, 2, 3 ... GPUs, and all of them with a CPU worker."""
    gpus = [f"cuda:{number}" for number in range(arrays.gpu_count())]
    return [*(gpus[:count] for count in range(1, len(gpus) + 1)), "cpu+cuda", gpus[::-1]]


@pytest.mark.parametrize("family", LARGE)
def test_teams_of_gpus_label_alike(family):
    graph = LARGE[family]()
    expected = ew.connected_components(graph, method="rem-sequential").labels
    for team in teams():
        for merge in MERGES:
            if merge == "peer" and team == "cpu+cuda":
                continue
            split = graph.split(team, by=MERGES[merge].by)
            for _ in range(3):
                labels = ew.connected_components(split, merge=merge).on_host().labels
                assert np.array_equal(labels, expected), (team, merge)


@pytest.mark.parametrize("form", ["edges", "rows"])
def test_a_graph_on_a_gpu_is_split_from_there(form):
    graph = ew.generate.grid(300, dropped=0.35, seed=3)
    expected = ew.connected_components(graph).labels
    there = graph.to("cuda")
    for team in teams():
        split = there.split(team)
        if form == "rows":
            split.parts = [part._replace(graph=part.graph.prepare("components")) for part in split.parts]
        assert np.array_equal(ew.connected_components(split).on_host().labels, expected)
