"""``edgewise components --cohesion`` and ``--review``."""

import json

from edgewise.command import run
from tests.command.test_thresholds import complaint


def test_views(pairs, capsys):
    assert run(["components", "pairs.csv", "--threshold", "0.4", "--review", "2", "-q"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "source,target,weight,cluster,size,parted",
        "ann,bob,0.4,ann,5,6",
        "ann,anne,0.97,ann,5,6",
    ]
    assert run(["components", "pairs.csv", "--cohesion", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["cohesion"]
    assert (row["cluster"], row["size"], row["weakest"], row["parted"]) == ("ann", 5, 0.4, 6)


def test_without_scores(pairs, tmp_path, capsys):
    (tmp_path / "plain.csv").write_text("left_id,right_id\na,b\nb,c\n")
    assert run(["components", "plain.csv", "--review", "1", "-q"]) == 0
    assert capsys.readouterr().out.splitlines() == ["source,target,cluster,size,parted", "a,b,a,3,2"]


def test_mistakes(pairs, capsys):
    for options, problem in (
        (["--review", "1", "--stream"], "--review needs all pairs in memory; leave out it or --stream"),
        (["--cohesion", "1", "--update", "t.csv"], "--cohesion needs all pairs in memory"),
        (["--cohesion", "1", "--review", "1"], "are two views"),
        (["--review", "1", "--thresholds", "0.5"], "--review is of one threshold"),
        (["--review", "0"], "review"),
    ):
        assert problem in complaint(capsys, "components", "pairs.csv", *options)
