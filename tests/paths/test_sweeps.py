"""Sweeps over hierarchies, whole and restricted, against Dijkstra's search; reductions; overflows."""

from itertools import pairwise

import numpy as np
import pytest

from edgewise.device import arrays, launch
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.hierarchy import reductions, restriction, sweeps
from edgewise.paths.hierarchy.sweeps import Sweeps
from tests.paths.hierarchies import contracted, dijkstra

TYPES = (np.int32, np.int64, np.float32, np.float64)
PLACE = "cuda:0" if SIMULATED else "cpu"


class Case:
    """A random graph with ties, zero weights and repeated edges, often in parts; and its hierarchy."""

    def __init__(self, seed, most=40, dtype=None):
        rng = np.random.default_rng(seed)
        self.n, self.directed = int(rng.integers(1, most)), bool(rng.integers(2))
        m = int(rng.integers(0, 3 * self.n))
        ends = rng.integers(0, self.n, (2, m)).tolist()
        self.edges = list(zip(*ends, rng.integers(0, 9, m).tolist(), strict=True))
        self.dtype = np.dtype(TYPES[seed % len(TYPES)] if dtype is None else dtype)
        order = rng.permutation(self.n)
        self.hierarchy = contracted(self.n, self.edges, order, self.directed, self.dtype)
        self.rng = rng

    def expected(self, sources):
        none = unreached(self.dtype)
        found = {one: dijkstra(self.n, self.edges, one, self.directed) for one in set(sources.tolist())}
        rows = [[none if one is None else one for one in found[int(source)]] for source in sources]
        return np.array(rows, self.dtype).reshape(-1, self.n)


def solved(made, sources, width):
    result = arrays.empty(len(sources) * width, made.dtype, made.device)
    assert not made.solve(sources, result)
    return arrays.move(result, "cpu").reshape(len(sources), width)


def check(case, n_sources, place, width=None):
    """Distances from repeated sources to all vertices, and to repeated targets, some of them sources."""
    sources = case.rng.integers(0, case.n, n_sources)
    targets = np.concatenate([case.rng.integers(0, case.n, 3), sources[:1]])
    right = case.expected(sources)
    every = Sweeps(case.hierarchy, case.dtype, place)
    some = every.restricted(targets)
    if width is not None:
        every.width_of = some.width_of = lambda n_sources: width
    assert np.array_equal(solved(every, sources, case.n), right)
    assert np.array_equal(solved(some, sources, len(targets)), right[:, targets])
    nearest, cut_off = every.nearest(np.unique(sources))
    assert np.array_equal(arrays.move(nearest, "cpu"), right.min(axis=0)) and not cut_off


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(6 if INTERPRETED else 60))
def test_distances_are_those_of_dijkstra(seed):
    check(Case(seed, 12 if INTERPRETED else 40), (1, 5, 150)[seed % 3] if not INTERPRETED else 2, "cpu")


@pytest.mark.simulator
@pytest.mark.parametrize("seed", range(3))
def test_distances_in_the_simulator(seed):
    if not SIMULATED:
        pytest.skip("for the simulator")
    check(Case(seed, 9), 3, PLACE, width=2)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(40))
