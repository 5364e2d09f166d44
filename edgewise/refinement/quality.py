"""What is wrong with a triangle, and where a new vertex helps: the rules of Ruppert's algorithm.

* A boundary edge is *encroached* if the third vertex of its triangle is inside the circle around the edge.
  It is split in the middle; or, if just one end is a vertex of the input, near the middle at a distance
  from that end that is a power of two.  So edges that meet at a small angle are split at equal distances,
  and do not encroach on each other without end (*concentric shells*).  The new vertex is rounded to the
  inside of the domain.
* A triangle is *skinny* if its smallest angle is below the bound.  The new vertex is its circumcentre, or a
  point on the way there that makes an angle just above the bound with the shortest edge (*off-centre*).
* A skinny triangle is left as it is if a small angle of the input forces it: its smallest angle is between
  two boundary edges, or its shortest edge lies across the angle of two edges of the input, at equal
  distances from where these meet.

J. Ruppert, "A Delaunay refinement algorithm for quality 2-dimensional mesh generation" (1995), for shells
as well; A. Üngör, "Off-centers" (2004); G. L. Miller, S. E. Pav and N. J. Walkington, "When and why
Ruppert's algorithm works" (2003), for the rule on triangles that are left.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, load
from edgewise.refinement.corners import NO_TWIN, twin_of, vertex_of
from edgewise.refinement.predicates import GRID, Points, coordinates_of, dot, orientation, squared_length

#: What :func:`fault_of` finds beside the number of a corner, whose opposite edge is encroached.
SKINNY, FORCED, GOOD = 3, 4, 5
#: In place of an end: a vertex is one of the input, or inside the domain.
NO_END = -1
#: An off-centre is nearer than where its angle is the bound, by this factor, as rounding may take it farther.
NEARER = 0.95
#: Distances of two vertices that are split alike differ by the rounding of either.
ROUNDING = 3.0


class Mesh(NamedTuple):
    """What is known of vertices and triangles beside the words.

    Attributes
    ----------
    points : Points
    one_end, other_end : (n,) int64 array
        The edge of the input, by its two vertices, that a vertex has split; NO_END for all others.
    states : (triangles,) int8 array
        What is to be done with a triangle.
    """

    points: Points
    one_end: Any
    other_end: Any
    states: Any


class Bound(NamedTuple):
    """The smallest angle that is wanted.

    Attributes
    ----------
    sine2 : float
        Square of its sine.
    height : float
        Largest distance from a shortest edge to its off-centre, in lengths of the edge.
    """

    sine2: float
    height: float


def bound_of(degrees):
    """The :class:`Bound` of an angle in degrees; of 0, no triangle is skinny."""
    angle = np.radians(degrees)
    return Bound(float(np.sin(angle) ** 2), float(NEARER / 2 / np.tan(max(angle, 1e-9) / 2)))


@device
def turned(points, a, b, c):
    """How many corners the one opposite the shortest edge comes after the first."""
    at_a, at_b, at_c = (
        squared_length(points, b, c),
        squared_length(points, c, a),
        squared_length(points, a, b),
    )
    if at_a <= at_b and at_a <= at_c:
        return 0
    return 1 if at_b <= at_c else 2


@device
def fault_of(mesh, bound, one, two, three):
    """What is wrong with a triangle: the corner opposite an encroached edge, SKINNY, FORCED or GOOD."""
    points, nothing = mesh.points, np.int64(NO_TWIN)
    a, b, c = vertex_of(one), vertex_of(two), vertex_of(three)
    if twin_of(one) == nothing and dot(points, a, b, c) < 0:
        return 0
    if twin_of(two) == nothing and dot(points, b, c, a) < 0:
        return 1
    if twin_of(three) == nothing and dot(points, c, a, b) < 0:
        return 2
    turn = turned(points, a, b, c)
    if turn == 1:
        a, b, c, two, three = b, c, a, three, one
    elif turn == 2:
        a, b, c, two, three = c, a, b, one, two
    area = float(orientation(points, a, b, c))
    sides = float(squared_length(points, a, b)) * float(squared_length(points, a, c))
    if area * area >= bound.sine2 * sides:
        return GOOD
    if (twin_of(two) == nothing and twin_of(three) == nothing) or is_across(mesh, b, c):
        return FORCED
    return SKINNY


@device
def is_across(mesh, a, b):
    """Whether two vertices have split two input edges that meet, at equal distances from where they meet."""
    if load(mesh.one_end, a) < 0 or load(mesh.one_end, b) < 0:
        return False
    meeting = common_end(mesh, a, b)
    if meeting < 0:
        return False
    points = mesh.points
    first, second = squared_length(points, meeting, a), squared_length(points, meeting, b)
    if squared_length(points, a, b) >= first:
        return False  # the angle is 60 degrees or more
    return abs(sqrt(float(first)) - sqrt(float(second))) <= ROUNDING


@device
def common_end(mesh, a, b):
    """The one common end of the input edges that two vertices have split; NO_END if it is not one."""
    first, second = load(mesh.one_end, a), load(mesh.other_end, a)
    third, fourth = load(mesh.one_end, b), load(mesh.other_end, b)
    if (first == third and second == fourth) or (first == fourth and second == third):
        return np.int64(NO_END)
    if first in (third, fourth):
        return first
    return second if second in (third, fourth) else np.int64(NO_END)


@device
def put_centre(mesh, bound, triangle, vertex):
    """Put a vertex at the circumcentre or off-centre of a triangle, given by its vertices."""
    points = mesh.points
    a, b, c = triangle
    turn = turned(points, a, b, c)
    if turn == 1:
        a, b, c = b, c, a
    elif turn == 2:
        a, b, c = c, a, b
    (left, below), (right, above) = coordinates_of(points, b), coordinates_of(points, c)
    x, y = float(right - left), float(above - below)
    height = min(float(dot(points, a, b, c)) / float(orientation(points, a, b, c)) / 2, bound.height)
    put(mesh, vertex, float(left) + x / 2 - y * height, float(below) + y / 2 + x * height)


@device
def put(mesh, vertex, x, y):
    """Put a vertex inside the domain to the nearest point of the grid."""
    largest = float(GRID)
    mesh.points.x[vertex] = np.int64(min(max(x, 0.0), largest) + 0.5)
    mesh.points.y[vertex] = np.int64(min(max(y, 0.0), largest) + 0.5)
    mesh.one_end[vertex] = NO_END
    mesh.other_end[vertex] = NO_END


@device
def put_on_edge(mesh, a, b, vertex):
    """Put a vertex on a boundary edge from ``a`` to ``b``, which has the domain on its left."""
    points = mesh.points
    share = 0.5
    length = sqrt(float(squared_length(points, a, b)))
    if (load(mesh.one_end, a) < 0) != (load(mesh.one_end, b) < 0):
        shell = 1.0
        while 3 * shell <= length:
            shell *= 2
        share = shell / length if load(mesh.one_end, a) < 0 else 1 - shell / length
    (left, below), (right, above) = coordinates_of(points, a), coordinates_of(points, b)
    left = np.int64(float(left) + share * float(right - left))
    below = np.int64(float(below) + share * float(above - below))
    x, y, least = left, below, np.int64(-1)
    for corner in range(4):
        points.x[vertex], points.y[vertex] = left + corner % 2, below + corner // 2
        area = orientation(points, a, b, vertex)
        if area >= 0 and (least < 0 or area < least):
            x, y, least = points.x[vertex], points.y[vertex], area
    points.x[vertex], points.y[vertex] = x, y
    splits = a if load(mesh.one_end, a) >= 0 else b
    of_input = load(mesh.one_end, splits) < 0
    mesh.one_end[vertex] = a if of_input else load(mesh.one_end, splits)
    mesh.other_end[vertex] = b if of_input else load(mesh.other_end, splits)
