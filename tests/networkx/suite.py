"""NetworkX's own tests with this backend, and which of its functions they really called.

    python tests/networkx/suite.py --output networkx-suite.json --pyargs networkx
    python tests/networkx/suite.py --pyargs networkx.algorithms.components

Every function that the backend has runs on it; those that it lacks, or declines, run on NetworkX.  All other
arguments are pytest's.  edgewise must be installed, since NetworkX finds it by its entry points.  The file
has the outcomes, the reasons of expected failures, and the tests and calls of each function.  With ``--add``
they are added to those that the file has, so that parts of the tests can run at the same time.
"""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path


class Calls:
    """A plugin of pytest that counts the calls of the backend's functions, and the tests that make them."""

    def __init__(self):
        self.test, self.calls, self.tests = "", defaultdict(int), defaultdict(set)
        self.outcomes, self.expected = Counter(), Counter()

    def pytest_runtest_protocol(self, item):
        self.test = item.nodeid

    def pytest_collection_finish(self, session):
        from edgewise.networkx.interface import BackendInterface
        from edgewise.networkx.registry import FUNCTIONS

        for name in dir(BackendInterface):
            if name.startswith("_") or name in ("can_run", "should_run", "on_start_tests"):
                continue
            run = getattr(BackendInterface, name)
            if name in FUNCTIONS:
                setattr(BackendInterface, name, self.counted(name, run))

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "wasxfail"):
            self.outcomes["expected failures" if report.skipped else "unexpected passes"] += 1
            self.expected[report.wasxfail.removeprefix("reason: ") or "no reason is given"] += 1
        elif report.failed or report.skipped or report.when == "call":
            self.outcomes[report.outcome] += 1

    def counted(self, name, run):
        def call(*args, **kwargs):
            result = run(*args, **kwargs)  # a call that is declined does not count
            self.calls[name] += 1
            self.tests[name].add(self.test)
            return result

        return call

    def table(self):
        counts = {
            name: {"tests": len(self.tests[name]), "calls": self.calls[name]} for name in sorted(self.calls)
        }
        return {
            "outcomes": dict(self.outcomes),
            "expected failures": dict(self.expected),
            "tests of the backend": len(set().union(*self.tests.values())),
            "functions": counts,
        }


def origin(arguments):
    """Command, versions, state and date of a run."""
    import networkx

    state = os.environ.get("EDGEWISE_STATE")
    if state is None:
        words = ["git", "describe", "--always", "--dirty"]
        done = subprocess.run(words, cwd=Path(__file__).resolve().parent, capture_output=True, text=True)
        state = done.stdout.strip() or "unknown"
    versions = {"python": platform.python_version(), "networkx": networkx.__version__}
    command = " ".join(["python tests/networkx/suite.py", *arguments])
    return {"command": command, "versions": versions, "state": state, "date": time.strftime("%Y-%m-%d")}


def added(one, other):
    """The sum of two tables of numbers."""
    if not isinstance(one, dict):
        return one + other
    return {
        key: added(one[key], other[key]) if key in one and key in other else {**one, **other}[key]
        for key in sorted({*one, *other})
    }


def main(arguments):
    os.environ["NETWORKX_TEST_BACKEND"], os.environ["NETWORKX_FALLBACK_TO_NX"] = "edgewise", "True"
    import pytest

    output, add = None, "--add" in arguments
    arguments = [argument for argument in arguments if argument != "--add"]
    if "--output" in arguments:
        at = arguments.index("--output")
        output = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    calls = Calls()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # not with edgewise's own settings
        status = pytest.main(["-q", "-p", "no:cacheprovider", *arguments], plugins=[calls])
    table = calls.table()
    if add and Path(output).exists():
        known = json.loads(Path(output).read_text())
        table = {key: added(known[key], value) for key, value in table.items()}
    table = {**origin(arguments), **table}
    if output:
        Path(output).write_text(json.dumps(table, indent=1) + "\n")
    n_functions, n_tests = len(table["functions"]), table["tests of the backend"]
    print(f"{n_functions} functions of the backend were called by {n_tests} distinct tests")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
