"""Tables, closing lines and JSON read well."""

import json

import pyarrow as pa
import pytest

from edgewise.command import report
from edgewise.result import duration
from edgewise.timer import Scope

pytestmark = [pytest.mark.interpreter]


def test_table_aligns_text_left_and_numbers_right(capsys):
    report.table(pa.table({"id": ["a", "long"], "size": [100, 7]}))
    assert capsys.readouterr().out.splitlines() == ["id    size", "a      100", "long     7"]


def test_table_says_how_much_is_left_out(capsys):
    report.table(pa.table({"id": range(1010)}), rows=10)
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (12, "... 1,000 more rows")


def test_empty_table(capsys):
    report.table(pa.table({"id": pa.array([], pa.string())}))
    assert capsys.readouterr().out == "id\n"


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [(1, "vertex", "1 vertex"), (0, "vertex", "0 vertices"), (1234, "edge", "1,234 edges")],
)
def test_counts(number, noun, words):
    assert report.counted(number, noun) == words


def test_times():
    clock = Scope("edgewise")
    clock["read"].seconds, clock["compute"].seconds = 1.234, 0.5
    assert report.times(clock) == "read 1.23 s, computed 0.50 s"


def test_durations():
    words = ["0.31 ms", "0.04 s", "9.99 s", "61 s"]
    assert [duration(seconds) for seconds in (0.00031, 0.0416, 9.99, 61.2)] == words


def test_json(capsys):
    report.as_json({"vertices": 3, "output": None})
    assert json.loads(capsys.readouterr().out) == {"vertices": 3, "output": None}
