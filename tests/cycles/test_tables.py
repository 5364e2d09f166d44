"""Counting on GPUs: every kind of thread group, tables in and outside shared memory, orders of all sorts."""

import os
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.cycles.counting import apex, pentagons, ranking, squares, triangles, wedges
from edgewise.cycles.counting.ranked import CSR, RankedCSR
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.planning import heaviest_first, whole_by_rank
from edgewise.device import Worker, arrays, launch
from tests import jitter, warps
from tests.conftest import engine
from tests.oracles import count_by_hand
from tests.zoo import ZOO

#: The solvers are for GPUs; compiling them for the CPU would take minutes.
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if engine() == "simulator" else "cpu")
for_gpus = pytest.mark.skipif(
    engine() == "jit" and PLACE == "cpu", reason="for GPUs: checked by the other engines"
)
#: By method: the GPU's solver, which also runs on the host, the cycles' length, and the work of tasks.
SOLVERS = {
    "triangles": (triangles.WarpTriangles, 3, lambda ranked: triangles.work(ranked, 3)),
    "squares": (squares.TableSquares, 4, lambda ranked: apex.wedges_of(ranked)[1]),
    "pentagons": (pentagons.TablePentagons, 5, lambda ranked: apex.wedges_of(ranked)[1]),
}
#: Wedges up to which a warp or a block counts a vertex, and from which on the grid does.
SIZES = {
    "all in one launch": {},
    "four launches": {"small": 2, "large": 6, "all_from": 20},
    "tables outside": {"small": 0, "large": 0},
    "the grid at once": {"small": 0, "large": 0, "all_from": 0},
    "the grid from ten on": {"all_from": 10},
    "warps that would take all": {"small": 10**6, "large": 10**6},
}


def random_graph(seed, n=14, m=50):
    draw = np.random.default_rng(seed)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


def counted(name, graph, sizes, by_work=True, cuts=(0.5,)):
    """Counts of every vertex, from tasks in an order that is cut into pieces."""
    (solver, _, work), (n, sources, targets) = SOLVERS[name], graph
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=n).to(PLACE))
    order = heaviest_first(work(ranked)) if by_work else arrays.move(np.arange(n), PLACE)
    running = solver(ranked, order, **({} if name == "triangles" else sizes))
    marks = [0, *(int(cut * len(order)) for cut in cuts), len(order)]
    for first, end in pairwise(marks):
        running.count(first, end)
    return arrays.move(running.counts, "cpu")[arrays.move(ranked.rank, "cpu")]


def expected(name, graph):
    return count_by_hand(*graph, SOLVERS[name][1])


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["squares", "pentagons"])
def test_every_kind_of_thread_group(name, sizes):
    graph = random_graph(1)
    assert (counted(name, graph, SIZES[sizes]) == expected(name, graph)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", SOLVERS)
def test_tasks_in_any_order(name):
    graph = random_graph(2)
    counts = counted(name, graph, SIZES["four launches"], by_work=False, cuts=(0.2, 0.9))
    assert (counts == expected(name, graph)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", SOLVERS)
def test_all_vertices_at_once(name):
    """A solver without an order is copied for every count, and is not there for more work than allowed."""
    (solver, length, _), random = SOLVERS[name], random_graph(4)
    for most in (1e9, 1):
        graph = ew.Graph.from_edges(*random[1:], n_vertices=random[0]).to(PLACE)
        for _ in range(2):
            whole = whole_by_rank(graph, length, most, solver)
            assert (whole is None) == (most == 1)
            if whole is not None:
                assert (arrays.move(whole().counts, "cpu") == expected(name, random)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("least", [2, 3, 6])
def test_marked_rows_of_higher_neighbours(least, seed, monkeypatch):
    """Blocks take the lowest vertices whose rows of higher neighbours have ``least`` entries, or more."""
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, cycles_marked=least))
    random = random_graph(seed, 24, 120)
    graph = ew.Graph.from_edges(*random[1:], n_vertices=random[0]).to(PLACE)
    ranked = ranked_of(graph)._replace(max_degree=23)
    assert int((ranked.offsets[1:] - ranked.split).max()) >= least
    solver, rank = triangles.WarpTriangles(ranked), arrays.move(ranked.rank, "cpu")
    solver.begin()
    assert (arrays.move(solver.count_all(), "cpu")[rank] == expected("triangles", random)).all()
    solver = triangles.WarpTriangles(ranked, heaviest_first(triangles.work(ranked, 3)))
    for first, end in pairwise((0, 1, 7, len(solver.order))):
        solver.count(first, end)
    assert (arrays.move(solver.counts, "cpu")[rank] == expected("triangles", random)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ZOO)
@pytest.mark.parametrize("name", SOLVERS)
def test_zoo(name, shape):
    assert (counted(name, ZOO[shape], SIZES["four launches"]) == expected(name, ZOO[shape])).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(40) if engine() == "interpreter" else range(3))
