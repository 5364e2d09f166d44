"""Whose files are read."""

import os

import pytest

from edgewise import ownership
from edgewise.errors import FileError
from tests.ownership import give_away

pytestmark = [
    pytest.mark.interpreter,
    pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system does not know users"),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "state"
    path.write_text("x")
    path.chmod(0o644)
    return path


def test_own_files_are_read(file):
    assert ownership.of_another(file) is None
    assert ownership.open_to_others(file) is None
    ownership.check_owner(file, file, "remove it")


def test_files_of_the_administrator_are_read(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert ownership.of_another("/") is None


def test_files_of_another_user(file, monkeypatch):
    give_away(file, monkeypatch)
    with open(file) as opened:
        for given in (file, str(file), opened.fileno()):
            assert ownership.of_another(given).startswith("belongs to another user (")
            assert ownership.open_to_others(given).startswith("belongs to another user (")
    with pytest.raises(FileError, match=r"state: belongs to another user \(.*\); remove it"):
        ownership.check_owner(file, file, "remove it")


def test_a_link_to_the_file_of_another_user(file, monkeypatch):
    link = file.with_name("link")
    link.symlink_to(file)
    assert ownership.of_another(link) is None
    give_away(file, monkeypatch)
    assert ownership.of_another(link)


@pytest.mark.parametrize(
    ("mode", "group", "said"), [(0o666, 0, True), (0o646, 0, True), (0o664, 0, False), (0o664, 1, True)]
)
def test_files_that_others_can_write(file, monkeypatch, mode, group, said):
    file.chmod(mode)
    state = list(os.stat(file))
    state[5] = group and state[4] + 1  # the group of the administrator, or one that is nobody's own
    monkeypatch.setattr(os, "stat", lambda path: os.stat_result(state))
    expected = f"can be written by other users (mode {mode:o})" if said else None
    assert ownership.open_to_others(file) == expected
    assert ownership.of_another(file) is None


def test_folders_that_others_can_write(tmp_path):
    tmp_path.chmod(0o777)
    assert "mode 777" in ownership.open_to_others(tmp_path)
    tmp_path.chmod(0o1777)
    assert ownership.open_to_others(tmp_path) is None


def test_systems_without_users(file, monkeypatch):
    file.chmod(0o666)
    monkeypatch.delattr(os, "geteuid")
    assert ownership.of_another(file) is None
    assert ownership.open_to_others(file) is None
