"""Conditions: what they mean, and what is no condition."""

import datetime

import pyarrow as pa
import pytest

from edgewise.build.where import Condition
from edgewise.errors import OptionError

pytestmark = pytest.mark.interpreter

TABLE = pa.table(
    {
        "score": pa.array([0.5, 0.9, None, 1.0], pa.float32()),
        "kind": pa.array(["a", "b", "b", None]).dictionary_encode(),
        "odd name": [1, 2, 3, 4],
        "n": [1, -2, 3, 4],
        "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
        "flag": [True, False, None, True],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("score >= 0.9", [1, 3]),
        ("  score>=0.9 and kind=='b'", [1]),
        ("score >= 0.9 or kind == 'b'", [1, 2, 3]),
        ("not (score < 1)", [3]),
        ("kind is None or score is not None", [0, 1, 3]),
        ("`odd name` + n * 2 > 5", [2, 3]),
        ("kind in ('a', 'b')", [0, 1, 2]),
        ("kind not in ['a']", [1, 2]),
        ("n in (-2, 4.0)", [1, 3]),
        ("day >= '2020-01-03'", [2, 3]),
        ("flag", [0, 3]),
        ("not flag", [1]),
        ("-n > 1", [1]),
        ("0.5 <= score < 1", [0, 1]),
        ("n / 2 - 1 == score", [3]),
        ("n / 2 > 0.4", [0, 2, 3]),
        ("n == `odd name`", [0, 2, 3]),
        ("1 < n", [2, 3]),
    ],
)
def test_rows_that_meet_it(text, rows):
    condition = Condition(text)
    assert [row for row, met in enumerate(condition.rows(TABLE).to_pylist()) if met] == rows
    for batch in TABLE.to_batches():
        assert condition.rows(batch).to_pylist() == [row in rows for row in range(4)]


def test_columns_are_named_once():
    assert Condition("a > 1 and (`b c` == 'x' or a is None)").columns == ["a", "b c"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "score >=",
        "score; n",
        "__import__('os').system('ls')",
        "score.real > 1",
        "score[0] == 1",
        "(lambda: 1)() > score",
        "flag if flag else flag",
        "[score for score in n] == 1",
        "f'{score}' == 'x'",
        "score == None",
        "score == b'x'",
        "score == 1j",
        "n == 9 ** 9 ** 9",
        "(n := 1) == score",
        "await n",
        "score in kind",
        "score in ()",
        "score in (n, 1)",
        "score is 1",
        "1 < 2",
        "True",
        "score\nn",
        "(" * 300 + "n" + ")" * 300 + " > 1",
        "n > 1 and " * 1000 + "n > 1",
        None,
    ],
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(OptionError, match="where="):
        Condition(text)


@pytest.mark.parametrize(
    "text", ["kind > 3", "kind + 1 > 2", "score", "n + 1", "n * 9223372036854775807 > 1", "n / kind > 1"]
)
def test_columns_that_cannot_be_so_compared(text):
    with pytest.raises(OptionError, match="where=") as raised:
        Condition(text).rows(TABLE)
    assert "\n" not in str(raised.value)
