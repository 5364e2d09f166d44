"""Cycles on a GPU: methods, schedules and devices give what CPU threads give, and the published totals."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import METHODS
from edgewise.cycles.counting.apex import ApexCounter
from edgewise.device import arrays

pytestmark = pytest.mark.gpu
#: Lengths each method is asked for; those that meet every cycle have less to meet.
LENGTHS = {3: 3000, 4: 3000, 5: 3000, 6: 1500, 7: 60}


def graph_of(n, seed=3):
    return ew.generate.scale_free(n, seed=seed)


@pytest.fixture(scope="module")
def expected():
    return {
        length: ew.cycle_counts(graph_of(n), length, device="cpu").counts for length, n in LENGTHS.items()
    }


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", METHODS)
def test_same_counts_as_on_the_cpu(name, length, expected):
    if not METHODS[name].can(length) or "cuda" not in METHODS[name].devices:
        pytest.skip("not for this length, or not for a GPU")
    if name == "dfs" and length > 4:
        pytest.skip("meets every path")
    found = ew.cycle_counts(graph_of(LENGTHS[length]).to("cuda"), length, method=name)
    assert arrays.device_of(found.counts) == "cuda:0"
    assert (arrays.move(found.counts, "cpu") == expected[length]).all()


@pytest.mark.parametrize("schedule", ["auto", "static", "static-weighted:5", "queue:64"])
@pytest.mark.parametrize("length", [3, 4, 5])
def test_schedules_and_the_cpu_beside(schedule, length, expected):
    graph = graph_of(LENGTHS[length])
    for devices in ("cuda:0", "cpu+cuda"):
        found = ew.cycle_counts(graph, length, schedule=schedule, devices=devices)
        assert (arrays.move(found.counts, "cpu") == expected[length]).all()


@pytest.mark.parametrize("length", [3, 4, 5])
def test_hubs(length):
    """Few vertices joined with everything: vertices with more wedges than shared memory has slots."""
    draw = np.random.default_rng(4)
    hubs, n = 8, 40_000
    sources = np.concatenate([np.repeat(np.arange(hubs), n), draw.integers(0, n, 3 * n)])
    targets = np.concatenate([np.tile(np.arange(n), hubs), draw.integers(0, n, 3 * n)])
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    expected = ew.cycle_counts(graph, length).counts
    assert (arrays.move(ew.cycle_counts(graph.to("cuda"), length).counts, "cpu") == expected).all()


@pytest.mark.parametrize("length", [4, 5])
def test_all_parts_at_once(length, expected, monkeypatch):
    """Vertices counted by the grid, by blocks with tables outside and in shared memory, and by warps."""
    name = {4: "squares", 5: "pentagons"}[length]
    for sizes in ((20, 60, 400), (1, 1, 1)):
        monkeypatch.setattr(ApexCounter, "_limits", lambda self, *none, sizes=sizes: sizes)
        graph = graph_of(LENGTHS[length]).to("cuda")
        found = ew.cycle_counts(graph, length, method=name)
        assert (arrays.move(found.counts, "cpu") == expected[length]).all()


@pytest.mark.parametrize("length, total", [(3, 2_224_385), (4, 55_107_655), (5, 3_449_276_253)])
def test_published_totals(length, total, data):
    graph = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz").to("cuda")
    assert ew.cycle_counts(graph, length).total == total
