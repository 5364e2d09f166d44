"""Components from files, compared; and a stand-in for the GPU of a worker."""

from edgewise.device import arrays


def assert_equal(found, expected):
    """Hold a result against another one: its table, its counts, and those of the graph."""
    assert found.to_frame() == expected.to_frame()
    assert (found.count, found.largest) == (expected.count, expected.largest)
    assert (found.graph.n_vertices, found.graph.n_edges) == (
        expected.graph.n_vertices,
        expected.graph.n_edges,
    )


def resolved_by_workers(patched):
    """Have each worker of Dask use the CPU for any device; return lists of the devices and the workers."""
    from distributed import get_worker

    devices, workers, resolve = [], [], arrays.resolve

    def stand_in(device):
        try:
            name = get_worker().name
        except ValueError:  # this is no task
            return resolve(device)
        devices.append(device)
        workers.append(name)
        return "cpu"

    patched.setattr(arrays, "resolve", stand_in)
    return devices, workers
