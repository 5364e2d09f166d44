"""Meshes to refine: points, and triangles or None."""

import numpy as np
from scipy.spatial import Delaunay


def square(n, seed=1, sides=4):
    """Random points in the unit square, with its corners and points on its sides."""
    at = np.linspace(0, 1, sides + 1)[:-1]
    corners = [
        np.stack(pair, axis=1)
        for pair in ((at, 0 * at), (0 * at + 1, at), (1 - at, 0 * at + 1), (0 * at, 1 - at))
    ]
    return np.concatenate([np.random.default_rng(seed).random((n, 2)), *corners]), None


def disc(n, seed=1):
    """Random points in a circle, around which there are others."""
    draw = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(n) / n
    inside = draw.normal(0, 0.3, (n, 2))
    inside = inside[np.hypot(*inside.T) < 0.95]
    return np.concatenate([np.stack([np.cos(angles), np.sin(angles)], axis=1), inside]), None


def ring(n, seed=1):
    """A disc with a hole, with triangles in both orders."""
    points, _ = disc(n, seed)
    hole = 0.3 * points[:n:4]
    points = np.concatenate([points[np.hypot(*points.T) > 0.31], hole])
    triangles = Delaunay(points).simplices.astype(np.int64)
    triangles = triangles[np.hypot(*points[triangles].mean(axis=1).T) > 0.3]
    triangles[::2] = triangles[::2, ::-1]
    return points, triangles


def fan(n, seed=1):
    """A polygon around its middle, far from a Delaunay triangulation, with reflex corners."""
    draw = np.random.default_rng(seed)
    angles = 2 * np.pi * (np.arange(n) + 0.8 * draw.random(n)) / n
    radii = 0.2 + 0.8 * draw.random((n, 1))
    points = np.concatenate([radii * np.stack([np.cos(angles), np.sin(angles)], axis=1), np.zeros((1, 2))])
    following = (np.arange(n) + 1) % n
    return points, np.stack([np.arange(n), following, np.full(n, n)], axis=1)


def lattice(n, seed=1):
    """A grid of points, four of which are always on a circle."""
    side = round(n**0.5)
    return np.argwhere(np.ones((side, side))) * [1.0, 3.0], None


def wedge(n, seed=1):
    """Triangles with an angle of a few degrees at their common vertex."""
    angles = np.radians([0, 4, 11, 30])
    ends = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [[1.0], [0.7], [1.2], [0.4]]
    return np.concatenate([np.zeros((1, 2)), ends]), np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4]])


INPUTS = {one.__name__: one for one in (square, disc, ring, fan, lattice, wedge)}


def triangles_of(points, triangles):
    """Triangles of an input in counterclockwise order; those of SciPy without flat ones."""
    if triangles is None:
        triangles = Delaunay(points).simplices.astype(np.int64)
    a, b, c = points[triangles].transpose(1, 2, 0)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    found = triangles.copy()
    found[area < 0] = found[area < 0, ::-1]
    return found[area != 0]
