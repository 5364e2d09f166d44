"""Delaunay triangulations of random points: planar, mean degree just under 6.

The points are those of :mod:`~edgewise.generators.points`; SciPy's Qhull triangulates them on one CPU
core (about ten seconds for a million points).
"""

import math

import numpy as np

from edgewise.generators.limits import family, vertices
from edgewise.generators.points import UNIT, in_cells
from edgewise.graph import Graph

#: Points in a cell on the average; cells only order the ids.
MAX_BLOCKS_PER_SM = 2


@family
def delaunay(n: int, *, seed: int = 0, device: str = "cpu") -> Graph:
    """Make the Delaunay triangulation of ``n`` random points in the unit square.

    Parameters
    ----------
    n : int
        Points, numbered cell by cell.
    seed : int
    device : str
        Where the graph goes; it is always computed on the CPU.

    Returns
    -------
    Graph
        Edges in ascending order, each from the smaller vertex to the larger.

    Raises
    ------
    OptionError
        A number out of range.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.delaunay(3).n_edges
    3
    """
    n = vertices("n", n)
    xs, ys, _ = in_cells(n, math.isqrt(n // MAX_BLOCKS_PER_SM) + 1, seed, "cpu")
    keys = _triangulated(np.stack([xs, ys], axis=1) / UNIT) if n > 2 else _keys(np.arange(n - 1), 1)
    keys.sort()
    sources, targets = (keys >> 32).astype(np.uint32), (keys & 0xFFFFFFFF).astype(np.uint32)
    return Graph.from_edges(sources, targets, n_vertices=n).to(device)


def _triangulated(points):
    """Keys of the edges; one that two triangles share is taken from the later of them."""
    from scipy.spatial import Delaunay

    found = Delaunay(points)
    triangles, beyond = found.simplices.astype(np.int64), found.neighbors
    mine = beyond < np.arange(len(triangles))[:, None]
    edges = [(triangles[mine[:, k], k - 1], triangles[mine[:, k], k - 2]) for k in range(3)]
    return np.concatenate([_keys(np.minimum(u, v), np.abs(u - v)) for u, v in edges])


def _keys(smaller, apart):
    """One number for each edge, ascending by its smaller and then its larger end."""
    return (smaller << 32) | (smaller + apart)
