"""The models of transactions, against values that are worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

import edgewise as ew
from edgewise.experiments import bank, manoochehri, manoochehri_partitions
from edgewise.experiments.machine_model import CORE, Machine, machine_of, seconds

pytestmark = pytest.mark.interpreter
#: Processors, step, latency, transfers in flight and bandwidth whose quotients are whole.
PLAIN = Machine(processors=10, step=1.0, latency=40.0, in_flight=2, bandwidth=32.0)


def test_the_largest_term_counts():
    assert seconds(PLAIN, work=500, span=3, transfers=1) == 50  # work / p
    assert seconds(PLAIN, work=500, span=60, transfers=1) == 60
    assert seconds(PLAIN, work=500, span=3, transfers=100) == 200  # 100 * 40 / (2 * 10)
    assert seconds(PLAIN._replace(bandwidth=8.0), transfers=100) == 400  # 100 * 32 / 8


def test_a_pass_of_coarsening_and_an_iteration_of_refinement():
    # m = 80 entries, n = 16: m / p = 8, m / n = 5, log2(n) = 4, m * L / (tau * p) = 160.
    assert manoochehri_partitions.passes(16, 80, 7, PLAIN) == (160, 160)
    quick = PLAIN._replace(latency=0.0, bandwidth=np.inf)
    assert manoochehri_partitions.passes(16, 80, 7, quick) == (8, 16)  # m / p; n
    assert manoochehri_partitions.passes(16, 80, 9, quick) == (9, 16)  # D
    assert manoochehri_partitions.passes(4, 20, 1, quick) == (5, 4)  # m / n


def test_the_cost_of_a_partition():
    star = ew.Graph.from_edges(np.zeros(4, int), np.arange(1, 5))  # n = 5, 8 entries, D = 4
    levels = [SimpleNamespace(vertices=5, entries=8, rounds=3, iterations=2)]
    quick = PLAIN._replace(latency=0.0, bandwidth=np.inf)
    # A pass takes D = 4, an iteration n = 5; the thesis bounds the number of both by D.
    assert manoochehri_partitions.costs(star, levels, quick) == (1e3 * 4 * (4 + 5), 1e3 * (3 * 4 + 2 * 5))
    assert manoochehri_partitions.costs(star, levels, None) == (None, None)


def test_the_time_of_a_forest():
    path = ew.Graph.from_edges(np.arange(8), np.arange(1, 9))  # n = 9, 16 entries
    # In rows (2 * 16 * 8 + 2 * 16 * 4 + 2 * 2 * 9 * 4) / 32; elsewhere 2 * 16 + 2 * 9 * 12 + 2 * 2 * 9.
    assert manoochehri.model(path, 2, PLAIN) == 1e3 * (16.5 + 32 + 216 + 36) * 2
    quick = PLAIN._replace(latency=0.0, bandwidth=np.inf)
    assert manoochehri.model(path, 2, quick) == pytest.approx(1e3 * 2 * 12 * 20e-6)
    assert manoochehri.model(path, 2, None) is None


def test_transfers_a_second(monkeypatch):
    monkeypatch.setattr(bank, "machine_of", lambda device: PLAIN)
    assert bank.model("atomics", "cpu") == 1e-6 / 8  # 4 * 40 / (2 * 10)
    assert bank.model("block", "cpu") is None
    monkeypatch.setattr(bank, "machine_of", lambda device: None)
    assert bank.model("atomics", "cuda:0") is None


def test_the_machine_of_a_cpu_has_its_threads():
    machine = machine_of("cpu")
    assert machine.processors >= 1
    assert machine.bandwidth == machine.processors * CORE.bandwidth
