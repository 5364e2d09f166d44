"""Ids, names of columns and names of files that a terminal or a browser would obey are shown, not obeyed."""

import csv
import json
import os
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import edgewise as ew
from edgewise.command import PAGES, run, stages
from edgewise.files import destinations
from edgewise.printable import html_of, in_html, printable

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

#: A title of the window, a colour by a C1 control, text from right to left, no width, a tag, and a formula.
EVIL = "\x1b]0;pwned\x07\x9b31m\u202e\u2066\u200b\ufeff\u2028\x7f<b>&=cmd|'/C calc'!A0"
ONE, TWO, THREE = (f"={letter}{EVIL}" for letter in "abc")
#: Names of columns, and of files, where a slash is none.
LEFT, RIGHT, SCORE = f"l{EVIL}", f"r{EVIL}", f"s{EVIL}"
NAME = EVIL.replace("/", "")
ROWS = [(ONE, TWO, 0.9), (TWO, THREE, 0.8), (ONE, THREE, 0.4)]


def unsafe(text, kept="\n"):
    """The characters of a text that are not shown as themselves."""
    return {one for one in text if not one.isprintable() and one not in kept}


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Pairs, records and parts with such ids, columns and names, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    table = pa.table(dict(zip((LEFT, RIGHT, SCORE), map(list, zip(*ROWS)))))
    pq.write_table(table, f"pairs{NAME}.parquet")
    (tmp_path / TEXT).write_text(f"{LEFT},{RIGHT}\n{ONE},{TWO}\n".replace("|", "+"))
    pq.write_table(pa.table({"id": [THREE, TWO, ONE, "d"], f"x{EVIL}": [1, 2, 3, 4]}), "people.parquet")
    pq.write_table(pa.table({"id": [THREE, TWO]}), "places.parquet")
    ew.write(pa.table({"id": [ONE, TWO, THREE], "core": [2, 2, 2]}), f"cores{NAME}.csv")
    ew.write(pa.table({"id": [ONE, EVIL], "part": [0, 1]}), f"parts{NAME}.csv")
    (tmp_path / f"mesh{NAME}.graph").write_text("3 2\n2\n1 3\n2\n")
    (tmp_path / f"parts{NAME}").write_text("0\n0\n1\n")
    ew.ClusterStore.create(STORE, threshold=0.5).apply(add=ROWS)
    return tmp_path


@pytest.fixture
def shown(capsys, terminal, monkeypatch):
    """Run a command whose outputs are terminals; return its status and what it shows."""
    monkeypatch.setattr(destinations, "_is_terminal", lambda stream: True)

    def call(*words):
        status = run(words)
        out, err = capsys.readouterr()
        return status, out + err

    return call


