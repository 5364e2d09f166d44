"""Ids such as ``007``: never the same vertex as ``7``."""

import random
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.errors import FileError, OptionError
from edgewise.files import text_ids
from edgewise.files.text_ids import ZeroWatch

#: Rows above the one with zeros: more than are looked at to infer the types.
MANY = 20_000


IDS = [
    ("007", "008"),
    ("09", "9"),
    ("7", "-0"),
    ("0x7", "9"),
    ('"007"', "9"),
    (" 007", "9"),
    ("\t007", "9"),
    (" \t-07", "9"),
]
#: Only some below many rows, where all are read by the same rules.
ABOVE = [*product([0, 1], IDS), (MANY, IDS[0]), (MANY, IDS[3]), (MANY, IDS[4])]


@pytest.mark.parametrize(("above", "ids"), ABOVE)
@pytest.mark.parametrize("third", ["", ",0.05"])
def test_a_column_with_one_such_id_is_text(tmp_path, above, ids, third):
    rows = [("7", "9")] * above + [ids, ("7", "9")]
    (tmp_path / "a.csv").write_text("from,to" + ",w" * bool(third) + "\n")
    with open(tmp_path / "a.csv", "a") as file:
        file.writelines(f"{left},{right}{third}\n" for left, right in rows)
    for options in {}, {"source": "from", "target": "to"}:
        graph = ew.read(tmp_path / "a.csv", **options)
        names = {name.strip(' "\t') for row in set(rows) for name in row}
        assert set(graph.ids.to_pylist()) == names
    assert ew.stream_components(tmp_path / "a.csv", source="from", target="to").graph.n_vertices == len(names)
    if ids[0] != "0x7":
        assert ew.read(tmp_path / "a.csv", ids="integer").ids.dtype == "int64"
        return
    with pytest.raises(FileError, match="0x7"):  # no number by the rule
        ew.read(tmp_path / "a.csv", ids="integer")


@pytest.mark.interpreter
@pytest.mark.parametrize("digit", range(10))
def test_a_zero_before_any_digit(tmp_path, digit):
    (tmp_path / "a.csv").write_text(f"from,to\n0{digit},1{digit}\n{digit},1{digit}\n")
    assert set(ew.read(tmp_path / "a.csv").ids.to_pylist()) == {f"0{digit}", f"1{digit}", f"{digit}"}


def test_other_columns_do_not_matter(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("from,to,zip,time\n" + "7,9,007,2026-01-05 08:00\n" * MANY + "8,9,-0,01:00\n")
    graph = ew.read(path, source="from", target="to")
    assert graph.ids.tolist() == [7, 8, 9]
    path.write_text("# 007\n7 9 0.5\n7 8 -0.5\n7 10 00.5\n")
    assert ew.read(path).ids.tolist() == [7, 8, 9, 10]


@pytest.mark.parametrize("second", ["007,8\n", "7,8\n" * MANY + "007,8\n", '"007",8\n'])
def test_a_column_is_of_one_kind_in_all_files(tmp_path, second):
    (tmp_path / "1.csv").write_text("from,to\n7,8\n")
    (tmp_path / "2.csv").write_text("from,to\n" + second)
    for paths in tmp_path, [tmp_path / "2.csv", tmp_path / "1.csv"]:
        assert sorted(ew.read(paths).ids.to_pylist()) == ["007", "7", "8"]
        assert sorted(ew.stream_components(paths).graph.ids.to_pylist()) == ["007", "7", "8"]
    assert ew.read(tmp_path, ids="integer").ids.tolist() == [7, 8]


@pytest.mark.parametrize("large", [2**63 - 1, -(2**63), 2**63, 2**64 - 1])
@pytest.mark.parametrize("above", [0, 1, MANY])
def test_large_ids_are_of_one_kind_however_they_are_read(tmp_path, large, above):
    path = tmp_path / "1.csv"
    path.write_text("from,to\n" + "7,9\n" * above + f"{large},9\n")
    ids = ew.read(path).ids.tolist()
    assert ids[-1] == (str(large) if large >= 2**63 and above else "9" if large >= 2**63 else max(large, 9))
    assert ew.read([path]).ids.tolist() == ew.stream_components(path).graph.ids.tolist() == ids


def test_ids_of_several_text_tables(tmp_path):
    (tmp_path / "1.csv").write_text("from,to,w\n7,8,1\n")
    (tmp_path / "2.tsv").write_text("from\tto\tw\n7\t9\t2\n")
    graph = ew.read(tmp_path, ids="string", where="w > 0")
    assert (graph.ids.to_pylist(), graph.weights.tolist()) == (["7", "8", "9"], [1, 2])
    (tmp_path / "1.csv").write_text("from,to\nx,8\n")
    with pytest.raises(FileError, match=r"1\.csv:2: 2 columns expected, with from \(int64\)"):
        ew.read(tmp_path / "1.csv", ids="integer", where="to > 0")
    (tmp_path / "1.jsonl").write_text('{"from":1,"to":2}\n')
    with pytest.raises(OptionError, match="ids= means nothing for JSON Lines"):
        ew.read(tmp_path / "1.jsonl", ids="string")


@pytest.mark.parametrize("row", ["007 8", "8\t07", " 7  -0", "0x1f 8", "00 8", "7,08", "7, \t08"])
@pytest.mark.parametrize("above", [1, MANY])
def test_edge_lists_name_the_row(tmp_path, row, above):
    path, delimiter = tmp_path / "a.txt", "," if "," in row else " "
    path.write_text(f"7{delimiter}8\n" * above + row + "\n")
    with pytest.raises(
        FileError, match=rf"a.txt:{above + 1}: an id would change .* ids='string'(, or pass ids=|$)"
    ) as caught:
        ew.read(path)
    assert row.replace(delimiter, " ").split()[0] in ew.read(path, ids="string").ids.to_pylist()
    assert ("ids='integer'" in str(caught.value)) == ("x" not in row)
    if "x" not in row:
        assert ew.read(path, ids="integer").n_edges == above + 1
        return
    with pytest.raises(FileError, match="'0x1f' is not an integer"):
        ew.read(path, ids="integer")


def test_isolated_vertices_and_vertex_numbers(tmp_path):
    (tmp_path / "a.txt").write_text("7 8\n09\n9\n")
    with pytest.raises(FileError):
        ew.read(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text("01 02\n02 03\n")
    assert ew.read(tmp_path / "a.txt", one_based=True).n_vertices == 3


@pytest.mark.interpreter
@pytest.mark.parametrize("few_bytes", [0, tuning.CPU.files_zeros], ids=["compiled", "numpy"])
@pytest.mark.parametrize("delimiter", [",", " ", "\t", "|"])
def test_the_watch_sees_every_field_whichever_lines_come_together(delimiter, few_bytes, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, files_zeros=few_bytes))
    monkeypatch.setattr(text_ids, "SMALL", min(few_bytes, text_ids.SMALL))
    fields = ["1", "0", "00", "-0", "-07", "0x1", "-1", "0.5", "-0.5", "1e-05", "05", "100", "2024-01-05"]
    chance = random.Random(1)
    for _ in range(1500):
        chosen = chance.choices(fields, k=6)
        lines = delimiter.join(chosen[:3]) + "\n" + delimiter.join(chosen[3:]) + "\n"
        watch = ZeroWatch(delimiter)
        for block in chance.choice([[lines.encode()], lines.encode().splitlines(keepends=True)]):
            watch(np.frombuffer(block, np.uint8))
        assert watch.found >= any(re.match(r"-?0[\dx]|-0(?!\.)", field) for field in chosen), lines
