"""Weights in GML and GraphML: defaults, types, and those that only some edges have."""

import pytest

import edgewise as ew
from edgewise.errors import FileError

pytestmark = pytest.mark.interpreter

GRAPHML = (
    '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
    '<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>'
    '<edge source="a" target="b">{first}</edge><edge source="b" target="c">{second}</edge></graph></graphml>'
)
KEY = '<key id="{id}" {more}>{default}</key>'
GML = (
    "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] "
    "edge [ source 1 target 2 {} ] edge [ source 2 target 3 {} ] ]"
)


def graphml(folder, keys, first="", second=""):
    path = folder / "a.graphml"
    data = [
        f'<data key="{key}">{value}</data>'
        for key, _, value in (one.partition("=") for one in (first, second))
    ]
    given = [one if text else "" for one, text in zip(data, (first, second), strict=True)]
    path.write_text(GRAPHML.format(keys=keys, first=given[0], second=given[1]), "utf-8")
    return path


def key(default=None, id="w", **more):
    more = {"attr.name": "weight", "attr.type": "double", "for": "edge"} | {
        name.replace("_", "."): value for name, value in more.items()
    }
    attributes = " ".join(f'{name}="{value}"' for name, value in more.items() if value is not None)
    return KEY.format(
        id=id, more=attributes, default="" if default is None else f"<default>{default}</default>"
    )


def test_a_ring_with_a_default(tmp_path):
    """A light edge that has the default is not cut; the cut was 100 when all weights were dropped."""
    nodes = "".join(f'<node id="n{number}"/>' for number in range(6))
    weights = ["1", "50", "", "50", "50", "50"]
    data = [f'<data key="w">{weight}</data>' if weight else "" for weight in weights]
    ends = [(f"n{number}", f"n{(number + 1) % 6}") for number in range(6)]
    edges = "".join(
        f'<edge source="{first}" target="{second}">{one}</edge>'
        for (first, second), one in zip(ends, data, strict=True)
    )
    path = tmp_path / "ring.graphml"
    path.write_text(
        f"<graphml>{key(1, attr_type='long')}<graph edgedefault='undirected'>{nodes}{edges}</graph></graphml>"
    )
    graph = ew.read(path)
    assert graph.weights.tolist() == [1, 50, 1, 50, 50, 50]
    assert graph.weights.dtype == "int64"


@pytest.mark.parametrize("scope", ["edge", "all", None])
@pytest.mark.parametrize(
    ("kind", "default", "wanted"),
    [
        ("int", "3", [7, 3]),
        ("long", " 3\n", [7, 3]),
        ("long", str(2**63 - 1), [7, 2**63 - 1]),
        ("float", "2.5", [7.0, 2.5]),
        ("double", "1e3", [7.0, 1000.0]),
        ("double", "inf", [7.0, float("inf")]),
        ("string", "2.5", [7.0, 2.5]),
        ("string", "3", [7, 3]),
        (None, "3", [7, 3]),
    ],
)
def test_defaults(tmp_path, scope, kind, default, wanted):
    path = graphml(tmp_path, key(default, attr_type=kind, **{"for": scope}), first="w=7")
    for options in {}, {"weight": "weight"}, {"weight": "w"}:
        graph = ew.read(path, **options)
        assert graph.weights.tolist() == wanted
        assert graph.weights.dtype.kind == ("f" if isinstance(wanted[0], float) else "i")
    assert ew.read(path, weight=False).weights is None


def test_keys_of_other_elements_and_names(tmp_path):
    assert ew.read(graphml(tmp_path, key(2, **{"for": "node"}))).weights is None
    assert ew.read(graphml(tmp_path, key(attr_name="km"), "w=1", "w=2")).weights is None
    path = graphml(tmp_path, key(attr_name="km"), "w=1", "w=2")
    assert ew.read(path, weight="km").weights.tolist() == ew.read(path, weight="w").weights.tolist() == [1, 2]
    path = graphml(tmp_path, key(id="weight", attr_name=None), "weight=1", "weight=2")
    assert ew.read(path).weights.tolist() == [1, 2]
    path = graphml(tmp_path, key(2, attr_name="value"))
    assert ew.read(path).weights.tolist() == [2, 2]
    path = graphml(tmp_path, key(attr_name="value", attr_type="string"), "w=x", "w=y")
    assert ew.read(path).weights is None
    assert ew.read(graphml(tmp_path, key())).weights is None  # no edge has it


@pytest.mark.parametrize(
    ("keys", "first", "second", "problem"),
    [
        (
            key(),
            "w=1",
            "",
            "1 of 2 edges lack 'weight', the first is the edge from 'b' to 'c'; give it to every",
        ),
        (key(attr_name="value"), "w=1", "", "1 of 2 edges lack 'value'"),
        (
            key(attr_type="int"),
            "w=1",
            "w=1.5",
            "'weight' of the edge from 'b' to 'c': '1.5' is not of the type int",
        ),
        (key(), "w=1", "w=heavy", "'heavy' is not a number; correct it, or pass weight=False"),
        (key("0x1"), "w=1", "", "'0x1' is not a number"),
        (key("1,5"), "w=1", "", "'1,5' is not a number; write the decimal mark as a point"),
        (key(), "w=1", "w=", "'' is not a number"),
        (key(attr_type="boolean"), "w=true", "w=false", "'true' is not a number"),
        (key(attr_type="boolean"), "w=1", "w=0", "of the type boolean"),
        (key(attr_type="long"), "w=1", f"w={2**63}", f"{2**63} is beyond 64 bits"),
        (key(), "w=1", "w=1e400", "'1e400' is beyond float64"),
        (key() + key(id="v"), "w=1", "v=2", "the keys 'w' and 'v' are both called 'weight'; choose one with"),
        ("", "weight=1", "weight=2", "no <key> declares the attribute 'weight'"),
    ],
)
def test_weights_that_cannot_be_read(tmp_path, keys, first, second, problem):
    path = graphml(tmp_path, keys, first, second)
    with pytest.raises(FileError) as caught:
        ew.read(path)
    assert problem in str(caught.value)
    assert ew.read(path, weight=False).n_edges == 2