COLUMNS = ("--source", LEFT, "--target", RIGHT)
PAIRS, TEXT, STORE = f"pairs{NAME}.parquet", f"pairs{NAME}.csv", f"people{NAME}"
GOOD = {
    "components": ("components", PAIRS),
    "components of text": ("components", TEXT),
    "components, names": ("components", PAIRS, "--name", "min", "--min-size", "2"),
    "components to the terminal": ("components", PAIRS, "-o", "-"),
    "components as lines": ("components", PAIRS, "--to", "jsonl"),
    "components, one": ("components", PAIRS, "--members", ONE),
    "components, largest": ("components", PAIRS, "--top", "2"),
    "components, sizes": ("components", PAIRS, "--sizes"),
    "components, thresholds": ("components", PAIRS, "--thresholds", "0.5,0.85", "--score", SCORE),
    "components, cut": ("components", PAIRS, "--max-size", "2", "--score", SCORE),
    "components of records": ("components", PAIRS, "--records", "people.parquet"),
    "components of a stream": ("components", PAIRS, "--stream", *COLUMNS),
    "components as JSON": ("components", PAIRS, "--json", "--top", "2"),
    "components, written": ("components", PAIRS, "-o", f"out{NAME}.csv", "--profile"),
    "strong": ("strong", PAIRS),
    "cores": ("cores", PAIRS),
    "paths": ("paths", PAIRS, "--bfs", "--source", ONE),
    "a path": ("paths", PAIRS, "--source", ONE, "--to", THREE),
    "all paths": ("paths", PAIRS, "--all-pairs"),
    "isochrones": ("paths", PAIRS, "--bfs", "--isochrones", "1", "--source", ONE),
    "nearest": ("paths", PAIRS, "--bfs", "--nearest", "places.parquet", "--source", ONE),
    "cycles": ("cycles", PAIRS, "--length", "3"),
    "clustering": ("cycles", PAIRS, "--clustering"),
    "forest": ("forest", PAIRS, "--weight", SCORE),
    "why": ("why", PAIRS, ONE, THREE, "--score", SCORE),
    "why, one": ("why", PAIRS, ONE, ONE, "--score", SCORE),
    "partition": ("partition", PAIRS, "2", "--no-weight"),
    "partition-eval": ("partition-eval", f"mesh{NAME}.graph", f"parts{NAME}"),
    "generate": ("generate", "pairs", "4", "-o", f"made{NAME}.csv"),
    "convert": ("convert", PAIRS, f"out{NAME}.jsonl"),
    "convert to the terminal": ("convert", PAIRS, "-"),
    "convert, shards": ("convert", PAIRS, f"store{NAME}", "--shards", "2"),
    "info": ("info", PAIRS),
    "plan": ("plan", PAIRS),
    "clusters": ("clusters", "open", f"clusters{NAME}", "--one-to-one", EVIL),
    "clusters of a size": ("clusters", "apply", STORE, "--max-size", "2"),
    "clusters to review": ("clusters", "review", STORE),
    "clusters that hold together": ("clusters", "cohesion", STORE, "--top", "1"),
    "clusters at thresholds": ("clusters", "at", STORE, "--thresholds", "0.5,0.85"),
    "check": ("check", PAIRS, f"cores{NAME}.csv", "--problem", "cores"),
}
BAD = {
    "absent": ("components", f"absent{NAME}.csv"),
    "another column": ("components", PAIRS, "--source", f"x{EVIL}"),
    "no column": ("components", PAIRS, "--source", "left"),
    "condition": ("components", PAIRS, "--where", EVIL),
    "condition of text": ("components", PAIRS, "--where", f"`{LEFT}` > 'x{EVIL}' or"),
    "another id": ("components", PAIRS, "--members", EVIL),
    "two outputs": ("components", PAIRS, "-o", "-", "--json"),
    "a suffix": ("components", PAIRS, "-o", f"out.{NAME}"),
    "a folder": ("components", PAIRS, "-o", f"no{NAME}/out.csv"),
    "the input": ("components", PAIRS, "-o", PAIRS),
    "a format": ("components", PAIRS, "--to", EVIL),
    "a threshold": ("components", PAIRS, "--thresholds", EVIL),
    "a method": ("components", PAIRS, "--method", EVIL),
    "a device": ("components", PAIRS, "--device", EVIL),
    "a number": ("components", PAIRS, "--top", EVIL),
    "records": ("components", PAIRS, "--records", "people.parquet", "--id", EVIL),
    "an option": ("components", PAIRS, f"--{NAME}"),
    "why": ("why", PAIRS, ONE, EVIL),
    "a source": ("paths", PAIRS, "--source", EVIL),
    "isochrones": ("paths", PAIRS, "--isochrones", EVIL, "--source", ONE),
    "a file of ids": ("paths", PAIRS, "--bfs", "--nearest", f"absent{NAME}.csv"),
    "a column of ids": ("paths", PAIRS, "--bfs", "--nearest", "people.parquet", "--id-column", EVIL),
    "parts": ("partition-eval", f"mesh{NAME}.graph", PAIRS),
    "weights": ("forest", PAIRS, "--weight", LEFT),
    "a span": ("generate", "grid", "3", "--weights", EVIL, "-o", "g.gr"),
    "a family": ("generate", EVIL),
    "a preset": ("bench", EVIL),
    "a library": ("torture", "--against", EVIL),
    "a problem": ("torture", "--problem", EVIL),
    "a command": (EVIL,),
    "info": ("info", f"absent{NAME}.csv"),
    "no store": ("clusters", "log", f"absent{NAME}"),
    "datasets": ("clusters", "apply", STORE, "--one-to-one", "all"),
    "another dataset": ("clusters", "open", STORE, "--one-to-one", EVIL),
    "more than a cluster holds": ("clusters", "apply", STORE, "--must", PAIRS, "--max-size", "2"),
    "a certificate": ("check", PAIRS, f"absent{NAME}.npz"),
    "a row of a table": ("check", PAIRS, f"parts{NAME}.csv", "--problem", "partition"),
    "a plot": ("components", PAIRS, "--plot", f"a.{NAME}"),
}


