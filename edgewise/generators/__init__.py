"""Graph families made from a seed: the same graph, bit for bit, on every core and every GPU.

Every random decision is a function of the seed and an index (see :mod:`~edgewise.generators.random`),
so edges are made independently of each other, in parallel, where the graph is wanted:

>>> import edgewise as ew
>>> ew.generate.rmat(16, edge_factor=8, seed=1).n_edges
524288

Generated graphs have fewer than 2**32 - 1 vertices.
"""

from collections.abc import Callable

from edgewise.generators.components import components
from edgewise.generators.delaunay import delaunay
from edgewise.generators.grid import grid
from edgewise.generators.mesh import mesh2d
from edgewise.generators.named import NAMED as NAMED
from edgewise.generators.named import named
from edgewise.generators.pairs import pairs
from edgewise.generators.paths import paths
from edgewise.generators.replicate import replicate
from edgewise.generators.rgg import rgg
from edgewise.generators.rmat import rmat
from edgewise.generators.scale_free import scale_free
from edgewise.generators.stencil import stencil3d
from edgewise.generators.uniform import uniform
from edgewise.generators.weights import with_weights

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
