"""Cycles of six edges as closed walks less those that meet themselves: small graphs, in any order."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.counting import hexagons
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.device import arrays, launch
from edgewise.device.target import SIMULATED
from edgewise.primitives.thread_pool import WorkQueue
from tests.oracles import count_by_hand
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["repeated edges", "two cliques and a bridge"] if SIMULATED else [*ZOO]


def counted(vertices, sources, targets, cut=0.4):
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))
    order = arrays.move(np.random.default_rng(1).permutation(vertices), ranked.device)
    solver = hexagons.Hexagons(ranked, order, 6)
    half = int(cut * vertices)
    for first, end in ((0, half), (half, vertices)):
        solver.count(first, end)
    work = arrays.move(hexagons.work(ranked, 6), "cpu")
    counts = arrays.move(solver.counts, "cpu")
    assert counts.dtype == np.int64
    assert (counts[work == 0] == 0).all()
    return counts[arrays.move(ranked.rank, "cpu")].tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_the_oracles(shape):
    assert counted(*ZOO[shape]) == count_by_hand(*ZOO[shape], 6).tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
def test_random_graphs():
    for seed in range(2 if SIMULATED else 20):
        draw = np.random.default_rng(seed)
        n, m = 6 + seed % 5, 10 + 2 * (seed % 7)
        graph = n, draw.integers(0, n, m), draw.integers(0, n, m)
        assert counted(*graph) == count_by_hand(*graph, 6).tolist()


@pytest.mark.ptx
def test_compiles_for_gpus():
    words, vertices = np.zeros(1, np.int64), np.zeros(1, np.uint32)
    near, far = hexagons.Walks(np.zeros(1, np.uint32), vertices), hexagons.Walks(vertices, vertices)
    queue, graph = WorkQueue(words, 0, 1, 1), hexagons.Graph(words, vertices, words)
    given = np.zeros(1, np.int32), queue, words, graph, near, far, words
    text = hexagons.count_hexagons.cuda.ptx(tuple(map(launch.kind_of, given)), (9, 0))
    assert launch.entry_name(text)
