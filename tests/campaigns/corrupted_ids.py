"""Ids with one corruption, by every way in: the clusters of a plain oracle, or one clear line.

``python tests/campaigns/corrupted_ids.py --cases 1000 --seed 1 --processes 16``

Each case is a small table of pairs with ids of one type (integers, strings, bytes, UUIDs, decimals, dates,
timestamps, tuples), in which one id is corrupted: in its type, width, sign or encoding, by a null, or by
nesting; now and then a whole column has another type.  It goes through ``from_edges``, ``from_frame`` (of a
dict, pandas, Polars and Arrow), CSV, Parquet, Arrow and JSON Lines.  The oracle joins the values that were
handed over, by union-find in Python: values are one vertex if they are of one kind and equal.  Whatever is
accepted must have its clusters, with the ids themselves; whatever is refused must be refused by an error of
edgewise in one line; and what is sound may not be refused.  Child processes run batches of cases under a
watchdog.  The last line is one of JSON.
"""

import datetime
import decimal
import json
import random
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from tests.campaigns import batches  # noqa: E402

WAYS = ("from_edges", "from_frame", "csv", "parquet", "arrow", "jsonl")
CORRUPTIONS = ("type", "width", "sign", "encoding", "null", "nesting", "none")
KINDS = ("small", "large", "strings", "digits", "bytes", "UUIDs", "decimals", "dates", "timestamps", "tuples")
#: Outcomes that are right; ``unfit`` are tables that Arrow or Polars cannot make.
RIGHT = {"equal", "refused", "unfit"}


def ids_of(draw, kind):
    """A few different ids of a kind."""
    numbers = draw.sample(range(1, 40), 6)
    make = {
        "small": lambda number: number - 5,
        "large": lambda number: 2**62 + number,
        "strings": lambda number: draw.choice(("a", "é", "n", "zz")) + str(number),
        "digits": lambda number: str(number),
        "bytes": lambda number: b"a%d" % number,
        "UUIDs": lambda number: uuid.UUID(int=number),
        "decimals": lambda number: decimal.Decimal(number),
        "dates": lambda number: datetime.date(2020, 1, 1) + datetime.timedelta(number),
        "timestamps": lambda number: datetime.datetime(2020, 1, 1) + datetime.timedelta(number),
        "tuples": lambda number: ("a", number),
    }[kind]
    return [make(number) for number in numbers]


def corrupted(draw, value, how):
    """One id with a corruption."""
    number = value if isinstance(value, int) else 7
    text = str(value)
    choices = {
        "type": [
            *(
                text,
                text.encode(),
                float(number),
                number + 0.5,
                bool(number % 2),
                decimal.Decimal(number),
                number,
            ),
            *(datetime.date(2020, 1, 3), datetime.datetime(2020, 1, 3), uuid.UUID(int=3), 1j, object()),
            *(np.int32(5), np.float64(5), np.str_(text), np.bool_(True), bytearray(b"x"), datetime.time(1)),
        ],
        "width": [
            *(number + 2**31, number + 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**40),
            *(
                f"00{text}",
                f"{text} ",
                f" {text}",
                f"{text}\0",
                text * 50,
                f"{text}.0",
                "1e3",
                "0x1f",
                "1_000",
            ),
        ],
        "sign": [-number, -(2**63), -(2**63) - 1, f"-{text}", f"+{text}", "-0", -0.0, decimal.Decimal("-0")],
        "encoding": [
            *("e\u0301", "é", b"\xff\xfe", "\ud800", "\ufeff" + text, "\u200b" + text, "１", text.upper()),
            *("a\tb", 'a"b', "a,b", "a;b", "a\nb", "a\rb", "#a", "'a", "\0", "\x1b[1m", "ß", "SS", "%a"),
        ],
        "null": [
            None,
            float("nan"),
            "",
            "null",
            "NULL",
            "NaN",
            "nan",
            "NA",
            "None",
            "<NA>",
            np.datetime64("NaT"),
        ],
        "nesting": [[value], (value,), {"a": value}, {value}, [[value]], np.array([1, 2]), ((value,),), []],
        "none": [value],
    }[how]
    return draw.choice(choices)


class Table:
    """The pairs of a case, as columns of Python values."""

    def __init__(self, draw):
        self.kind, self.how = draw.choice(KINDS), draw.choice(CORRUPTIONS)
        ids = ids_of(draw, self.kind)
        self.columns = [[draw.choice(ids) for _ in range(draw.randint(3, 7))]]
        self.columns.append([draw.choice(ids) for _ in self.columns[0]])
        side, row = draw.randrange(2), draw.randrange(len(self.columns[0]))
        self.columns[side][row] = corrupted(draw, self.columns[side][row], self.how)
        self.drop = draw.random() < 0.2

    def options(self):
        return {"null": "drop"} if self.drop else {}


