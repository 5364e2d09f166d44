"""Exact geometric predicates, by integers.

Coordinates are whole numbers from 0 to :data:`GRID`.  Differences then have 31 bits with their sign, an
orientation fits 63 bits, and the determinant of the test of a circle 126: it is a sum of three products of
numbers of 62 bits, each of which is computed as three digits of base 2**31.  So no test is ever wrong, and
none is slower for points that are nearly on a line or on a circle.

The determinants are those of J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast robust
geometric predicates" (1997).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, load

#: Largest coordinate.
GRID = 2**30
#: Bits of a digit of a product.
BITS = 31
#: Largest digit of a product.
DIGIT = 2**BITS - 1


class Points(NamedTuple):
    """Vertices on the grid.

    Attributes
    ----------
    x, y : (n,) int64 array
    """

    x: Any
    y: Any


@device
def coordinates_of(points, vertex):
    """Coordinates of a vertex, which another thread may have put there in this launch."""
    return load(points.x, vertex), load(points.y, vertex)


@device
def orientation(points, a, b, c):
    """Twice the area of a triangle; positive if it is counterclockwise, 0 if it is flat."""
    x, y = coordinates_of(points, a)
    (bx, by), (cx, cy) = coordinates_of(points, b), coordinates_of(points, c)
    return (bx - x) * (cy - y) - (by - y) * (cx - x)


@device
def dot(points, a, b, c):
    """Scalar product of the sides at ``a`` of a triangle; negative if the angle there is obtuse."""
    x, y = coordinates_of(points, a)
    (bx, by), (cx, cy) = coordinates_of(points, b), coordinates_of(points, c)
    return (bx - x) * (cx - x) + (by - y) * (cy - y)


@device
def squared_length(points, a, b):
    """Square of the distance of two vertices."""
    return dot(points, a, b, b)


@device
def digits_of_product(one, other):
    """Three digits of the product of two numbers of up to 2**61; the first has the sign."""
    bits, digit = np.int64(BITS), np.int64(DIGIT)
    high, low, other_high, other_low = one >> bits, one & digit, other >> bits, other & digit
    last = low * other_low
    middle = high * other_low + low * other_high + (last >> bits)
    return high * other_high + (middle >> bits), middle & digit, last & digit


@device
def circle_term(points, a, b, c, d):
    """Digits of the squared distance from ``d`` to ``a``, times the orientation of ``b``, ``c`` and ``d``."""
    return digits_of_product(squared_length(points, d, a), orientation(points, d, b, c))


@device
def is_in_circle(points, a, b, c, d):
    """Whether a vertex is inside the circle through ``a``, ``b`` and ``c``, which are counterclockwise."""
    bits, digit = np.int64(BITS), np.int64(DIGIT)
    high, middle, low = circle_term(points, a, b, c, d)
    for_b = circle_term(points, b, c, a, d)
    for_c = circle_term(points, c, a, b, d)
    low += for_b[2] + for_c[2]
    middle += for_b[1] + for_c[1] + (low >> bits)
    high += for_b[0] + for_c[0] + (middle >> bits)
    return high > 0 or (high == 0 and ((middle | low) & digit) != 0)
