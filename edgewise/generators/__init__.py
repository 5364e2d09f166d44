"""Graph families made from a seed: the same graph, bit for bit, on every core and every GPU.

Every random decision is a function of the seed and an index (see :mod:`~edgewise.generators.random`).  The
edges are therefore made independently of each other, in parallel, on the device of the graph:

>>> import edgewise as ew
>>> ew.generate.rmat(16, edge_factor=8, seed=1).n_edges
524288

Generated graphs have fewer than 2**32 - 1 vertices.
"""

from collections.abc import Callable
from typing import Any

from edgewise.errors import OptionError, one_of
from edgewise.generators.chains import components, pairs, paths
from edgewise.generators.derived import replicate, with_weights
from edgewise.generators.geometric import delaunay, rgg
from edgewise.generators.grids import grid, mesh2d, stencil3d
from edgewise.generators.limits import family
from edgewise.generators.random_graphs import rmat, scale_free, uniform
from edgewise.graph import Graph

#: Families by name.  Each takes its sizes, then options by keyword, ``seed`` and ``device`` among them, and
#: returns a Graph (``pairs`` a table).
_FAMILIES = (components, delaunay, grid, mesh2d, pairs, paths, rgg, rmat, scale_free, stencil3d, uniform)
FAMILIES: dict[str, Callable] = {make.__name__: make for make in _FAMILIES}
#: Family and options of the graphs of published measurements, and of imitations of known graphs.
NAMED: dict[str, tuple[Any, dict[str, Any]]] = {
    "rmat22": (rmat, {"scale": 22, "edge_factor": 16, "simple": True}),
    "uniform22": (uniform, {"n": 2**22, "m": 2**26}),
    "rgg21": (rgg, {"n": 2**21, "mean_degree": 15}),
    "road4096": (grid, {"rows": 4096, "dropped": 0.3}),
    "road4096-shuffled": (grid, {"rows": 4096, "dropped": 0.3, "shuffle": True}),
    "road4096-dense": (grid, {"rows": 4096, "dropped": 0.2}),
    "rmat20": (rmat, {"scale": 20, "edge_factor": 16, "simple": True}),
    "urand20": (uniform, {"n": 2**20, "m": 2**23}),
    "rgg20": (rgg, {"n": 2**20, "mean_degree": 14}),
    "delaunay20": (delaunay, {"n": 2**20}),
    "road1500": (grid, {"rows": 1500, "dropped": 0.25}),
    "comps2M": (components, {"n": 2_000_000, "mean_size": 3, "shuffle": True}),
    "hugebubbles-like": (mesh2d, {"rows": 4784, "holes": 0.2}),
    "kmer-like": (paths, {"n": 170_000_000, "branches": 0.06, "shuffle": True}),
    "nlpkkt240-like": (stencil3d, {"nx": 304}),
    "queen-like": (stencil3d, {"nx": 111, "unknowns": 3}),
}

__all__ = [*FAMILIES, "named", "replicate", "with_weights"]


@family
def named(name: str, *, seed: int = 0, device: str = "cpu", **changes: Any) -> Graph:
    """Make a graph of the experiments by its name, such as ``rmat20`` or ``road4096``.

    Parameters
    ----------
    name : str
        A key of :data:`NAMED`; the error for an unknown one lists them all.
    **changes
        Options of the family in place of the stated ones.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.named("road4096", rows=30).n_vertices
    900
    """
    if name not in NAMED:
        raise OptionError(f"no graph is named {name!r}; {one_of(name, NAMED)}")
    make, options = NAMED[name]
    return make(**{**options, **changes}, seed=seed, device=device)
