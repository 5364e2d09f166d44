"""Rows of edge lists: all ways give the rows of an oracle, in the same order."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise import needs, tuning
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.ingest import csr, row_buckets

GPU = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")
on_cpu = pytest.mark.skipif(SIMULATED, reason="rows on the CPU")
EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def expected(vertices, edges, both):
    """The entries (neighbour, edge number) of each row, in order."""
    rows = [[] for _ in range(vertices)]
    for number, (source, target) in enumerate(edges):
        rows[source].append((target, number))
        if both and source != target:
            rows[target].append((source, number))
    return [sorted(row) for row in rows]


@on_cpu
@pytest.mark.interpreter
@pytest.mark.parametrize("way", [csr.rows_by_buckets, csr._by_sorting])
@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
@given(edges=EDGES, both=st.booleans(), with_edges=st.booleans())
def test_rows_are_those_of_the_oracle(way, dtype, edges, both, with_edges):
    check(way, dtype, edges, both, with_edges, "cpu")


@pytest.mark.simulator
@pytest.mark.skipif(not (SIMULATED or arrays.gpu_count()), reason="needs a GPU or the simulator")
@pytest.mark.parametrize("way", [csr._by_radix_sort, csr._by_sorting])
@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
@settings(max_examples=10)
@given(edges=EDGES, both=st.booleans(), with_edges=st.booleans())
def test_rows_on_a_gpu(way, dtype, edges, both, with_edges):
    check(way, dtype, edges, both, with_edges, GPU)


def check(way, dtype, edges, both, with_edges, device):
    """Compare the rows of some edges among seven vertices with those of the oracle."""
    ends = (arrays.move(column.copy(), device) for column in np.array(edges, dtype).reshape(-1, 2).T)
    found = way(7, *ends, both, with_edges)
    assert [arrays.device_of(array) for array in found if array is not None] == [device] * (2 + with_edges)
    offsets, neighbours, numbers = (one if one is None else arrays.move(one, "cpu") for one in found)
    rows = expected(7, edges, both)
    assert offsets.dtype == np.int64
    assert offsets.tolist() == [0, *np.cumsum([len(row) for row in rows])]
    assert neighbours.dtype == dtype
    assert neighbours.tolist() == [neighbour for row in rows for neighbour, _ in row]
    assert (numbers is None) == (not with_edges)
    if with_edges:
        assert numbers.dtype == np.int64
        assert numbers.tolist() == [number for row in rows for _, number in row]


@on_cpu
@pytest.mark.interpreter
@pytest.mark.parametrize("order", ["as drawn", "by source", "by target", "by both"])
@pytest.mark.parametrize("both", [False, True])
def test_many_blocks_buckets_and_parts(monkeypatch, order, both):
    limits = {"BUCKET_ENTRIES": 6, "MAX_BUCKETS": 9, "BLOCK_EDGES": 7, "BLOCKS": 5, "WAITING": 20}
    for name, value in limits.items():
        monkeypatch.setattr(row_buckets, name, value)
    ends = np.random.default_rng(2).integers(0, 40, (2, 90)).astype(np.uint32)
    sources, targets = np.sort(ends, axis=0) if order == "by both" else ends
    keys = {"as drawn": (), "by source": (sources,), "by target": (sources, targets)}
    if key := keys.get(order, (targets, sources)):
        at = np.lexsort(key)
        sources, targets = sources[at], targets[at]
    ours = csr.rows_by_buckets(40, sources, targets, both, True)
    for one, other in zip(ours, csr._by_sorting(40, sources, targets, both, True), strict=True):
        assert np.array_equal(one, other)


@on_cpu
@pytest.mark.interpreter
@pytest.mark.parametrize("count", [0, 1, 70])
@pytest.mark.parametrize("numbered", [False, True])
def test_rows_of_the_other_direction(count, numbered):
    sources, targets = np.random.default_rng(count).integers(0, 12, (2, count)).astype(np.uint32)
    offsets, neighbours, _ = csr._by_sorting(12, sources, targets, False, False)
    numbers = np.arange(count)[::-1].copy() if numbered else row_buckets.NONE
    found = row_buckets.transposed(offsets, neighbours, numbers)
    rows = np.repeat(np.arange(12), np.diff(offsets))
    order = np.lexsort((rows, neighbours))
    assert np.diff(found.offsets).tolist() == np.bincount(neighbours, minlength=12).tolist()
    assert found.neighbours.tolist() == rows[order].tolist()
    assert found.numbers.tolist() == (numbers[order].tolist() if numbered else [])


@on_cpu
@pytest.mark.interpreter
@pytest.mark.parametrize("count", [tuning.CPU.ingest_few, tuning.CPU.ingest_few + 1])
def test_both_ways_at_the_limit(count):
    sources, targets = np.random.default_rng(1).integers(0, 900, (2, count)).astype(np.uint32)
    ours = csr.rows_from_edges(900, sources, targets, True, True)
    for one, other in zip(ours, csr.rows_by_buckets(900, sources, targets, True, True), strict=True):
        assert np.array_equal(one, other)


@on_cpu
@pytest.mark.interpreter
def test_numbers_beyond_64_bits_of_an_entry_are_counted(monkeypatch):
    monkeypatch.setattr(csr, "MAX_UINT32", 6)
    sources, targets = np.array([[6, 0], [0, 0]], np.int64)
    offsets, neighbours, _ = csr.rows_from_edges(7, sources, targets, True)
    assert offsets.tolist() == [0, 2, 2, 2, 2, 2, 2, 3]
    assert neighbours.tolist() == [0, 6, 0]


@pytest.mark.interpreter
@pytest.mark.parametrize("both", [False, True])
def test_a_sample_of_edges_tells_whether_rows_are_made_once(both):
    """Edges sorted by rows, backwards, by rows alone, and by neighbours; and the outline of a file."""
    grid = ew.generate.grid(40, 50)
    rows, others = grid.sources, grid.targets
    assert row_buckets.seem_sorted(rows, others, both)
    assert not row_buckets.seem_sorted(rows[::-1].copy(), others[::-1].copy(), both)
    backwards = np.lexsort((-others.astype(np.int64), rows))
    assert not row_buckets.seem_sorted(rows[backwards], others[backwards], both)
    order = np.lexsort((rows, others))
    assert row_buckets.seem_sorted(rows[order], others[order], both) != both
    outline = np.broadcast_to(np.uint32(0), 100)
    assert not row_buckets.seem_sorted(outline, outline, both)
    assert not row_buckets.seem_sorted(rows[:0], others[:0], both)
    assert row_buckets.seem_sorted(rows[:1], others[:1], both)


@on_cpu
@pytest.mark.interpreter
@pytest.mark.parametrize("directed", [False, True])
def test_edges_in_the_order_of_one_end_need_less_if_they_are_directed(directed):
    graph = ew.Graph.from_edges(np.arange(1, 101), np.arange(100), directed=directed)
    size = needs.size_of(graph)
    (step,) = needs.steps_to_make(graph, "rows", size)
    assert step.bytes == row_buckets.bytes_to_make_rows(size, directed)
    assert row_buckets.bytes_to_make_rows(size, True) < row_buckets.bytes_to_make_rows(size, False)
