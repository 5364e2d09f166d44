"""From points and triangles of a user to the grid and its words, and back."""

from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import OptionError
from edgewise.refinement.corners import NO_TWIN, TWINS, words_of
from edgewise.refinement.predicates import GRID

#: Areas below this share of the squared extent do not tell the order of the vertices of a triangle.
NO_AREA = 1e-12
#: No side of a triangle is longer, in steps of the grid.
LONGEST = 1.5 * GRID
#: Steps of the grid up to which a triangle at the boundary is left out.
STEPS = 4


class Grid(NamedTuple):
    """Points, and where they are on the grid.

    Attributes
    ----------
    points : (n, 2) float64 array
    origin : (2,) float64 array
        The point of the grid's coordinates 0.
    step : float
        Distance of two points of the grid, a power of two.
    """

    points: Any
    origin: Any
    step: float

    def rounded(self):
        """The coordinates on the grid: two int64 arrays."""
        x, y = np.rint((self.points - self.origin) / self.step).astype(np.int64).T
        return np.ascontiguousarray(x), np.ascontiguousarray(y)

    def back(self, coordinates):
        """Points of (k, 2) coordinates on the grid: float64 array."""
        return coordinates * self.step + self.origin


def grid_of(points):
    """The :class:`Grid` of the points of a user."""
    found = np.array(points, np.float64)
    if found.ndim != 2 or found.shape[1] != 2 or len(found) < 3:
        raise OptionError(f"points of shape {found.shape} are no mesh; give three or more as rows of x and y")
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(wrong):
        raise OptionError(f"point {wrong[0]} is {tuple(found[wrong[0]].tolist())}; give finite coordinates")
    origin = found.min(axis=0)
    extent = float((found.max(axis=0) - origin).max())
    if not 0 < extent < np.inf:
        raise OptionError(f"the points have an extent of {extent}; give points that are apart, below 1e308")
    return Grid(found, origin, float(np.exp2(np.ceil(np.log2(extent)))) / GRID)


def mesh_of(points, triangles):
    """The :class:`Grid` of points, and the words of their triangles: a (3 * t,) int64 array on the host."""
    grid = grid_of(points)
    x, y = grid.rounded()
    if triangles is None:
        triangles = delaunay(x, y)
    else:
        triangles = counterclockwise(np.asarray(triangles), grid)
    return grid, words_of(without_slivers(triangles, x, y))


def delaunay(x, y):
    """The Delaunay triangulation of points by SciPy: (t, 3) int64 array."""
    from scipy.spatial import Delaunay, QhullError

    try:
        found = Delaunay(np.stack([x, y], axis=1).astype(np.float64)).simplices.astype(np.int64)
    except QhullError:
        raise OptionError("all points are on a line, or nearly; give points that span an area") from None
    missing = np.setdiff1d(np.arange(len(x)), found)
    if len(missing):
        raise OptionError(
            f"point {missing[0]} is within 2**-30 of the extent of another one; leave one of them out"
        )
    return found


def counterclockwise(triangles, grid):
    """Triangles of a user, with the vertices in counterclockwise order: (t, 3) int64 array."""
    if (
        triangles.ndim != 2
        or triangles.shape[1] != 3
        or triangles.dtype.kind not in "iu"
        or not len(triangles)
    ):
        shape = f"{triangles.dtype} of shape {triangles.shape}"
        raise OptionError(f"triangles are {shape}; give whole numbers, three in each row")
    found = triangles.astype(np.int64)
    wrong = np.flatnonzero(((found < 0) | (found >= len(grid.points))).any(axis=1))
    if len(wrong):
        row = found[wrong[0]].tolist()
        raise OptionError(
            f"triangle {wrong[0]} is {row}, but points have the numbers 0 to {len(grid.points) - 1}"
        )
    area = areas(found, *grid.points.T)
    is_clockwise = area < -NO_AREA * (grid.step * GRID) ** 2
    found[is_clockwise] = found[is_clockwise, ::-1]
    return found


def areas(triangles, x, y):
    """Twice the areas of triangles, negative where they are clockwise."""
    (ax, bx, cx), (ay, by, cy) = x[triangles].T, y[triangles].T
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def without_slivers(triangles, x, y):
    """Leave out triangles whose longest side alone is on the boundary, and no more than some steps away.

    Points on a line that is not parallel to an axis are rounded to both of its sides, and triangulations of
    points have such triangles between them.
    """
    while True:
        area = areas(triangles, x, y)
        flat = np.flatnonzero(area <= STEPS * LONGEST)
        sides = [triangles[flat][:, [corner - 2, corner - 1]].T for corner in range(3)]
        lengths = np.stack([np.hypot(x[a] - x[b], y[a] - y[b]) for a, b in sides])
        is_flat = area[flat] <= STEPS * lengths.max(axis=0)
        flat, longest = flat[is_flat], np.argmax(lengths[:, is_flat], axis=0)
        if not len(flat):
            return triangles
        twins = (words_of(triangles).reshape(-1, 3)[flat] & TWINS) - 1
        is_boundary = twins == NO_TWIN
        is_outside = is_boundary[np.arange(len(flat)), longest] & (is_boundary.sum(axis=1) == 1)
        outside = flat[is_outside]
        if not len(outside):
            return triangles
        triangles = np.delete(triangles, outside, axis=0)


def check_areas(triangles, x, y):
    """Raise :class:`~edgewise.errors.OptionError` if a triangle has no positive area on the grid."""
    wrong = np.flatnonzero(areas(triangles, x, y) <= 0)
    if len(wrong):
        a, b, c = triangles[wrong[0]].tolist()
        raise OptionError(
            f"the triangle of points {a}, {b} and {c} is thinner than 2**-30 of the extent; move its points"
        )
