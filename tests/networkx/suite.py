"""NetworkX's own tests with this backend, and which of its functions they really called.

    python tests/networkx/suite.py --calls calls.json --pyargs networkx
    python tests/networkx/suite.py --pyargs networkx.algorithms.components

Every function that the backend has runs on it; those that it lacks, or declines, run on NetworkX.  All other
arguments are pytest's.  edgewise must be installed, since NetworkX finds it by its entry points.
"""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path


class Calls:
    """A plugin of pytest that counts the calls of the backend's functions, and the tests that make them."""

    def __init__(self):
        self.test, self.calls, self.tests = "", defaultdict(int), defaultdict(set)

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

    def counted(self, name, run):
        def call(*args, **kwargs):
            result = run(*args, **kwargs)  # a call that is declined does not count
            self.calls[name] += 1
            self.tests[name].add(self.test)
            return result

        return call

    def table(self):
        return {
            name: {"tests": len(self.tests[name]), "calls": self.calls[name]} for name in sorted(self.calls)
        }


def main(arguments):
    os.environ["NETWORKX_TEST_BACKEND"], os.environ["NETWORKX_FALLBACK_TO_NX"] = "edgewise", "True"
    import pytest

    output = None
    if "--calls" in arguments:
        at = arguments.index("--calls")
        output = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    calls = Calls()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *arguments], plugins=[calls])
    text = json.dumps(calls.table(), indent=1)
    if output:
        Path(output).write_text(text + "\n")
    distinct = len(set().union(*calls.tests.values()))
    print(f"{len(calls.calls)} functions of the backend were called by {distinct} distinct tests")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
