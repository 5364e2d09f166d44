"""What is unfinished is removed at the end, and nothing else."""

import os
import threading
from contextlib import suppress

import pytest

from edgewise import unfinished

pytestmark = pytest.mark.interpreter


@pytest.fixture(autouse=True)
def nothing_before(monkeypatch):
    """Nothing is unfinished, and what is at the end is no fault."""
    monkeypatch.setattr(unfinished, "_paths", set())
    monkeypatch.setattr(unfinished, "_beginning", threading.RLock())


def test_what_is_abandoned(tmp_path):
    for name in ("complete", "begun", "other"):
        (tmp_path / name).touch()
    unfinished.begin(tmp_path / "begun")
    unfinished.begin(tmp_path / "complete")
    unfinished.complete(tmp_path / "complete")
    with pytest.raises(FileExistsError), unfinished.beginning(tmp_path / "other"):
        os.open(tmp_path / "other", os.O_CREAT | os.O_EXCL)
    with unfinished.beginning(tmp_path / "folder"):
        (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    unfinished.begin(tmp_path / "link")
    unfinished.abandon()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["complete", "other"]


def test_nothing_is_begun_behind_it(tmp_path):
    unfinished.abandon()

    def begin():
        with unfinished.temporary_folder(str(tmp_path)):
            pass

    threading.Thread(target=begin, daemon=True).start()
    threading.Event().wait(0.2)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_to_which_something_is_still_written(tmp_path):
    """It is there again when it has been removed, a few times."""
    with unfinished.temporary_folder(str(tmp_path)) as folder:
        end = threading.Event()

        def write():
            while not end.wait(0.001):
                for number in range(20):
                    with suppress(OSError):
                        (folder / str(number)).touch()

        writer = threading.Thread(target=write)
        writer.start()
        threading.Timer(0.1, end.set).start()
    writer.join()
    assert list(tmp_path.iterdir()) == [] and not unfinished._paths


def test_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with unfinished.temporary_file(".csv") as file, unfinished.temporary_folder() as folder:
        assert sorted(tmp_path.iterdir()) == sorted([file, folder])
        assert file.suffix == ".csv" and file.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
    assert list(tmp_path.iterdir()) == [] and not unfinished._paths


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_leaves_the_files_of_its_parent(tmp_path):
    """It can begin some of its own, even if another thread has the lock."""
    unfinished.begin(tmp_path / "begun")
    (tmp_path / "begun").touch()
    held, done = threading.Event(), threading.Event()

    def hold():
        with unfinished._beginning:
            held.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        with unfinished.temporary_folder(str(tmp_path)):
            unfinished.abandon()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    done.set()
    holder.join()
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]
