"""A plugin of pytest that keeps which of some chosen lines each test enters, and the test's seconds.

``pytest -p entered_lines``, with this page on the path and two variables: ``ENTERED_PLACES``, a JSON list of
``[file, line]``, and ``ENTERED_FOLDER``, where every process writes a file with a line of JSON for each test
that does not fail, ``[test, seconds, places]``.  It uses :mod:`sys.monitoring` of Python 3.12.  Only
functions that have a chosen line report their lines, each line once a test.
"""

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

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
            self.lines[name][line].append(number)
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
        self.failed = False
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(TOOL, "entered lines")
        sys.monitoring.register_callback(TOOL, events.PY_START, self.recorder.on_start)
        sys.monitoring.register_callback(TOOL, events.LINE, self.recorder.on_line)
        sys.monitoring.set_events(TOOL, events.PY_START)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.recorder.entered.clear()
        self.failed = False
        sys.monitoring.restart_events()
        start = time.perf_counter()
        done = yield
        if not self.failed:
            seconds = round(time.perf_counter() - start, 3)
            self.rows.append(json.dumps([item.nodeid, seconds, sorted(self.recorder.entered)]))
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        self.failed |= report.failed
        return report

    def pytest_sessionfinish(self):
        file = Path(os.environ["ENTERED_FOLDER"], f"{os.getpid()}.jsonl")
        file.write_text("".join(f"{row}\n" for row in self.rows))
