"""Searches: bounds hold, work is foreseen, caps end what would be long; kernels compile for GPUs."""

import os
from itertools import cycle
from math import perm

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import METHODS, planning
from edgewise.cycles.counting.ranked import CSR, RankedCSR
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.planning import heaviest_first
from edgewise.cycles.search import dfs, two_core
from edgewise.cycles.search import enumerate as enumerating
from edgewise.cycles.search import estimate as sampling
from edgewise.device import arrays, launch
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError
from tests.oracles import count_by_hand
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")


def ranked(vertices, sources, targets):
    return ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))


def clique(n):
    return n, *np.triu_indices(n, 1)


def star(leaves):
    return leaves + 1, np.zeros(leaves, np.int64), np.arange(1, leaves + 1)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", ["empty", "isolated", "path", "grid", "clique", "sparse"])
def test_no_count_is_above_its_bounds(shape):
    graph = ranked(*ZOO[shape])
    for length in (3, 4, 5, 6):
        most = count_by_hand(*ZOO[shape], length).max(initial=0)
        assert most <= planning.bound_of(graph, length)
        if graph.n_vertices > 2:
            assert most <= planning._bound_by_walks(graph, length)


@pytest.mark.interpreter
def test_bounds_are_close_where_it_matters():
    assert planning.bound_of(ranked(*clique(30)), 5) == pytest.approx(perm(29, 4) / 2, rel=1e-3)
    ring = np.arange(40), (np.arange(40) + 1) % 40
    assert planning.bound_of(ranked(40, *ring), 40) == pytest.approx(1, rel=1e-3)
    assert planning.bound_of(ranked(40, *ring), 41) == 0
    assert planning._bound_by_walks(ranked(*star(50)), 7) == 0
    assert np.isinf(planning._bound_by_walks(ranked(*clique(30)), 300))


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", ["empty", "self-loops", "grid", "clique"])
def test_marked_paths(shape):
    graph = ew.Graph.from_edges(*ZOO[shape][1:], n_vertices=ZOO[shape][0]).to(PLACE)
    for length in (3, 4, 6):
        found = ew.cycle_counts(graph, length, method="dfs", marked=True).on_host()
        assert np.array_equal(found.counts, count_by_hand(*ZOO[shape], length))


def test_counts_that_may_pass_63_bits_are_refused_before():
    planning.check_fits(ranked(*clique(300)), 8)
    assert perm(299, 8) // 2 > 2**62
    with pytest.raises(
        GraphError, match=r"9-cycles through a vertex: there may be up to 2\*\*65, which 64 bits"
    ):
        planning.check_fits(ranked(*clique(300)), 9)
    with pytest.raises(GraphError, match="far more"):
        planning.check_fits(ranked(*clique(300)), 299)
    planning.check_fits(ranked(*star(2_000_000)), 7)


@pytest.mark.interpreter
@pytest.mark.simulator
def test_walks_are_powers_of_the_matrix():
    n, sources, targets = ZOO["sparse"]
    matrix = np.zeros((n, n))
    matrix[sources, targets] = matrix[targets, sources] = sources != targets
    graph = ranked(n, sources, targets)
    rank = np.asarray(arrays.move(graph.rank, "cpu")).astype(np.int64)
    rows, everywhere = CSR(graph.offsets, graph.neighbours), arrays.full(n, 1, np.uint8, PLACE)
    for steps in (0, 1, 2, 5):
        found = np.asarray(arrays.move(two_core.count_walks(rows, steps, everywhere), "cpu"))
        assert found[rank].tolist() == np.linalg.matrix_power(matrix, steps).sum(1).tolist()


@pytest.mark.interpreter
def test_work_is_foreseen():
    for shape, length in (("dense", 5), ("clique", 6), ("two cliques and a bridge", 5), ("grid", 6)):
        graph = ranked(*ZOO[shape])
        solver = enumerating.start(graph, heaviest_first(enumerating.work(graph, length)), length)
        solver.count(0, len(solver.order))
        assert 0.2 < enumerating.work(graph, length).sum() / solver.budget.spent[0] < 8, shape


def test_probes_foresee_searches_that_distances_cut_short(monkeypatch):
    side = 60
    at = np.arange(side * side).reshape(side, side)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    targets = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    graph, length = ranked(side * side, sources, targets), 12
    monkeypatch.setattr(enumerating, "FEW", np.inf)
    guess = enumerating.work(graph, length).sum()
    monkeypatch.setattr(enumerating, "FEW", 0.0)
    better = enumerating.work(graph, length).sum()
    solver = enumerating.start(graph, heaviest_first(enumerating.work(graph, length)), length)
    solver.count(0, len(solver.order))
    assert 0.3 < better / solver.budget.spent[0] < 3
    assert guess > 2 * better


def hubs_with_leaves(hubs, leaves):
    """A clique, each vertex of which has so many leaves of its own."""
    sources, targets = np.triu_indices(hubs, 1)
    n = hubs * (leaves + 1)
    return n, np.r_[sources, np.arange(hubs).repeat(leaves)], np.r_[targets, np.arange(hubs, n)]


@pytest.mark.parametrize("length", (7, 8))
@pytest.mark.parametrize("schedule", ("auto", "static"))
def test_no_task_is_lost_because_probes_miss_it(length, schedule):
    n, sources, targets = hubs_with_leaves(8, 5000)
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n).to(PLACE)
    counts = arrays.move(ew.cycle_counts(graph, length, schedule=schedule).counts, "cpu")
    assert counts[:8].tolist() == [2520] * 8 and counts.sum() == 8 * 2520