def test_distances_on_a_gpu(seed):
    check(Case(seed, 200), (1, 5, 64, 150)[seed // 4 % 4], "cuda:0")


@pytest.mark.interpreter
def test_each_way_of_sharing_passes_finds_the_same():
    case = Case(3, 60, np.int32)
    sources = case.rng.integers(0, case.n, 300)
    made = Sweeps(case.hierarchy, case.dtype, "cpu")
    right, (parts, width) = case.expected(sources), made.parts(sources)
    assert len(parts) > 1
    result = np.empty(right.size, case.dtype)
    for _ in made.together(sources, parts, width, result):
        pass
    assert np.array_equal(result.reshape(right.shape), right)
    result[:] = 0
    assert not made._alone(sources, parts, width, result)
    assert np.array_equal(result.reshape(right.shape), right)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("seed", range(4))
def test_reductions(seed, monkeypatch):
    monkeypatch.setattr(reductions, "GROUPS", (4096, 3)[seed % 2])
    case = Case(seed + 1, 7 if INTERPRETED else 150)
    check_reductions(case, PLACE, width=2 if INTERPRETED else None)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(12))
def test_reductions_on_a_gpu(seed):
    check_reductions(Case(seed, 300), "cuda:0")


def check_reductions(case, place, width=None):
    made, sources = Sweeps(case.hierarchy, case.dtype, place), np.arange(case.n)
    if width is not None:
        made.width_of = lambda n_sources: width
    reports = []
    found = reductions.reduced(made, sources, lambda *done: reports.append(done))
    right, none = case.expected(sources), unreached(case.dtype)
    there = right != none
    assert np.array_equal(found[0], right.max(axis=1))
    assert np.array_equal(found[1], there.sum(axis=0))
    assert np.array_equal(found[2], np.where(there, right, 0).sum(axis=0))
    inverses = np.divide(1.0, right.astype(float), out=np.zeros(right.shape), where=there & (right != 0))
    assert np.allclose(found[3], inverses.sum(axis=0), rtol=1e-12)
    assert reports[-1][0] == reports[-1][1]


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(8))
def test_a_restriction_holds_what_ascending_reaches(seed):
    case = Case(seed, 30)
    rows, targets = case.hierarchy.incoming.rows, case.rng.integers(0, case.n, 3)
    reached, waiting = set(), case.hierarchy.ranks[targets].tolist()
    while waiting:
        rank = int(waiting.pop())
        if rank not in reached:
            reached.add(rank)
            waiting += rows.neighbours[rows.offsets[rank] : rows.offsets[rank + 1]].tolist()
    part = restriction.restricted(case.hierarchy, case.hierarchy.ranks[targets].astype(np.int64))
    assert np.flatnonzero(part.numbers >= 0).tolist() == sorted(reached)
    assert np.array_equal(part.numbers[sorted(reached)], np.arange(len(reached)))
    assert part.levels[0] == 0 and part.levels[-1] == len(reached) and (np.diff(part.levels) > 0).all()
    alone = restriction.restricted(case.hierarchy, case.hierarchy.ranks[targets].astype(np.int64), False)
    owners = np.repeat(np.arange(len(reached)), np.diff(alone.rows.offsets))
    assert (alone.rows.neighbours < owners).all() and alone.levels.tolist() == [0, len(reached)]
    for first, end in pairwise(part.levels):  # no entry within a level
        entries = part.rows.neighbours[part.rows.offsets[first] : part.rows.offsets[end]]
        assert not len(entries) or entries.min() >= end


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_ascends_lists_higher_ranks_first(seed):
    case = Case(seed, 30)
    rows, memory = case.hierarchy.outgoing.rows, restriction.ascending_in(case.hierarchy)
    reached = restriction.ascend(rows, np.array([0, case.n - 1, 0]), memory)
    place = {int(rank): at for at, rank in enumerate(memory.order[:reached])}
    assert len(place) == reached
    for rank in place:
        assert memory.places[rank] == place[rank] + 1
        row = rows.neighbours[rows.offsets[rank] : rows.offsets[rank + 1]].tolist()
        assert all(place[other] < place[rank] for other in row)
    assert np.count_nonzero(memory.places) == reached


@pytest.mark.interpreter
@pytest.mark.parametrize(
    ("dtype", "weight", "cut_off"),
    (
        (np.int32, 2**28 - 1, False),
        (np.int32, 2**29, True),
        (np.int64, 2**61, True),
        (np.float32, 2e38, True),
        (np.float32, 1e37, False),
    ),
)
def test_distances_that_are_too_large_are_noticed(dtype, weight, cut_off):
    hierarchy = contracted(3, [(0, 1, weight), (1, 2, weight)], dtype=dtype)
    made, result = Sweeps(hierarchy, dtype, "cpu"), np.empty(6, dtype)
    with np.errstate(over="ignore"):
        assert made.solve(np.array([0, 2]), result) == cut_off
        assert made.nearest(np.array([0]))[1] == cut_off
        found = reductions.reduced(made, np.arange(3), lambda *done: None)
    assert (found is None) == cut_off
    if not cut_off:
        assert result[2] == result[3] == np.array(weight, dtype) * 2


@pytest.mark.interpreter
def test_shortcuts_longer_than_a_narrow_type():
    """They are cut off at the ceiling, and no distance is lost: all are too large."""
    edges = [(0, 1, 2**30), (1, 2, 2**30), (2, 3, 1)]
    hierarchy = contracted(4, edges, order=[1, 0, 2, 3], dtype=np.int64)
    assert Sweeps(hierarchy, np.int32, "cpu").solve(np.array([0]), np.empty(4, np.int32))
    result = np.empty(4, np.int64)
    assert not Sweeps(hierarchy, np.int64, "cpu").solve(np.array([0]), result)
    assert result.tolist() == [0, 2**30, 2**31, 2**31 + 1]


def kinds(weight, index):
    ids, weights = f"{index}[]", f"{weight}[]"
    rows = CSR, ("int64[]", ids, weights)
    sweep = sweeps.Sweep, (rows, "int64[]", "int64", "int64", "int32[]", weights)
    output = sweeps.Output, ("int64[]", "int64[]", weight, weight, weights)
    total = "int64[]" if weight == "int32" else "float64[]"
    sums = reductions.Sums, ("int64[]", total, "float64[]", weights)
    return ("int32[]", sweep, (sweeps.Ascent, ("int64[]", weights)), output), (
        "int32[]",
        sweep,
        sums,
        "int64",
        weight,
    )


@pytest.mark.ptx
def test_kernels_compile_for_gpus():
    regions = sweeps.sweep_together, reductions.add_batch
    for region, of in zip(regions, kinds("float64", "uint32"), strict=True):
        text = region.cuda.ptx(of, (9, 0))
        assert launch.entry_name(text) and "ld.local" not in text