def is_null(value):
    """Whether a value stands for a missing one."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and value != value


def key_of(value):
    """What tells whether two values are one vertex: their kind and the value."""
    if isinstance(value, bool | np.bool_):
        return "bool", bool(value)
    if isinstance(value, int | np.integer):
        return "integer", int(value)
    if isinstance(value, decimal.Decimal):
        return ("integer", int(value)) if value == value.to_integral_value() else ("decimal", value)
    if isinstance(value, float | np.floating):
        return "float", float(value)
    if isinstance(value, str):
        return "string", str(value)
    if isinstance(value, bytes | bytearray):
        return "bytes", bytes(value)
    if isinstance(value, datetime.datetime):
        return "timestamp", value
    if isinstance(value, tuple):
        return "tuple", tuple(map(key_of, value))
    return type(value).__name__, value if type(value).__hash__ else id(value)


def clusters_of(pairs):
    """Clusters of pairs of keys, by union-find: a set of frozen sets."""
    parent = {}

    def root(key):
        parent.setdefault(key, key)
        while parent[key] != key:
            key = parent[key]
        return key

    for left, right in pairs:
        parent[root(left)] = root(right)
    found = {}
    for key in list(parent):
        found.setdefault(root(key), set()).add(key)
    return {frozenset(one) for one in found.values()}


def as_bytes(columns):
    """The columns of a typed table: where one of them holds bytes, strings are compared by theirs."""
    kinds = {type(value) for column in columns for value in column}
    if not {str, bytes} <= kinds:
        return columns
    return [[value.encode() if isinstance(value, str) else value for value in column] for column in columns]


def is_sound(keys):
    """Whether values must be accepted: all of one kind of ids, and integers of one type of 64 bits."""
    kinds = {kind for kind, _ in keys}
    if kinds == {"integer"}:
        numbers = [number for _, number in keys]
        return min(numbers) >= -(2**63) and max(numbers) < (2**63 if min(numbers) < 0 else 2**64)
    if kinds == {"string"}:
        return not any("\ud800" <= mark <= "\udfff" for _, text in keys for mark in text)
    return len(kinds) == 1 and kinds <= {"bytes", "UUID", "date", "timestamp"}


def result(graph, make=key_of):
    """The clusters of a graph, as sets of keys."""
    import edgewise as ew

    return {frozenset(map(make, one)) for one in ew.connected_components(graph).sets()}


def expected(columns, drop):
    """Clusters by the oracle, and whether the values must be accepted; ``None`` if a null must be refused."""
    pairs = list(zip(*columns, strict=True))
    kept = [pair for pair in pairs if not any(map(is_null, pair))]
    if len(kept) < len(pairs) and not drop:
        return None, False
    pairs = [tuple(map(key_of, pair)) for pair in kept]
    decimals = {isinstance(value, decimal.Decimal) for pair in kept for value in pair}
    odd = any(isinstance(value, np.datetime64) for pair in columns for value in pair)
    sound = len(decimals) == 1 and not odd and is_sound([key for pair in pairs for key in pair])
    return clusters_of(pairs), sound


def objects(values):
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array


def by_edges(draw, table, folder):
    """Through ``from_edges``, in one of its forms."""
    import pandas as pd

    import edgewise as ew

    convert = draw.choice((list, tuple, objects, lambda values: pd.Series(values, dtype=object)))
    left, right = table.columns
    return expected(table.columns, False), lambda: result(ew.Graph.from_edges(convert(left), convert(right)))


def arrow_columns(draw, columns):
    """The columns in Arrow, which holds one type: a mixed column becomes text, or the pairs are unfit."""
    import pyarrow as pa

    made = []
    for column in columns:
        try:
            array = pa.array(column)
            array.to_pylist()  # not all dates of Arrow are dates of Python
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            try:
                array = pa.array([None if is_null(value) else str(value) for value in column])
            except (pa.ArrowException, UnicodeEncodeError):
                return None
        kinds = [
            pa.large_string(),
            pa.string_view(),
            pa.dictionary(pa.int32(), array.type),
            pa.large_binary(),
        ]
        kinds += [
            pa.uint64(),
            pa.int8(),
            pa.decimal128(38, 0),
            pa.binary_view(),
            pa.date64(),
            pa.timestamp("ns"),
        ]
        try:
            changed = array.cast(draw.choice(kinds)) if draw.random() < 0.3 else array
            changed.to_pylist()
            array = changed
        except (pa.ArrowException, OverflowError, ValueError):
            pass
        made.append(array)
    return made


def by_frame(draw, table, folder):
    """Through ``from_frame``, of one of the libraries."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    import edgewise as ew

    make = draw.choice(("dict", "objects", "pandas", "polars", "arrow"))
    columns = table.columns
    if make == "arrow":
        if (made := arrow_columns(draw, columns)) is None:
            return None
        frame, columns = (
            pa.table(dict(zip("ab", made, strict=True))),
            as_bytes([one.to_pylist() for one in made]),
        )
    elif make == "polars":
        try:
            frame = pl.DataFrame(dict(zip("ab", columns, strict=True)))
            columns = as_bytes([frame[name].to_list() for name in "ab"])
        except Exception:
            return None
    else:
        convert = objects if make == "objects" else list
        frame = {name: convert(column) for name, column in zip("ab", columns, strict=True)}
        if make == "pandas":
            frame = pd.DataFrame({name: objects(column) for name, column in zip("ab", columns, strict=True)})
    wanted, sound = expected(columns, table.drop)
    return (wanted, sound), lambda: result(ew.Graph.from_frame(frame, "a", "b", **table.options()))


