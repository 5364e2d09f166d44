"""Refinement of triangle meshes until no angle is small: Ruppert's algorithm, with cavities as transactions.

While a triangle is skinny, a vertex is inserted at its circumcentre, or a boundary edge is split on which
that would encroach.  Refinement is a *morph algorithm*: each insertion changes triangles that are known
only when it runs.  Here each is a transaction (:mod:`edgewise.transactions`), and thousands run at the same
time.

The pages, from below: :mod:`~edgewise.refinement.predicates`, exact by integers;
:mod:`~edgewise.refinement.corners`, a triangulation as words; :mod:`~edgewise.refinement.grid`, the input;
:mod:`~edgewise.refinement.quality`, what is wrong with a triangle; :mod:`~edgewise.refinement.cavity`, a
new vertex; :mod:`~edgewise.refinement.flips`, to the Delaunay triangulation;
:mod:`~edgewise.refinement.rounds` of transactions; and :mod:`~edgewise.refinement.sequential`, one triangle
after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.front import front
from edgewise.method import check_whole
from edgewise.refinement.cavity import LEFT_BY_GRID, LEFT_BY_INPUT, NEW
from edgewise.refinement.flips import find_illegal, flip
from edgewise.refinement.grid import check_areas, mesh_of
from edgewise.refinement.quality import bound_of
from edgewise.refinement.rounds import Refinement, insert, inspect
from edgewise.refinement.sequential import in_turn
from edgewise.transactions.statistics import Rounds

#: Largest angle in degrees that may be asked for; refinement ends for up to about 33 in practice.
LARGEST_ANGLE = 34.0
#: Points of a result at most, by default: so many, and so many for each given point.
POINTS, POINTS_PER_POINT = 100_000, 20
#: Points of any result at most: it has up to twice as many triangles, and corners have numbers of 32 bits.
MOST_POINTS = 2**32 // 12


@dataclass(frozen=True)
class Refined:
    """A refined mesh.

    Attributes
    ----------
    points : (n, 2) float64 array
        The given points, unchanged, and after them the new ones.
    triangles : (t, 3) int64 array
        Vertices of each triangle, counterclockwise.
    transactions : Rounds
        ``commits``, ``aborts`` and ``abort_rate`` of all rounds together, and ``rounds``, the
        :class:`~edgewise.transactions.Statistics` of each; of none if there were no transactions.
    n_rounds : int
    seconds : float
        Without the triangulation of points that are given alone.
    left_by_input : int
        Triangles below the smallest angle because of a small angle of the boundary.
    left_by_grid : int
        Triangles below the smallest angle, or with an encroached edge, that are too small for the grid.
    """

    points: Any
    triangles: Any
    transactions: Rounds
    n_rounds: int
    seconds: float
    left_by_input: int
    left_by_grid: int


@front
def refine(
    points: Any,
    triangles: Any = None,
    *,
    min_angle: float = 20.7,
    max_points: int | None = None,
    protocol: str | None = "wound-wait",
    slots: int | None = None,
    device: str = "cpu",
) -> Refined:
    """Refine a triangle mesh until no angle is small, by inserting points (Ruppert's algorithm).

    The result is a Delaunay triangulation of the same domain, which has all given points.  Edges of one
    triangle are the boundary, and are split; no boundary edge has the third vertex of its triangle inside the
    circle around it.

    Parameters
    ----------
    points : (n, 2) array of numbers
    triangles : (t, 3) array of int, optional
        Vertices of each triangle, in either order; by default the Delaunay triangulation of the points, by
        SciPy.  Triangles must not overlap.  Points without a triangle stay so.
    min_angle : float
        In degrees, from 0 to 34.  Refinement is known to end up to 20.7 degrees, where no two boundary edges
        meet at less than 60, and ends up to about 33 in practice.
    max_points : int, optional
        Points of the result at most; by default 100,000 and 20 for each given point.
    protocol : str or None
        Of the transactions, a name in :data:`edgewise.transactions.PROTOCOLS`; ``None`` improves one
        triangle after the other on one core, without transactions.
    slots : int, optional
        Transactions at the same time, as for :class:`~edgewise.transactions.TransactionalMemory`.
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.

    Returns
    -------
    Refined
        Its arrays are on the device.  With several threads, and on GPUs, other protocols than
        ``reservations`` may give another mesh in each call.

    Raises
    ------
    OptionError
        Points that are not finite or all on a line, triangles that overlap or have no area, or more points
        than ``max_points``.

    Notes
    -----
    Coordinates are rounded to 2**-30 of the extent, which is rounded up to a power of two, so that all tests
    are exact by integers.  New points on boundary edges that are not parallel to an axis are up to as much
    inside of the domain.  Triangles at the boundary that are not higher than four such steps are left out:
    points on a slanted line are rounded to both of its sides.

    References
    ----------
    J. Ruppert, "A Delaunay refinement algorithm for quality 2-dimensional mesh generation", Journal of
    Algorithms 18 (1995).

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.refinement import refine
    >>> mesh = refine(np.array([[0, 0], [10, 0], [10, 1], [0, 1]]), protocol=None)
    >>> mesh.points.shape, mesh.triangles.shape
    ((14, 2), (12, 3))
    """
    if not 0 <= min_angle <= LARGEST_ANGLE:
        raise OptionError(f"{argument('min_angle', min_angle)} must be from 0 to {LARGEST_ANGLE:g} degrees")
    where = arrays.resolve(device)
    if protocol is None and where != "cpu":
        raise OptionError(
            f"{argument('protocol', protocol)} works on the CPU; leave {argument('device')} out"
        )
    grid, words = mesh_of(points, triangles)
    if max_points is None:
        max_points = min(POINTS + POINTS_PER_POINT * len(grid.points), MOST_POINTS)
    check_whole("max_points", max_points, 1)
    if max_points > MOST_POINTS:
        raise OptionError(f"{argument('max_points', max_points)} is too large; give {MOST_POINTS:,} or less")
    if slots is not None:
        check_whole("slots", slots, 1)
    bound = bound_of(min_angle)
    with arrays.guard(where):
        start = perf_counter()
        words, x, y = (arrays.move(one, where) for one in (words, *grid.rounded()))
        refinement = Refinement(words, x, y, protocol or "wound-wait", slots if protocol else 1)
        rounds = refinement.transactions(find_illegal, flip, bound)
        check_areas(refinement.triangulation()[0], *refinement.mesh.points)
        refinement.mesh.states[: refinement.n_triangles] = NEW
        if protocol is None:
            rounds, n_rounds = (), in_turn(refinement, bound, max_points)
        else:
            rounds += refinement.transactions(inspect, insert, bound, max_points)
            n_rounds = len(rounds)
        found_points, found_triangles = points_and_triangles(refinement, grid)
        arrays.synchronize(where)
        spent = perf_counter() - start
    by_input, by_grid = (
        int((refinement.mesh.states == kind).sum()) for kind in (LEFT_BY_INPUT, LEFT_BY_GRID)
    )
    return Refined(found_points, found_triangles, Rounds(rounds), n_rounds, spent, by_input, by_grid)


def points_and_triangles(refinement, grid):
    """The arrays of a result, on the device of its refinement."""
    xp = arrays.namespace(refinement.device)
    triangles, vertices = refinement.triangulation()
    x, y = (one[vertices[len(grid.points) :]] for one in refinement.mesh.points)
    origin, given = (arrays.move(one, refinement.device) for one in (grid.origin, grid.points))
    new = grid._replace(origin=origin).back(xp.stack([x, y], axis=1))
    return arrays.move(xp.concatenate([given, new]), refinement.device), triangles
