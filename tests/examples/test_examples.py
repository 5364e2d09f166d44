"""The examples run as they are shown, and the method to copy agrees with the oracle on every engine."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import METHODS
from edgewise.device import arrays

EXAMPLES = sorted((Path(__file__).resolve().parent.parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_runs(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.fixture
def new_method():
    spec = spec_from_file_location("new_method", EXAMPLES[0].with_name("new_method.py"))
    page = module_from_spec(spec)
    spec.loader.exec_module(page)
    yield page
    del METHODS["minimum-labels"]


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_method_to_copy(new_method, device):
    if device == "cuda" and not arrays.gpu_count():
        pytest.skip(arrays.why_no_gpu())
    rng = np.random.default_rng(1)
    graph = ew.Graph.from_edges(*rng.integers(0, 60, (2, 50)), n_vertices=60).to(device)
    result = ew.connected_components(graph, method="minimum-labels").on_host()
    assert (result.labels == ew.connected_components(graph.to("cpu"), method="rem-sequential").labels).all()
    result.verify()
