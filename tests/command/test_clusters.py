"""``edgewise components`` with records, names, updates and views of the clusters."""

import json
from pathlib import Path

import pytest

from edgewise.command import run

RECORDS = "id,zip\nanna,001\nanne,2\nsolo,3\nann,4\nrob,5\nbob,6\ncarl,7\nkarl,08\n"
COLUMNS = ["--where", "score >= 0.9"]
CLUSTERED = """id,zip,cluster,size
anna,001,ann,3
anne,2,ann,3
solo,3,solo,1
ann,4,ann,3
rob,5,bob,2
bob,6,bob,2
carl,7,carl,2
karl,08,carl,2
"""


@pytest.fixture
def records(pairs):
    path = Path("people.csv")
    path.write_text(RECORDS)
    return path


@pytest.fixture
def clusters(records, capsys):
    """A table of named clusters, with records."""
    assert (
        run(["components", "pairs.csv", *COLUMNS, "--records", "people.csv", "--name", "min", "-o", "c.csv"])
        == 0
    )
    capsys.readouterr()
    return Path("c.csv")


def test_every_record_gets_a_cluster(clusters):
    assert clusters.read_text() == CLUSTERED


def test_an_update_and_its_changes(clusters, capsys):
    Path("new.csv").write_text("l,r\nsolo,rob\nzed,ann\n")
    Path("more.csv").write_text("id,zip\nzed,77\nyan,9\n")
    words = ["components", "--update", "c.csv", "new.csv", "--records", "more.csv"]
    assert run([*words, "-o", "c.csv", "--changes", "changes.csv"]) == 0
    assert "(1 merged, 1 grown, 1 new)" in capsys.readouterr().out
    assert clusters.read_text().splitlines()[1:] == [
        "anna,001,ann,4",
        "anne,2,ann,4",
        "solo,3,bob,3",
        "ann,4,ann,4",
        "rob,5,bob,3",
        "bob,6,bob,3",
        "carl,7,carl,2",
        "karl,08,carl,2",
        "zed,77,ann,4",
        "yan,9,yan,1",
    ]
    assert Path("changes.csv").read_text().splitlines() == [
        "change,before,cluster,size_before,size",
        "grown,ann,ann,3,4",
        "merged,solo,bob,1,3",
        "merged,bob,bob,2,3",
        "new,,yan,0,1",
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--top", "1"], ["cluster,size", "ann,3"]),
        (["--top", "2", "--name", "row"], ["cluster,size", "0,3", "3,2"]),
        (["--sizes"], ["size,clusters", "2,2", "3,1"]),
        (["--members", "rob"], ["id", "bob", "rob"]),
        (["--members", "rob", "--to", "jsonl"], ['{"id": "bob"}', '{"id": "rob"}']),
        (["--min-size", "3", "--name", "min"], ["id,cluster,size", "ann,ann,3", "anna,ann,3", "anne,ann,3"]),
    ],
)
def test_views(pairs, words, shown, capsys):
    assert run(["components", "pairs.csv", *COLUMNS, *words]) == 0
    assert capsys.readouterr().out.splitlines() == shown


def test_a_view_beside_a_file_and_in_json(pairs, terminal):
    assert run(["components", "pairs.csv", *COLUMNS, "--top", "1", "-o", "t.csv"]) == 0
    out = terminal.readouterr().out.splitlines()
    assert out[0].split() == ["cluster", "size"] and out[-1].endswith("-> t.csv")
    assert Path("t.csv").read_text().startswith("id,component")
    assert run(["components", "pairs.csv", *COLUMNS, "--top", "1", "--json"]) == 0
    assert json.loads(terminal.readouterr().out)["top"] == [{"cluster": "ann", "size": 3}]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--changes", "x.csv"], "add --update"),
        (["--id", "id"], "--id is a column of --records"),
        (["--name", "last"], "--name last is unknown"),
        (["--top", "1", "--sizes"], "--top and --sizes are two views"),
        (["--top", "1", "-o", "-"], "both need standard output"),
        (["--members", "nobody"], "'nobody' is not in the graph"),
        (["--records", "people.csv", "--stream"], "leave out it or --stream"),
        (["--records", "people.csv", "-o", "people.csv"], "is the input itself"),
        (["--records", "pairs.csv", "--id", "left_id"], "holds 'ann' in rows 1 and 4"),
        (["--records", "none.csv"], "none.csv: no such file"),
        (["--update", "people.csv"], "people.csv has no column 'cluster'"),
        (["--update", "c.csv", "--name", "first"], "say how the clusters are named with --name"),
        (["--update", "c.csv", "--min-size", "2"], "would lose clusters"),
        (["--update", "c.csv", "--changes", "c.csv"], "is the input itself"),
        (["--update", "c.csv", "-o", "d.csv", "--changes", "d.csv"], "is given for two outputs"),
        (["--update", "c.csv", "--id", "zip"], "c.csv"),
    ],
)
def test_mistakes(clusters, words, problem, capsys):
    assert run(["components", "pairs.csv", *COLUMNS, *words]) == 2
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1
    assert clusters.read_text() == CLUSTERED and Path("people.csv").read_text() == RECORDS
    assert sorted(path.name for path in Path().iterdir()) == ["c.csv", "pairs.csv", "people.csv"]


