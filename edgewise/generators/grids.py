"""Grids, road networks, meshes and stencils: graphs whose vertices are the points of a lattice.

Hellås (2018) and others found that street networks behave unlike random graphs because their ids follow the
map; the option ``shuffle`` of :func:`grid` removes this order and changes nothing else.
"""

import math
from typing import NamedTuple

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import OptionError, argument
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import check_fraction, check_memory, check_vertices, check_whole, family
from edgewise.generators.random import EDGES, HOLES, below, threshold, words
from edgewise.generators.shuffle import order, restored, shuffled
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32
from edgewise.primitives import exclusive_scan

#: Largest share of the area of a mesh that holes take; larger holes might not fit into their blocks.
MAX_HOLES = 0.5
#: Least radius of a hole, in radii of the mean hole; radii are uniform, and their squares have the mean 1.
MIN_RADIUS = 0.72
#: Largest radius of a hole, in radii of the mean hole.
MAX_RADIUS = 1.25
#: Points of a stencil, and how many of a point's coordinates may differ (by one) from the centre's.
MAX_DIFFERENCES = {7: 1, 19: 2, 27: 3}


@each
def _link_cell(vertex, seed, rows, columns, cut, shuffle, output):
    """Join a vertex to the right and down; a random word below ``cut`` drops the edge."""
    count = rows * columns
    cell = np.int64(restored(vertex, shuffle))
    right, down, _, _ = words(seed, cell, 0, EDGES)
    slot = output.slots[vertex]
    if cell % columns + 1 < columns and right >= np.uint64(cut):
        slot = emit(slot, vertex, shuffled(cell + 1, shuffle), output)
    if cell + columns < count and down >= np.uint64(cut):
        slot = emit(slot, vertex, shuffled(cell + columns, shuffle), output)
    output.slots[vertex] = slot


