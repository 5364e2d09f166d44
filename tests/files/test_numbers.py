"""Numbers in text: one rule for all readers, decimal commas, and what writers of integers refuse."""

import io
import math

import numpy as np
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseError, FileError, OptionError

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

#: A row with a weight between others, in the formats of text that have weights.
ROWS = {
    "a.el": "1 2 5\n2 3 {}\n",
    "a.csv": "a,b,weight\n1,2,5\n2,3,{}\n",
    "b.csv": "a;b;weight\nx;y;5\ny;z;{}\n",
    "a.tsv": "a\tb\tweight\nx\ty\t5\ny\tz\t{}\n",
    "a.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n2 3 {}\n",
    "d.mtx": "%%MatrixMarket matrix array real general\n2 2\n0\n5\n{}\n0\n",
    "i.mtx": "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n2 3 {}\n",
    "a.gr": "p sp 3 2\na 1 2 5\na 2 3 {}\n",
    "a.graph": "3 2 1\n2 5\n1 5 3 {0}\n2 {0}\n",
    "a.smat": "3 3 2\n0 1 5\n1 2 {}\n",
    "a.ncol": "x y 5\ny z {}\n",
    "a.tntp": "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 2\n<END OF METADATA>\n~\ta\tb\tlength\t;\n"
    "\t1\t2\t5\t;\n\t2\t3\t{}\t;\n",
    "a.gml": "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 weight 5 ] "
    "edge [ source 2 target 3 weight {} ] ]",
    "a.graphml": '<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/><graph>'
    '<edge source="x" target="y"><data key="w">5</data></edge>'
    '<edge source="y" target="z"><data key="w">{}</data></edge></graph></graphml>',
    "a.jsonl": '{{"a": "x", "b": "y", "weight": 5}}\n{{"a": "y", "b": "z", "weight": {}}}\n',
}
#: Formats whose weights are whole.
WHOLE = ("i.mtx", "a.graph")
FOREIGN = (
    "0x1f",
    "0X1F",
    "-0x2",
    "1_000",
    "nan(1)",
    "1e400",
    "-1e400",
    "1d3",
    "1.5f",
    "0,5",
    "95%",
    "--1",
    "१",
)


def store(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("field", FOREIGN)
@pytest.mark.parametrize("name", ROWS)
def test_other_numbers_are_refused(tmp_path, name, field):
    sep = {"sep": ","} if name == "a.csv" else {}
    text = ROWS[name].format(f'"{field}"' if name == "a.csv" else field)
    with pytest.raises(FileError) as caught:
        ew.read(store(tmp_path, name, text), **sep)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "field", ["0.5", "-2.25", "1e3", "1E-3", "7", "nan", "inf", "-inf", "Infinity", "NaN"]
)
@pytest.mark.parametrize("name", [name for name in ROWS if name not in WHOLE])
def test_numbers(tmp_path, name, field):
    if name == "a.jsonl" and field in ("inf", "nan", "-inf"):
        field = {"inf": "Infinity", "nan": "NaN", "-inf": "-Infinity"}[field]  # as JSON has them
    graph = ew.read(store(tmp_path, name, ROWS[name].format(field)))
    assert sorted(graph.weights.tolist(), key=str) == pytest.approx(
        sorted([5.0, float(field)], key=str), nan_ok=True
    )


@pytest.mark.parametrize("field", ["1.0", "1e2", "nan", "inf"])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_have_digits_alone(tmp_path, name, field):
    with pytest.raises(FileError, match="integer"):
        ew.read(store(tmp_path, name, ROWS[name].format(field)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0x1 2\n"),
        ("a.gr", "p sp 3 1\na 0x1 2 3\n"),
        ("a.graph", "2 1\n0x2\n1\n"),
        ("a.jlg", "3,1,u\n0x1,2\n"),
        ("a.vlg", "t 2 1\nv 0 0 1\nv 1 0 1\ne 0 0x1\n"),
        ("a.smat", "3 3 1\n0x0 1 5\n"),
        ("a.smat", "٣ ٣ 1\n0 1 5\n"),
        ("a.el", "1 2\n0x3 4\n"),
    ],
)
def test_hexadecimal_ids(tmp_path, name, text):
    for options in {}, {"ids": "integer"} if name == "a.el" else {}:
        with pytest.raises(FileError, match=r"integer|n n m|007 to 7"):
            ew.read(store(tmp_path, name, text), **options)


