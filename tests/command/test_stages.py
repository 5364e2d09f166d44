"""The bar on a terminal."""

import io
import re
import time

from edgewise import notices
from edgewise.command.stages import stages


class Terminal(io.StringIO):
    def isatty(self):
        return True


def opened(monkeypatch):
    """Put a terminal of 100 columns in place of standard error; return a function that gives its lines."""
    screen = Terminal()
    for name, value in {"COLUMNS": "100", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr", screen)
    return lambda: (
        re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue()).replace("\r", "\n").strip().splitlines()
    )


def test_per_cent_and_time_left_where_the_total_is_known(monkeypatch):
    terminal = opened(monkeypatch)
    with stages() as (stage, _), stage("read", "reading a[b].csv") as progress:
        progress(0, 8)
        progress(2, 8)
    assert re.search(r"reading a\[b\]\.csv .* 25% 0:00:00 -:--:-- left$", terminal()[-1].strip())


def test_a_step_without_a_total_after_one_with_it(monkeypatch):
    terminal = opened(monkeypatch)
    with stages() as (stage, _):
        with stage("read", "reading") as progress:
            progress(8, 8)
        with stage("compute", "clustering") as progress:
            progress(1, None)
    last = terminal()[-1].strip()
    assert "clustering" in last and last.endswith("0:00:00")
    assert "%" not in last


def test_what_is_compiled(monkeypatch):
    terminal = opened(monkeypatch)
    with stages() as (stage, _), stage("compute", "clustering"):
        notices.listener("unite_edge")
        time.sleep(0.3)  # the bar is drawn ten times a second
        notices.listener("")
    assert any("clustering, compiling unite_edge" in line for line in terminal())
    assert "compiling" not in terminal()[-1]
    assert notices.listener is None


def test_nothing_is_shown_when_quiet(monkeypatch):
    terminal = opened(monkeypatch)
    with stages(quiet=True) as (stage, _), stage("read", "reading") as progress:
        progress(1, 2)
    assert terminal() == []
