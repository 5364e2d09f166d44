"""The predicates are exact: Python's integers say the same.  Thin triangles at a boundary are left out."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edgewise.device import compiled
from edgewise.refinement.grid import without_slivers
from edgewise.refinement.predicates import GRID, Points, is_in_circle, orientation
from tests.refinement.invariants import circle_of, orientation_of

pytestmark = pytest.mark.interpreter
NEAR = st.integers(0, 3) | st.integers(GRID - 3, GRID) | st.integers(0, GRID)
FOUR = st.lists(st.tuples(NEAR, NEAR), min_size=4, max_size=4)


@compiled
def fill_signs(points, signs):
    """The orientation of the first three points, and whether the fourth is in their circle."""
    signs[0] = orientation(points, 0, 1, 2)
    signs[1] = is_in_circle(points, 0, 1, 2, 3)


def signs_of(corners):
    x, y = (np.array(column, np.int64) for column in zip(*corners))
    signs = np.zeros(2, np.int64)
    fill_signs(Points(x, y), signs)
    return signs.tolist()


@given(FOUR)
@example([(0, 0), (GRID, 0), (GRID, GRID), (0, GRID)])
@example([(0, 0), (GRID, 0), (GRID, GRID), (1, GRID)])
@example([(0, 1), (GRID, 0), (GRID, GRID), (0, GRID)])
@example([(GRID, GRID), (0, GRID), (0, 0), (GRID - 1, 1)])
def test_random_points(corners):
    assert signs_of(corners) == [orientation_of(*corners[:3]), circle_of(*corners) > 0]


#: Differences of points of one circle, whose radius is 5 * 13 * 17 * 29.
CIRCLE = [
    (x, y)
    for a in range(32045)
    for x, y in [(a, round((32045**2 - a * a) ** 0.5))]
    if x * x + y * y == 32045**2
]


@given(
    st.lists(st.sampled_from(CIRCLE), min_size=4, max_size=4, unique=True),
    st.integers(-1, 1),
    st.integers(0, 14),
)
def test_points_near_a_circle(chosen, off, bits):
    corners = [(x << bits, y << bits) for x, y in chosen]
    corners[3] = (corners[3][0] + off, corners[3][1])
    if corners[3][0] >= 0:
        assert signs_of(corners) == [orientation_of(*corners[:3]), circle_of(*corners) > 0]


@pytest.mark.parametrize("first", range(3))
def test_slivers_are_left_out_whatever_vertex_comes_first(first):
    """A thin triangle whose longest side alone is on the boundary, below two others."""
    x, y = np.array([0, 100, 50, 50]), np.array([0, 0, 1, 100])
    thin, left, right = np.roll([0, 1, 2], first), [0, 2, 3], [2, 1, 3]
    assert without_slivers(np.array([left, thin, right]), x, y).tolist() == [left, right]
