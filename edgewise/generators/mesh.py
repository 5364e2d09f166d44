"""Two-dimensional meshes with holes, like hugebubbles: mean degree just under 3, long shortest paths.

A honeycomb drawn as a brick wall: every site has a neighbour to the left and to the right, and one up or
down by turns.  The sites fall into square blocks, and each block has one round hole somewhere.
"""

import math

import numpy as np

from edgewise.device import arrays, each
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, fraction, room, vertices, whole
from edgewise.generators.random import HOLES, below, words
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32
from edgewise.primitives import exclusive_scan

#: Larger holes might not fit their blocks.
MOST_HOLES = 0.5
#: Radii are uniform between these multiples of the mean hole's; their squares have the mean 1.
LEAST_RADIUS, MOST_RADIUS = 0.72, 1.25


@each
def _keep(site, seed, columns, block, least, span, kept):
    """Mark a site unless in the hole of its block; radii are ``least`` to ``least + span - 1``."""
    row, column = site // columns, site % columns
    hole = (row // block) * (columns // block + 1) + column // block
    w0, w1, w2, w3 = words(seed, hole, 0, HOLES)
    radius = least + np.int64(below(w2, w3, span))
    free = max(block - 2 * radius, 1)
    down = row % block - radius - np.int64(below(w0, w1, free))
    along = column % block - radius - np.int64(below(w1, w0, free))
    kept[site] = down * down + along * along >= radius * radius


@each
def _link(site, columns, ids, slots, sources, targets):
    """Join a kept site to the right and, every other one, down.  ``ids`` counts the kept sites before."""
    if ids[site] == ids[site + 1]:
        return
    slot, row, column, below_it = slots[site], site // columns, site % columns, site + columns
    if column + 1 < columns and ids[site + 1] < ids[site + 2]:
        slot = emit(slot, ids[site], ids[site + 1], sources, targets)
    if (row + column) % 2 == 0 and below_it + 1 < len(ids) and ids[below_it] < ids[below_it + 1]:
        slot = emit(slot, ids[site], ids[below_it], sources, targets)
    slots[site] = slot


@family
def mesh2d(
    rows: int,
    columns: int | None = None,
    *,
    holes: float = 0.2,
    block: int = 64,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a honeycomb mesh with round holes.

    Parameters
    ----------
    rows, columns : int
        Sites of the mesh before the holes are cut; by default as many columns as rows.
    holes : float
        Share of the area to cut out, at most 0.5.
    block : int
        Side of the square blocks that have one hole each.
    seed : int
    device : str

    Returns
    -------
    Graph
        Vertices numbered row by row, without those in holes.

    Raises
    ------
    OptionError
        A number out of range, or too many sites.

    Examples
    --------
    >>> import edgewise as ew
    >>> mesh = ew.generate.mesh2d(200)
    >>> 2.8 < 2 * mesh.n_edges / mesh.n_vertices < 3
    True
    """
    rows = whole("rows", rows, most=MAX_UINT32)
    columns = rows if columns is None else whole("columns", columns, most=MAX_UINT32)
    block = whole("block", block, least=1, most=MAX_UINT32)
    sites = vertices("rows * columns", rows * columns)
    mean = block * math.sqrt(fraction("holes", holes, most=MOST_HOLES) / math.pi)
    least, most = int(LEAST_RADIUS * mean), int(MOST_RADIUS * mean)
    room(24 * sites, device)
    kept = arrays.empty(sites, np.int8, device)
    _keep(sites, seed, columns, block, least, most - least + 1, kept)
    ids = exclusive_scan(kept)
    edges = emitted(_link, sites, device, columns, ids)
    return Graph.from_edges(*edges, n_vertices=int(ids[-1]))