def test_a_top_is_a_task_if_it_has_two_lower_neighbours(monkeypatch):
    monkeypatch.setattr(enumerating, "FEW", 0.0)
    monkeypatch.setattr(enumerating, "_ratio", lambda *given: 0.0)
    for shape in (clique(12), ZOO["grid"], ZOO["sparse"]):
        graph = ranked(*shape)
        core = two_core.without_trees(graph)
        below = arrays.move(core.split - core.offsets[:-1], "cpu")
        assert (arrays.move(enumerating.work(graph, 6), "cpu") > 0).tolist() == (below > 1).tolist()
    assert enumerating.work(ranked(*star(50)), 7).sum() == 0


def test_a_tree_does_not_hide_days_of_work():
    n, sources, targets = clique(60)
    root, children = n, np.arange(n + 1, n + 31)
    leaves = np.arange(n + 31, n + 31 + 30_150)
    parents = np.r_[children.repeat(1000), np.full(150, root)]
    sources = np.r_[sources, np.full(30, root), parents]
    targets = np.r_[targets, children, leaves]
    alone, beside = ranked(*clique(60)), ranked(leaves[-1] + 1, sources, targets)
    expected = enumerating.work(alone, 9).sum()
    assert enumerating.work(beside, 9).sum() == pytest.approx(expected, rel=0.5)
    assert 0.1 < expected / sum(perm(top, 8) for top in range(60)) < 10


def test_strata_are_probed_each_on_their_own(monkeypatch):
    monkeypatch.setattr(enumerating, "FEW", 0.0)
    guess = np.r_[np.full(10, 1e280), np.zeros(5), np.full(100, 1e9), np.full(10, 1e7)]
    probed = enumerating._strata(guess)
    assert [len(tops) for tops in probed] == [10, 100, 10]
    assert len(enumerating._strata(10.0 ** np.arange(200))) == enumerating.STRATA


def test_work_beyond_all_numbers_stays_a_number():
    graph = ranked(*clique(300))
    assert 1e290 <= float(enumerating.work(graph, 200).sum()) < np.inf


def test_a_search_gives_up_at_its_cap():
    n, sources, targets = clique(60)
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    with pytest.raises(
        OptionError, match="for cycles of length 8 gave up after 10,000,000 steps; use force=True"
    ):
        ew.cycle_counts(graph, 8, method="enumerate", cap=10_000_000, force=True)
    assert ew.cycle_counts(graph, 4, method="enumerate", cap=10_000_000).total == 60 * perm(59, 3) // 8


@pytest.mark.interpreter
@pytest.mark.simulator
def test_shares_of_the_tasks_add_up():
    graph = ranked(*ZOO["two cliques and a bridge"])
    for method in (METHODS["dfs"], METHODS["enumerate"]):
        order = heaviest_first(method.work(graph, 4))
        whole = method.run(graph, order, 4)
        whole.count(0, len(order))
        solvers = [method.run(graph, order, 4) for _ in range(2)]
        for number, first in enumerate(range(0, len(order), 3)):
            solvers[number % 2].count(first, min(first + 3, len(order)))
        assert (solvers[0].counts + solvers[1].counts).tolist() == whole.counts.tolist()
        assert whole.counts.sum() == 120


def kinds(names, index):
    """Argument types with this type of vertex numbers."""
    return tuple(
        (kind[0], kinds(kind[1], index)) if isinstance(kind, tuple) else kind.replace("index", index)
        for kind in names
    )


ROWS = CSR, ("int64[]", "index[]")
RANKED = RankedCSR, ("int64[]", "index[]", "int64[]")
TASKS = "int64[]", "int64", "int64", "int64[]", "int64"
KERNELS = {
    "dfs": (
        dfs.search.cuda,
        ("int64", (dfs.Tasks, TASKS), (dfs.WedgeNumbers, ("int64[]", "int64[]")), RANKED)
        + ((dfs.Stacks, ("int64[]", "int64[]", "int64", "int64", "uint8[]", "int64")), "int64[]"),
    ),
    "enumerate": (
        enumerating.search.cuda,
        ("int32[]", "int64", (dfs.Tasks, TASKS), RANKED)
        + ((enumerating.Scratch, ("int64", "int32[]", "index[]", *["int64[]"] * 4)),)
        + ((enumerating.Budget, ("int64[]", "int64")), "int64[]"),
    ),
    "add_step": (two_core.add_step.cuda, (RANKED, "uint8[]", "float64[]", "float64[]")),
    "peel_once": (two_core.peel_once.cuda, (RANKED, "uint8[]", "uint8[]")),
    "sum_along": (sampling.sum_along.cuda, (ROWS, "float64[]", "int64", "float64[]")),
    "draw_walk": (
        sampling.draw_walk.cuda,
        ((sampling.WalkTable, ("int64", ROWS, "float64[]", "float64[]")),)
        + ((sampling.Draws, ("int64", "int64[]", "float64[]", "int64[]")), "float64[]"),
    ),
}


@pytest.mark.ptx
@pytest.mark.parametrize(("name", "capability"), [*zip(KERNELS, cycle([(8, 0), (9, 0)]))])
def test_kernels_compile(name, capability):
    kernel, names = KERNELS[name]
    text = kernel.ptx(kinds(names, "uint32"), capability)
    assert launch.entry_name(text)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert "atom" in text or name not in ("dfs", "enumerate")
