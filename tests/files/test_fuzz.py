"""Mutations of small files of every format: each is read rightly, or refused with one line."""

import sys

import pytest

from tests.files import fuzz

#: A worker that handles the numbers 0 and 1 well and fails at 2.
WORKER = """
import json, os, time
for number in {numbers}:
    print(json.dumps({{"number": number}}), flush=True)
    if number == 2:
        {failure}
    print(json.dumps({{"number": number, "family": "", "outcome": "accepted", "seconds": 0}}), flush=True)
"""


@pytest.mark.parametrize(
    ("failure", "outcome", "status"),
    [
        ("os.abort()", "crash", "status -6"),
        ("time.sleep(60)", "hang", "status -9"),
        ("raise SystemExit", "crash", ""),
    ],
)
def test_a_crash_and_a_hang_are_found(tmp_path, failure, outcome, status):
    class Planted(fuzz.Job):
        def command(self):
            return [sys.executable, "-c", WORKER.format(numbers=[*self.numbers], failure=failure)]

    job = Planted(range(5), tmp_path, limit=2.0)
    results = job.run()
    assert [one["outcome"] for one in results] == ["accepted", "accepted", outcome, "accepted", "accepted"]
    assert status in results[2]["detail"]


def test_a_crash_at_the_end_is_found(tmp_path):
    class Planted(fuzz.Job):
        def command(self):
            return [sys.executable, "-c", WORKER.format(numbers=[0, 1], failure="pass") + "os.abort()"]

    results = Planted(range(2), tmp_path, limit=2.0).run()
    assert [one["outcome"] for one in results] == ["accepted", "accepted", "crash"]


def test_a_worker_that_cannot_start(tmp_path):
    class Broken(fuzz.Job):
        def command(self):
            return [sys.executable, "-c", "raise ValueError('no such thing')"]

    with pytest.raises(RuntimeError, match="no such thing"):
        Broken(range(3), tmp_path, limit=2.0).run()


def test_mutated_files_are_read_rightly_or_refused(tmp_path):
    results = fuzz.run(range(500), tmp_path)
    print(fuzz.report(results))
    assert [one for one in results if one["outcome"] not in fuzz.GOOD] == []
    assert len(results) == 500
