"""``edgewise bench``: tables on the screen, a folder of everything, mistakes in one line."""

import json

import pytest

from edgewise.command import run
from edgewise.components import METHODS

TINY = ["bench", "components", "--size", "tiny", "--devices", "cpu:0,cpu:1", "--runs", "1"]
WEAK = [*TINY, "--preset", "hellas-2018", "--only", "weak"]


def test_prints_the_tables(capsys):
    assert run(WEAK) == 0
    out, err = capsys.readouterr()
    machine, note, tables = out.split("\n\n", 2)
    assert "cores" in machine
    assert note == "The graphs are tiny, for tests of the program: the times mean nothing."
    assert tables.startswith(
        "Weak scaling: as many copies as devices (Hellås 2018, 6.3.5, Fig. 6.41 and 6.42)\n"
    )
    assert out.splitlines()[-1].startswith("hellas-2018, size tiny: 1 table, 2 rows; measured ")
    assert err == ""


def test_folder_of_tables_pictures_and_figures(capsys, tmp_path):
    folder = tmp_path / "found"
    assert run([*WEAK, "-o", str(folder)]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"-> {folder}")
    assert sorted(path.name for path in folder.iterdir()) == [
        "hellas-2018.json",
        "hellas-2018.md",
        "weak.png",
    ]
    facts = json.loads((folder / "hellas-2018.json").read_text())
    assert (facts["preset"], facts["size"], facts["runs"]) == ("hellas-2018", "tiny", 1)
    assert len(facts["tables"][0]["rows"]) == 2
    assert facts["machine"]["cores"]
    assert (folder / "hellas-2018.md").read_text().split("\n\n")[2].startswith("## Weak scaling")


def test_bars(capsys, tmp_path):
    assert run([*TINY, "--preset", "baltzakis", "-o", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "widths.png").stat().st_size > 1000


def test_json(capsys):
    assert run([*WEAK, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in facts["tables"]] == ["weak"]
    assert "measure" in facts["seconds"]


def test_searches(capsys, tmp_path):
    command = ["bench", "paths", "--preset", "harish", "--size", "tiny", "--devices", "cpu:0", "--runs", "1"]
    assert run([*command, "--only", "degree", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.split("\n\n")[2] == "BFS and SSSP over the degree, weights 1 to 10 (Harish 2007, Fig. 7)"
    assert (tmp_path / "degree.png").stat().st_size > 1000
    assert run(["bench", "paths", "--preset", "baltzakis"]) == 2
    assert "harish" in capsys.readouterr().err


def test_a_graph_of_the_user(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text("a,b\nann,anne\nbob,rob\n")
    command = ["pairs.csv", "--only", "components", "--runs", "1", "--no-peers"]
    assert run(["bench", *command, "-o", "found.html"]) == 0
    out = capsys.readouterr().out
    assert out.split("\n\n")[1] == "Connected components: labels (this machine)"
    assert out.splitlines()[-1].startswith("4 vertices, 2 edges; read ")
    assert (tmp_path / "found.html").read_text().startswith("<!DOCTYPE html>")
    assert run(["bench", "graph", *command, "-o", "folder", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["preset"] == "pairs"
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == [
        "components.png",
        "pairs.json",
        "pairs.md",
    ]
    assert run(["bench", "missing.csv"]) == 2
    assert "missing.csv" in capsys.readouterr().err


@pytest.mark.interpreter
def test_methods_kept_for_comparison(capsys, tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b\nann,anne\nbob,rob\n")
    command = [
        "bench",
        str(tmp_path / "pairs.csv"),
        "--only",
        "components",
        "--runs",
        "1",
        "--no-peers",
        "--json",
    ]
    methods = []
    for baselines in ([], ["--baselines"]):
        assert run([*command, *baselines]) == 0
        (table,) = json.loads(capsys.readouterr().out)["tables"]
        methods.append({row["method"] for row in table["rows"]})
    assert methods[0] < methods[1]
    assert methods[1] - methods[0] == {name for name, method in METHODS.items() if method.baseline}


@pytest.mark.interpreter
def test_a_further_graph_of_an_experiment(capsys, tmp_path):
    (tmp_path / "ring.txt").write_text("".join(f"{vertex} {(vertex + 1) % 12}\n" for vertex in range(12)))
    given = ["--graph", str(tmp_path / "ring.txt"), "--size", "tiny", "--devices", "cpu:0", "--runs", "1"]
    assert run(["bench", "cycles", "--preset", "cs406", *given, "--without", "amazon", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert {row["graph"] for table in tables for row in table["rows"]} == {"ring"}
    assert run(["bench", "components", "--preset", "baltzakis", *given]) == 2
    assert "graph 'ring' is unknown; use one of kmer_A2a" in capsys.readouterr().err


def test_a_preset_ends_when_time_is_up(capsys):
    given = ["--size", "tiny", "--devices", "cpu:0", "--runs", "1", "--minutes"]
    assert run(["bench", "components", "--preset", "baltzakis", *given, "0"]) == 0
    assert "Left out for lack of time: kmer_A2a, rgg_n_2_24_s0, Queen_4147." in capsys.readouterr().out
    assert run(["bench", "components", "--preset", "baltzakis", *given, "-1"]) == 2
    assert "--minutes" in capsys.readouterr().err


def test_one_page_of_all_publications(capsys, tmp_path):
    path = tmp_path / "all.html"
    command = ["bench", "report", "--size", "tiny", "--runs", "1", "--devices", "cpu:0"]
    assert run([*command, "--presets", "baltzakis", "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith("1 preset, 1 table; measured ")
    assert "<h2>baltzakis</h2>" in path.read_text()
    assert run([*command, "--presets", "balzakis", "-o", str(path)]) == 2
    assert "baltzakis" in capsys.readouterr().err
    assert run(command) == 2
    assert "-o" in capsys.readouterr().err


def test_a_group_alone_shows_its_help(capsys):
    assert run(["bench"]) == 0
    assert "components" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset", "hellas"], "hellas-2018"),
        ([], "--preset"),
        (["--preset", "baltzakis", "--size", "huge"], "small"),
        (["--preset", "baltzakis", "--devices", "cuda:57"], "cuda:57"),
        (["--preset", "baltzakis", "--devices", "cpu:0,cpu:0"], "twice"),
        (["--preset", "baltzakis", "--only", "width"], "widths"),
        (["--preset", "baltzakis", "--without", "queen"], "Queen_4147"),
        (["--preset", "baltzakis", "--runs", "0"], "--runs"),
        (["--preset", "baltzakis", "-o", "nowhere/found"], "nowhere"),
    ],
)
def test_mistakes(options, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["bench", "components", *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert list(tmp_path.iterdir()) == []
