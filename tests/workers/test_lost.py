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


def distances(graph, shards, folder, **how):
    return ew.all_pairs_shortest_paths(
        graph, output=folder / "distances.npy" if folder else None, **how
    ).distances


def labels(graph, shards, folder, **how):
    return ew.stream_components(shards, checkpoint=folder / "state" if folder else None, **how).labels


def counts(graph, shards, **how):
    return ew.cycle_counts(graph, 4, **how).counts


def edges(graph, shards, **how):
    return ew.stream_forest(shards, weight="score", **how).edges


@pytest.mark.parametrize(
    ("job", "word"), [(labels, "checkpoint"), pytest.param(distances, "output", marks=pytest.mark.release)]
)
def test_a_scheduler_that_is_lost_and_started_again(job, word, graph, shards, tmp_path):
    expected = job(graph, shards, None)
    with Cluster() as cluster, distributed.Client(cluster.address) as client:
        words = rf"the workers cannot be reached any more .* the same {word}= to continue"
        with pytest.raises(WorkerError, match=words):
            job(graph, shards, tmp_path, client=client, progress=cluster.kill)
    port, seen = int(cluster.address.rpartition(":")[2]), []
    with Cluster(port) as cluster, distributed.Client(cluster.address) as client:
        found = job(graph, shards, tmp_path, client=client, progress=lambda done, all: seen.append(done))
        assert (found == expected).all()
    assert seen[0] > 0
    assert not (tmp_path / "state").exists()
    kept = ["distances.npy"] if word == "output" else []
    assert sorted(path.name for path in tmp_path.iterdir()) == [*kept, "shards"]


@pytest.mark.parametrize("job", [counts, pytest.param(edges, marks=pytest.mark.release)])
def test_all_workers_are_killed_and_started_again(job, graph, shards):
    """One page repeats the tasks of all calls."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    patient = pytest.importorskip("dask").config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    with patient, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def kill_all(*_):
            if next(calls) == 0:
                for pid in client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)

        calls, expected = count(), job(graph, shards)
        while any(nanny.status is not distributed.Status.running for nanny in cluster.workers.values()):
            time.sleep(0.05)  # a worker that is killed while it is starting is not started again
        found = job(graph, shards, client=client, progress=kill_all)
        assert found.dtype == expected.dtype and (found == expected).all()
        assert next(calls) > 1