def test_every_command_is_here():
    words = {line[0] for line in (*GOOD.values(), *BAD.values())}
    assert words >= set(PAGES) - {"tune", "warmup"}


@pytest.mark.parametrize("name", GOOD)
def test_a_command_shows_hostile_names(name, evil, shown):
    status, text = shown(*GOOD[name])
    assert status == 0, text
    assert unsafe(text, "\n\t") == set()


@pytest.mark.parametrize("name", BAD)
def test_an_error_shows_hostile_names(name, evil, shown):
    status, text = shown(*BAD[name])
    assert status == 2 and text.startswith("edgewise: ") and text.count("\n") == 1, text
    assert unsafe(text) == set()


LINES = {
    "a.graph": "3 2\n2 {}\n1 3\n2\n",
    "a.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 {} 2\n",
    "b.mtx": "%%MatrixMarket {}\n3 3 1\n1 2 2\n",
    "a.gr": "p sp 3 1\na 1 {} 2\n",
    "a.el": "1 2\n1 2 {} 3\n",
    "a.csv": 'source,target,weight\na,b,"{}"\n',
    "b.csv": "source,target\na,b,{}\n",
    "c.csv": "{}\na\n",
    "a.jsonl": '{{"source": 1, "target": {}}}\n',
    "a.net": "*Vertices 2\n1 {}\n*Edges\n1 x\n",
    "a.dl": "dl n=2 format={}\n",
    "a.graphml": "<graphml><graph><node id='{}'/><edge source='q' target='z'/></graph></graphml>",
    "a.gml": "graph [ node [ id {} ] ]",
    "a.dot": "graph {{ a -- {} ] }}",
    "a.gexf": "<gexf><{}></gexf>",
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_a_file_is_shown(name, tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    for text in (EVIL, EVIL.replace("\u2028", ""), EVIL.replace("<b>&", ""), "\ud800"):
        (tmp_path / name).write_bytes(LINES[name].format(text).encode("utf-8", "surrogatepass"))
        status, text = shown("forest", name)
        assert status in (0, 2) and unsafe(text) == set(), (status, text)


@pytest.mark.skipif(sys.platform != "linux", reason="names are not bytes everywhere")
def test_a_name_that_is_not_utf_8(evil, shown):
    name = os.fsdecode(b"a\xff\x1b.csv")
    os.rename(TEXT, name)
    output = os.fsdecode(b"b\xff.csv")
    for words in (("components", name, "-o", output), ("info", name), ("info", name + "x")):
        _, text = shown(*words)
        assert unsafe(text) == set()


def test_progress_shows_hostile_names():
    class Bar:
        tasks, task_ids = (), ()

        def add_task(self, description, **_):
            assert unsafe(description) == set()
            self.tasks = [type("Task", (), {})()]

    stages._show(Bar(), 0.0, f"reading {EVIL}", 0, None)


class Terminal:
    """A stream of bytes to a terminal."""

    def __init__(self):
        self.content = b""

    def isatty(self):
        return True

    def write(self, content):
        self.content += bytes(content)
        return len(content)


def test_a_terminal_that_is_an_output_shows_text():
    written = Terminal()
    ew.write(pa.table({"id": [ONE, "ä\tb"]}), written, format="tsv")
    assert written.content.decode().endswith("ä\tb\n") or '"ä\tb"\n' in written.content.decode()
    assert unsafe(written.content.decode(), "\n\t") == set()
    half = Terminal()
    stream = destinations._Terminal(half)
    for byte in "ä\x1b€".encode():
        stream.write(bytes([byte]))
    assert half.content.decode() == r"ä\x1b€"


def read_rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_data_are_not_changed(evil, capfdbinary):
    graph = ew.read(PAIRS)
    assert graph.ids.to_pylist() == [ONE, TWO, THREE]
    result = ew.connected_components(graph)
    wanted = [[ONE, "0"], [TWO, "0"], [THREE, "0"]]
    result.write("a.csv")
    assert read_rows("a.csv") == [["id", "component"], *wanted]
    result.write("a.parquet")
    assert pq.read_table("a.parquet")["id"].to_pylist() == [ONE, TWO, THREE]
    result.write("a.jsonl")
    lines = (evil / "a.jsonl").read_text().split("\n")
    assert [json.loads(line)["id"] for line in lines if line] == [ONE, TWO, THREE]
    ew.write(graph, f"b{NAME}.csv")
    again = ew.read(f"b{NAME}.csv")
    assert again.ids.to_pylist() == [ONE, TWO, THREE]
    capfdbinary.readouterr()
    result.write("-")
    content = capfdbinary.readouterr().out.decode()
    assert [row for row in csv.reader(content.split("\n")) if row][1:] == wanted


def test_python_shows_hostile_names(evil):
    graph = ew.read(PAIRS, weight=SCORE)
    forest = ew.minimum_spanning_forest(graph, maximum=True)
    found = [graph, forest, forest.explain(ONE, THREE), forest.explain(ONE, ONE)]
    found += [ew.connected_components(graph), ew.shortest_paths(graph, ONE)]
    for thing in found:
        assert unsafe(repr(thing) + str(thing)) == set()
        if hasattr(thing, "_repr_html_"):
            page = thing._repr_html_()
            assert unsafe(page) == set() and "<b>&" not in page and "pwned<" not in page
    assert unsafe(html_of(pa.table({EVIL: [EVIL]}))) == set()


def test_errors_in_python_show_hostile_names(evil):
    graph = ew.read(PAIRS)
    calls = [
        partial(graph.vertices_of, [EVIL]),
        partial(ew.bfs, graph, EVIL),
        partial(ew.connected_components, graph, **{EVIL: 1}),
        partial(ew.connected_components, graph, method=EVIL),
        partial(ew.read, f"absent{NAME}"),
        partial(ew.read, PAIRS, source=EVIL),
        partial(ew.Graph.from_frame, {LEFT: [None], RIGHT: ["a"]}),
        partial(ew.Graph.from_frame, {LEFT: [ONE, TWO], RIGHT: [TWO, ONE]}, where=f"{EVIL} > 1"),
        partial(ew.Graph.from_edges, [ONE], [TWO], ids=[ONE]),
        partial(ew.Graph.from_edges, [ONE], [TWO], ids=[ONE, TWO, ONE]),
        partial(ew.connected_components(graph).to_dict, EVIL),
        partial(ew.write, graph, f"a.{NAME}"),
    ]
    for call in calls:
        with pytest.raises((ew.errors.EdgewiseError, TypeError)) as caught:
            call()
        assert unsafe(str(caught.value)) == set()


def test_pictures_and_pages_show_hostile_names(tmp_path):
    pytest.importorskip("matplotlib")
    from xml.etree import ElementTree

    graph = ew.Graph.from_edges(["$x\x1b\x07<b>"], ["$\\frac\u202e<b>$"], weights=[1.5])
    graph.weight_name = f"$x${EVIL}$"
    forest = ew.minimum_spanning_forest(graph)
    forest.plot_dendrogram(tmp_path / "a.svg")
    forest.plot(tmp_path / "b.svg")
    for name in ("a.svg", "b.svg"):
        text = (tmp_path / name).read_text()
        ElementTree.fromstring(text)
        assert unsafe(text) == set() and "<b>" not in text


def test_what_is_printable():
    name = "山田\u3000太郎 é\xa0ß"
    escapes = r"\x1b]0;pwned\x07\x9b31m\u202e\u2066\u200b\ufeff\u2028\x7f<b>&=cmd|'/C calc'!A0"
    assert printable(EVIL + name) == escapes + name
    assert printable("\ud800\r\n\t\U000e0041") == r"\ud800\r\n\t\U000e0041"
    assert printable("a\nb", kept="\n") == "a\nb"
    assert in_html("<i>\x1b") == r"&lt;i&gt;\x1b"
    blanks = [0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000]
    assert unsafe("".join(map(printable, map(chr, range(0x110000))))) == set(map(chr, blanks))
