"""Top-down: the frontier's rows are read, level after level, on the CPU's threads.

The work is every entry of every row that is reached, once.  That is the least for graphs of large diameter,
and all there is to do for a directed graph whose incoming rows are not there.  See
:mod:`~edgewise.paths.bfs.levels` for how levels are shared, and :mod:`~edgewise.paths.bfs.expand` for how
rows are read.
"""

import numpy as np

from edgewise.paths.bfs.levels import distances_by_levels


def top_down(rows, sources, cutoff):
    """Distances from the nearest of ``sources``.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        On the host.
    sources : (k,) int64 array
    cutoff : int
        Vertices further away are not reached.

    Returns
    -------
    (n,) int32 array
    """
    return distances_by_levels(rows, sources, np.zeros(len(sources), np.int32), 0, cutoff)
