"""Counting on GPUs: every kind of crew, tables in and outside fast memory, orders of all sorts."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.check import count_by_hand
from edgewise.cycles.counting.ranked import ranked_of
from edgewise.cycles.method import heaviest_first
from edgewise.device import arrays, launch
from tests.conftest import engine
from tests.zoo import ZOO

#: The pages are for GPUs; threads of the CPU would only compile them for minutes.
for_gpus = pytest.mark.skipif(engine() == "jit", reason="for GPUs: checked by the other engines")
PLACE = "cuda:0" if engine() == "simulator" else "cpu"
PAGES = {
    "triangles": (import_module("edgewise.cycles.counting.triangles_warps"), 3),
    "squares": (import_module("edgewise.cycles.counting.squares_tables"), 4),
    "pentagons": (import_module("edgewise.cycles.counting.pentagons_tables"), 5),
}
#: Wedges up to which a warp or a team counts a top, and from which on all do.
SIZES = {
    "all in one launch": {},
    "four launches": {"small": 2, "large": 6, "all_from": 20},
    "tables outside": {"small": 0, "large": 0},
    "everyone at once": {"small": 0, "large": 0, "all_from": 0},
    "everyone from ten on": {"all_from": 10},
    "warps that would take all": {"small": 10**6, "large": 10**6},
}


def random_graph(seed, n=14, m=50):
    draw = np.random.default_rng(seed)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


def counted(page, length, graph, sizes, by_work=True, cuts=(0.5,)):
    """Counts of every vertex; the order is gone through in pieces."""
    n, sources, targets = graph
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n).to(PLACE)
    ranked = ranked_of(graph)
    order = heaviest_first(page.work(ranked, length)) if by_work else arrays.move(np.arange(n), PLACE)
    solver = page.start(ranked, order, length, **sizes)
    marks = [0, *(int(cut * len(order)) for cut in cuts), len(order)]
    for first, end in pairwise(marks):
        solver.count(first, end)
    solver.settle()
    return arrays.move(solver.counts, "cpu")[arrays.move(ranked.rank, "cpu")]


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["squares", "pentagons"])
def test_every_kind_of_crew(name, sizes):
    page, length = PAGES[name]
    graph = random_graph(1)
    assert (counted(page, length, graph, SIZES[sizes]) == count_by_hand(*graph, length)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", PAGES)
def test_tasks_in_any_order(name):
    page, length = PAGES[name]
    graph = random_graph(2)
    sizes = {} if name == "triangles" else SIZES["four launches"]
    assert (counted(page, length, graph, sizes, False, (0.2, 0.9)) == count_by_hand(*graph, length)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ZOO)
@pytest.mark.parametrize("name", PAGES)
def test_zoo(name, shape):
    page, length = PAGES[name]
    sizes = {} if name == "triangles" else SIZES["four launches"]
    assert (counted(page, length, ZOO[shape], sizes) == count_by_hand(*ZOO[shape], length)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(40) if engine() == "interpreter" else range(3))
@pytest.mark.parametrize("name", PAGES)
def test_random_graphs(name, seed):
    page, length = PAGES[name]
    graph = random_graph(seed, 5 + seed % 9, 4 * seed + 5)
    sizes = {} if name == "triangles" else SIZES[list(SIZES)[seed % 4]]
    assert (counted(page, length, graph, sizes) == count_by_hand(*graph, length)).all()


@for_gpus
@pytest.mark.interpreter
@pytest.mark.parametrize("name", ["squares", "pentagons"])
def test_a_cpu_and_a_gpu_share_the_tops(name):
    (page, length), graph = PAGES[name], random_graph(7, 16, 70)
    ranked = ranked_of(ew.Graph.from_edges(*graph[1:], n_vertices=graph[0]))
    order = heaviest_first(page.work(ranked, length))
    found = 0
    for number, solver in enumerate((import_module(f"edgewise.cycles.counting.{name}"), page)):
        solver = solver.start(ranked, order, length)
        for task in range(number, len(order), 2):
            solver.count(task, task + 1)
        found = found + solver.counts
    assert (found[ranked.rank] == count_by_hand(*graph, length)).all()


@for_gpus
@pytest.mark.interpreter
def test_more_wedges_than_a_table_in_fast_memory_has_slots():
    """A top of a small graph may have more wedges than there are vertices."""
    page, length = PAGES["squares"]
    n, members = 90, np.arange(90)
    sources, targets = (ends.ravel() for ends in np.meshgrid(members, members))
    found = counted(page, length, (n, sources, targets), {})
    assert (found == 3 * 89 * 88 * 87 // 6).all()


KINDS = ("int64[]", "int64", "int64", "int64", "int64[]", "int64[]", "int64[]")
GIVEN = {
    "squares": ("int64[]", "uint32[]", "int64[]", "uint32[]", "int64[]"),
    "pentagons": ("int64[]", "uint32[]", "int64[]", "uint32[]", *["int64[]"] * 4),
}


@pytest.mark.ptx
@pytest.mark.parametrize("name", ["squares", "pentagons"])
@pytest.mark.parametrize("part", ["by_warps", "by_teams", "outside", "all_at_once"])
def test_compiles_for_gpus(name, part):
    region = getattr(PAGES[name][0].REGIONS, part)
    text = region.cuda.ptx(("int32[]", *KINDS, *GIVEN[name]), (8, 0) if part == "outside" else (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text  # all in registers


@pytest.mark.ptx
def test_triangles_compile_for_gpus():
    kinds = ("int32[]", "int64", "int64", "uint32[]", "int64[]", "int64[]", "uint32[]", "int64[]")
    text = PAGES["triangles"][0].find_triangles.cuda.ptx((*kinds, "int64[]"), (9, 0))
    assert "ld.local" not in text
