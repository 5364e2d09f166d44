"""The bar on a terminal."""

import io
import re

import pytest

from edgewise.command.stages import stages


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 100 columns in place of standard error; returns what is shown at the end of each step."""
    screen = Terminal()
    for name, value in {"COLUMNS": "100", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr", screen)
    return lambda: (
        re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue()).replace("\r", "\n").strip().splitlines()
    )


def test_per_cent_and_time_left_where_the_total_is_known(terminal):
    with stages() as (stage, _), stage("read", "reading a[b].csv") as progress:
        progress(0, 8)
        progress(2, 8)
    assert re.search(r"reading a\[b\]\.csv .* 25% 0:00:00 -:--:-- left$", terminal()[-1].strip())


def test_a_step_without_a_total_after_one_with_it(terminal):
    with stages() as (stage, _):
        with stage("read", "reading") as progress:
            progress(8, 8)
        with stage("compute", "clustering") as progress:
            progress(1, None)
    last = terminal()[-1].strip()
    assert "clustering" in last and last.endswith("0:00:00")
    assert "%" not in last


def test_nothing_is_shown_in_pipes_and_when_quiet(terminal, capsys):
    with stages(quiet=True) as (stage, _), stage("read", "reading") as progress:
        progress(1, 2)
    assert terminal() == []