@pytest.mark.parametrize("name", SOLVERS)
def test_random_graphs(name, seed):
    graph = random_graph(seed, 5 + seed % 9, 4 * seed + 5)
    assert (counted(name, graph, SIZES[list(SIZES)[seed % 4]]) == expected(name, graph)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("name", SOLVERS)
def test_a_cpu_and_a_gpu_share_the_tasks(name):
    (solver, length, work), graph = SOLVERS[name], random_graph(7, 16, 70)
    ranked = ranked_of(ew.Graph.from_edges(*graph[1:], n_vertices=graph[0]))
    order = heaviest_first(work(ranked))
    page = {"triangles": triangles, "squares": squares, "pentagons": pentagons}[name]
    total = 0
    for number, running in enumerate((page.start(ranked, order, length), solver(ranked, order))):
        for task in range(number, len(order), 2):
            running.count(task, task + 1)
        total = total + running.counts
    assert (total[ranked.rank] == expected(name, graph)).all()


@for_gpus
@pytest.mark.interpreter
def test_more_wedges_than_a_table_in_shared_memory_has_slots():
    """An apex of a small graph may have more wedges than there are vertices."""
    members = np.arange(90)
    sources, targets = (side.ravel() for side in np.meshgrid(members, members))
    assert (counted("squares", (90, sources, targets), {}) == 3 * 89 * 88 * 87 // 6).all()


def insert_by_threads(seed, endpoints, insert):
    """Insert endpoints of wedges by three threads at once: (vertices, wedges) of the table."""
    scheduler = jitter.Scheduler(seed)
    words = jitter.Jittery(np.zeros(apex.SLOTS, np.int64), scheduler)
    table = apex.WedgeTable(words, 0, apex.SLOTS)

    def thread(number):
        for vertex in endpoints[number::3]:
            insert(table, vertex)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    full = words.values[words.values != 0]
    vertices, wedges = (full >> apex.KEY_SHIFT) - 1, full & apex.COUNT_MASK
    order = np.argsort(vertices, kind="stable")
    return vertices[order].tolist(), wedges[order].tolist()


def insert_without_cas(table, vertex):
    """A planted race: the empty slot is written without a look at what other threads wrote meanwhile."""
    slot, key = apex.first_slot(vertex, table.n_slots), vertex + 1
    while True:
        word = table.words[slot]
        if word == 0:
            table.words[slot] = (key << apex.KEY_SHIFT) + 1
            return
        if word >> apex.KEY_SHIFT == key:
            apex.fetch_add(table.words, slot, 1)
            return
        slot = (slot + 1) & (table.n_slots - 1)


@pytest.mark.interpreter
@pytest.mark.skipif(engine() != "interpreter", reason="compiled functions take no Python arrays")
def test_races_of_insertion(monkeypatch):
    monkeypatch.setattr(apex, "cas", jitter.cas)
    monkeypatch.setattr(apex, "fetch_add", jitter.fetch_add)
    caught = 0
    for seed in range(60):
        # few vertices, of which several begin at the same slot, so that threads meet
        endpoints = np.random.default_rng(seed).choice(3 * 41 * np.arange(9), 24).tolist()
        truth = [one.tolist() for one in np.unique(endpoints, return_counts=True)]
        assert list(insert_by_threads(seed, endpoints, apex.insert)) == truth
        with jitter.planted():
            caught += list(insert_by_threads(seed, endpoints, insert_without_cas)) != truth
    assert caught > 10


def wedges_by_threads(seed, **replaced):
    """Wedges of every apex and all wedges, measured by three threads, whose rows are shared."""
    scheduler, graph = jitter.Scheduler(seed), random_graph(3, 12, 40)
    ranked = ranked_of(ew.Graph.from_edges(*graph[1:], n_vertices=graph[0]))
    measured, total = (jitter.Jittery(np.zeros(size, np.int64), scheduler) for size in (12, 1))
    region = jitter.jittery(wedges.measure_wedges.body, **replaced)
    lengths = np.zeros(len(ranked.neighbours), np.uint32)
    given = ranked.row_of_entries(), ranked.csr, lengths, measured, total
    jitter.run_region(scheduler, 3, lambda number, barrier: region(Worker(number, 3, barrier), *given))
    expected = np.zeros(12, np.int64)
    for v in range(12):
        for a in ranked.neighbours[ranked.offsets[v] : ranked.split[v]]:
            expected[v] += (ranked.neighbours[ranked.offsets[a] : ranked.offsets[a + 1]] < v).sum()
    return (measured.values == expected).all() and total.values[0] == expected.sum()


@for_gpus
@pytest.mark.interpreter
def test_races_of_measured_wedges():
    assert all(wedges_by_threads(seed) for seed in range(30))
    assert not all(wedges_by_threads(seed, fetch_add=jitter.careless_add) for seed in range(30))


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(3))
def test_lanes_of_a_warp_share_rows(seed):
    """Wedges, triangles of all entries in their order, and the last sums of pentagons."""
    graph = random_graph(seed, 20, 80)
    ranked = ranked_of(ew.Graph.from_edges(*graph[1:], n_vertices=graph[0]))
    n, rows = ranked.n_vertices, ranked.row_of_entries()
    alone, measured = apex.wedges_of(ranked), apex.wedges_of(ranked)
    measured[1][:], total = 0, np.zeros(1, np.int64)
    warps.run(wedges.measure_wedges, rows, ranked.csr, *measured, total)
    assert measured[1].tolist() == alone[1].tolist() and total[0] == alone[1].sum()
    assert (measured[0] == alone[0])[ranked.neighbours < rows].all()
    counts, edges = np.zeros(n, np.int64), triangles.Edges(rows, np.empty(0, np.int64))
    given = edges, ranked.csr, triangles.Marked(1, 0), counts, np.zeros(0, np.int64)
    warps.run(triangles.find_triangles, 0, len(rows), *given)
    assert (counts[ranked.rank] == expected("triangles", graph)).all()
    solver = pentagons.TablePentagons(ranked)
    solver.begin()
    solver.count(0, len(solver.order))
    counts, scanned = np.zeros(n, np.int64), np.cumsum(solver.state.prefix.at_corner)
    warps.run(pentagons.sum_up, solver.state, rows, scanned, counts)
    assert (counts[ranked.rank] == expected("pentagons", graph)).all()


def kinds_of(name):
    """Types of a region's arguments for a graph with 32-bit vertices."""
    words, many = np.zeros(1, np.int64), np.zeros(1, np.uint32)
    graph = apex.ApexGraph(RankedCSR(words, many, words), many)
    prefix = pentagons.TrianglePrefix(words, words)
    state = {
        "squares": squares.Arrays(graph, words),
        "pentagons": pentagons.Arrays(graph, words, words, prefix),
    }[name]
    given = np.zeros(1, np.int32), apex.Tables(words, 1), apex.ApexTasks(words, 0, 1, words, words), state
    return tuple(map(launch.kind_of, given))


@pytest.mark.ptx
@pytest.mark.parametrize("part", ["by_warps", "by_blocks", "by_blocks_outside", "by_grid"])
@pytest.mark.parametrize("page", [squares, pentagons], ids=["squares", "pentagons"])
def test_compiles_for_gpus(page, part):
    capability = (8, 0) if part == "by_blocks_outside" else (9, 0)
    name = page.__name__.rpartition(".")[2]
    text = getattr(page.REGIONS, part).cuda.ptx(kinds_of(name), capability)
    assert launch.entry_name(text)
    assert "ld.local" not in text  # all in registers


@pytest.mark.ptx
def test_triangles_compile_for_gpus():
    words, many = np.zeros(1, np.int64), np.zeros(1, np.uint32)
    edges, csr = triangles.Edges(many, words), RankedCSR(words, many, words)
    barrier = np.zeros(1, np.int32)
    given = barrier, 0, 1, edges, csr, triangles.Marked(1, 0), words, words
    marked = barrier, many, words, words, csr, words
    for kernel, types in ((triangles.find_triangles, given), (triangles.find_marked, marked)):
        text = kernel.cuda.ptx(tuple(map(launch.kind_of, types)), (9, 0))
        assert "ld.local" not in text


@pytest.mark.ptx
def test_preparing_and_summing_up_compile_for_gpus():
    words, many, barrier = np.zeros(1, np.int64), np.zeros(1, np.uint32), np.zeros(1, np.int32)
    csr = RankedCSR(words, many, words)
    prefix = pentagons.TrianglePrefix(words, words)
    state = pentagons.Arrays(apex.ApexGraph(csr, many), words, words, prefix)
    for kernel, given in (
        (wedges.measure_wedges, (barrier, many, csr, many, words, words)),
        (wedges.key_of_wedges, (words, words)),
        (wedges.place_apex, (words, words, wedges.Limits(1, 1, 1), words)),
        (pentagons.sum_up, (barrier, state, many, words, words)),
        (ranking.key_of_degree, (words, words)),
        (ranking.place_vertex, (words, many, words, words)),
        (ranking.key_of_entry, (CSR(words, many), many, words, words, words)),
        (ranking.place_entry, (words, csr, many)),
    ):
        text = kernel.cuda.ptx(tuple(map(launch.kind_of, given)), (9, 0))
        assert launch.entry_name(text)
        assert "ld.local" not in text
