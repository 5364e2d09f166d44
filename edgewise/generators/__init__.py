"""Graph families made from a seed: the same graph, bit for bit, on every core and every GPU.

Every random decision is a function of the seed and an index (see :mod:`~edgewise.generators.random`).  The
edges are therefore made independently of each other, in parallel, on the device of the graph:

>>> import edgewise as ew
>>> ew.generate.rmat(16, edge_factor=8, seed=1).n_edges
524288

Generated graphs have fewer than 2**32 - 1 vertices.
"""

from collections.abc import Callable

from edgewise.generators.chains import components, paths
from edgewise.generators.derived import replicate, with_weights
from edgewise.generators.geometric import delaunay, rgg
from edgewise.generators.grids import grid, mesh2d, stencil3d
from edgewise.generators.named import NAMED as NAMED
from edgewise.generators.named import named
from edgewise.generators.pairs import pairs
from edgewise.generators.random_graphs import rmat, scale_free, uniform

#: Families by name.  Each takes its sizes, then options by keyword, ``seed`` and ``device`` among them, and
#: returns a Graph (``pairs`` a table).
FAMILIES: dict[str, Callable] = {
    "components": components,
    "delaunay": delaunay,
    "grid": grid,
    "mesh2d": mesh2d,
    "pairs": pairs,
    "paths": paths,
    "rgg": rgg,
    "rmat": rmat,
    "scale_free": scale_free,
    "stencil3d": stencil3d,
    "uniform": uniform,
}

__all__ = [*FAMILIES, "named", "replicate", "with_weights"]
