"""PHAST as a method of the searches from one source, from all of them, and from some to others.

A search by a hierarchy takes the one that :meth:`edgewise.Graph.prepare` has made for ``"routes"``, or makes
one at its first call, which takes as long as hundreds of searches.
The hierarchy and what sweeps read of it (:class:`~edgewise.paths.hierarchy.sweeps.Sweeps`) stay with the rows
of the graph.  A sweep passes all ranks, however near the vertices are that are asked for, so a search with a
cutoff or with targets is left to others by ``auto``.
"""

from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.paths.csr import Adjacency, unreached
from edgewise.paths.hierarchy.contraction import hierarchy_in_any_type
from edgewise.paths.hierarchy.sweeps import Sweeps


def sweeps_of(rows: Adjacency, dtype) -> Sweeps | None:
    """Sweeps to all vertices, in a type, on the device of the rows; kept with them.

    None if a length fits no type.
    """
    dtype = np.dtype(dtype)
    if dtype not in rows.sweeps:
        hierarchy = rows.routes or hierarchy_in_any_type(rows.on_host())
        if hierarchy is None:
            return None
        rows.routes = hierarchy
        rows.sweeps[dtype] = Sweeps(hierarchy, dtype, arrays.device_of(rows.offsets))
    return rows.sweeps[dtype]


def distances(rows, sources, cutoff):
    """Distances from the nearest of the sources; whether one is too large for its type."""
    sweeps, dtype = sweeps_of(rows, rows.weights.dtype), rows.weights.dtype
    none = unreached(dtype)
    if sweeps is None:
        return arrays.full(rows.n_vertices, none, dtype, arrays.device_of(rows.offsets)), True
    found, cut_off = sweeps.nearest(sources)
    if cut_off and dtype == np.int32:
        wide: Any = sweeps_of(rows, np.int64)
        return _narrowed(wide.nearest(sources), cutoff)
    found[found > cutoff] = none
    return found, cut_off and int(cutoff) + int(sweeps.heaviest) >= sweeps.ceiling


def _narrowed(found, cutoff):
    """Distances in int32, of which sweeps have half the range; whether one is too large for all of it."""
    (wide, cut_off), none = found, unreached(np.int32)
    far = wide > cutoff
    passes = cut_off or bool((far & (wide != unreached(np.int64))).any())
    wide[far] = none
    return wide.astype(np.int32), passes and int(cutoff) == none - 1


def all_pairs(adjacency, targets=None):
    """Prepare the search from many sources to all vertices, or to (t,) vertices.

    Sweeps to some vertices are restricted to the ranks above them.
    """
    made: dict[Any, Sweeps | None] = {}

    def solve(sources, result):
        if result.dtype not in made:
            every = sweeps_of(adjacency, result.dtype)
            made[result.dtype] = every if every is None or targets is None else every.restricted(targets)
        sweeps = made[result.dtype]
        return sweeps is None or sweeps.solve(sources, result)

    return solve
