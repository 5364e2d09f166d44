"""Cycles counted by the workers of an executor: the counts of one process."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import OptionError
from tests.compared import resolved_by_workers


@pytest.fixture(scope="module")
def graph():
    ends = np.random.default_rng(3).integers(0, 160, (2, 900))
    return ew.Graph.from_edges(*(ends**2 // 160), n_vertices=170)


@pytest.mark.parametrize("length", (3, 4, 5, 6))
def test_counts_are_those_of_one_process(length, graph, threads):
    expected, seen = ew.cycle_counts(graph, length), []
    options = {"client": threads, "progress": lambda *one: seen.append(one)}
    found = ew.cycle_counts(graph, length, **options)
    assert found.method == expected.method and found.devices == ("cpu:0", "cpu:1")
    assert found.counts.dtype == np.int64 and (found.counts == expected.counts).all()
    facts = "n_self_loops", "n_duplicates", "total", "schedule"
    assert all(getattr(found, name) == getattr(expected, name) for name in facts)
    assert len(seen) > 4 and seen[-1] == pytest.approx((seen[0][1],) * 2)
    twice = ew.cycle_counts(graph, length, client=threads, count_directions=True)
    assert (twice.counts == 2 * expected.counts).all()


@pytest.mark.parametrize("method", ("enumerate", "dfs"))
def test_methods_that_list_cycles(method, graph, threads):
    found, expected = (ew.cycle_counts(graph, 4, method=method, client=c) for c in (threads, None))
    assert (found.counts == expected.counts).all()
    with pytest.raises(OptionError, match=r"gave up after 10 steps"):
        ew.cycle_counts(graph, 4, method="enumerate", cap=10, client=threads)


def test_graphs_without_work(threads):
    for graph in (ew.Graph.from_edges([], []), ew.Graph.from_edges([0, 1], [1, 2])):
        assert ew.cycle_counts(graph, 3, client=threads).total == 0


def test_what_means_nothing_for_workers(graph, threads):
    for given in ({"devices": "cpu:0,cpu:1"}, {"schedule": "static"}):
        (name,) = given
        with pytest.raises(OptionError, match=rf"^{name}= is for one process; leave it out with client="):
            ew.cycle_counts(graph, 3, client=threads, **given)
    with pytest.raises(OptionError, match=r"^device='auto' may be another one on each worker"):
        ew.cycle_counts(graph, 3, client=threads, device="auto")


def test_tasks_for_gpus_run_where_the_resource_is(graph, dask_with_gpu, monkeypatch):
    expected = ew.cycle_counts(graph, 4)
    with monkeypatch.context() as patched:
        devices, workers = resolved_by_workers(patched)
        found = ew.cycle_counts(graph, 4, device="gpu", client=dask_with_gpu)
    assert set(devices) == {"cuda"} and set(workers) == {"with"}
    assert found.devices == ("cuda:0",) and (found.counts == expected.counts).all()
    assert len(ew.cycle_counts(graph, 4, client=dask_with_gpu).devices) == 4
