"""Conditions: what they mean, and what is no condition."""

import datetime
import operator
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise.errors import OptionError
from edgewise.ingest.where import CHARACTERS, Condition

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
        ("score > 0.5 AND kind = 'b'", [1]),
        ("kind Is Null Or kind <> 'b'", [0, 3]),
        ("NOT kind = 'a' AND flag IS NOT NULL", [1]),
        ("n BETWEEN 1 AND 3 and not flag = FALSE", [0]),
        ("n NOT BETWEEN -2 AND `odd name` - 1 OR score between 0.9 and 0.9", [0, 1, 2, 3]),
        ("2 BETWEEN n AND `odd name`", [1]),
        ("day > DATE '2020-01-02' AND day <> timestamp '2020-01-04 00:00:00'", [2]),
        ("DATE '2020-01-02' = day", [1]),
        ("day IN (date '2020-01-02', '2020-01-04')", [1, 3]),
        ("day BETWEEN '2020-01-02' AND '2020-01-03'", [1, 2]),
        ("kind IN ('a')", [0]),
        ("kind NOT IN ('a', 'c',)", [1, 2]),
        ("flag IN (TRUE)", [0, 3]),
        ("flag IS TRUE", [0, 3]),
        ("flag IS NOT TRUE", [1, 2]),
        ("flag is not False", [0, 2, 3]),
        ("kind LIKE '_' AND kind NOT LIKE 'A%'", [0, 1, 2]),
        ("kind ILIKE 'B%'", [1, 2]),
        ("(kind = 'b') <> flag", [0, 1]),
        ("NOT NOT n > 1", [2, 3]),
        ("n = 1.0 OR n = .4e1 OR n = 1_0", [0, 3]),
        ('kind = "b"\n  AND n >\t0', [2]),
        ("n > 1 and " * 1000 + "n > 1", [2, 3]),
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
        "- " * 300 + "n > 1",
        "NOT " * 300 + "flag",
        "n > 1 and " * 20_000 + "n > 1",
        None,
    ],
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(OptionError, match="where="):
        Condition(text)


@pytest.mark.parametrize(
    "text",
    [
        "kind = DATE '2020-01-01'",
        "n = DATE '2020-01-01'",
        "DATE '2020-01-01' IS TRUE",
        "kind > 3",
        "kind + 1 > 2",
        "score",
        "n + 1",
        "n * 9223372036854775807 > 1",
        "n / kind > 1",
    ],
)
def test_columns_that_cannot_be_so_compared(text):
    with pytest.raises(OptionError, match="where=") as raised:
        Condition(text).rows(TABLE)
    assert "\n" not in str(raised.value)


def met(text, **columns):
    """Rows of a table that meet a condition."""
    table = pa.table(columns)
    return [row for row, one in enumerate(Condition(text).rows(table).to_pylist()) if one]


def test_quotes_and_backquotes_inside_each_other_are_letters():
    names = ["`x`", "x", 'a"`x`', "it's", "C:\\d", "and -- ; or"]
    assert met("k == '`x`'", k=names) == [0]
    assert met("k in ('`x`', \"x\") and `odd name` > 0", k=names, **{"odd name": [1] * 6}) == [0, 1]
    assert met('k == \'a"`x`\' or `k` = "x"', k=names) == [1, 2]
    assert met("k = 'it''s' OR k = \"a\"\"`x`\"", k=names) == [2, 3]
    assert met(r"k = r'C:\d' or k = 'and -- ; or'", k=names) == [4, 5]
    assert met("`a``b` = 1", **{"a`b": [0, 1]}) == [1]
    assert met("`and` = 1 OR none = 5", **{"and": [0, 1], "none": [5, 1]}) == [0, 1]


