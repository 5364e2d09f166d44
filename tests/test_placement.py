"""Graphs of the host whose edges do not fit a GPU: the same answers, with the edges left on the host.

The GPU is the simulated one or a real one; its free memory is set.
"""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import memory, tuning
from edgewise.components import segments
from edgewise.device import arrays, on_host, threads
from edgewise.device.target import SIMULATED
from edgewise.errors import OutOfMemoryError
from edgewise.needs import size_of
from edgewise.paths.bfs.cooperative import bytes_on_gpu
from edgewise.placement import MADE, USABLE, bytes_of, place_rows
from edgewise.primitives import uploads

pytestmark = [pytest.mark.simulator, pytest.mark.gpu]


def graphs():
    """A graph of edges, the same of rows, and a directed one."""
    edges = ew.generate.rmat(8, edge_factor=16, seed=3)
    rows = ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, None))
    directed = ew.Graph.from_edges(edges.sources, edges.targets, n_vertices=edges.n_vertices, directed=True)
    return {"edges": edges, "rows": rows, "directed": directed}


def set_free(monkeypatch, count):
    """Set the bytes that are free on GPUs."""
    free = arrays.free_memory
    monkeypatch.setattr(arrays, "free_memory", lambda where: free(where) if where == "cpu" else count)


def least_for_search(graph):
    """Bytes with which a search just fits if the rows remain on the host."""
    return int((8 * (graph.n_vertices + 1) + bytes_on_gpu(size_of(graph))) / USABLE) + 1


@pytest.mark.parametrize("kind", ("edges", "rows", "directed"))
def test_searches_of_rows_on_the_host(kind, monkeypatch):
    graph = graphs()[kind]
    expected = ew.bfs(graph, 0).distances
    whole = ew.bfs(graph, 0, device="cuda")
    set_free(monkeypatch, least_for_search(graph))
    found = ew.bfs(graph, 0, device="cuda")
    assert (whole.method, found.method) == ("cooperative", "cooperative, rows on the host")
    assert found.devices == ("cuda:0",) and arrays.device_of(found.distances) == "cuda:0"
    for one in (whole, found):
        assert np.array_equal(arrays.move(one.distances, "cpu"), expected)
    found.verify()
    assert found.on_host().graph is graph
    assert ew.bfs(found.graph, 0).method == found.method
    assert ew.has_path(graph, 0, int(np.flatnonzero(expected == 1)[0]), device="cuda")
    set_free(monkeypatch, least_for_search(graph) - 100)
    with pytest.raises(OutOfMemoryError, match=r"cuda:0 has too little memory: [\d,]+ bytes needed, "):
        ew.bfs(graph, 0, device="cuda")


def test_components_of_edges_and_rows_on_the_host(monkeypatch):
    """Edges are sent in segments, and rows are read on the host."""
    found = {}
    for kind in ("edges", "rows"):
        graph = graphs()[kind]
        labels = ew.connected_components(graph).labels
        whole = ew.connected_components(graph, device="cuda")
        monkeypatch.setattr(segments, "SEGMENT_EDGES", 1 << 10)
        with monkeypatch.context() as patch:
            patch.setattr(segments, "MIN_SEGMENT_EDGES", 1 << 9)
            set_free(patch, bytes_of(graph))
            one = found[kind] = ew.connected_components(graph, device="cuda")
            assert graph.estimate("components", device="cuda").method in one.method.replace(" 4", "")
        for labelled in (whole, one):
            assert np.array_equal(arrays.move(labelled.labels, "cpu"), labels)
            labelled.verify()
    assert found["edges"].method == "rem, in 4 segments"
    assert found["rows"].method == "afforest, rows on the host"


