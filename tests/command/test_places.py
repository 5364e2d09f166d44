"""``edgewise paths`` with isochrones, nearest places, and files of ids."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from edgewise.command import run

ROADS = "from,to,km\na,b,2\nb,c,3\na,c,9\nc,d,1\nx,y,4\n"


@pytest.fixture
def roads(tmp_path, monkeypatch):
    """A small file of weighted edges, and files of ids, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text(ROADS)
    Path("shops.txt").write_text("d\n\n x \n")
    Path("shops.csv").write_text("name,id\nnorth,d\nsouth,x\n")
    Path("named.csv").write_text("name,junction\nnorth,d\nsouth,x\n")
    Path("none.txt").write_text("\n")
    pyarrow.parquet.write_table(pa.table({"id": ["d", "x", None]}), "shops.parquet")
    return "roads.csv"


def rows_of(capsys, *words):
    assert run(["paths", *words, "--quiet", "--output-format", "jsonl"]) == 0, capsys.readouterr().err
    return [tuple(json.loads(line).values()) for line in capsys.readouterr().out.splitlines()]


def facts_of(capsys, *words):
    assert run(["paths", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_isochrones(roads, capsys):
    found = rows_of(capsys, roads, "--isochrones", "2,5.5", "--source", "a", "--source", "x")
    assert found[:3] == [("a", "a", 0, 2.0), ("a", "b", 2, 2.0), ("a", "c", 5, 5.5)]
    assert found[3:] == [("x", "x", 0, 2.0), ("x", "y", 4, 5.5)]
    facts = facts_of(capsys, roads, "--isochrones", "5", "--sources", "shops.txt", "--verify")
    assert (facts["sources"], facts["cutoffs"], facts["counts"]) == (["d", "x"], [5], [[3], [2]])
    assert (facts["method"], facts["verified"], facts["weights"]) == ("bounded-search", True, "km")
    assert facts_of(capsys, roads, "--isochrones", "1", "--source", "a", "--bfs")["counts"] == [[3]]


def test_one_way_streets(roads, capsys):
    words = (roads, "--directed", "--isochrones", "5", "--source", "c")
    assert [row[1] for row in rows_of(capsys, *words)] == ["c", "d"]
    assert [row[1] for row in rows_of(capsys, *words, "--direction", "to")] == ["a", "b", "c"]
    words = (roads, "--directed", "--nearest", "shops.txt", "--source", "c", "--source", "y")
    assert rows_of(capsys, *words) == [("c", 1, "d", 1)]
    assert rows_of(capsys, *words, "--direction", "from") == [("y", 1, "x", 4)]


@pytest.mark.parametrize("file", ["shops.txt", "shops.csv", "shops.parquet"])
def test_the_nearest_places_of_a_file(roads, file, capsys):
    found = rows_of(capsys, roads, "--nearest", file, "--k", "2", "--cutoff", "5")
    assert found == [("b", 1, "d", 4), ("c", 1, "d", 1), ("d", 1, "d", 0), ("x", 1, "x", 0), ("y", 1, "x", 4)]
    facts = facts_of(capsys, roads, "--nearest", file, "-o", "near.parquet")
    assert (facts["places"], facts["k"], facts["reached"], facts["furthest"]) == (2, 1, 6, 6)
    assert len(pyarrow.parquet.read_table("near.parquet")) == 6


def test_a_column_of_ids(roads, capsys):
    words = (roads, "--nearest", "named.csv", "--source", "a")
    assert rows_of(capsys, *words, "--id-column", "junction") == [("a", 1, "d", 6)]
    assert run(["paths", *words]) == 2
    assert "choose with --id-column (columns: name, junction)" in capsys.readouterr().err


def test_sources_of_a_search_in_a_file(roads, capsys):
    facts = facts_of(capsys, roads, "--sources", "shops.txt", "--targets", "shops.csv")
    assert facts["sources"] == ["d", "x"] and [one["to"] for one in facts["paths"]] == ["d", "x"]
    assert run(["paths", roads, "--source", "a", "--targets", "shops.txt", "-q"]) == 0
    assert capsys.readouterr().out.splitlines() == ["d: 6 by a -> b -> c -> d", "x: no path"]


def test_a_table(roads, capsys):
    words = (roads, "--table", "--source", "a", "--source", "b", "--to", "c", "--targets", "shops.txt")
    found = [("a", "c", 5), ("a", "d", 6), ("b", "c", 3), ("b", "d", 4)]
    assert rows_of(capsys, *words) == found
    facts = facts_of(capsys, *words, "-o", "table.npy", "--verify")
    assert (facts["shape"], facts["output"]) == ([2, 3], "table.npy")
    assert np.load("table.npy")[:, :2].tolist() == [[5, 6], [3, 4]]


def test_a_prepared_graph(roads, capsys):
    words = (roads, "--table", "--source", "a", "--to", "c", "--to", "d", "--prepare", "roads.routes")
    for _ in range(2):
        facts = facts_of(capsys, *words, "-o", "table.npy", "--verify")
        assert facts["method"] == "phast" and "prepare" in facts["seconds"]
        assert np.load("table.npy").tolist() == [[5, 6]]
    assert rows_of(capsys, roads, "--source", "b", "--prepare", "roads.routes")[0] == ("a", 2)
    Path("roads.csv").write_text(ROADS.replace("2", "3"))
    assert run(["paths", *words]) == 2
    assert capsys.readouterr().err.startswith("edgewise: roads.routes: ")
    Path("roads.routes").write_text("something else")
    assert run(["paths", *words]) == 2
    assert capsys.readouterr().err.startswith("edgewise: roads.routes: ")


REFUSED = {
    "--isochrones 5": "isochrones of what? give --source ID or --sources FILE",
    "--isochrones five --source a": "--isochrones five are no distances; give numbers of 0 or more such",
    "--isochrones 5,-1 --source a": "--isochrones 5,-1 are no distances",
    "--isochrones nan --source a": "--isochrones nan are no distances",
    "--isochrones 5 --source a --to b": "--to is for a search from --source alone and --table; leave",
    "--isochrones 5 --source a --cutoff 3": "--cutoff is for a search from --source alone and --nearest;",
    "--isochrones 5 --source a --k 3": "--k is for --nearest; leave it out",
    "--isochrones 5 --source a --table": "--table and --isochrones are two jobs; give one of the two",
    "--isochrones 5 --source a --method dijkstra": "method dijkstra is of another search; use auto",
    "--isochrones 5 --source a --dtype int64": "--dtype is for",
    "--isochrones 5 --source z": "vertex 'z' is not in the graph",
    "--isochrones 5 --sources none.txt": "none.txt: has no ids; give one a line, or a table with a column",
    "--isochrones 5 --sources absent.txt": "absent.txt: ",
    "--nearest absent.csv": "absent.csv: ",
    "--nearest shops.txt --device cuda": "--nearest is found on the CPU; leave out --device",
    "--nearest shops.txt --scheduler local:2": "--scheduler is for --all-pairs and --measures; leave it out",
    "--nearest shops.txt --parents": "--parents is for a search from --source alone; leave out --nearest",
    "--isochrones 5 --source a --prepare x.routes": "--prepare is for",
    "--source a --bfs --prepare x.routes": "--prepare means nothing with --bfs and --source; leave it out",
    "--table --source a --to b --prepare no/x.routes": "no/x.routes: the folder no does not exist",
    "--table --source a": "a table to where? give --to ID or --targets FILE; or --all-pairs",
    "--table --to a": "a table from where? give --source ID or --sources FILE",
    "--source a --direction to": "--direction is for --isochrones and --nearest; leave it out",
    "--sources shops.txt --measures": "--sources means nothing with --measures; leave it out",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(roads, words, capsys):
    assert run(["paths", roads, *words.split()]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"edgewise: {REFUSED[words]}") and printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_graph_without_weights(tmp_path, capsys):
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n")
    words = ["paths", str(tmp_path / "edges.txt"), "--isochrones", "1", "--source", "1"]
    assert run(words) == 2
    assert "has no weights; count edges with --bfs" in capsys.readouterr().err
    assert run([*words, "--bfs", "-q"]) == 0
