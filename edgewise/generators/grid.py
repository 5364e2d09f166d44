"""Grids, and road networks: grids some of whose edges are dropped at random.

The thesis of Hellås (2018) and others found that street networks behave unlike random graphs because their
ids follow the map; ``shuffle`` takes that away and leaves everything else.
"""

import numpy as np

from edgewise.device import each
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, fraction, vertices, whole
from edgewise.generators.random import EDGES, threshold, words
from edgewise.generators.shuffle import order, restored, shuffled
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32


@each
def _link(vertex, seed, rows, columns, cut, bits, key, slots, sources, targets):
    """Join a vertex to the right and down; a random word below ``cut`` drops the edge."""
    count = rows * columns
    cell = np.int64(restored(vertex, count, bits, key))
    right, down, _, _ = words(seed, cell, 0, EDGES)
    slot = slots[vertex]
    if cell % columns + 1 < columns and right >= np.uint64(cut):
        slot = emit(slot, vertex, shuffled(cell + 1, count, bits, key), sources, targets)
    if cell + columns < count and down >= np.uint64(cut):
        slot = emit(slot, vertex, shuffled(cell + columns, count, bits, key), sources, targets)
    slots[vertex] = slot


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
    columns : int, optional
        By default as many as rows.
    dropped : float
        Probability by which each edge is left out; 0.2 to 0.3 looks like a road network.
    shuffle : bool
        Put the vertex ids, which run row by row, in random order.
    seed : int
    device : str

    Returns
    -------
    Graph

    Raises
    ------
    OptionError
        A number out of range, or too many vertices.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.grid(3, 4).n_edges
    17
    """
    rows = whole("rows", rows, most=MAX_UINT32)
    columns = rows if columns is None else whole("columns", columns, most=MAX_UINT32)
    n = vertices("rows * columns", rows * columns)
    cut = threshold(fraction("dropped", dropped))
    edges = emitted(_link, n, device, seed, rows, columns, cut, *order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)
