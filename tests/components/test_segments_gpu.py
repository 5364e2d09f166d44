"""On GPUs: edges of the host, page-locked or not, and batches of either place give the labels of the CPU."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components.segments import components_by_segments
from edgewise.device import arrays
from edgewise.workers import device_team

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("memory", ("page-locked", "pageable", "pageable, 64 bits", "page-locked, 64 bits"))
def test_on_gpus(memory):
    from edgewise.device import streams

    graph = ew.generate.rmat(18, edge_factor=16, seed=4)
    expected = ew.connected_components(graph).labels
    kind = np.int64 if "64" in memory else np.uint32
    columns = [column.astype(kind) for column in (graph.sources, graph.targets)]
    if memory.startswith("page-locked"):
        locked = [streams.pinned(len(column), kind, "cuda:0") for column in columns]
        for room, column in zip(locked, columns):
            room[:] = column
        columns = locked
    assert streams.is_pinned(columns[0]) == memory.startswith("page-locked")
    for devices in ("cuda:0", "all", "cpu+cuda"):
        labels, _ = components_by_segments(graph.n_vertices, *columns, device_team(devices), 1 << 17)
        assert np.array_equal(arrays.move(labels, "cpu"), expected)


def test_batches_on_a_gpu():
    import cupy

    graph = ew.generate.rmat(16, edge_factor=8, seed=5)
    found = ew.ComponentsStream(device="cuda")
    middle = graph.n_edges // 2
    found.add(graph.sources[:middle], graph.targets[:middle])
    found.add(cupy.asarray(graph.sources[middle:]), cupy.asarray(graph.targets[middle:]))
    labels = ew.connected_components(graph).labels
    assert np.array_equal(found.result().on_host().labels, labels[: found.n_vertices])
    u, v = np.arange(100), np.arange(100)[::-1].copy()
    assert np.array_equal(found.connected(u, v), labels[u] == labels[v])


@pytest.mark.parametrize("devices", ("cuda:0", "all", "cpu+cuda"))
def test_files_through_gpus(devices, tmp_path):
    graph = ew.generate.rmat(16, edge_factor=8, seed=6)
    ew.write(graph, tmp_path / "graph.parquet")
    folder = tmp_path / "shards"
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(graph.n_edges), 5)):
        rows = ew.Graph(graph.n_vertices, edges=(graph.sources[part], graph.targets[part], None))
        ew.write(rows, folder / f"{number}.parquet")
    found, checkpoint = ew.stream_components(folder, devices=devices), tmp_path / "so-far"
    assert found.to_frame() == ew.connected_components(ew.read(folder)).to_frame()
    again = ew.stream_components(folder, devices=devices, checkpoint=checkpoint, every=0.0)
    assert again.to_frame() == found.to_frame()


def test_a_graph_that_does_not_fit():
    import cupy

    graph = ew.generate.uniform(100_000, 40_000_000, seed=7)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + 250 * 2**20)  # 320 MB of edges, 192 MiB of buffers
    try:
        found = ew.connected_components(graph, device="cuda")
    finally:
        pool.set_limit(size=limit)
    assert "segments" in found.method
    assert np.array_equal(arrays.move(found.labels, "cpu"), ew.connected_components(graph).labels)
