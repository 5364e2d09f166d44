"""All pairs on GPUs: batched search by lanes, against a plain search; Floyd-Warshall on several devices."""

import heapq

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays, launch
from edgewise.device.target import INTERPRETED
from edgewise.paths.apsp import METHODS, floyd_warshall_gpu, warp_lanes
from edgewise.paths.apsp.search import Search
from edgewise.paths.csr import CSR, Adjacency, unreached
from tests.paths.test_min_plus import matrix_of

TYPES = (np.int32, np.int64, np.float32, np.float64)


def rows_for(n, edges, kind, seed, device, directed=True, weighted=True):
    """Random rows, their weights' type being ``kind``, with the rows that come in."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, edges))
    weights = rng.integers(0, 11, edges).astype(kind)
    if not directed:
        ends, weights = np.concatenate([ends, ends[::-1]], 1), np.concatenate([weights, weights])
    both = [_sorted(n, *pair, weights, device, weighted) for pair in (ends, ends[::-1])]
    return Adjacency(CSR(*both[0]), CSR(*both[1]))


def _sorted(n, sources, targets, weights, device, weighted):
    order = np.argsort(sources, kind="stable")
    offsets = np.searchsorted(sources[order], np.arange(n + 1))
    columns = (
        offsets.astype(np.int64),
        targets[order].astype(np.uint32),
        weights[order][: None if weighted else 0],
    )
    return [arrays.move(np.ascontiguousarray(column), device) for column in columns]


def plain_search(rows, source):
    """Dijkstra's search with a heap."""
    offsets, neighbours, weights = (
        arrays.move(x, "cpu") for x in (rows.offsets, rows.neighbours, rows.weights)
    )
    best, heap = {}, [(0, source)]
    while heap:
        distance, vertex = heapq.heappop(heap)
        if vertex in best:
            continue
        best[vertex] = distance
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            step = weights[entry].item() if len(weights) else 1
            heapq.heappush(heap, (distance + step, int(neighbours[entry])))
    return best


def check(rows, sources, kind, device, **options):
    into = arrays.empty(len(sources) * rows.n_vertices, kind, device)
    assert not warp_lanes.solve(rows, np.asarray(sources), into, **options)
    found = arrays.move(into, "cpu").reshape(len(sources), -1)
    for source, row in zip(sources, found, strict=True):
        expected = np.full(rows.n_vertices, unreached(kind), kind)
        for vertex, distance in plain_search(rows, source).items():
            expected[vertex] = distance
        assert np.array_equal(row, expected)


@pytest.mark.interpreter
@pytest.mark.parametrize("kind", TYPES if INTERPRETED else [np.int32])
@pytest.mark.parametrize("weighted", [True, False])
def test_lanes_on_the_cpu(kind, weighted):
    rows = rows_for(30, 45, kind, 1, "cpu", weighted=weighted)
    check(rows, [0, 3, 29, 3, 11], kind, "cpu", batch=2)


@pytest.mark.simulator
@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_lanes_in_the_simulator(kind):
    if not launch.SIMULATED:
        pytest.skip("for the simulator")
    check(rows_for(9, 16, kind, 1, "cuda:0"), [8, 0, 4], kind, "cuda:0", batch=2 * launch.WARP)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("weighted", [True, False])
def test_lanes_on_a_gpu(kind, weighted):
    for n, edges, directed in ((1, 0, True), (77, 200, True), (3000, 9000, True), (5000, 9000, False)):
        rows = rows_for(n, edges, kind, n, "cuda:0", directed, weighted)
        sources = np.random.default_rng(2).integers(0, n, min(n, 150)).tolist()
        check(rows, sources, kind, "cuda:0")
        check(rows, sources[:70], kind, "cuda:0", batch=128)


def path_of_three(weights):
    """The directed path 0, 1, 2 with these weights of its two edges."""
    outgoing = CSR(np.array([0, 1, 2, 2]), np.array([1, 2], np.uint32), weights)
    return Adjacency(outgoing, CSR(np.array([0, 0, 1, 2]), np.array([0, 1], np.uint32), weights))


