"""Pipes: standard input and output, process substitution, every format, and readers that end early."""

import os
import pty
import subprocess
import sys

import pytest

import edgewise as ew
from edgewise.command import run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells of POSIX")

EDGEWISE = f"{sys.executable} -m edgewise"
COLUMNS = "--source left_id --target right_id"
CLUSTERS = "id,component\nann,0\nanne,0\nanna,0\nbob,0\nrob,0\ncarl,5\nkarl,5\n"


def shell(line):
    """Run a line of bash, in which EDGEWISE is the command, in the working folder; return what it did."""
    line = line.replace("EDGEWISE", EDGEWISE).replace("COLUMNS", COLUMNS)
    return subprocess.run(["bash", "-c", line], capture_output=True, timeout=120, text=True)


@pytest.mark.parametrize(
    "line",
    [
        "cat pairs.csv | EDGEWISE components - COLUMNS -o - --to csv",
        "cat pairs.csv | EDGEWISE components /dev/stdin COLUMNS",
        "EDGEWISE components - COLUMNS < pairs.csv",
        "gzip -c pairs.csv | EDGEWISE components - COLUMNS --stream",
        "EDGEWISE components <(gzip -c pairs.csv) COLUMNS --to csv",
        "EDGEWISE components pairs.csv COLUMNS -o /dev/stdout",
        "EDGEWISE components <(head -3 pairs.csv) <(sed 2,3d pairs.csv) COLUMNS --null drop",
    ],
)
def test_the_whole_table_is_the_output(line, pairs):
    done = shell(line)
    assert (done.stdout.partition("7 vertices")[0], done.returncode) == (CLUSTERS, 0)
    closing = done.stdout[len(CLUSTERS) :] or done.stderr  # on standard output if that is not the output
    assert closing.startswith("7 vertices, 5 edges: 2 components, the largest of 5; ")
    assert closing.count("\n") == 1


def test_output_to_a_process(pairs):
    done = shell("EDGEWISE components pairs.csv COLUMNS --quiet -o >(cat)")
    assert (done.stdout, done.stderr, done.returncode) == (CLUSTERS, "", 0)


def test_ten_rows_are_for_terminals(pairs):
    pairs.write_text("left_id,right_id\n" + "".join(f"a{i},b{i}\n" for i in range(50)))
    assert shell("EDGEWISE components pairs.csv | wc -l").stdout.strip() == "101"
    ours, theirs = pty.openpty()
    done = subprocess.run([*EDGEWISE.split(), "components", "pairs.csv", "-q"], stdout=theirs, timeout=120)
    os.close(theirs)
    assert done.returncode == 0
    assert os.read(ours, 1 << 16).decode().splitlines()[-1] == "... 90 more rows"
    os.close(ours)