def by_binary(suffix):
    """Through Parquet or Arrow files."""

    def through(draw, table, folder):
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet

        import edgewise as ew

        if (made := arrow_columns(draw, table.columns)) is None:
            return None
        path, frame = f"{folder}/a.{suffix}", pa.table(dict(zip("ab", made, strict=True)))
        write = pyarrow.parquet.write_table if suffix == "parquet" else pyarrow.feather.write_feather
        try:
            write(frame, path)
        except pa.ArrowException:
            return None
        stream = draw.random() < 0.4

        def read():
            if stream:
                found = ew.stream_components(path, source="a", target="b", **table.options())
                return {frozenset(map(key_of, one)) for one in found.sets()}
            return result(ew.read(path, source="a", target="b", **table.options()))

        return expected(as_bytes([one.to_pylist() for one in made]), table.drop), read

    return through


def by_csv(draw, table, folder):
    """Through a CSV file: blanks around a text are none of it, and an empty one is missing."""
    import csv

    import edgewise as ew

    texts = [["" if is_null(value) else str(value) for value in column] for column in table.columns]
    path = Path(folder) / "a.csv"
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("a", "b"), *zip(*texts, strict=True)])
    except UnicodeEncodeError:
        return None
    texts = [[None if text.strip(" \t") == "" else text.strip(" \t") for text in column] for column in texts]
    wanted, _ = expected(texts, table.drop)
    return (wanted, False), lambda: result(
        ew.read(path, source="a", target="b", **table.options()), lambda one: ("string", str(one))
    )


def by_jsonl(draw, table, folder):
    """Through JSON Lines, where what JSON does not know is text."""
    import edgewise as ew

    path = Path(folder) / "a.jsonl"
    columns = [
        [value.item() if isinstance(value, np.generic) else value for value in column]
        for column in table.columns
    ]

    def plain(value):
        return (
            None
            if is_null(value)
            else value
            if isinstance(value, str | int | float | list | dict)
            else str(value)
        )

    columns = [[plain(value) for value in column] for column in columns]
    try:
        text = "".join(
            json.dumps({"a": a, "b": b}, ensure_ascii=draw.random() < 0.5, default=str) + "\n"
            for a, b in zip(*columns, strict=True)
        )
        path.write_text(text, "utf-8")
    except (UnicodeEncodeError, TypeError):
        return None
    return expected(columns, table.drop), lambda: result(
        ew.read(path, source="a", target="b", **table.options())
    )


THROUGH = {
    "from_edges": by_edges,
    "from_frame": by_frame,
    "csv": by_csv,
    "parquet": by_binary("parquet"),
    "arrow": by_binary("arrow"),
    "jsonl": by_jsonl,
}


def check(way, draw, table, folder):
    """Outcome of a case by one way in, and what tells more of it."""
    from edgewise.errors import EdgewiseError

    made = THROUGH[way](draw, table, folder)
    if made is None:
        return "unfit", ""  # no such table can be made
    (wanted, sound), read = made
    try:
        found = read()
    except EdgewiseError as error:
        if "\n" in str(error) or len(str(error)) > 1000:
            return "unclear", str(error)
        return ("needless refusal" if sound else "refused"), str(error)
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    if wanted is None:
        return "wrong", f"a null was accepted: {found}"
    return ("equal", "") if found == wanted else ("wrong", f"{found} for {wanted}")


def run(number, seed):
    """Run one case by every way in; return the outcomes."""
    outcomes = []
    for way in WAYS:
        draw = random.Random(f"{seed} {number}")
        table = Table(draw)
        with tempfile.TemporaryDirectory() as folder:
            outcome, what = check(way, random.Random(f"{seed} {number} {way}"), table, folder)
        told = f"{way}, {table.kind}: {what} of {table.columns}"[:900]
        outcomes.append([outcome, table.how, told])
    return outcomes


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    return batches.main(__file__, run, RIGHT, arguments)


if __name__ == "__main__":
    sys.exit(not set(main()) <= RIGHT)
