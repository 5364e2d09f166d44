"""Refined meshes on every engine: what is true of all of them, one after the other or by transactions."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.refinement import refine
from edgewise.transactions import PROTOCOLS
from tests.refinement.inputs import INPUTS, square, triangles_of
from tests.refinement.invariants import Broken, check_refined

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
pytestmark = pytest.mark.interpreter
simulator = pytest.mark.simulator
SIZE, N_CIRCLE = (24, 40) if SIMULATED or INTERPRETED else (400, 300)


def on_host(array):
    return np.asarray(arrays.move(array, "cpu"))


def refined(points, triangles=None, min_angle=20.7, **options):
    """Refine a mesh and check it."""
    found = refine(points, triangles, min_angle=min_angle, **options)
    check_refined(found, points, triangles_of(points, triangles), min_angle, on_host)
    return found


@pytest.mark.parametrize("name", INPUTS)
def test_one_after_the_other(name):
    for min_angle in (0, 20.7, 28):
        found = refined(*INPUTS[name](SIZE), min_angle=min_angle, protocol=None)
        assert (found.transactions.commits, found.left_by_grid) == (0, 0) or name == "fan"
        assert (found.left_by_input > 0) <= (name in ("fan", "wedge"))


@simulator
@pytest.mark.parametrize("protocol", PROTOCOLS if INTERPRETED else ["wound-wait", *["tl2"] * SIMULATED])
def test_square_by_every_protocol(protocol):
    found = refined(*square(SIZE if not SIMULATED else 8), protocol=protocol, device=DEVICE)
    assert found.left_by_input == found.left_by_grid == 0
    assert found.transactions.commits >= len(found.points) - SIZE - 16
    assert len(found.transactions.rounds) == found.n_rounds


@pytest.mark.parametrize("name", INPUTS)
def test_transactions(name):
    points, triangles = INPUTS[name](SIZE, seed=2)
    found = refined(points, triangles, device=DEVICE)
    alone = refined(points, triangles, protocol=None)
    assert abs(len(found.triangles) - len(alone.triangles)) <= 0.25 * len(alone.triangles) + 8


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(*[st.integers(0, 9) | st.integers(0, 2**40)] * 2), min_size=3, max_size=12, unique=True
    )
)
def test_any_points(rows):
    points = np.array(rows, float)
    try:
        found = refine(points, protocol=None, max_points=300)
    except OptionError as error:
        assert "on a line" in str(error) or "within 2**-30" in str(error) or "too few" in str(error)
        return
    check_refined(found, points, None, 20.7)


@pytest.mark.skipif(not INTERPRETED, reason="compiles one more protocol")
def test_reservations_are_deterministic():
    one, two = (refine(*square(SIZE), protocol="reservations", slots=slots) for slots in (1, 3))
    assert np.array_equal(one.points, two.points) and np.array_equal(one.triangles, two.triangles)


def test_cavities_that_outgrow_their_room():
    """A circumcentre near the middle of a circle has all triangles in its cavity."""
    angles = 2 * np.pi * np.arange(N_CIRCLE) / N_CIRCLE
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = refined(points)
    assert found.left_by_grid == 0 and found.transactions.rounds[0].overflows > 0


def test_points_without_triangles_stay():
    points = np.array([[0, 0], [5, 5], [1, 0], [0, 1]])
    found = refine(points, [[0, 2, 3]], protocol=None)
    assert found.points.tolist() == points.tolist() and found.triangles.tolist() == [[0, 2, 3]]


def test_clockwise_triangles_are_turned():
    found = refine([[0, 0], [1, 0], [0, 1]], [[0, 2, 1]], protocol=None)
    assert sorted(found.triangles[0].tolist()) == [0, 1, 2] and found.n_rounds == 1


@pytest.mark.parametrize(
    ("points", "triangles", "options", "message"),
    [
        (np.zeros((0, 2)), None, {}, r"points of shape \(0, 2\) are no mesh"),
        (np.zeros((3, 3)), None, {}, r"points of shape \(3, 3\) are no mesh"),
        ([[0, 0], [1, 0]], None, {}, "give three or more"),
        ([[0, 0], [1, 0], [np.nan, 1]], None, {}, r"point 2 is \(nan, 1.0\); give finite"),
        ([[0, 0], [1, 0], [1, np.inf]], None, {}, "point 2 is"),
        ([[2, 2]] * 3, None, {}, "have an extent of 0.0"),
        ([[0, 0], [1, 1], [2, 2]], None, {}, "on a line"),
        ([[0, 0], [1, 0], [0, 1], [0, 1]], None, {}, r"point \d is within 2\*\*-30 of the extent of another"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1]], {}, r"triangles are int64 of shape \(1, 2\)"),
        ([[0, 0], [1, 0], [0, 1]], [[0.0, 1, 2]], {}, "triangles are float64"),
        (
            [[0, 0], [1, 0], [0, 1]],
            [[0, 1, 3]],
            {},
            r"triangle 0 is \[0, 1, 3\], but points have the numbers 0 to 2",
        ),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]] * 2, {}, "triangles 0 and 1 overlap at the edge from"),
        (
            [[0, 0], [4, 0], [0, 4], [1, 1], [2, 2]],
            [[0, 1, 2], [0, 1, 3], [0, 1, 4]],
            {},
            "overlap at the edge",
        ),
        ([[0, 0], [1, 0], [0, 1], [1e-12, 1]], [[0, 1, 2], [0, 2, 3]], {}, "is thinner than|overlap"),
        ([[0, 0], [1, 0], [0, 1]], None, {"min_angle": 40}, "min_angle=40 must be from 0 to 34 degrees"),
        ([[0, 0], [1, 0], [0, 1]], None, {"min_angle": np.nan}, "min_angle=nan must be"),
        ([[0, 0], [1, 0], [0, 1]], None, {"max_points": 2**40}, "is too large; give 357,913,941 or less"),
        ([[0, 0], [1, 0], [0, 1]], None, {"max_points": 0}, "max_points=0 must be a whole number, 1 or more"),
        ([[0, 0], [1, 0], [0, 1]], None, {"protocol": "wound wait"}, "did you mean wound-wait"),
        ([[0, 0], [1, 0], [0, 1]], None, {"slots": 0}, "slots=0 must be a whole number"),
        (
            [[0, 0], [99, 0], [99, 1], [0, 1]],
            None,
            {"max_points": 20},
            "max_points=20 points are too few for angles of 20.7",
        ),
    ],
)
@pytest.mark.parametrize("protocol", ["wound-wait", None])
def test_bad_input(points, triangles, options, message, protocol):
    given_points = np.array(points, float).copy()
    with pytest.raises(OptionError, match=message):
        refine(given_points, triangles, **({"protocol": protocol} | options))
    assert np.array_equal(given_points, np.array(points, float), equal_nan=True)


def test_the_checks_see_what_is_wrong():
    points, _ = square(SIZE)
    found = refine(points, protocol=None)
    good = triangles_of(points, None)
    for wrong in (
        replace(found, triangles=found.triangles[:, ::-1]),
        replace(found, triangles=found.triangles[1:]),
        replace(found, points=found.points + 1e-9),
        replace(found, points=points, triangles=good),
    ):
        with pytest.raises(Broken):
            check_refined(wrong, points, good, 20.7)


def test_as_many_triangles_as_another_program():
    triangle = pytest.importorskip("triangle")
    points, _ = square(SIZE, sides=8)
    outline = np.arange(len(points) - 32, len(points))
    theirs = triangle.triangulate(
        {"vertices": points, "segments": np.stack([outline, np.roll(outline, -1)], 1)}, "pq20.7"
    )
    found = refined(points)
    assert 1 / 1.5 < len(found.triangles) / len(theirs["triangles"]) < 1.5


def test_slivers_at_a_boundary_that_is_parallel_to_no_axis():
    points, _ = square(SIZE, sides=20)
    points = points @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    found = refine(points, protocol=None)
    check_refined(found, points, None, 20.7)
    assert len(found.points) < 6 * len(points) and found.left_by_input == found.left_by_grid == 0
