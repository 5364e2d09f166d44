"""A few cases of the campaigns of mutated files, of interrupted streams and of limits of memory."""

import json
import subprocess
import sys

import pytest

from edgewise.device.target import SIMULATED
from tests.campaigns import interrupted_streams, memory_limits, mutated_files

pytestmark = pytest.mark.skipif(SIMULATED, reason="nothing runs on a GPU")


@pytest.mark.parametrize(
    ("mode", "cases"), (pytest.param("footers", 6, marks=pytest.mark.release), ("others", 4))
)
def test_mutated_files(mode, cases, tmp_path):
    arguments = [
        "--mode",
        mode,
        "--cases",
        str(cases),
        "--seed",
        "7",
        "--processes",
        "1",
        "--keep",
        str(tmp_path),
    ]
    counts = mutated_files.main(arguments)
    assert set(counts) == {"accepted", "refused"} and sum(counts.values()) == cases


BY_TASKS = ["--seed", "18", "--stream", "components by tasks", "--signal", "SIGINT"]


@pytest.mark.parametrize("kind", (["--seed", "3"], pytest.param(BY_TASKS, marks=pytest.mark.release)))
def test_interrupted_streams(kind):
    assert interrupted_streams.main(["--cases", "1", *kind]) == {"equal": 1}


def test_memory_limits():
    # in another process, since the peak of a command counts what the process holds that starts it
    words = [sys.executable, memory_limits.__file__, "--cases", "1", "--seed", "1"]
    run = subprocess.run(words, capture_output=True, text=True)
    counts = json.loads(run.stdout.splitlines()[-1])
    counts = {outcome: count for outcome, count in counts.items() if not outcome.endswith("_error")}
    assert set(counts) <= {"equal", "refused"} and sum(counts.values()) == 1, run.stdout
