"""``edgewise check``: certificates, and tables of any program; mistakes in one line."""

import json

import pytest

from edgewise.certificates import Certificate
from edgewise.command import run

pytestmark = [pytest.mark.interpreter]


@pytest.fixture
def roads(tmp_path, monkeypatch):
    """A graph in a file, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.csv").write_text("source,target,weight\nx,y,3\ny,z,2\nx,z,1\nx,z,4\np,q,5\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["components"], []),
        (["strong"], []),
        (["cores"], []),
        (["forest"], []),
        (["forest", "--maximum"], []),
    ],
    ids=" ".join,
)
def test_a_subcommand_writes_a_certificate_that_is_right(words, more, roads, capsys):
    problem, *how = words
    assert run([problem, "g.csv", *how, "--certificate", "it.npz", "-o", "it.csv", "-q"]) == 0
    assert Certificate.load("it.npz").problem == problem
    assert run(["check", "g.csv", "it.npz"]) == 0
    assert f"the result is right ({problem})" in capsys.readouterr().out
    assert (
        run(["check", "g.csv", "it.csv", "--problem", problem, *how, "--certificate", "own.npz", "--json"])
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["right"] and facts["bytes"] == Certificate.load("own.npz").nbytes


TABLES = {
    "names.csv": ("components", "id,cluster\nx,A\ny,A\nz,A\np,B\nq,B\n", ""),
    "apart.csv": (
        "components",
        "id,cluster\nx,A\ny,A\nz,B\np,C\nq,C\n",
        "; vertex 1 is 'y', vertex 2 is 'z'",
    ),
    "joined.csv": (
        "components",
        "id,cluster\nx,A\ny,A\nz,A\np,A\nq,A\n",
        "are in two trees; vertex 0 is 'x'",
    ),
    "few.csv": ("components", "id,cluster\nx,A\ny,A\nz,A\np,B\n", "has 0 rows for vertex 'q'"),
    "twice.csv": ("cores", "id,core\nx,2\nx,2\ny,2\nz,2\np,1\nq,1\n", "has 2 rows for vertex 'x'"),
    "cores.csv": ("cores", "id,core\nx,2\ny,2\nz,2\np,1\nq,1\n", ""),
    "texts.csv": ("cores", "id,core\nx,two\ny,2\nz,2\np,1\nq,1\n", "that are no numbers"),
    "less.csv": ("cores", "id,core\nx,1\ny,1\nz,1\np,1\nq,1\n", "so it is in a larger core"),
    "other.csv": ("cores", "id,k\nx,1\ny,1\nz,1\np,1\nq,1\n", "has no column 'core' or 'core_number'"),
    "tree.csv": ("forest", "from,to\nz,x\nz,y\nq,p\n", ""),
    "heavy.csv": ("forest", "from,to\nz,x\nx,y\nq,p\n", "edge 1 should be in the forest instead of edge "),
    "none.csv": ("forest", "from,to\nz,p\nx,y\nq,p\n", "the graph has no edge between 'z' and 'p'"),
    "distances.csv": ("distances", "id,distance\nx,0\ny,3\nz,1\n", ""),
    "far.csv": ("distances", "id,distance\nx,0\ny,3\nz,2\n", "no path has the distance 2"),
    "parts.csv": ("partition", "id,part\nx,0\ny,0\nz,0\np,1\nq,1\n", ""),
    "cycles.csv": ("cycles", "id,cycles\nx,1\ny,1\nz,1\np,0\nq,0\n", ""),
    "fewer.csv": ("cycles", "id,cycles\nx,1\ny,1\nz,0\np,0\nq,0\n", "the counts add up to 2"),
    "directed.csv": ("strong", "id,component\nx,1\ny,2\nz,3\np,4\nq,5\n", ""),
    "a cycle.csv": ("strong", "id,component\nx,1\ny,2\nz,1\np,4\nq,5\n", "inside its label "),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_any_program(name, roads, capsys):
    problem, text, complaint = TABLES[name]
    (roads / name).write_text(text)
    about = {"distances": ["--start", "x"], "cycles": ["--length", "3"]}.get(problem, [])
    status = run(["check", "g.csv", name, "--problem", problem, *about])
    out, err = capsys.readouterr()
    if not complaint:
        assert (status, err) == (0, "") and out.count("\n") == 1, err
        return
    assert status == 2 and complaint in err and err.count("\n") == 1, err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["it.csv"], "a table does not say what it is the result of; add --problem"),
        (["no.npz"], "no.npz: no such file"),
        (["it.npz", "--problem", "cores"], "it.npz is of the problem components; leave out --problem cores"),
        (["it.npz", "--directed"], ""),
        (["it.csv", "--problem", "distances"], "has no column 'distance'"),
        (["it.csv", "--problem", "cycles", "--column", "component"], "add --length"),
        (["it.csv", "--problem", "distances", "--column", "component"], "add --start"),
        (["it.csv", "--problem", "components", "--certificate", "g.csv"], "is the input itself"),
    ],
)
def test_mistakes_are_named(words, complaint, roads, capsys):
    assert run(["components", "g.csv", "--certificate", "it.npz", "-o", "it.csv", "-q"]) == 0
    status = run(["check", "g.csv", *words])
    err = capsys.readouterr().err
    assert complaint in err and status == (2 if complaint else 0), err


def test_a_certificate_needs_the_pairs(roads, capsys):
    assert run(["components", "g.csv", "--stream", "--certificate", "it.npz"]) == 2
    assert "--certificate needs all pairs in memory" in capsys.readouterr().err
    assert run(["components", "g.csv", "--certificate", "no/it.npz"]) == 2
    assert "the folder no does not exist" in capsys.readouterr().err
