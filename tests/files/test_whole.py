"""A file is written whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files import atomic_write as atomic
from edgewise.files.atomic_write import LOCKS, atomic_write


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    goal = tmp_path / "a.txt"
    goal.write_text("old")
    with atomic_write(goal) as part:
        part.write_text("new")
        assert goal.read_text() == "old"
        assert part.parent == tmp_path
        assert part.suffix == ".txt"
    assert goal.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit, MemoryError])
def test_an_interruption_leaves_nothing(tmp_path, error):
    with pytest.raises(error), atomic_write(tmp_path / "a.txt") as part:
        part.write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    graph = ew.Graph.from_edges(np.arange(50), np.arange(50), n_vertices=50)
    (tmp_path / "a.mtx").write_text("old")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("edgewise.files.write_text.formatted", interrupted)
    for name in ("a.mtx", "b.txt.gz", "c.gr"):
        with pytest.raises(KeyboardInterrupt):
            ew.write(graph, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mtx"]
    assert (tmp_path / "a.mtx").read_text() == "old"


KILLED = """
import os, signal, sys
from edgewise.files import atomic_write as atomic
from edgewise.files.atomic_write import LOCKS, atomic_write
with atomic_write(sys.argv[1]) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not LOCKS, reason="needs locks")
def test_the_next_run_removes_what_a_killed_one_has_left(tmp_path):
    """Only the parts of the same file, only those of this machine, and none that is being written."""
    goal, other = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (goal, goal, other):
        done = subprocess.run([sys.executable, "-c", KILLED, path])
        assert done.returncode == -signal.SIGKILL
    killed = set(tmp_path.iterdir())
    stranger = tmp_path / next(path.name for path in killed if path.name.endswith("a.txt")).replace(
        ".", ".0", 1
    )
    stranger.write_text("of another machine")
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / atomic._name_of_part(goal, "0" * 16)).symlink_to(victim)
    os.mkfifo(tmp_path / atomic._name_of_part(goal, "1" * 16))
    with atomic_write(goal) as live, atomic_write(goal) as part:
        assert live.exists()
        part.write_text("new")
    left = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in killed if path.name.endswith("a.txt")}.isdisjoint(left)
    assert {path.name for path in killed if path.name.endswith("b.txt")} <= left
    assert stranger.name in left and victim.read_text() == "kept" and len(left) == 6


def test_long_names(tmp_path):
    for name in ("a" * 251 + ".txt", "\N{SNOWMAN}" * 83 + ".txt"):
        with atomic_write(tmp_path / name) as part:
            part.write_text("new")
        assert (tmp_path / name).read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_without_a_reader_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    graph = ew.Graph.from_edges([0], [1])
    with pytest.raises(FileError, match="a pipe that no program reads"):
        ew.write(graph, tmp_path / "a.csv")
    reader = os.open(tmp_path / "a.csv", os.O_RDONLY | os.O_NONBLOCK)
    ew.write(graph, tmp_path / "a.csv")
    assert os.read(reader, 100) == b"source,target\n0,1\n"
    os.close(reader)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_what_the_system_refuses_is_one_line(tmp_path, number):
    with pytest.raises(FileError) as caught, atomic_write(tmp_path / "a.txt") as part:
        part.write_text("half")
        raise OSError(number, os.strerror(number))
    assert str(caught.value).startswith(str(tmp_path / "a.txt"))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "el", "mtx", "metis", "dimacs", "gap", "npz"])
def test_full_disk(form):
    graph = ew.Graph.from_edges(np.arange(5000), np.arange(5000) + 1, n_vertices=5001)
    with pytest.raises(FileError, match="disk is full"):
        ew.write(graph, "/dev/full", format=form)


def test_wrong_places(tmp_path):
    for path, part in ((tmp_path, "is a directory"), (tmp_path / "no" / "a.txt", "folder does not exist")):
        with pytest.raises(FileError, match=part), atomic_write(path):
            pass
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="folder is a file"), atomic_write(tmp_path / "file" / "a.txt"):
        pass


def test_permissions_and_links_stay(tmp_path):
    goal, link = tmp_path / "a.txt", tmp_path / "link.txt"
    goal.write_text("old")
    goal.chmod(0o640)
    link.symlink_to(goal)
    with atomic_write(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert goal.read_text() == "new"
    assert stat.S_IMODE(goal.stat().st_mode) == 0o640


def test_pipes_are_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    ew.write(ew.Graph.from_edges([0], [1], n_vertices=2), pipe, format="csv")
    reader.join(10)
    assert read == [b"source,target\n0,1\n"]
    assert pipe.is_fifo()