def test_changes_on_standard_output(clusters, capsys):
    Path("new.csv").write_text("l,r\nsolo,rob\n")
    assert run(["components", "--update", "c.csv", "new.csv", "-o", "c.csv", "--changes", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == ["merged,solo,bob,1,3", "merged,bob,bob,2,3"]
    assert err.startswith("8 vertices") and err.count("\n") == 1


def test_an_update_with_ids_without_records_keeps_the_old_file(clusters, capsys):
    Path("new.csv").write_text("l,r\nsolo,rob\nzed,ann\n")
    assert run(["components", "--update", "c.csv", "new.csv", "-o", "c.csv", "--changes", "d.csv"]) == 2
    assert "new.csv: the id 'zed' in row 2 is not in column 'id' of c.csv" in capsys.readouterr().err
    assert clusters.read_text() == CLUSTERED and not Path("d.csv").exists()


def test_a_clusters_file_that_cannot_be_written_leaves_no_changes(clusters, capsys, monkeypatch):
    import edgewise.files.write_tables as tables

    Path("new.csv").write_text("l,r\nsolo,rob\n")
    write = tables.write_csv
    monkeypatch.setattr(
        tables, "write_csv", lambda thing, stream: write(thing, stream) if "d.csv" in stream.path else 1 / 0
    )
    assert run(["components", "--update", "c.csv", "new.csv", "-o", "c.csv", "--changes", "d.csv"]) == 1
    assert clusters.read_text() == CLUSTERED and not Path("d.csv").exists()
    assert sorted(path.name for path in Path().iterdir()) == ["c.csv", "new.csv", "pairs.csv", "people.csv"]


def test_one_to_one(pairs, capsys):
    pairs.write_text("left_id,right_id,score\na,x,0.9\na,y,0.9\nb,x,0.7\nb,y,0.6\n")
    for words, found in (
        (("all",), [["a", "x"], ["b", "y"]]),
        (("left",), [["a", "x", "y"], ["b"]]),
        (("all", "--ties", "drop"), [["b", "x"], ["a"], ["y"]]),
        (("all", "--threshold", "0.8"), [["a", "x"], ["y"]]),
    ):
        assert run(["components", "pairs.csv", "--one-to-one", *words, "-o", "out.csv", "--verify"]) == 0
        assert f"(by {sum(map(len, found)) - len(found)} best link" in capsys.readouterr().out
        clusters = {}
        for line in (pairs.parent / "out.csv").read_text().split()[1:]:
            one, component = line.split(",")
            clusters.setdefault(component, []).append(one)
        assert sorted(map(sorted, clusters.values())) == sorted(found)
    assert run(["components", "pairs.csv", "--one-to-one", "all", "--json", "-o", "out.csv"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["one_to_one"] == ["left", "right"] and facts["links"] == 2
    for words, problem in (
        (("--one-to-one", "lef"), "--one-to-one has 'lef', which is no dataset; did you mean left?"),
        (("--ties", "drop"), "--ties are those of --one-to-one"),
        (("--one-to-one", "all", "--ties", "no"), "--ties no is unknown; use one of lowest_id, drop"),
        (("--one-to-one", "all", "--max-size", "2"), "--max-size and --one-to-one are two choices"),
        (("--one-to-one", "all", "--method", "rem"), "--method is not for --one-to-one"),
        (("--one-to-one", "all", "--stream"), "--one-to-one needs all pairs in memory"),
    ):
        assert run(["components", "pairs.csv", *words]) == 2
        assert problem in capsys.readouterr().err
