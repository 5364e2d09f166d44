"""Random geometric graphs: random points of the unit square, joined where they are close.

They are the rgg graphs of the 10th DIMACS Implementation Challenge: ids run cell by cell, so that neighbours
have close ids.  A point is compared with the later points of its own cell and of the four cells after it
that touch it; cells are no narrower than the radius.
"""

import math

import numpy as np

from edgewise.device import device, each
from edgewise.errors import OptionError
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, fraction, vertices
from edgewise.generators.points import BITS, UNIT, in_cells
from edgewise.graph import Graph


@device
def _near(slot, vertex, first, end, square, xs, ys, sources, targets):
    """Emit an edge to each of the vertices ``first .. end - 1`` within the radius of ``vertex``."""
    x, y = np.int64(xs[vertex]), np.int64(ys[vertex])
    for other in range(first, end):
        across, along = np.int64(xs[other]) - x, np.int64(ys[other]) - y
        if across * across + along * along <= square:
            slot = emit(slot, vertex, other, sources, targets)
    return slot


@each
def _join(vertex, side, square, xs, ys, starts, slots, sources, targets):
    row, column = (np.int64(ys[vertex]) * side) >> BITS, (np.int64(xs[vertex]) * side) >> BITS
    left, end = max(column - 1, 0), min(column + 2, side)
    here, after = row * side, (row + 1) * side
    slot = _near(slots[vertex], vertex, vertex + 1, starts[here + end], square, xs, ys, sources, targets)
    if row + 1 < side:
        first, last = starts[after + left], starts[after + end]
        slot = _near(slot, vertex, first, last, square, xs, ys, sources, targets)
    slots[vertex] = slot


@family
def rgg(
    n: int,
    *,
    radius: float | None = None,
    mean_degree: float | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a random geometric graph in the unit square.

    Parameters
    ----------
    n : int
        Points.
    radius : float, optional
        Points at most this far apart are joined; by default ``0.55 * sqrt(log(n) / n)``, as in the DIMACS
        graphs, which leaves few points out of the large component.
    mean_degree : float, optional
        Choose the radius for this mean degree (a little less comes out, since borders cut circles off).
    seed : int
    device : str

    Returns
    -------
    Graph
        Edges in ascending order, each from the smaller vertex to the larger.

    Raises
    ------
    OptionError
        A number out of range, or both ``radius`` and ``mean_degree``.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.rgg(100, radius=1.0).n_vertices
    100
    """
    n = vertices("n", n)
    reach = int(_radius(n, radius, mean_degree) * UNIT)
    side = max(1, min(UNIT // max(reach, 1), math.isqrt(n)))
    xs, ys, starts = in_cells(n, side, seed, device)
    square = min(reach * reach, 2**63 - 1)
    sources, targets = emitted(_join, n, device, side, square, xs, ys, starts)
    return Graph.from_edges(sources, targets, n_vertices=n)


def _radius(n, radius, mean_degree):
    if radius is not None and mean_degree is not None:
        raise OptionError("radius and mean_degree are both given; give one of them")
    if radius is not None:
        return fraction("radius", radius, most=2.0)
    if mean_degree is None:
        return 0.55 * math.sqrt(math.log(max(n, 2)) / max(n, 2))
    return math.sqrt(fraction("mean_degree", mean_degree, most=float(max(n, 1))) / (math.pi * max(n, 1)))
