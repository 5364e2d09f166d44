"""A plugin of pytest that keeps which of some chosen lines each test enters, and the test's seconds.

``pytest -p tests.campaigns.entered_lines`` with two variables: ``ENTERED_PLACES``, a JSON list of
``[file, line]``, and ``ENTERED_FOLDER``, where every process writes a file with one line of JSON a test,
``[test, seconds, places]``.  It uses :mod:`sys.monitoring` of Python 3.12: only functions that have a chosen
line report their lines, each line once a test.
"""

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = 3


class Recorder:
    """What one process keeps.

    Attributes
    ----------
    lines : dict
        The numbers of places by line, by file name as code has it.
    entered : set of int
        The places that the current test has entered.
    """

    def __init__(self, places):
        self.lines = defaultdict(lambda: defaultdict(list))
        for number, (name, line) in enumerate(places):
            self.lines[str(ROOT / name)][line].append(number)
        self.entered = set()

    def on_start(self, code, _offset):
        """Ask for the lines of a function that has a chosen one."""
        chosen = self.lines.get(code.co_filename)
        if chosen and any(line in chosen for _, _, line in code.co_lines()):
            sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def on_line(self, code, line):
        """Keep the places of a line, once a test."""
        self.entered.update(self.lines[code.co_filename].get(line, ()))
        return sys.monitoring.DISABLE


def pytest_configure(config):
    config.pluginmanager.register(Hooks(), "entered-lines-hooks")


class Hooks:
    """The hooks of a run, or of a worker of pytest-xdist."""

    def __init__(self):
        self.recorder = Recorder(json.loads(Path(os.environ["ENTERED_PLACES"]).read_text()))
        self.rows = []
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(TOOL, "entered lines")
        sys.monitoring.register_callback(TOOL, events.PY_START, self.recorder.on_start)
        sys.monitoring.register_callback(TOOL, events.LINE, self.recorder.on_line)
        sys.monitoring.set_events(TOOL, events.PY_START)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.recorder.entered.clear()
        sys.monitoring.restart_events()
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            seconds = round(time.perf_counter() - start, 3)
            self.rows.append(json.dumps([item.nodeid, seconds, sorted(self.recorder.entered)]))

    def pytest_sessionfinish(self):
        file = Path(os.environ["ENTERED_FOLDER"], f"{os.getpid()}.jsonl")
        file.write_text("".join(f"{row}\n" for row in self.rows))
