"""Clusters of Dask in other processes, which are killed: the same answers, or an error and a way on."""

import os
import signal
import subprocess
import sys
import time
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import WorkerError

distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")

#: A cluster of one worker, in one process, that says its address.
CLUSTER = """
import sys
from distributed import LocalCluster
options = {"processes": False, "protocol": "tcp", "n_workers": 1, "threads_per_worker": 1}
with LocalCluster(dashboard_address=":0", scheduler_port=int(sys.argv[1]), **options) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


class Cluster:
    """A scheduler and a worker in another process."""

    def __init__(self, port=0):
        words = [sys.executable, "-c", CLUSTER, str(port)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def kill(self, *_):
        self.process.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def graph():
    """A graph of several blocks of sources."""
    ends = np.random.default_rng(2).integers(0, 900, (2, 3000))
    return ew.Graph.from_edges(*ends, n_vertices=900)


@pytest.fixture
def shards(tmp_path):
    """A folder of shards with scores."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(6):
        left, right, score = np.random.default_rng(number).integers(0, 500, (3, 100))
        ew.write(pa.table({"left": left, "right": right, "score": score % 9}), folder / f"{number}.parquet")
    return folder


def test_a_scheduler_that_is_lost_and_started_again(graph, shards, tmp_path):
    state, matrix = tmp_path / "state", tmp_path / "distances.npy"
    expected = ew.stream_components(shards).labels
    distances = ew.all_pairs_shortest_paths(graph).distances
    jobs = (
        lambda **how: ew.stream_components(shards, checkpoint=state, **how).labels,
        lambda **how: ew.all_pairs_shortest_paths(graph, output=matrix, **how).distances,
    )
    port = 0
    for job, answer, word in zip(jobs, (expected, distances), ("checkpoint", "output")):
        with Cluster(port) as cluster, distributed.Client(cluster.address) as client:
            words = rf"the workers cannot be reached any more .* the same {word}= to continue"
            with pytest.raises(WorkerError, match=words):
                job(client=client, progress=cluster.kill)
        port, seen = int(cluster.address.rpartition(":")[2]), []
        with Cluster(port) as cluster, distributed.Client(cluster.address) as client:
            found = job(client=client, progress=lambda done, all, seen=seen: seen.append(done))
            assert (found == answer).all()
        assert seen[0] > 0
    assert not state.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["distances.npy", "shards"]


def test_all_workers_are_killed_and_started_again(graph, shards):
    """Tasks without and with values that were handed out; the page that repeats them serves all calls."""
    jobs = (
        lambda **how: ew.cycle_counts(graph, 4, **how).counts,
        lambda **how: ew.stream_forest(shards, weight="score", **how).edges,
    )
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    patient = pytest.importorskip("dask").config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    with patient, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def kill_all(*_):
            if next(calls) == 0:
                for pid in client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)

        for job in jobs:
            calls, expected = count(), job()
            while any(nanny.status is not distributed.Status.running for nanny in cluster.workers.values()):
                time.sleep(0.05)  # a worker that is killed while it is starting is not started again
            found = job(client=client, progress=kill_all)
            assert found.dtype == expected.dtype and (found == expected).all()
            assert next(calls) > 1