def test_hexadecimal_ids_are_names(tmp_path):
    names = {"1", "2", "0x3", "4"}
    assert {*ew.read(store(tmp_path, "a.csv", "a,b\n1,2\n0x3,4\n")).ids.to_pylist()} == names
    assert {*ew.read(store(tmp_path, "a.el", "1 2\n0x3 4\n"), ids="string").ids.to_pylist()} == names


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("l;r;score\na;b;0,95\nb;c;0,40\n", None),
        ("l\tr\tscore\na\tb\t0,95\nb\tc\t0,40\n", None),
        ('l,r,score\na,b,"0,95"\nb,c,"0,40"\n', ","),
    ],
)
def test_a_decimal_comma(tmp_path, text, sep):
    path = store(tmp_path, "a.csv", text)
    remedy = "'0,95' is not a number; pass decimal=',' if the comma is the decimal mark"
    for options in {}, {"threshold": 0.9}, {"weight": "score"}:
        with pytest.raises(EdgewiseError, match=remedy):
            ew.read(path, **options)
    with pytest.raises(EdgewiseError, match=remedy):
        ew.stream_components(path, threshold=0.9)
    given = {"decimal": ",", "sep": sep}
    assert ew.read(path, **given).weights.tolist() == [0.95, 0.4]
    assert ew.read(path, weight="score", **given).weights.tolist() == [0.95, 0.4]
    assert ew.read([path, path], threshold=0.9, **given).n_edges == 2
    assert sorted(ew.stream_components(path, threshold=0.9, **given).graph.ids.to_pylist()) == ["a", "b"]
    marks = ["--sep", sep] if sep else []
    out = tmp_path / "out.csv"
    for more in [], ["--stream"]:
        assert (
            run(
                [
                    "components",
                    str(path),
                    "-qo",
                    str(out),
                    "--threshold",
                    "0.9",
                    "--decimal",
                    ",",
                    *marks,
                    *more,
                ]
            )
            == 0
        )
        assert out.read_text() == "id,component\na,0\nb,0\n"
    assert run(["convert", str(path), f"{tmp_path}/s/", "--shards", "1", "-q", "--decimal", ",", *marks]) == 0
    assert ew.read(tmp_path / "s").n_edges == 2


def test_a_decimal_comma_in_edge_lists(tmp_path):
    for text in "1 2 0,5\n2 3 0,25\n", "1\t2\t0,5\n2\t3\t0,25\n", "1;2;0,5\n2;3;0,25\n":
        path = store(tmp_path, "a.txt", text)
        with pytest.raises(FileError, match="decimal=','"):
            ew.read(path)
        assert ew.read(path, decimal=",").weights.tolist() == [0.5, 0.25]
        with pytest.raises(FileError, match=r"'0\.5' is not a number; leave decimal= out"):
            ew.read(store(tmp_path, "b.txt", text.replace(",", ".")), decimal=",")


def test_a_headless_table_with_a_decimal_comma(tmp_path):
    path = store(tmp_path, "a.csv", "a;b;0,5\nb;c;0,7\n")
    assert ew.read(path, decimal=",").weights.tolist() == [0.5, 0.7]
    with pytest.raises(FileError, match="decimal=','"):
        ew.read(path)


def test_percent(tmp_path, capsys):
    path = store(tmp_path, "a.csv", "source,target,score\na,b,95%\nb,c,40%\n")
    for options in {}, {"threshold": 0.9}:
        with pytest.raises(EdgewiseError, match=r"'95%' is not a number; write a fraction \(0.95 for 95%\)"):
            ew.read(path, **options)
    assert ew.read(path, weight=False).n_edges == 2
    assert run(["components", str(path), "-q"]) == 0
    late = store(tmp_path, "b.csv", "source,target,score\n" + "a,b,0.5\n" * 20_000 + "b,c,40%\n")
    with pytest.raises(FileError, match="column 'score': '40%' is not a number") as caught:
        ew.read(late)
    assert caught.value.line == 20_002
    with pytest.raises(
        EdgewiseError, match=r"holds string; weights are integers or floats .those of files with a dec"
    ):
        ew.stream_forest(path, weight="score")


def test_commas_that_may_be_either(tmp_path):
    path = store(tmp_path, "a.csv", "l,r,score\na,b,0.5\n")
    with pytest.raises(FileError, match="one field, because the comma is the decimal mark; pass sep=','"):
        ew.read(path, decimal=",")
    with pytest.raises(OptionError, match="decimal='x' is no decimal mark"):
        ew.read(path, decimal="x")
    for name, text in ("a.mtx", ROWS["a.mtx"].format(1)), ("a.graphml", ROWS["a.graphml"].format(1)):
        with pytest.raises(OptionError, match="decimal= means nothing for"):
            ew.read(store(tmp_path, name, text), decimal=",")


def test_dates_and_versions_are_no_weights(tmp_path):
    for value in "2026.01.31", "2026-01-31", "1.2.3", "10.0.0.1", "x":
        graph = ew.read(store(tmp_path, "a.csv", f"a,b,c\nx,y,{value}\ny,z,{value}\n"))
        assert graph.weights is None and graph.n_edges == 2


