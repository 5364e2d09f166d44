"""What is true of a refined mesh, checked exactly and without any code of the solver.

A float64 is a fraction, so tests of orientation and of circles can be exact: NumPy decides those that are
far from zero, and Python's integers the others.
"""

from fractions import Fraction
from itertools import compress

import numpy as np

#: Steps of the grid by which a vertex on a boundary edge may be inside of it.
STEPS = 32
#: Bits of the grid.
GRID_BITS = 30
#: Degrees by which an angle may seem to be below the bound.
ROUNDING = 1e-6


class Broken(AssertionError):
    """An invariant does not hold."""


def check(condition, text):
    if not condition:
        raise Broken(text)


def whole(points):
    """Points as Python integers, all multiplied by the same power of two."""
    pairs = [[Fraction(value).as_integer_ratio() for value in point] for point in points.tolist()]
    scale = max((bottom for pair in pairs for _, bottom in pair), default=1)
    return [[top * (scale // bottom) for top, bottom in pair] for pair in pairs]


def orientation_of(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def circle_of(a, b, c, d):
    rows = [(p[0] - d[0], p[1] - d[1]) for p in (a, b, c)]
    (ax, ay), (bx, by), (cx, cy) = rows
    lifts = [x * x + y * y for x, y in rows]
    minors = (bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx)
    return sum(lift * minor for lift, minor in zip(lifts, minors))


def signs(exact, points, *columns):
    """Signs of a determinant for rows of vertices: by float64 where that is certain, else by integers."""
    rows = [tuple(points[column].T) for column in columns]
    values, sizes = exact(*rows), exact(*((abs(x), abs(y)) for x, y in rows))
    del sizes
    base = points[np.stack(columns)]
    extent = np.abs(base - base[-1]).max(axis=(0, 2))
    doubtful = np.abs(values) <= 1e-13 * extent ** (2 if exact is orientation_of else 4)
    found = np.sign(values).astype(np.int64)
    for row in np.flatnonzero(doubtful):
        value = exact(*whole(points[[column[row] for column in columns]]))
        found[row] = (value > 0) - (value < 0)
    return found


def edges_of(triangles):
    """Corners by their opposite edges: (start, end), and the number of the triangle and its third vertex."""
    starts, ends = np.roll(triangles, -1, axis=1).ravel(), np.roll(triangles, 1, axis=1).ravel()
    return starts, ends, triangles.ravel()


def pairs_of(triangles):
    """Interior edges, from a to b with c on the left and d on the right; and those of the boundary."""
    starts, ends, apexes = edges_of(triangles)
    n = int(triangles.max()) + 1
    keys, twins = starts * n + ends, ends * n + starts
    check(len(np.unique(keys)) == len(keys), "an edge has two triangles on one side")
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys, twins, sorter=order), len(keys) - 1)
    has_twin = keys[order[at]] == twins
    one = np.flatnonzero(has_twin & (starts < ends))
    other = order[at[one]]
    boundary = np.flatnonzero(~has_twin)
    return (starts[one], ends[one], apexes[one], apexes[other]), (
        starts[boundary],
        ends[boundary],
        apexes[boundary],
    )


def angles_of(points, triangles):
    """The smallest angle of each triangle, in degrees."""
    least = np.full(len(triangles), 180.0)
    for corner in range(3):
        a, b, c = (points[triangles[:, (corner + step) % 3]] for step in range(3))
        one, other = b - a, c - a
        cross, dots = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0], (one * other).sum(axis=1)
        least = np.minimum(least, np.degrees(np.arctan2(cross, dots)))
    return least


def area_of(points, triangles):
    a, b, c = points[triangles].transpose(1, 2, 0)
    return float(orientation_of(a, b, c).sum()) / 2


def check_mesh(points, triangles, what="mesh"):
    """Conforming, counterclockwise and Delaunay; return the boundary edges."""
    check(
        len(triangles) > 0 and triangles.min() >= 0 and triangles.max() < len(points),
        f"{what}: a number is wrong",
    )
    inner, boundary = pairs_of(triangles)
    check(
        (signs(orientation_of, points, *triangles.T) > 0).all(), f"{what}: a triangle is not counterclockwise"
    )
    a, b, c, d = inner
    check((signs(circle_of, points, a, b, c, d) <= 0).all(), f"{what}: an edge is not Delaunay")
    following, counts = np.unique(boundary[0], return_counts=True)
    ends, end_counts = np.unique(boundary[1], return_counts=True)
    check(
        np.array_equal(following, ends) and np.array_equal(counts, end_counts),
        f"{what}: the boundary is open",
    )
    return boundary


def chain_length(points, start, end):
    return np.hypot(*(points[end] - points[start]).T)


def check_boundary(points, before, after, extent):
    """The new boundary has the old vertices, and each new one is at most some steps beside an old edge."""
    step = STEPS * 2.0 ** (np.ceil(np.log2(extent)) - GRID_BITS)
    check(np.isin(np.unique(before[0]), after[0]).all(), "a vertex of the boundary is not there any more")
    following = dict(zip(after[0].tolist(), after[1].tolist()))
    is_simple = len(following) == len(after[0])
    old = abs(chain_length(points, *before[:2]).sum() - chain_length(points, *after[:2]).sum())
    check(old <= step * len(after[0]), "the boundary has another length")
    if not is_simple:
        return
    given = set(before[0].tolist())
    for start, end in zip(before[0].tolist(), before[1].tolist()):
        at = following[start]
        while at not in given:
            direction = points[end] - points[start]
            away = points[at] - points[start]
            length = np.hypot(*direction)
            check(
                abs(direction[0] * away[1] - direction[1] * away[0]) <= step * length,
                "a vertex left its edge",
            )
            check(
                -step * length <= direction @ away <= length * (length + step), "a vertex is beside its edge"
            )
            at = following[at]
        check(at == end, "an edge of the boundary is lost")


def check_refined(refined, points, triangles, min_angle, on_host=np.asarray):
    """All that is true of a refined mesh; ``triangles`` are those of the input, counterclockwise, or None."""
    found, mesh = on_host(refined.points), on_host(refined.triangles)
    points = np.asarray(points, np.float64)
    check(np.array_equal(found[: len(points)], points), "the given points have changed")
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    rounded = rounded_of(found, points, extent)
    after = check_mesh(rounded, mesh)
    if triangles is not None:
        before = pairs_of(triangles)[1]
        check(np.isin(np.unique(triangles), mesh).all(), "a vertex of the input is in no triangle")
        check_boundary(found, before, after, extent)
        areas = area_of(points, triangles), area_of(found, mesh)
        slack = STEPS * extent * 2.0**-GRID_BITS * chain_length(found, *after[:2]).sum() + 1e-12 * areas[0]
        check(abs(areas[0] - areas[1]) <= slack, f"the area has changed from {areas[0]} to {areas[1]}")
    start, end, apex = after
    dots = ((rounded[start] - rounded[apex]) * (rounded[end] - rounded[apex])).sum(axis=1)
    n_bad = np.count_nonzero(angles_of(rounded, mesh) < min_angle - ROUNDING)
    n_encroached = np.count_nonzero(dots < 0)
    left = refined.left_by_input + refined.left_by_grid
    check(
        n_bad + n_encroached <= left + refined.left_by_grid,
        f"{n_bad} bad triangles, {n_encroached} encroached edges, {left} are told of",
    )
    return list(compress(("bad", "encroached"), (n_bad, n_encroached)))


def rounded_of(found, points, extent):
    """The points where the mesh is exact: at multiples of 2**-30 of the extent."""
    step = 2.0 ** (np.ceil(np.log2(extent)) - GRID_BITS)
    return np.rint((found - points.min(axis=0)) / step)