def test_patterns():
    names = ["ab", "aXb", "a%b", "a.b", "a\nb", "Ab", "äb", None, r"a\b"]
    assert met("k LIKE 'a%b'", k=names) == [0, 1, 2, 3, 4, 8]
    assert met("k LIKE 'a_b'", k=names) == [1, 2, 3, 4, 8]
    assert met("k ILIKE 'A.B' or k ilike 'Ä_'", k=names) == [3, 6]
    assert met("k NOT LIKE '%b'", k=names) == []
    assert met("k LIKE '%!%%' ESCAPE '!'", k=names) == [2]
    assert met(r"k LIKE r'a\\b' escape r'\' OR k LIKE r'a\b' ESCAPE '!'", k=names) == [8]
    assert met("k LIKE ''", k=["", "a"]) == [0]


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
        "w LIKE '5%'",
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it ends where a column or a constant is missing"),
        ("score >= 0.9 AND", "it ends where a column or a constant is missing"),
        ("score => 0.9", "'>' at character 8 is not understood, where a column or a constant is missing"),
        ("(score > 1", r"it ends where '\)' is missing"),
        ("score > 1)", r"'\)' at character 10 is not understood"),
        ("score > 1 -- sure", "'--' at character 11 is not understood; leave the comment out"),
        ("score > 1; drop table", "';' at character 10 is not understood; give one condition"),
        ("score > 1 && n = 2", "'&&' at character 11 is not understood; write AND"),
        ("kind = 'a", '"\'" at character 8 .* close the string'),
        ("t.score > 1", r"'\.' at character 2 is not understood; put `\.\.\.` around"),
        ("lower(kind) = 'a'", "'lower' at character 1 is a function"),
        ("day = DATE '2020-31-01'", "'2020-31-01'. at character 12 is no date; write it as in DATE"),
        ("score > 0x10", "'0x10' at character 9 is no number"),
        ("score = NULL", "'NULL' at character 9 is equal to nothing; write IS NULL"),
        ("score == None", "'None' at character 10 is equal to nothing"),
        ("n > 0 AND like > 3", "'like' at character 11 .* put `...` around a column of this name"),
        ("score IS 1", "'1' at character 10 .* where NULL, TRUE or FALSE is missing"),
        ("score IS NULL kind", "'kind' at character 15 is not understood"),
        ("n NOT = 1", "'=' at character 7 .* where IN, BETWEEN or LIKE is missing"),
        ("n BETWEEN 1 OR 2", "'OR' at character 13 .* where the AND of BETWEEN is missing"),
        ("n IN 1", "'1' at character 6 .* where a bracket with constants is missing"),
        ("n IN (1, m)", "'m' at character 10 .* where a constant is missing"),
        ("n IN (1 2)", "'2' at character 9 .* where ',' or '\\)' is missing"),
        ("n IN (1, NULL)", "'NULL' at character 10 is equal to nothing"),
        ("0 < n IN (1)", "'IN' at character 7 is not understood"),
        ("kind LIKE n", "'n' at character 11 .* where a pattern in quotes is missing"),
        ("kind LIKE 'a!b' ESCAPE '!'", "'!' in the pattern 'a!b' is not before"),
        ("kind LIKE 'ab' ESCAPE 'ab'", "ESCAPE takes one letter, not 'ab'"),
        (r"kind LIKE r'a\_'", "may be an escape or a letter; add ESCAPE"),
        (r"kind = 'a\n'", "differs between SQL and Python; write r'...'"),
        ('kind = """a"""', "differ between SQL and Python; put the other quotes"),
        (
            "\"kind\" = 'a'",
            "'\"kind\"' at character 1 .* is the name of a column; write `kind` for the column",
        ),
        ('n > 0 AND kind IN ("a", "Kind")', "at character 25 .* is the name of a column"),
        ("\"kin\" = 'a' OR n > 0", "'=' at character 7 compares the text 'kin' with no column"),
        ('"kin" IS NULL OR n > 0', "'IS' at character 7 compares the text 'kin' with no column"),
        ("'a' NOT IN ('a') OR n > 0", "'IN' at character 9 compares the text 'a' with no column"),
    ],
)
def test_errors_name_the_character_and_a_remedy(text, words):
    with pytest.raises(OptionError, match=words) as raised:
        Condition(text, TABLE.column_names)
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


