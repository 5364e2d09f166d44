"""Direction-optimising: top-down while the frontier is small, bottom-up while it is large, on CPU threads.

Social networks have a level or two that hold nearly everything.  Top-down most entries of such a frontier
lead back; bottom-up a vertex stops at the first neighbour it finds there, and most find one at the first
look (Beamer, Asanovic & Patterson 2012).  Looking back needs the rows that come in: those of an undirected
graph are its rows; a directed graph's are built once and kept with it.
"""

import numpy as np

from edgewise.paths.bfs.levels import distances_by_levels


def direction_optimising(rows, sources, cutoff):
    """Distances from the nearest of ``sources``.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        On the host.  Without ``incoming`` all steps are top-down.
    sources : (k,) int64 array
    cutoff : int
        Vertices further away are not reached.

    Returns
    -------
    (n,) int32 array
    """
    return distances_by_levels(
        rows,
        sources,
        np.zeros(len(sources), np.int32),
        0,
        cutoff,
        rows.incoming if rows.has_incoming else None,
    )
