"""Closed walks less those that meet themselves: every length, on small graphs, in any order."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.check import count_by_hand
from edgewise.cycles.counting import ends, hexagons, walks
from edgewise.cycles.counting.ranked import ranked_of
from edgewise.device import arrays, launch
from edgewise.device.target import SIMULATED
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["repeated edges", "two cliques and a bridge"] if SIMULATED else [*ZOO]


def counted(length, vertices, sources, targets, cut=0.4):
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))
    order = arrays.move(np.random.default_rng(1).permutation(vertices), ranked.device)
    solver = walks.start(ranked, order, length)
    half = int(cut * vertices)
    for first, end in ((0, half), (half, vertices)):
        solver.count(first, end)
    solver.settle()
    work = arrays.move(walks.work(ranked, length), "cpu")
    counts = arrays.move(solver.counts, "cpu")
    assert counts.dtype == np.int64
    assert (counts[work == 0] == 0).all()
    return counts[arrays.move(ranked.rank, "cpu")].tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [4, 5, 6])
def test_counts_are_the_oracles(length, shape):
    assert counted(length, *ZOO[shape]) == count_by_hand(*ZOO[shape], length).tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("length", [4, 5, 6])
def test_random_graphs(length):
    for seed in range(2 if SIMULATED else 20):
        draw = np.random.default_rng(seed)
        n, m = 6 + seed % 5, 10 + 2 * (seed % 7)
        graph = n, draw.integers(0, n, m), draw.integers(0, n, m)
        assert counted(length, *graph) == count_by_hand(*graph, length).tolist()


HEXAGONS = (hexagons.count_hexagons, ("int64[]",))
REGIONS = {
    "squares": (ends.count_squares, (), ("uint32", "uint32")),
    "pentagons": (walks.count_pentagons, ("int64[]",), ("uint32", "int64")),
    "hexagons": (*HEXAGONS, ("uint32", "uint32", "uint32", "uint32")),
    "hexagons of many": (*HEXAGONS, ("uint32", "int64", "int64", "int64")),
}


@pytest.mark.ptx
@pytest.mark.parametrize("name", REGIONS)
def test_regions_compile_for_gpus(name):
    region, more, types = REGIONS[name]
    scratch = (f"{kind}[]" for kind in types)
    kinds = ("int32[]", "int64", "int64", "int64", "int64[]", "int64[]", "int64[]", f"{types[1]}[]")
    text = region.cuda.ptx((*kinds, *more, *scratch, "int64[]"), (9, 0))
    assert launch.entry_name(text)
