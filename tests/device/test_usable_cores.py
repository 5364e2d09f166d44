"""How many threads loops have: what is set, the environment, the affinity, and the limit of a container."""

import threading

import pytest

from edgewise.command import run
from edgewise.device import threads, usable_cores

pytestmark = pytest.mark.interpreter


def group(root, text, files):
    """A tree of system files with a process in some control groups."""
    for path, content in {"proc/self/cgroup": text, **files}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return usable_cores.container_limit(root)


@pytest.mark.parametrize(
    ("text", "files", "limit"),
    [
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {}, None),
        ("", {}, None),
        (
            "0::/a/b\n",
            {"sys/fs/cgroup/a/b/cpu.max": "max 100000", "sys/fs/cgroup/a/cpu.max": "200000 50000"},
            4,
        ),
        ("0::/of/the/host\n", {"sys/fs/cgroup/cpu.max": "300000 100000"}, 3),
        (
            "4:cpu,cpuacct:/docker/1\n0::/\n",
            {
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2.5,
        ),
        ("3:cpuset:/\n2:cpuacct:/\n", {"sys/fs/cgroup/cpu.max": "100000 100000"}, None),
        ("nonsense\n0::/\n", {"sys/fs/cgroup/cpu.max": "a b c"}, None),
    ],
)
def test_limits_of_containers(tmp_path, text, files, limit):
    assert group(tmp_path, text, files) == limit


@pytest.fixture
def default(monkeypatch):
    """The default for an environment and a limit, on eight cores."""

    def of(limit=None, **environment):
        for name in "NUMBA_NUM_THREADS", "OMP_NUM_THREADS":
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(usable_cores, "affinity", lambda: 8)
        monkeypatch.setattr(usable_cores, "container_limit", lambda: limit)
        return usable_cores.default_threads.__wrapped__()

    return of


def test_who_says_how_many_threads_there_are(default):
    assert default() == (8, "one for each core that the process may use")
    assert default(3.5) == (3, "the limit of the container is 3.5")
    assert default(0.5).number == 1
    assert default(16.0).number == 8
    assert default(2.0, OMP_NUM_THREADS="5,2") == (5, "OMP_NUM_THREADS is 5")
    assert default(OMP_NUM_THREADS="64").number == 8
    assert default(NUMBA_NUM_THREADS="64", OMP_NUM_THREADS="2") == (64, "NUMBA_NUM_THREADS is 64")
    for nonsense in "", "0", "many", "-1":
        assert default(OMP_NUM_THREADS=nonsense).number == 8


def test_cores_of_a_container(monkeypatch):
    monkeypatch.setattr(usable_cores, "affinity", lambda: 8)
    for limit, cores in ((None, 8), (2.9, 2), (0.1, 1), (32.0, 8)):
        monkeypatch.setattr(usable_cores, "container_limit", lambda limit=limit: limit)
        assert usable_cores.usable_cores() == cores


def test_the_number_is_local_to_a_thread_and_to_a_context():
    before, heard = threads.count(), []
    with threads.limited(1):
        assert threads.count() == 1
        other = threading.Thread(target=lambda: heard.append(threads.count()))
        other.start()
        other.join()
        with threads.limited(None):
            assert threads.count() == 1
    assert heard == [before] and threads.count() == before


def test_info_says_why(capsys):
    assert run(["info"]) == 0
    number, reason = threads.count(), usable_cores.default_threads().reason
    assert f"{number} ({reason})" in capsys.readouterr().out
