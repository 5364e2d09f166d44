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
from edgewise.errors import VerificationError
from edgewise.transactions import TransactionalMemory, check_body
from tests.transactions.broken import BROKEN

EXAMPLES = sorted((Path(__file__).resolve().parent.parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_runs(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def page_of(name):
    spec = spec_from_file_location(name, EXAMPLES[0].with_name(f"{name}.py"))
    page = module_from_spec(spec)
    spec.loader.exec_module(page)
    return page


@pytest.fixture
def new_method():
    yield page_of("new_method")
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


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_independent_set(device):
    if device == "cuda" and not arrays.gpu_count():
        pytest.skip(arrays.why_no_gpu())
    page = page_of("independent_set")
    graph = ew.generate.uniform(60, 90, seed=2)
    states, there = arrays.full(60, page.OUT, np.int32, device), graph.to(device)
    TransactionalMemory(states).run(page.join, 60, there.offsets, there.neighbours)
    states = arrays.move(states, "cpu")
    assert page.is_maximal(states, graph.offsets, graph.neighbours)
    for wrong in (np.zeros_like(states), np.ones_like(states)):
        assert not page.is_maximal(wrong, graph.offsets, graph.neighbours)


@pytest.mark.interpreter
def test_the_independent_set_needs_transactions():
    page = page_of("independent_set")
    broken = next(one for one in BROKEN if one.name == "tl2: not validated")
    graph = ew.generate.uniform(12, 20, seed=1)
    with pytest.raises(VerificationError, match=r"^seed"):
        check_body(page.join, np.zeros(12, int), 12, graph.offsets, graph.neighbours, protocol=broken, log=12)
