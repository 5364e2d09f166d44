"""The ways from tables to clusters: what is known of the pairs beforehand, and which way a limit leads to."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import edgewise as ew
from edgewise import memory
from edgewise.command import run
from edgewise.command.expected import pairs_in
from edgewise.device.target import INTERPRETED
from edgewise.errors import OutOfMemoryError
from edgewise.streams import ways
from edgewise.streams.way_names import ALL, IN_MEMORY, ON_DISK, STREAMED
from edgewise.streams.ways import BASE, Pairs, Way

pytestmark = pytest.mark.interpreter
ROWS, IDS = 3000, 500


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """The same pairs as numbers and as strings, with a score, in Parquet and in CSV: by name."""
    folder, draw = tmp_path_factory.mktemp("pairs"), np.random.default_rng(1)
    ends, score = draw.integers(0, IDS, (2, ROWS)), draw.random(ROWS)
    files = {}
    for kind, columns in {
        "numbers": ends,
        "strings": [[f"r{one:04}" for one in end] for end in ends],
    }.items():
        table = pa.table({"left": columns[0], "right": columns[1], "score": score})
        files[kind], files[f"{kind} as text"] = (str(folder / f"{kind}.{end}") for end in ("parquet", "csv"))
        parquet.write_table(table, files[kind])
        csv.write_csv(table, files[f"{kind} as text"])
    return files


def test_what_is_known_beforehand(pairs):
    known = pairs_in([pairs["numbers"]], {}, None)
    assert known.rows == ROWS and known.ids == "dense" and known.end <= IDS and known.exact
    assert 0.9 * IDS <= known.distinct <= IDS
    some = pairs_in([pairs["numbers"]], {"where": "score >= 0.75"}, None)
    assert 0.2 * ROWS < some.rows < 0.3 * ROWS and not some.exact
    strings = pairs_in([pairs["strings"]], {}, None)
    assert (
        strings.ids == "strings" and 0.9 * IDS <= strings.distinct <= 1.1 * IDS and 5 <= strings.length <= 10
    )
    text = pairs_in([pairs["strings as text"]], {}, None)
    assert ROWS / 3 < text.rows < 3 * ROWS and not text.exact


def test_distinct_ids_of_a_sample():
    draw = np.random.default_rng(2)
    for ids, total, drawn in ((1000, 100_000, 2000), (50_000, 100_000, 5000), (10**7, 10**6, 10**5)):
        every = draw.integers(0, ids, total)
        found = ways.distinct_among(len(np.unique(every[:drawn])), drawn, total)
        assert 0.8 < found / len(np.unique(every)) < 1.25


def test_the_first_way_that_fits():
    found = [Way(IN_MEMORY, 8 * 10**9, 0), Way(STREAMED, 2 * 10**9, 0), Way(ON_DISK, 5 * 10**8, 10**9)]
    for most, name in ((9e9, IN_MEMORY), (7e9, STREAMED), (1e9, ON_DISK)):
        assert (
            ways.first_that_fits(found, ALL, memory.MemoryLimit(int(most), memory.held(), "x")).name == name
        )
    limit = memory.MemoryLimit(10**9, memory.held(), memory.GIVEN)
    needs = (
        r"the job needs 8 GB in memory, 2 GB streamed, 500 MB on disk, and memory= is 1 GB; give 2.2 GB, or "
    )
    with pytest.raises(OutOfMemoryError, match=needs + "name a new folder with -o FOLDER/"):
        ways.first_that_fits(found, (IN_MEMORY, STREAMED), limit)


def test_what_the_ways_need_grows_with_rows_and_ids():
    small = Pairs(10**6, "strings", 10**6, 0, 20.0, True)
    assert [way.name for way in ways.ways_of(small, weighted=True)] == ["in memory", "streamed"]
    for few, many in zip(ways.ways_of(small), ways.ways_of(small._replace(rows=10**9, distinct=10**8))):
        assert BASE < few.bytes < many.bytes
    dense = ways.ways_of(Pairs(10**9, "dense", 10**8, 10**8, 0.0, True))
    assert [way.name for way in dense] == list(ALL)
    assert dense[0].bytes > dense[1].bytes > dense[2].bytes


@pytest.mark.parametrize("kind", ["numbers", "strings"])
def test_the_table_is_the_same_by_each_way(pairs, kind, tmp_path, capsys, monkeypatch):
    expected = ew.connected_components(ew.read(pairs[kind], weight=False)).to_frame()
    for name in ALL[: 3 if kind == "numbers" else 2]:
        monkeypatch.setattr(ways, "ways_of", lambda *known, name=name: [Way(name, 1, 0)])
        out = tmp_path / name.replace(" ", "-")
        assert (
            run(["components", pairs[kind], "--memory", "1TB", "-o", f"{out}/", "--json", "--device", "cpu"])
            == 0
        )
        assert json.loads(capsys.readouterr().out)["way"] == name
        tables = [parquet.read_table(file) for file in sorted(out.glob("*.parquet"))]
        assert pa.concat_tables(tables).equals(expected)


def test_forests_are_streamed_where_they_must(pairs, tmp_path, capsys, monkeypatch):
    file, rows = tmp_path / "pairs.parquet", 300 if INTERPRETED else ROWS
    parquet.write_table(parquet.read_table(pairs["numbers"]).slice(0, rows), file)
    tables = []
    for number, name in enumerate((IN_MEMORY, STREAMED)):
        monkeypatch.setattr(ways, "ways_of_forest", lambda known, name=name: [Way(name, 1, 0)])
        out = tmp_path / f"{number}.parquet"
        words = ["forest", str(file), "--weight", "score", "--maximum", "--memory", "1TB"]
        assert run([*words, "-o", str(out), "--json", "--device", "cpu"]) == 0
        assert json.loads(capsys.readouterr().out)["way"] == name
        tables.append(parquet.read_table(out))
    assert tables[0].equals(tables[1])
    monkeypatch.undo()
    assert run(["forest", str(file), "--weight", "score", "--maximum", "--memory", "1 MB"]) == 2
    assert "the job needs " in capsys.readouterr().err


def test_commands_are_refused_before_they_begin(pairs, tmp_path, capsys):
    out = tmp_path / "out.csv"
    for words in (["components", pairs["numbers"]], ["components", pairs["strings"], "--verify"]):
        assert run([*words, "--memory", "1 MB", "-o", str(out)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("edgewise: the job needs ") and "--memory is 1 MB; give " in error
    assert run(["cores", pairs["numbers"], "--memory", "1 MB", "-o", str(out), "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "edgewise: the job on 500 vertices and 3,000 edges needs 110 MB in all, and --mem"
    )
    assert not out.exists()


def test_calls_are_refused_before_they_begin(pairs, tmp_path):
    for kind in ("numbers", "strings"):
        with pytest.raises(
            OutOfMemoryError, match=r"needs \d+ MB on disk, and memory= is 20 MB; give \d+ MB$"
        ):
            ew.stream_components(pairs[kind], output=tmp_path / "out", memory="20 MB")
    assert not (tmp_path / "out").exists()


def test_plan(pairs, capsys):
    assert run(["plan", pairs["numbers"], "--memory", "400 MB"]) == 0
    out = capsys.readouterr().out
    assert f"pairs         {ROWS:,}\n" in out and "memory limit  400 MB (--memory)\n" in out
    assert out.endswith("so            the job is done in memory\n")
    assert run(["plan", pairs["numbers"], "--memory", "1 MB", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["chosen"] is None and facts["rows"] == ROWS and list(facts["ways"]) == list(ALL)
    assert facts["memory_limit"]["source"] == "--memory"