def test_an_attribute_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="no edge has 'km'; attributes of edges are weight: choose one with"):
        ew.read(graphml(tmp_path, key(2)), weight="km")


def test_several_graphs(tmp_path):
    path = tmp_path / "a.graphml"
    one = '<graph><node id="a"/>{}</graph>'
    for text in one.format("") + one.format(""), one.format(f'<node id="b">{one.format("")}</node>'):
        path.write_text(f"<graphml>{text}</graphml>")
        with pytest.raises(FileError, match="holds 2 graphs"):
            ew.read(path)
    path = tmp_path / "a.gml"
    path.write_text(GML.format("", "") * 2)
    with pytest.raises(FileError, match="holds 2 graphs"):
        ew.read(path)


@pytest.mark.parametrize(
    ("first", "second", "weights"),
    [
        ("weight 1", "weight 2", [1, 2]),
        ("weight 1", "weight 2.5", [1.0, 2.5]),
        ("weight -1e3", "weight inf", None),
        ('weight "1"', 'weight "2"', [1, 2]),
        ("value 1", "value 2", [1, 2]),
        ('value "x"', 'value "y"', None),
        ("km 1", "", None),
        ("weight 3 value 1", "weight 4", [3, 4]),
    ],
)
def test_gml(tmp_path, first, second, weights):
    path = tmp_path / "a.gml"
    path.write_text(GML.format(first, second))
    if "inf" in second:
        weights = [-1000.0, float("inf")]
    found = ew.read(path).weights
    assert (found if found is None else found.tolist()) == weights


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("weight 1", "", "1 of 2 edges lack 'weight', the first is the edge from 2 to 3"),
        ("", "value 1", "1 of 2 edges lack 'value', the first is the edge from 1 to 2"),
        ("weight 1", 'weight "heavy"', "'weight' of the edge from 2 to 3: 'heavy' is not a number"),
        ("weight 1_0", "weight 2", "'1_0' is not a number"),
        ("weight 1", "weight [ a 1 ]", "it is not a number"),
        ("weight 1", f"weight {2**63}", "beyond 64 bits"),
        ("weight 1", "weight 1e400", "'1e400' is beyond float64"),
    ],
)
def test_gml_that_cannot_be_read(tmp_path, first, second, problem):
    path = tmp_path / "a.gml"
    path.write_text(GML.format(first, second))
    with pytest.raises(FileError) as caught:
        ew.read(path)
    assert problem in str(caught.value)
    assert ew.read(path, weight=False).n_edges == 2


#: Weights that only some edges have.
PARTLY = {
    "a.csv": "a,b,w\nx,y,\ny,z,3\n",
    "a.tsv": "a\tb\tw\nx\ty\t3\ny\tz\t\n",
    "a.txt": "1 2 3\n2 3\n",
    "b.txt": "1,2,\n2,3,3\n",
    "a.ncol": "a b\nb c 2\n",
    "a.jsonl": '{"a": "x", "b": "y", "w": 3}\n{"a": "y", "b": "z"}\n',
    "b.jsonl": '{"a": "x", "b": "y"}\n{"a": "y", "b": "z", "w": 3}\n',
    "late.jsonl": '{"a": "x", "b": "y"}\n' * 5000 + '{"a": "y", "b": "z", "w": 3}\n',
    "a.gr": "p sp 3 2\na 1 2 3\na 2 3\n",
    "a.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 3\n2 3\n",
    "a.graph": "3 2 1\n2 5\n1 5 3\n2 7\n",
    "a.smat": "3 3 2\n0 1 3\n1 2\n",
}


@pytest.mark.parametrize("name", PARTLY)
def test_weights_of_some_edges_only(tmp_path, name):
    path = tmp_path / name
    path.write_text(PARTLY[name])
    with pytest.raises(FileError) as caught:
        ew.read(path)
    assert "\n" not in str(caught.value)


def test_weights_of_some_files_only(tmp_path):
    for suffix, texts in {
        "csv": ("a,b\nx,y\n", "a,b,w\nx,z,3\n"),
        "jsonl": ('{"a": 1, "b": 2}\n', '{"a": 1, "b": 3, "w": 0.5}\n'),
    }.items():
        paths = [tmp_path / f"{number}.{suffix}" for number in range(2)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        with pytest.raises(
            FileError, match="the numbers in 'w' may be weights, which the rows before do not have"
        ):
            ew.read(paths)
        assert ew.read(paths, weight=False).n_edges == 2
        with pytest.raises(FileError, match="'w' is not there"):
            ew.read(paths[::-1])
    other = tmp_path / "2.csv"
    other.write_text("a,b,note\nx,z,good\n")
    assert ew.read([tmp_path / "0.csv", other]).n_edges == 2
