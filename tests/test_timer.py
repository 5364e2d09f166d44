"""Scopes nest, add up and cost nothing when nobody looks."""

import pytest

from edgewise.timer import recording, timer

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]


def test_scopes_nest_and_add_up():
    with recording("all") as tree:
        for _ in range(3):
            with timer("outer"), timer("inner"):
                pass
        with timer("last"):
            pass
    outer = tree.inside["outer"]
    assert list(tree.inside) == ["outer", "last"]
    assert (outer.entries, outer.inside["inner"].entries) == (3, 3)
    assert 0 <= outer.inside["inner"].seconds <= outer.seconds <= tree.seconds
    assert [line.split()[0] for line in str(tree).splitlines()] == ["all", "outer", "inner", "last"]
    assert "x3" in str(tree).splitlines()[1]


def test_nothing_is_measured_outside_a_recording():
    with timer("alone") as scope:
        assert scope is None


def test_scopes_close_after_an_error():
    with recording("all") as tree:
        with pytest.raises(ValueError, match="stop"), timer("failing"):
            raise ValueError("stop")
        with timer("next"):
            pass
    assert list(tree.inside) == ["failing", "next"]


def test_the_device_settles_before_each_clock_is_read():
    settled = []
    with recording("all", settle=lambda: settled.append(1)), timer("one"):
        pass
    assert len(settled) == 2
