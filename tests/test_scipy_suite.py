"""SciPy's own tests pass with edgewise's functions in the place of SciPy's, but for those that are named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.release
def test_scipy_s_tests_pass(tmp_path):
    pytest.importorskip("scipy.sparse.csgraph.tests.test_shortest_path", reason="SciPy has no tests with it")
    command = [sys.executable, str(ROOT / "tests" / "scipy_suite.py"), "-c", os.devnull]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.splitlines()[-1].split()[0]) > 70