ROWS = [
    {"n": n, "x": x, "s": s, "select": select}
    for n, x, s, select in [
        (0, 0.5, "a", True),
        (2**53 + 1, 1.0, "Ab", False),
        (-3, None, None, None),
        (None, -2.5, "a%b", True),
        (7, 7.0, "it's", None),
        (1, 1e300, "", False),
    ]
]
NUMBERS = ["0", "1", "7", "-3", "0.5", "1.0", "9007199254740993", "1e300", ".5e1"]
TEXTS = ["a", "Ab", "it's", "", "a%b", "AND"]
PATTERNS = ["a%", "%B", "_", "%", "", "a_b", "%'%"]
SIGNS = {
    "=": operator.eq,
    "==": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def known(function):
    """The function of values; null if one of these is null."""
    return lambda *values: None if None in values else function(*values)


def all_of(left, right):
    return False if False in (left, right) else (None if None in (left, right) else True)


def inverse(value):
    return None if value is None else not value


def either_of(left, right):
    return inverse(all_of(inverse(left), inverse(right)))


def matches(text, pattern, flags=0):
    regex = "".join({"%": ".*", "_": "."}.get(one, re.escape(one)) for one in pattern)
    return re.fullmatch(regex, text, flags | re.DOTALL) is not None


def quoted(text):
    return "'{}'".format(text.replace("'", "''"))


@st.composite
def comparisons(draw):
    """A comparison in SQL, and its value for a row by plain Python."""
    if draw(st.booleans()):
        column, constants, spell = draw(st.sampled_from(["n", "x", "`x`"])), NUMBERS, str
        values = [int(one) if one.lstrip("-").isdigit() else float(one) for one in constants]
    else:
        column, constants, spell, values = "s", TEXTS, quoted, TEXTS
    left, right = draw(st.tuples(*[st.integers(0, len(constants) - 1)] * 2))
    one, other = values[left], values[right]
    name, text, further = column.strip("`"), spell(constants[left]), spell(constants[right])
    forms = [
        (f"{column} {sign} {text}", known(lambda value, holds=holds: holds(value, one)))
        for sign, holds in SIGNS.items()
    ]
    forms += [
        (f"{column} between {text} and {further}", known(lambda value: one <= value <= other)),
        (f"{column} not between {text} and {further}", known(lambda value: not one <= value <= other)),
        (f"{column} in ({text}, {further})", known(lambda value: value in (one, other))),
        (f"{column} not in ({text})", known(lambda value: value != one)),
        (f"{column} is null", lambda value: value is None),
        (f"{column} is not null", lambda value: value is not None),
    ]
    if name == "s":
        pattern = draw(st.sampled_from(PATTERNS))
        forms += [
            (f"s like {quoted(pattern)}", known(lambda value: matches(value, pattern))),
            (f"s not like {quoted(pattern)}", known(lambda value: not matches(value, pattern))),
            (f"s ilike {quoted(pattern)}", known(lambda value: matches(value, pattern, re.IGNORECASE))),
        ]
    else:
        forms += [(f"{text} < {column} <= {further}", known(lambda value: one < value <= other))]
    text, holds = draw(st.sampled_from(forms))
    return text, lambda row: holds(row[name])


def joined(parts):
    """Several ways to join conditions, in SQL and in Python; brackets only where they are needed."""
    pairs = st.tuples(parts, parts)

    def brackets(part):
        return f"({part[0]})" if re.search(r"\b(and|or)\b", part[0]) else part[0]

    return st.one_of(
        pairs.map(lambda p: (f"{p[0][0]} or {p[1][0]}", lambda row: either_of(p[0][1](row), p[1][1](row)))),
        pairs.map(
            lambda p: (
                f"{brackets(p[0])} and {brackets(p[1])}",
                lambda row: all_of(p[0][1](row), p[1][1](row)),
            )
        ),
        parts.map(lambda p: (f"not {brackets(p)}", lambda row: inverse(p[1](row)))),
    )


FLAGS = st.sampled_from(
    [
        ("`select`", lambda row: row["select"]),
        ("`select` = true", lambda row: row["select"]),
        ("`select` is not true", lambda row: row["select"] is not True),
    ]
)


@given(st.recursive(comparisons() | FLAGS, joined, max_leaves=8), st.randoms(use_true_random=False))
def test_conditions_in_sql_mean_what_plain_python_says(condition, random):
    text, holds = condition
    words = re.compile(r"('(?:[^']|'')*'|`[^`]*`)|\b(?:and|or|not|is|in|between|i?like|null|true)\b")
    change = [str.upper, str.lower, str.title]
    text = words.sub(lambda found: found[1] or random.choice(change)(found[0]), text)
    expected = [holds(row) is True for row in ROWS]
    assert Condition(text, ROWS[0]).rows(pa.Table.from_pylist(ROWS)).to_pylist() == expected


def test_the_longest_text():
    longest = "n > 0".ljust(CHARACTERS)
    assert Condition(longest).columns == ["n"]
    with pytest.raises(OptionError, match="a text of at most 100,000 characters"):
        Condition(f"{longest} ")
