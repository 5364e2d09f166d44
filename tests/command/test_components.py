"""``edgewise components``: pairs in, clusters out."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.components import METHODS
from edgewise.device.target import SIMULATED

COLUMNS = ["--source", "left_id", "--target", "right_id"]
CONFIDENT = [*COLUMNS, "--where", "score >= 0.9"]


def clusters(table):
    """Sets of ids that share a component."""
    together = {}
    for row in table.to_pylist():
        together.setdefault(row["component"], set()).add(row["id"])
    return sorted(map(sorted, together.values()))


def test_shows_the_head_of_the_table_and_a_closing_line(pairs, terminal):
    assert run(["components", str(pairs), *CONFIDENT]) == 0
    out, err = terminal.readouterr()
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["id", "component"]
    assert [line.split()[0] for line in lines[1:-1]] == ["ann", "anne", "anna", "bob", "rob", "carl", "karl"]
    assert lines[-1].startswith("7 vertices, 4 edges: 3 components, the largest of 3; read ")
    assert err == ""


@pytest.mark.parametrize("ending", ("parquet", "csv"))
def test_writes_the_table(pairs, ending, capsys, tmp_path):
    output = tmp_path / f"clusters.{ending}"
    assert run(["components", str(pairs), *CONFIDENT, "-o", str(output), "--verify"]) == 0
    reader = pyarrow.parquet.read_table if ending == "parquet" else pyarrow.csv.read_csv
    assert clusters(reader(output)) == [["ann", "anna", "anne"], ["bob", "rob"], ["carl", "karl"]]
    assert f"-> {output}" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == sorted([pairs, output])


def test_json(pairs, capsys):
    assert (
        run(["components", str(pairs), *COLUMNS, "--json", "--verify", "--device", "cpu", "--threads", "2"])
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vertices"], facts["edges"], facts["components"], facts["largest"]) == (7, 5, 2, 5)
    assert (facts["device"], facts["threads"], facts["verified"], facts["output"]) == ("cpu", 2, True, None)
    assert list(facts["seconds"]) == ["read", "compute", "verify"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(pairs, method, capsys):
    assert run(["components", str(pairs), *COLUMNS, "--method", method, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["method"], facts["components"]) == (method, 2)


def test_quiet_says_nothing_once_the_table_is_written(pairs, capsys, tmp_path):
    assert run(["components", str(pairs), *COLUMNS, "-o", str(tmp_path / "c.csv"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_profile_prints_a_tree(pairs, terminal):
    assert run(["components", str(pairs), *COLUMNS, "--quiet", "--profile"]) == 0
    lines = terminal.readouterr().err.splitlines()
    assert lines[0].startswith("edgewise")
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [
        "read",
        "compute",
    ]


def test_picture(pairs, capsys, tmp_path):
    assert run(["components", str(pairs), *COLUMNS, "--plot", str(tmp_path / "sizes.png"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plot"].endswith("sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 1000


def test_missing_ends(pairs, capsys):
    pairs.write_text(pairs.read_text() + "dan,,0.99\n")
    assert run(["components", str(pairs), *COLUMNS]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "drop" in err
    assert run(["components", str(pairs), *COLUMNS, "--null", "drop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["components"] == 2


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_scores_that_serve_nothing_are_not_read(pairs, suffix, capsys, tmp_path):
    table = pa.table({"l": ["ann", "bob", "dan"], "r": ["bob", "eve", "eli"], "score": [0.9, None, 0.7]})
    ew.write(table, path := tmp_path / f"scores.{suffix}")
    assert run(["components", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["components"] == 2
    assert run(["components", str(path), "--null", "drop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == 2  # as it says of the score
    for words in (["--weight", "score"], ["--max-size", "2"]):
        assert run(["components", str(path), *words]) == 2
        assert "score" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--source", "left", "--target", "right_id"], "left_id"),
        ([*COLUMNS, "--where", "points > 1"], "points"),
        ([*COLUMNS, "--where", "score >"], "score"),
        ([*COLUMNS, "--where", '"score" > 0.9'], "`score`"),
        (
            [*COLUMNS, "--where", "score <> 'it''s' AND x = \"y\" x"],
            "--where score <> 'it''s' AND x = \"y\" x: 'x'",
        ),
        ([*COLUMNS, "--null", "ignore"], "ignore"),
        ([*COLUMNS, "--format", "papyrus"], "papyrus"),
        ([*COLUMNS, "-o", "clusters.xyz"], "clusters.xyz"),
        ([*COLUMNS, "--plot", "sizes.xyz"], "sizes.xyz"),
    ],
)
def test_mistakes_name_what_is_there(pairs, options, words, capsys, tmp_path):
    assert run(["components", str(pairs), *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert list(tmp_path.iterdir()) == [pairs]


@pytest.mark.simulator
@pytest.mark.skipif(not SIMULATED, reason="needs the simulator's engine")
def test_on_the_simulated_gpu(pairs, capsys):
    assert run(["components", str(pairs), *COLUMNS, "--device", "cuda", "--json", "--verify"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["device"], facts["components"], facts["threads"]) == ("cuda:0", 2, None)


@pytest.mark.gpu
def test_on_the_gpu(pairs, capsys):
    assert run(["components", str(pairs), *COLUMNS, "--device", "cuda", "--json", "--verify"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cuda:0"
