"""A function of kernels is called as the class of a record says, on the CPU and in PTX."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from edgewise.device import arrays, by_class, each
from edgewise.device.target import SIMULATED

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]


class Shape(NamedTuple):
    """A shape: the length of its ``side``."""

    side: Any


class Square(Shape):
    """A shape with an implementation of its own for one of two functions."""

    __slots__ = ()


class SmallSquare(Square):
    """A shape without an implementation of its own."""

    __slots__ = ()


@by_class
def area(shape, scale):
    """Area of a shape."""


@by_class
def corners(shape):
    """Corners of a shape."""


@area.of(Shape)
def no_area(shape, scale):
    return 0 * shape.side


@area.of(Square)
def area_of_square(shape, scale):
    return shape.side * shape.side * scale


@corners.of(Square)
def corners_of_square(shape):
    return 4


@each
def measure(index, shape, areas):
    """Write the area of a shape."""
    areas[index] = area(shape, 2)


@pytest.mark.parametrize(("kind", "expected"), [(Shape, 0), (Square, 18), (SmallSquare, 18)])
def test_the_nearest_class_selects(kind, expected):
    areas = arrays.zeros(2, np.int64, "cuda:0" if SIMULATED else "cpu")
    measure(2, kind(3), areas)
    assert arrays.move(areas, "cpu").tolist() == [expected, expected]
    assert area(kind(3), 2) == expected


def test_what_is_called_can_be_looked_up():
    assert area.dispatch(Shape) is no_area
    assert area.dispatch(SmallSquare) is area.dispatch(Square) is area_of_square
    with pytest.raises(TypeError, match="corners has no implementation for Shape"):
        corners.dispatch(Shape)
    with pytest.raises(TypeError, match="corners has no implementation for Shape"):
        corners(Shape(3))