@pytest.mark.parametrize(
    "condition", ["score >= 0,9", "score >= 95%", "score BETWEEN 0,5 AND 1", "score >= '0,9'"]
)
def test_conditions_say_how_numbers_are_written(tmp_path, condition):
    path = store(tmp_path, "a.csv", "l;r;score\na;b;0.5\n")
    with pytest.raises(OptionError, match=r"decimal mark as a point|0.95 for 95%|AND of BETWEEN"):
        ew.read(path, where=condition)


def test_thresholds_with_a_decimal_comma(tmp_path, capsys):
    path = store(tmp_path, "a.csv", "l;r;score\na;b;0.5\n")
    for given, remedy in (["--threshold", "0,9"], "as a point"), (["--threshold=95%"], "0.95 for 95%"):
        assert run(["components", str(path), *given]) == 2
        assert remedy in capsys.readouterr().err


BAD = [1e300, 2.0**63, -(2.0**64), math.inf, -math.inf, math.nan, 0.5, 1e19]


@pytest.mark.parametrize("weight", BAD)
@pytest.mark.parametrize("suffix", [".gr", ".graph", ".wsg"])
def test_weights_that_no_integer_is(tmp_path, suffix, weight):
    for graph in (
        ew.Graph.from_edges([1, 2], [2, 30], weights=[3.0, weight]),
        ew.Graph.from_csr(
            [0, 1, 2, 3, 4], [1, 0, 3, 2], weights=[3.0, 3.0, weight, weight], ids=[1, 5, 2, 30]
        ),
    ):
        with pytest.raises(
            FileError, match=r"whole weights from .* that of the edge from 2 to 30 is .*; scale"
        ):
            ew.write(graph, tmp_path / f"a{suffix}")
        stream = io.BytesIO()
        if suffix != ".wsg":  # by its suffix alone
            with pytest.raises(FileError):
                ew.write(graph, stream, format={".gr": "dimacs", ".graph": "metis"}[suffix])
        assert stream.getvalue() == b""
    assert list(tmp_path.iterdir()) == []


def test_limits_of_integers(tmp_path):
    limits = np.array([2**63 - 1, -(2**63), 0, 2**53 + 1])
    graph = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weights=limits, n_vertices=5)
    ew.write(graph, tmp_path / "a.gr")
    assert ew.read(tmp_path / "a.gr").weights.tolist() == limits.tolist()
    with pytest.raises(
        FileError, match=f"from 0 to {2**63 - 1} only, and that of the edge from 1 to 2 is -{2**63}"
    ):
        ew.write(graph, tmp_path / "a.graph")
    with pytest.raises(FileError, match=f"from -{2**31} to {2**31 - 1} only"):
        ew.write(graph, tmp_path / "a.wsg")
    floats = ew.Graph.from_edges([0, 1], [1, 2], weights=[2.0**62, -0.0], n_vertices=3)
    for suffix in ".gr", ".graph":
        ew.write(floats, tmp_path / f"b{suffix}")
        assert sorted(ew.read(tmp_path / f"b{suffix}").weights.tolist()) == [0, 2**62]


@pytest.mark.parametrize("fields", [("1", "-0"), ("05", "7"), ("-0", "1.5"), ("+1", "2")])
def test_weights_that_would_be_odd_ids(tmp_path, fields):
    path = store(tmp_path, "a.csv", "a,b,weight\nx,y,{}\ny,z,{}\n".format(*fields))
    for options in {}, {"weight": "weight"}, {"where": "a IS NOT NULL"}:
        assert ew.read(path, **options).weights.tolist() == list(map(float, fields))


def test_sums_of_weights(tmp_path):
    path = store(tmp_path, "a.txt", f"1 2 {2**62}\n2 1 {2**62}\n3 4 5\n")
    with pytest.raises(EdgewiseError, match="repeated edges may add up to more than 64 bits hold; convert"):
        ew.read(path, repeated="sum")
    assert ew.read(path, repeated="max").weights.tolist() == [2**62, 5]
    path.write_text(f"1 2 {2**62}\n2 1 {2**61}\n3 4 {-(2**62)}\n4 3 5\n")
    assert ew.read(path, repeated="sum").weights.tolist() == [2**62 + 2**61, 5 - 2**62]
    path.write_text(f"1 2 {2**62}.5\n2 1 {2**62}\n")
    assert ew.read(path, repeated="sum").weights.tolist() == [2.0**63]


@pytest.mark.parametrize("weight", [1e300, -1, 0.5, math.nan, 2**63])
def test_weights_of_vertices(tmp_path, weight):
    kind = np.uint64 if weight == 2**63 else np.float64
    graph = ew.Graph.from_csr([0, 1, 2], [1, 0], ids=[7, 8], vertex_weights=np.array([1, weight], kind))
    with pytest.raises(FileError, match="that of the vertex 8 is"):
        ew.write(graph, tmp_path / "a.graph")
