"""Components of edges on the host, which are sent to the parents segment by segment.

A union-find method reads an edge once, so the edges need not be on the device of the parents: a device holds
the parents and a few buffers, whatever the number of edges.  This is the pending-segment scheme of Groute
(Ben-Nun et al. 2017), which Hellås (2018) adopted, with Rem's union as the kernel; ConnectIt (Dhulipala, Hong
& Shun 2020) calls it batches.

The workers of a team take segments from one queue, so that a faster link takes more of them; their labels are
merged at the end.  Nothing is compressed between segments: splicing keeps paths short, and a pass over the
parents costs as much as a segment.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgewise.components.host_pipeline import BUFFERS, SEGMENT_EDGES, HostPipeline
from edgewise.components.merge import merge_labels
from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, threads
from edgewise.index_type import index_type
from edgewise.workers import WorkQueue

#: Edges of the smallest segment that is tried where memory is scarce.
MIN_SEGMENT_EDGES = 1 << 16
#: Share of the free memory of a device that may be taken.
USABLE = 0.95


def components_by_segments(n_vertices, sources, targets, team, segment_edges=SEGMENT_EDGES, merge="auto"):
    """Label the components of edges on the host.

    Parameters
    ----------
    n_vertices : int
    sources, targets : (m,) integer arrays on the host
        Vertex numbers, known to be below ``n_vertices``; a ``numpy.memmap`` is accepted.  Arrays made by
        :func:`edgewise.device.streams.pinned` are copied directly.
    team : edgewise.workers.DeviceTeam
    segment_edges : int
    merge : str
        How the labels of several workers are merged.

    Returns
    -------
    labels : (n_vertices,) index array
        Smallest vertex of each vertex's component, on the device of the team's first worker.
    n_segments : int

    Raises
    ------
    OutOfMemoryError
        The parents and the buffers do not fit.
    """
    queue = WorkQueue(len(sources), segment_edges)
    columns, n_threads = (np.asarray(sources), np.asarray(targets)), threads.count()

    def work(worker):
        threads.use(n_threads)
        with arrays.guard(worker.device):
            try:
                return _label_segments(worker.device, n_vertices, columns, queue)
            except BaseException:
                queue.close()  # stops the other workers
                raise

    with ThreadPoolExecutor(len(team)) as pool:
        try:
            labels = list(pool.map(work, team))
        except BaseException:
            queue.close()
            raise
    return merge_labels(team, labels, merge), -(-len(sources) // segment_edges)


def _label_segments(device, n_vertices, columns, queue):
    """Labels by the segments that one worker takes from the queue."""
    parent = arrays.empty(n_vertices, index_type(n_vertices), device)
    make_singletons(n_vertices, parent)
    pipeline = HostPipeline(parent, queue.chunk)
    for start, stop in queue:
        pipeline.join(*(column[start:stop] for column in columns))
    pipeline.settle()
    compress(n_vertices, parent)
    arrays.synchronize(device)
    return parent


def bytes_needed(n_vertices, segment_edges=SEGMENT_EDGES):
    """Bytes that a worker needs on its device."""
    return (n_vertices + 2 * BUFFERS * segment_edges) * np.dtype(index_type(n_vertices)).itemsize


def segment_for(n_vertices, team):
    """Edges of the largest segment with which parents and buffers fit on every device; 0 if none does."""
    edges = SEGMENT_EDGES
    while edges >= MIN_SEGMENT_EDGES:
        needed = bytes_needed(n_vertices, edges)
        if all(needed <= USABLE * arrays.free_memory(device) for device in team.devices):
            return edges
        edges //= 2
    return 0


def solve_by_segments(graph, team, merge="auto"):
    """Label the components of a graph whose edges do not fit on the devices.

    Parameters
    ----------
    graph : Graph
        Its edges are copied to the host if they are on another device.
    team : edgewise.workers.DeviceTeam
    merge : str

    Returns
    -------
    labels, n_segments
        As from :func:`components_by_segments`.

    Raises
    ------
    OutOfMemoryError
        Not even the parents and small buffers fit; the message gives the bytes needed.
    """
    edges = segment_for(graph.n_vertices, team)
    if not edges:
        device = min(team.devices, key=arrays.free_memory)
        raise arrays.out_of_memory(bytes_needed(graph.n_vertices, MIN_SEGMENT_EDGES), device)
    columns = (arrays.move(column, "cpu") for column in (graph.sources, graph.targets))
    return components_by_segments(graph.n_vertices, *columns, team, edges, merge)
