"""A file is written whole or not at all."""

import errno
import os
import stat
import threading

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files.atomic_write import atomic_write


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
