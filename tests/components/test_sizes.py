"""Roots and sizes: stretches of all lengths, labels of all kinds, races."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import sizes
from edgewise.device import arrays, launch
from tests import jitter, warps
from tests.conftest import engine

PLACE = "cuda:0" if engine() == "simulator" else "cpu"
SEEDS = range(60)


def random_labels(n, n_components, seed, kind=np.uint32):
    """Smallest member of random classes, of which one has most of the vertices."""
    draw = np.random.default_rng(seed)
    classes = np.minimum(draw.integers(0, 2 * n_components, n), n_components)
    firsts = {}
    return np.array([firsts.setdefault(one, vertex) for vertex, one in enumerate(classes)], kind)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", [np.uint32, np.int64])
@pytest.mark.parametrize(
    "n, n_components", [(0, 1), (1, 1), (7, 3), (100, 1), (257, 40), (300, 300), (2500, 9)]
)
def test_roots_and_sizes(monkeypatch, n, n_components, kind):
    if engine() != "jit":  # compiled kernels are kept, with their constants
        monkeypatch.setattr(sizes, "STRETCH", 32)
        monkeypatch.setattr(sizes, "STRETCH_OF_CORE", 32)
    labels = random_labels(n, n_components, n, kind)
    there = arrays.move(labels, PLACE)
    found = sizes.ComponentSizes(there)
    assert found.count == len(np.unique(labels))
    roots, members = found.members
    assert (roots.dtype, members.dtype) == (kind, np.int64)
    values, counts = np.unique(labels, return_counts=True)
    assert (roots.tolist(), members.tolist()) == (values.tolist(), counts.tolist())
    assert (found.count, found.largest) == (len(values), counts.max(initial=0))


@pytest.mark.interpreter
@pytest.mark.simulator
def test_results_on_a_gpu():
    graph = ew.generate.uniform(3_000, 2_500, seed=1)
    one, other = ew.connected_components(graph), ew.connected_components(graph.to(PLACE))
    assert one.count == other.count and one.largest == other.largest
    assert one.roots.dtype == other.roots.dtype and one.roots.tolist() == other.roots.tolist()
    assert one.sizes().dtype == other.sizes().dtype and one.sizes().tolist() == other.sizes().tolist()


def sizes_by_threads(seed, **replaced):
    """Sizes counted by three threads, two of whose labels are no giant's."""
    scheduler, labels = jitter.Scheduler(seed), np.array([0, 1, 1, 0, 1, 5, 1, 5, 1], np.uint32)
    counted = jitter.Jittery(np.zeros(9, np.uint32), scheduler)
    body = jitter.jittery(sizes.count_members.body, **replaced)
    given = 3, sizes.Counted(labels, np.zeros(1, np.int64), counted), np.zeros(3, np.int64)
    scheduler.run(*(lambda stretch=stretch: body(stretch, 0, 1, *given) for stretch in range(3)))
    return counted.values.tolist() == [2, 4, 0, 0, 0, 1, 0, 0, 0]


@pytest.mark.interpreter
def test_no_member_is_lost():
    assert all(sizes_by_threads(seed) for seed in SEEDS)
    assert not all(sizes_by_threads(seed, fetch_add=jitter.careless_add) for seed in SEEDS)


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(4))
def test_lanes_of_a_warp_count_together(seed):
    n, stretch = 90, 16
    labels = random_labels(n, 12, seed)
    n_roots = np.zeros(-(-n // stretch), np.int64)
    warps.run_rows(sizes.count_roots, len(n_roots), stretch, labels, n_roots)
    roots, expected = np.unique(labels, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(n_roots)])
    assert starts.tolist() == np.searchsorted(roots, stretch * np.arange(len(starts))).tolist()
    giant = roots[expected.argmax()]
    counted = sizes.Counted(labels, np.full(1, giant, np.int64), np.zeros(n, np.uint32))
    again = np.zeros_like(n_roots)
    warps.run_rows(sizes.count_members, len(n_roots), stretch, counted, again)
    assert again.tolist() == n_roots.tolist()
    assert (counted.sizes[roots] + (roots != giant)).tolist() == expected.tolist()
    members, largest = sizes.Members(np.zeros_like(roots), np.zeros_like(expected)), np.zeros(1, np.int64)
    warps.run_rows(sizes.list_roots, len(n_roots), stretch, counted, starts, members, largest)
    assert (members.roots.tolist(), members.sizes.tolist()) == (roots.tolist(), expected.tolist())
    assert largest[0] == expected.max()


@pytest.mark.ptx
def test_compiles_for_gpus():
    labels, words = "uint32[]", "int64[]"
    counted, members = (sizes.Counted, (labels, words, labels)), (sizes.Members, (labels, words))
    for loop, kinds in (
        (sizes.count_roots, (labels, words)),
        (sizes.count_members, (counted, words)),
        (sizes.list_roots, (counted, words, members, words)),
    ):
        text = loop.kernels["warp"].ptx(("int64", *kinds), (9, 0))
        assert launch.entry_name(text)
        assert "ld.local" not in text