@pytest.mark.interpreter
@pytest.mark.parametrize("weight", (2**29, 2**30))
def test_lanes_report_an_overflow_of_integers(weight):
    rows = path_of_three(np.full(2, weight, np.int32))
    assert warp_lanes.solve(rows, np.array([0]), np.empty(3, np.int32), batch=2)


@pytest.mark.parametrize(("weight", "overflows"), ((2e38, True), (2e37, False)))
def test_lanes_report_an_overflow_of_floats(weight, overflows):
    rows = path_of_three(np.full(2, weight, np.float32))
    with np.errstate(over="ignore"):
        assert warp_lanes.solve(rows, np.array([0]), np.empty(3, np.float32), batch=2) == overflows


@pytest.mark.ptx
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_lanes_compile(kind):
    rows = (CSR, ("int64[]", "uint32[]", f"{kind}[]"))
    search = (*(rows, rows), "int64[]", "int64", "int64", f"{kind}[]", "int32[]")
    limit = "int64" if kind == "int32" else "float64"
    output = (warp_lanes.Output, (f"{kind}[]", limit))
    kinds = ("int32[]", (warp_lanes.LaneSearch, search), output, limit, "int32[]", "int64[]")
    text = warp_lanes.search_batches.cuda.ptx(kinds, (9, 0))
    assert "ld.local" not in text
    if kind == "float32":
        assert "add.f64" not in text  # sums are rounded as the type's are


def places(count):
    """Devices of so many parts: the GPUs there are, by turns."""
    return [f"cuda:{number % arrays.gpu_count()}" for number in range(count)]


def closed_by_parts(edges, n, count, **options):
    rows = floyd_warshall_gpu.split_rows(len(edges), count)
    assert sum(rows) == len(edges)
    ends = np.cumsum(rows)
    parts = [
        arrays.move(edges[end - high : end].reshape(-1).copy(), device)
        for high, end, device in zip(rows, ends, places(len(rows)), strict=True)
    ]
    negative = floyd_warshall_gpu.solve_in_parts(parts, n, len(edges), **options)
    return np.concatenate([arrays.move(part, "cpu") for part in parts]).reshape(edges.shape), negative


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_floyd_warshall_in_parts(kind):
    if launch.SIMULATED and kind is not np.int32:
        pytest.skip("slow there")
    for n, counts in ((20, (2, 3)),) if launch.SIMULATED else ((100, (1, 2)), (900, (1, 2, 3, 5, 8))):
        edges, expected = matrix_of(n, kind, n, density=4 / n)
        for count in counts:
            found, negative = closed_by_parts(edges, n, count)
            assert not negative
            assert np.array_equal(found, expected)


@pytest.mark.simulator
@pytest.mark.gpu
def test_negative_cycles_in_parts():
    n = 20 if launch.SIMULATED else 700
    edges, _ = matrix_of(n, np.int32, 5, density=0.3)
    edges[n - 1, n - 3], edges[n - 3, n - 1] = 3, -4
    found, negative = closed_by_parts(edges, n, 2, signed=True)
    assert negative
    assert np.flatnonzero(np.diagonal(found)).tolist() in ([n - 3], [n - 1])


@pytest.mark.simulator
@pytest.mark.gpu
def test_a_diagonal_below_zero_by_rounding_on_several_gpus():
    """Rows of the matrix are put together on the host; those of the method that replaces it are on a GPU."""
    large = 2.0**24  # plus 1 it is itself in float32, so the closed path of length zero appears to weigh -2
    weights = np.array([1, 1, -large - 2, large], np.float32)
    graph = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights=weights, n_vertices=4, directed=True)
    search = Search(METHODS, graph.to("cuda"), "floyd-warshall", None)
    search.prepare = lambda adjacency: floyd_warshall_gpu.SeveralGpus([adjacency, adjacency])
    distances = np.empty(16, np.float32)
    search.into(np.arange(4), distances)
    assert search.name == "johnson"
    assert distances.reshape(4, 4)[:, 0].tolist() == [0, -1, -2, large]
