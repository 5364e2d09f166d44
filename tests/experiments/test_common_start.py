"""Merging the unions since a common start gives the labels of the oracle."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components.verification import oracle
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.experiments import common_start
from tests.workers.test_workers import TEAMS
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
SHAPES = ("isolated", "path, reversed ids", "two cliques and a bridge", "sparse") if SIMULATED else ZOO


@pytest.mark.parametrize("team", TEAMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_labels_are_the_oracles(team, shape):
    vertices, sources, targets = ZOO[shape]
    split = ew.Graph.from_edges(sources, targets, n_vertices=vertices).split(team, by="edges")
    labels = arrays.move(common_start.components_from_common_start(split), "cpu")
    assert np.asarray(labels).tolist() == oracle(vertices, sources, targets)