@pytest.mark.interpreter
def test_rows_are_left_on_the_host_where_they_do_not_fit(monkeypatch):
    """What a GPU is asked for: a copy of the graph, and its rows while they are made or with the method."""
    for graph in graphs().values():
        size = size_of(graph)
        offsets = 8 * (size.vertices + 1)
        rows = 0 if graph.has_rows else offsets + size.width * size.entries
        making = 0 if graph.has_rows else offsets + MADE * size.entries
        for needed in (0, 10**6):
            whole = bytes_of(graph) + max(making, rows + needed)
            for free, expected in ((-(-whole // USABLE), (False, whole)), (1, (True, offsets + needed))):
                set_free(monkeypatch, free)
                assert place_rows(graph, size, needed, "cuda") == expected


def test_estimates_for_gpus(monkeypatch):
    for graph in graphs().values():
        size = size_of(graph)
        offsets, search, copied = 8 * (size.vertices + 1), bytes_on_gpu(size), bytes_of(graph)
        rows = 0 if graph.has_rows else offsets + size.width * size.entries
        making = 0 if graph.has_rows else offsets + MADE * size.entries
        fits = graph.estimate("bfs", device="cuda")
        assert fits.device_bytes == copied + max(making, rows + search)
        with monkeypatch.context() as patch:
            set_free(patch, 1)
            left = graph.estimate("bfs", device="cuda")
        assert (fits.method, left.method) == ("cooperative", "cooperative, rows on the host")
        assert left.device_bytes == offsets + search < fits.device_bytes
        assert (fits.bytes, left.bytes > 0) == (0, not graph.has_rows)
        assert not graph.estimate("bfs").device_bytes


def test_estimates_count_the_buffers_of_copies_to_a_gpu(monkeypatch):
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, primitives_sent=1))
    graph = graphs()["rows"]
    needed = graph.estimate("bfs", device="cuda")
    workers = min(threads.count(), uploads.MAX_THREADS)
    assert needed.steps == (("page-locked buffers", needed.bytes, 0),)
    assert needed.bytes == workers * uploads.BUFFERS * uploads.PIECE


def test_memory_is_locked_once_and_for_as_long_as_it_is_in_use():
    array = np.arange(1 << 20)
    whole = on_host.page_locked(array)
    assert on_host.page_locked(array[10:20]).owner is whole.owner
    assert on_host.page_locked(np.zeros(0)).owner is not whole.owner
    view = on_host.readable(whole, "cuda:0")
    assert arrays.device_of(view) == "cuda:0" and view.tolist() == array.tolist()
    owner = weakref.ref(whole.owner)
    del whole, view
    gc.collect()
    assert owner() is None


def test_memory_that_the_system_does_not_lock_is_copied(monkeypatch):
    def refuse(array):
        raise RuntimeError("cudaErrorInvalidValue")

    monkeypatch.setattr(on_host, "Owner", refuse)
    array = np.arange(1 << 20)
    locked = on_host.page_locked(array)
    assert locked.array is not array and locked.array.tolist() == array.tolist()
    with memory.limited(1), pytest.raises(OutOfMemoryError, match="a page-locked copy of an array for a GPU"):
        on_host.page_locked(array)


@pytest.mark.skipif(SIMULATED, reason="the simulator has no pool of memory")
def test_within_the_limit_of_the_pool():
    import cupy

    pool = cupy.get_default_memory_pool()
    edges = ew.generate.rmat(18, edge_factor=32, seed=2)
    graph = ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, None))
    expected, labels = ew.bfs(graph, 0).distances, ew.connected_components(graph).labels
    needed = graph.estimate("bfs", device="cuda").device_bytes
    gc.collect()  # what earlier tests have left would be freed later, and give room
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + needed // 2)
    try:
        for _ in range(2):
            found = ew.bfs(graph, 0, device="cuda")
            assert found.method == "cooperative, rows on the host"
            assert np.array_equal(found.distances.get(), expected)
        joined = ew.connected_components(graph, device="cuda")
        assert joined.method == "afforest, rows on the host"
        assert np.array_equal(joined.labels.get(), labels)
    finally:
        pool.set_limit(size=limit)
    (locked,) = on_host._owners
    del graph, found, joined, locked
    gc.collect()
    assert not len(on_host._owners)
