"""Larger meshes on a GPU, by every protocol."""

import os

import pytest

from edgewise.device import arrays
from edgewise.refinement import refine
from edgewise.transactions import PROTOCOLS
from tests.refinement.inputs import INPUTS, square, triangles_of
from tests.refinement.invariants import check_refined

pytestmark = pytest.mark.gpu
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")


def check(points, triangles, **options):
    found = refine(points, triangles, device=DEVICE, **options)
    outline = triangles_of(points, triangles)
    check_refined(found, points, outline, 20.7, lambda array: arrays.move(array, "cpu"))
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_square(protocol):
    n = 2_000 if protocol in ("block", "reservations") else 50_000
    found = check(*square(n, sides=100), protocol=protocol)
    assert found.left_by_input == found.left_by_grid == 0
    assert arrays.device_of(found.points, found.triangles) == DEVICE


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(name):
    check(*INPUTS[name](2_000), max_points=200_000)  # the fan needs 160,000
