"""Conditions: what they mean, and what is no condition."""

import datetime

import pyarrow as pa
import pytest

from edgewise.errors import OptionError
from edgewise.ingest.where import Condition

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


def met(text, **columns):
    """Rows of a table that meet a condition."""
    table = pa.table(columns)
    return [row for row, one in enumerate(Condition(text).rows(table).to_pylist()) if one]


def test_backquotes_inside_strings_are_letters():
    names = ["`x`", "x", 'a"`x`']
    assert met("k == '`x`'", k=names) == [0]
    assert met("k in ('`x`', \"x\") and `odd name` > 0", k=names, **{"odd name": [1, 1, 1]}) == [0, 1]
    assert met('k == \'a\\"`x`\' or k == """`x`"""', k=names) == [0, 2]
    assert met("k == 'it\\'s' or `k` == 'x'", k=names) == [1]


def test_stand_ins_clash_with_no_column():
    columns = {"odd name": [1, 2], "column_0_": [2, 1], "column_0": [2, 1], "column__0": [5, 5]}
    for name in "column_0_", "column_0", "ｃolumn_0":
        assert met(f"`odd name` > 1 and {name} == 1 and column__0 == 5", **columns) == [1]
    assert sorted(Condition("`column_0` > column_1").columns) == ["column_0", "column_1"]


def test_constants_take_the_type_of_short_floats():
    column = pa.array([-0.1, 0.2, 0.3], pa.float32())
    assert met("s == -0.1", s=column) == [0]
    assert met("s >= -0.1", s=column) == [0, 1, 2]
    assert met("s == - -0.2 or s == 3 / 10", s=column) == [1, 2]
    assert met("s in (-0.1, 0.3)", s=column) == [0, 2]


def test_division_by_zero_stops_no_other_row():
    a, b = [1, 1, 0, -1, 2**60], [0, 2, 0, 0, 2**60]
    assert met("b != 0 and a / b >= 0.5", a=a, b=b) == [1, 4]
    assert met("a / b >= 0.5", a=a, b=b) == [0, 1, 4]
    assert met("a / 0 < 0", a=a) == [3]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("w > 5", [1, 2]),
        ("w >= 9223372036854775808", [1, 2]),
        ("w == 18446744073709551615.0", []),
        ("w == 18446744073709551615", [2]),
        ("w < 18446744073709551616", [0, 1, 2]),
        ("w < 1e400 and w > -1e400", [0, 1, 2]),
        ("w > -1 and w != -1", [0, 1, 2]),
        ("w > 5.5", [1, 2]),
        ("-0.5 < w <= 5.5", [0]),
        ("w in (5, -7, 9223372036854775808, 1180591620717411303424)", [0, 1]),
        ("w not in (5, 0.5)", [1, 2]),
    ],
)
def test_unsigned_integers_of_64_bits(text, rows):
    assert met(text, w=pa.array([5, 2**63, 2**64 - 1, None], pa.uint64())) == rows


def test_integers_beyond_53_bits_are_told_apart():
    column = pa.array([2**53, 2**53 + 1, -(2**63)])
    assert met("n == 9007199254740993", n=column) == [1]
    assert met("n > 9007199254740992.0", n=column) == [1]
    assert met("n > 0.5", n=column) == [0, 1]
    assert met("n < 300 and n >= -9223372036854775808", n=column) == [2]
    assert met("n < 300", n=pa.array([1, 200], pa.uint8())) == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "w in (-'a',)",
        "w in (-True,)",
        "w == -'a'",
        "w / 'a' > 1",
        "w > 1 / 0",
        "+" * 1900 + "w > 1",
        "1 " + "+ 1" * 1300 + " < w",
        "w + 18446744073709551615 > 1",
        "w * 'a' == 'aa'",
        "'a' * 99999999999 == 'aa' and w > 1",
        "w > " + "9" * 3000 + " * 1.0",
    ],
)
def test_what_cannot_be_reckoned_is_refused_in_one_line(text):
    with pytest.raises(OptionError, match="where=") as raised:
        met(text, w=pa.array([5, 2**63], pa.uint64()))
    assert "\n" not in str(raised.value)


VIEWS = pa.array(["x", None, "y"]).cast(pa.string_view())


@pytest.mark.parametrize(
    "column",
    [VIEWS, pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.uint32()), VIEWS)],
    ids=["views", "dictionary"],
)
def test_views_and_nulls_in_dictionaries(column):
    assert met("k == 'x'", k=column) == [0]
    assert met("k is None", k=pa.chunked_array([column, column])) == [1, 4]
    assert met("k == 'x'", k=pa.chunked_array([], column.type)) == []