@family
def grid(
    rows: int,
    columns: int | None = None,
    *,
    dropped: float = 0.0,
    shuffle: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a grid in which each vertex is joined to the next in its row and in its column.

    Parameters
    ----------
    rows : int
        Rows of vertices.
    columns : int, optional
        By default as many as rows.
    dropped : float
        Probability by which each edge is left out; 0.2 to 0.3 looks like a road network.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.grid(3, 4).n_edges
    17
    """
    rows, columns, n = _extents(rows, columns)
    cut = threshold(check_fraction("dropped", dropped))
    edges = emitted(_link_cell, n, device, seed, rows, columns, cut, order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)


def _extents(rows, columns):
    """Rows, columns (by default as many) and their product, once checked."""
    rows = check_whole("rows", rows, most=MAX_UINT32)
    columns = rows if columns is None else check_whole("columns", columns, most=MAX_UINT32)
    return rows, columns, check_vertices("rows * columns", rows * columns)


@each
def _keep(site, seed, columns, block, least, span, kept):
    """Mark a site unless it is in the hole of its block; radii are ``least`` to ``least + span - 1``."""
    row, column = site // columns, site % columns
    hole = (row // block) * (columns // block + 1) + column // block
    w0, w1, w2, w3 = words(seed, hole, 0, HOLES)
    radius = least + np.int64(below(w2, w3, span))
    free = max(block - 2 * radius, 1)
    down = row % block - radius - np.int64(below(w0, w1, free))
    along = column % block - radius - np.int64(below(w1, w0, free))
    kept[site] = down * down + along * along >= radius * radius


@each
def _link_site(site, columns, ids, output):
    """Join a kept site to the right and, every other one, down; ``ids`` counts the kept sites before."""
    if ids[site] == ids[site + 1]:
        return
    slot, row, column, below_it = output.slots[site], site // columns, site % columns, site + columns
    if column + 1 < columns and ids[site + 1] < ids[site + 2]:
        slot = emit(slot, ids[site], ids[site + 1], output)
    if (row + column) % 2 == 0 and below_it + 1 < len(ids) and ids[below_it] < ids[below_it + 1]:
        slot = emit(slot, ids[site], ids[below_it], output)
    output.slots[site] = slot


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
    """Make a honeycomb mesh with round holes, like hugebubbles.

    The mean degree is just under 3, and shortest paths are long.  The honeycomb is drawn as a brick wall:
    every site has a neighbour to the left and to the right, and alternately one above or below.  The sites
    form square blocks with one round hole each.  Vertices are numbered row by row, without those in holes.

    Parameters
    ----------
    rows, columns : int
        Sites of the mesh before the holes are cut; by default as many columns as rows.
    holes : float
        Share of the area to cut out, at most 0.5.
    block : int
        Side of the square blocks that have one hole each.

    Examples
    --------
    >>> import edgewise as ew
    >>> mesh = ew.generate.mesh2d(200)
    >>> 2.8 < 2 * mesh.n_edges / mesh.n_vertices < 3
    True
    """
    rows, columns, sites = _extents(rows, columns)
    block = check_whole("block", block, least=1, most=MAX_UINT32)
    mean = block * math.sqrt(check_fraction("holes", holes, most=MAX_HOLES) / math.pi)
    least, most = int(MIN_RADIUS * mean), int(MAX_RADIUS * mean)
    check_memory(24 * sites, device)
    kept = arrays.empty(sites, np.int8, device)
    _keep(sites, seed, columns, block, least, most - least + 1, kept)
    ids = exclusive_scan(kept)
    edges = emitted(_link_site, sites, device, columns, ids)
    return Graph.from_edges(*edges, n_vertices=int(ids[-1]))


class Box(NamedTuple):
    """Numbers of nodes along the three axes."""

    nx: int
    ny: int
    nz: int


@each
def _couple(vertex, box, unknowns, differences, output):
    """Join an unknown to the later unknowns of its node and to those of the later nodes around it."""
    slot, node = output.slots[vertex], vertex // unknowns
    nx, ny, nz = box
    x, y, z = node % nx, node // nx % ny, node // (nx * ny)
    for later in range(vertex + 1, (node + 1) * unknowns):
        slot = emit(slot, vertex, later, output)
    for step in range(14, 27):  # the points after the centre, 13, of a 3 x 3 x 3 cube
        dx, dy, dz = step % 3 - 1, step // 3 % 3 - 1, step // 9 - 1
        inside = 0 <= x + dx < nx and 0 <= y + dy < ny and z + dz < nz
        if inside and abs(dx) + abs(dy) + abs(dz) <= differences:
            first = (node + (dz * ny + dy) * nx + dx) * unknowns
            for other in range(first, first + unknowns):
                slot = emit(slot, vertex, other, output)
    output.slots[vertex] = slot


@family
def stencil3d(
    nx: int,
    ny: int | None = None,
    nz: int | None = None,
    *,
    unknowns: int = 1,
    points: int = 27,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make the graph of a stencil on a box of ``nx * ny * nz`` nodes, like the matrices of finite elements.

    27 points and one unknown give the degrees of nlpkkt240 (26), three unknowns those of Queen_4147 (80).
    The edges are in ascending order, each from the smaller vertex to the larger.  Nothing is random.

    Parameters
    ----------
    nx, ny, nz : int
        Nodes along each axis; ``ny`` and ``nz`` are ``nx`` by default.
    unknowns : int
        Vertices at each node, all joined to each other and to those of neighbouring nodes.
    points : {7, 19, 27}
        Nodes of the stencil, including its centre.

    Examples
    --------
    >>> import edgewise as ew
    >>> int(ew.generate.stencil3d(5, unknowns=3).degrees().max())
    80
    """
    nx = check_whole("nx", nx, most=MAX_UINT32)
    ny = nx if ny is None else check_whole("ny", ny, most=MAX_UINT32)
    nz = nx if nz is None else check_whole("nz", nz, most=MAX_UINT32)
    unknowns = check_whole("unknowns", unknowns, least=1, most=MAX_UINT32)
    if points not in MAX_DIFFERENCES:
        raise OptionError(f"{argument('points', points)} is no stencil; use 7, 19 or 27")
    n = check_vertices("nx * ny * nz * unknowns", nx * ny * nz * unknowns)
    edges = emitted(_couple, n, device, Box(nx, ny, nz), unknowns, MAX_DIFFERENCES[points])
    return Graph.from_edges(*edges, n_vertices=n)
