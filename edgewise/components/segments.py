"""Components of edges that lie on the host: they flow past the parents, segment by segment.

A union-find method looks at an edge once and never again, so the edges need not lie beside the parents: a
device holds the parents and a few buffers, whatever the number of edges.  This is the pending-segment
scheme of Groute (Ben-Nun et al. 2017), which Hellås (2018) took over, with Rem's union as the kernel;
ConnectIt (Dhulipala, Hong & Shun 2020) calls the same thing batches.

The workers of a team take segments from one queue, so that the faster link takes more of them; in the end
their parents are merged.  Between segments nothing is compressed: splicing keeps paths short, and a pass
over the parents costs as much as a segment.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgewise.components.host_pipeline import SEGMENT_EDGES, SLOTS, Feeder
from edgewise.components.merge import merge_labels
from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, threads
from edgewise.index_type import index_type
from edgewise.workers import WorkQueue

#: Edges of the smallest segment that is tried where memory is short.
LEAST_EDGES = 1 << 16
#: Share of the free memory of a device that may be taken.
USABLE = 0.95


def components_by_segments(n_vertices, sources, targets, team, segment_edges=SEGMENT_EDGES, merge="auto"):
    """Label the components of edges that lie on the host.

    Parameters
    ----------
    n_vertices : int
    sources, targets : (m,) integer arrays on the host
        Vertex numbers, known to be below ``n_vertices``; a ``numpy.memmap`` will do.  Arrays made by
        :func:`edgewise.device.streams.pinned` are not staged.
    team : edgewise.workers.DeviceTeam
    segment_edges : int
    merge : str
        How the parents of several workers are merged.

    Returns
    -------
    labels : (n_vertices,) index array
        Smallest vertex of each vertex's component, in the place of the team's first worker.
    segments : int

    Raises
    ------
    OutOfMemoryError
        The parents and the buffers do not fit.
    """
    queue = WorkQueue(len(sources), segment_edges)
    columns, count = (np.asarray(sources), np.asarray(targets)), threads.count()

    def work(worker):
        threads.use(count)
        with arrays.guard(worker.device):
            try:
                return _parents_of(worker.device, n_vertices, columns, queue)
            except BaseException:
                queue.close()  # the others need not go on
                raise

    with ThreadPoolExecutor(len(team)) as pool:
        try:
            parents = list(pool.map(work, team))
        except BaseException:
            queue.close()
            raise
    return merge_labels(team, parents, merge), -(-len(sources) // segment_edges)


def _parents_of(device, n_vertices, columns, queue):
    """Compressed parents after all the segments that one worker gets hold of."""
    parent = arrays.empty(n_vertices, index_type(n_vertices), device)
    make_singletons(n_vertices, parent)
    feeder = Feeder(parent, queue.chunk)
    for start, stop in queue:
        feeder.feed(*(column[start:stop] for column in columns))
    feeder.settle()
    compress(n_vertices, parent)
    arrays.synchronize(device)
    return parent


def bytes_needed(n_vertices, segment_edges=SEGMENT_EDGES):
    """Bytes that a worker needs on its device."""
    return (n_vertices + 2 * SLOTS * segment_edges) * np.dtype(index_type(n_vertices)).itemsize


def segment_for(n_vertices, team):
    """Edges of the largest segment with which parents and buffers fit every device; 0 if none does."""
    edges = SEGMENT_EDGES
    while edges >= LEAST_EDGES:
        if all(
            bytes_needed(n_vertices, edges) <= USABLE * arrays.free_memory(device) for device in team.devices
        ):
            return edges
        edges //= 2
    return 0


def solve_by_segments(graph, team, merge="auto"):
    """Label the components of a graph whose edges are too many for the devices.

    Parameters
    ----------
    graph : Graph
        Its edges are brought to the host if they lie elsewhere.
    team : edgewise.workers.DeviceTeam
    merge : str

    Returns
    -------
    labels : (n_vertices,) index array
        In the place of the team's first worker.
    segments : int

    Raises
    ------
    OutOfMemoryError
        Not even the parents and small buffers fit; the message gives the bytes needed.
    """
    edges = segment_for(graph.n_vertices, team)
    if not edges:
        device = min(team.devices, key=arrays.free_memory)
        raise arrays.out_of_memory(bytes_needed(graph.n_vertices, LEAST_EDGES), device)
    ends = (arrays.move(column, "cpu") for column in (graph.sources, graph.targets))
    return components_by_segments(graph.n_vertices, *ends, team, edges, merge)