@pytest.mark.parametrize("name", ("csv", "jsonl", "parquet"))
def test_formats_through_pipes(name, pairs):
    columns = f"{COLUMNS} --weight score"
    done = shell(f"EDGEWISE convert pairs.csv - --to {name} -q {columns} | EDGEWISE convert - out.npz -q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    chosen = {"source": "left_id", "target": "right_id", "weight": "score"}
    wanted, found = ew.read("pairs.csv", **chosen), ew.read("out.npz")
    assert found.ids.to_pylist() == wanted.ids.to_pylist()
    for array in ("sources", "targets", "weights"):
        assert (getattr(found, array) == getattr(wanted, array)).all()


@pytest.mark.parametrize("name", ("csv", "parquet"))
def test_a_reader_that_ends_early(name, pairs):
    """Status 141 and no trace, whether it reads a little or nothing."""
    pairs.write_text("left_id,right_id\n" + "".join(f"a{i},b{i}\n" for i in range(40_000)))
    for reader in ("true", "head -c 1 > /dev/null")[: 1 + (name == "csv")]:
        line = f"EDGEWISE components pairs.csv -q --to {name} | {reader}; exit ${{PIPESTATUS[0]}}"
        done = shell(line)
        assert (done.returncode, done.stderr) == (141, "")
    assert sorted(os.listdir()) == ["pairs.csv"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("EDGEWISE components - < /dev/null", "standard input: is empty; "),
        ("EDGEWISE components - <&-", "standard input: is "),
        ("EDGEWISE components pairs.csv COLUMNS -o - > /dev/full", "standard output: cannot be written (No"),
        (
            "printf 'ann,bob\\nbob,cid\\n' | EDGEWISE components -",
            "standard input: the first row may be the names of the columns, or a pair; pass --header or "
            "--no-header, or name the columns with --source and --target",
        ),
        ("printf 'a,b,1\\nc\\n' | EDGEWISE components -", "standard input:2: "),
    ],
)
def test_mistakes_are_one_line(line, words, pairs):
    done = shell(line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"edgewise: {words}") and done.stderr.count("\n") == 1
    assert os.listdir() == ["pairs.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("components - -", "standard input is given twice, and can be read only once; name it once"),
        ("components - a.csv /dev/stdin --stream", "standard input is given twice"),
        (
            "components pairs.csv -o - --json",
            "--json and -o - both need standard output; give one of the two",
        ),
        ("components pairs.csv --to xml", "the format 'xml' is none to write; use one of "),
        ("components pairs.csv --to mtx", "the format 'mtx' is none to write; use one of "),
        ("components pairs.csv -o clusters.txt", "clusters.txt: the suffix is of no format to write; "),
        (
            "components --stream - --checkpoint so-far -o x.csv",
            "--checkpoint needs files that can be read again, and standard input is none; save it to a file",
        ),
        ("paths pairs.csv --source ann --to bob -o -", "--to and -o - both need standard output"),
        (
            "components pairs.csv -o https://host/a.csv",
            "https://host/a.csv: is on the web, where nothing can",
        ),
    ],
)
def test_options_that_cannot_be(arguments, words, pairs, capsys):
    assert run(arguments.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and err.startswith(f"edgewise: {words}")
    assert os.listdir() == ["pairs.csv"]


def test_a_terminal_gets_no_binary_table(pairs, terminal):
    assert run(["components", "pairs.csv", *COLUMNS.split(), "--to", "parquet"]) == 2
    assert "parquet is binary, which a terminal does not show" in terminal.readouterr().err


def test_the_suffix_is_overruled(pairs, capsys):
    pairs.write_text("a,b\n1,2\n")
    assert run(["components", "pairs.csv", "-o", "clusters.csv", "--to", "jsonl"]) == 0
    assert (
        pairs.parent / "clusters.csv"
    ).read_text() == '{"id": 1, "component": 0}\n{"id": 2, "component": 0}\n'
    assert capsys.readouterr().out.endswith(" -> clusters.csv\n")


def test_tables_of_searches_and_cycles(pairs, capsys):
    pairs.write_text("a,b,w\n1,2,5\n2,3,1\n1,3,1\n")
    for words, table in (
        (["paths", "pairs.csv", "--source", "1"], "id,distance\n1,0\n2,2\n3,1\n"),
        (
            ["paths", "pairs.csv", "--source", "1", "--output-format", "tsv"],
            "id\tdistance\n1\t0\n2\t2\n3\t1\n",
        ),
        (
            ["paths", "pairs.csv", "--all-pairs", "--source", "3"],
            "source,target,distance\n3,1,1\n3,2,1\n3,3,0\n",
        ),
        (["cycles", "pairs.csv", "-k", "3"], "id,cycles\n1,1\n2,1\n3,1\n"),
        (["generate", "grid", "2", "-o", "-", "--to", "el"], None),
    ):
        assert run(words) == 0
        out, err = capsys.readouterr()
        assert table is None or out == table
        assert err.count("\n") == 1 and "; " in err
    assert run(["paths", "pairs.csv", "--source", "1", "--to", "2"]) == 0
    assert capsys.readouterr().out.startswith("2: 2 by 1 -> 3 -> 2\n3 vertices")


def test_all_pairs_are_made_in_parts(pairs, capsys, monkeypatch):
    monkeypatch.setattr("edgewise.command.paths.BLOCK_ROWS", 1)
    pairs.write_text("a,b\n1,2\n2,3\n")
    assert run(["paths", "pairs.csv", "--all-pairs", "--bfs", "-q"]) == 0
    rows = [f"{i},{j},{abs(i - j)}" for i in (1, 2, 3) for j in (1, 2, 3)]
    assert capsys.readouterr().out.splitlines() == ["source,target,distance", *rows]


def test_names_of_files_are_completed():
    """As those of the type ``Path``, though paths remain text."""
    for words in ("components pa", "components pairs.csv -o pa", "convert pa"):
        settings = {"_EDGEWISE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": f"edgewise {words}"}
        done = subprocess.run(
            EDGEWISE.split(), env=os.environ | settings, capture_output=True, text=True, timeout=60
        )
        assert (done.stdout.strip(), done.stderr) == ("_files", "")
