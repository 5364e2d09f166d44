"""Limits take as much as they say, and refuse one more: each is made small, and met exactly."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise import memory
from edgewise.device import arrays
from edgewise.errors import EdgewiseError
from edgewise.generators import limits
from edgewise.ingest.where import Condition
from edgewise.networkx.weighted import check_weights
from edgewise.paths.places.checks import check_room
from edgewise.refinement import refine
from edgewise.transactions import TransactionalMemory

pytestmark = pytest.mark.interpreter

SQUARE = np.array([[0, 0], [4, 0], [4, 4], [0, 4]])


def path(weights=None):
    """A path of eight vertices."""
    return ew.Graph.from_edges(range(7), range(1, 8), weights=weights)


def saved(n_vertices, folder):
    """Write a graph of so many vertices for the GAP benchmark, and read it again."""
    ew.write(ew.Graph.from_edges([0], [1], n_vertices=n_vertices), folder / "graph.sg")
    ew.read(folder / "graph.sg")


def heaviest(weight):
    """A path whose last edge weighs most."""
    return path([1, 1, 1, 1, 1, 1, weight])


#: Page, name and value of a limit; a call that meets it, and one that passes it.
LIMITS = {
    "thresholds": (
        ("components.threshold_limits", "MAX_THRESHOLDS", 3),
        *(lambda _, k=k: ew.connected_components(path(np.ones(7)), thresholds=range(1, k)) for k in (4, 5)),
    ),
    "parts": (("partitions", "MAX_PARTS", 3), *(lambda _, k=k: ew.partition(path(), k) for k in (3, 4))),
    "weights of vertices": (
        ("partitions.input", "WEIGHT_BOUND", 10),
        *(lambda _, k=k: ew.partition(path(), 2, vertex_weights=[1] * 7 + [k]) for k in (2, 3)),
    ),
    "weights of edges": (
        ("partitions.input", "WEIGHT_BOUND", 16),  # each edge is in two rows
        *(lambda _, k=k: ew.partition(heaviest(k), 2) for k in (1, 2)),
    ),
    "paths that are counted": (
        ("paths.betweenness", "MAX_SUM", 24),
        *(lambda _, k=k: ew.betweenness(heaviest(k)) for k in (3, 4)),
    ),
    "entries of a log": (
        ("transactions.memory", "LOG_ENTRIES", 8),
        *(lambda _, k=k: TransactionalMemory(np.zeros(3, np.int64), log=k) for k in (8, 9)),
    ),
    "points": (
        ("refinement", "MOST_POINTS", 5),
        *(lambda _, k=k: refine(SQUARE, protocol=None, min_angle=0, max_points=k) for k in (5, 6)),
    ),
    "angles": (
        ("refinement", "LARGEST_ANGLE", 10),
        *(lambda _, k=k: refine(SQUARE, protocol=None, min_angle=k) for k in (10, 10.5)),
    ),
    "brackets": (
        ("ingest.where", "NESTING", 3),
        *(lambda _, k=k: Condition("(" * k + "n > 0" + ")" * k) for k in (3, 4)),
    ),
    "vertices of a file": (
        ("files.gap", "CAPACITY", 8),
        *(lambda folder, k=k: saved(k, folder) for k in (8, 9)),
    ),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.filterwarnings("ignore::edgewise.errors.EdgewiseWarning")
def test_a_limit_is_met_and_passed(name, tmp_path, monkeypatch):
    (page, limit, value), met, passed = LIMITS[name]
    monkeypatch.setattr(import_module(f"edgewise.{page}"), limit, value)
    met(tmp_path)
    with pytest.raises(EdgewiseError):
        passed(tmp_path)


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_for_networkx(sign, monkeypatch):
    monkeypatch.setattr("edgewise.networkx.weighted.MAX_SUM", 27)
    check_weights(np.array([1, 3 * sign]), 8)
    with pytest.raises(NotImplementedError):
        check_weights(np.array([1, 4 * sign]), 8)


def test_memory_that_is_just_enough(monkeypatch):
    """Of what is free all may be taken; nobody asks for few bytes."""
    monkeypatch.setattr(arrays, "free_memory", lambda device: 1000)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 10)
    files = import_module("edgewise.files.streams")
    for check in (
        lambda needed: limits.check_memory(needed, "cpu"),
        lambda needed: check_room(needed, "this", "leave it out"),
        lambda needed: files.check_memory(needed, "this needs"),
    ):
        check(1000)
        with pytest.raises(EdgewiseError):
            check(1001)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 2000)
    check_room(1001, "this", "leave it out")
    files.check_memory(1001, "this needs")
