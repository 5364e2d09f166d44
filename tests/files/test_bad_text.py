"""Text whose header, numbers or line ends are at fault: one line that says so, never another error."""

import pytest

import edgewise as ew
from edgewise.errors import EdgewiseError, FileError, OptionError

LONG = "9" * 5000
BEYOND = "is no possible number of vertices or edges"
BITS = "does not fit into 64 bits"
MAC = "lines that end in carriage returns"


def stated(count):
    """Files of every text format that states its number of vertices, with that number."""
    node = f"<NUMBER OF NODES> {count}\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\t;\n\t1\t2\t;\n"
    return {
        "a.gr": f"p sp {count} 1\na 1 2 3\n",
        "a.col": f"p edge 3 {count}\ne 1 2\n",
        "a.jlg": f"{count},1,u\n1,2\n",
        "a.vlg": f"t {count} 1\nv 0 1 1\ne 0 1\n",
        "a.smat": f"{count} {count} 1\n1 2 3\n",
        "a.tntp": node,
        "a.graph": f"{count} 1\n2\n1\n",
        "a.el": f"# edgewise: vertices={count} directed=0 numbered=1\n1 2\n1 5\n",
        "a.txt": f"{count} 2\n1 2 3\n1 2 5\n",
    }


@pytest.mark.parametrize("count", [2**62, 2**63 - 1, 2**63, 2**64, LONG])
@pytest.mark.parametrize("name", stated(1))
def test_counts_that_cannot_be(tmp_path, name, count):
    (tmp_path / name).write_text(stated(count)[name])
    with pytest.raises(FileError, match=BEYOND):
        ew.read(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        (f"{2**63 - 1} 2\n1 2\n1 5\n", {"format": "el1"}, BEYOND),
        (f"{2**63} 2\n1 2\n1 5\n", {"format": "el1"}, BEYOND),
        (f"{2**63 - 1} 2\n1 2\n", {"one_based": True}, BEYOND),
        (f"{2**63} 2\n1 2\n", {"one_based": False}, BEYOND),
        (f"{LONG} 1\n1 2\n", {}, f":1: {'9' * 20}... {BITS}"),
        (f"1 2\n{LONG} 1\n", {}, f":2: {'9' * 20}... {BITS}"),
        (f"1 2\n{2**64} 1\n", {}, f":2: {2**64} {BITS}"),
        (f"a,b\n1,2\n{LONG},1\n", {}, f":3: {'9' * 20}... {BITS}"),
        (f"1 2\n3\n{LONG}\n", {}, ":2: 2 columns expected"),
        ("a,b\rc,d\r", {}, MAC),
        ("1 2\r3 4\r", {}, MAC),
        ("3 2\r2 3\r1\r1\r", {"format": "metis"}, MAC),
        ('{"a":1,"b":2}\r{"a":1,"b":2}\r', {}, MAC),
        ("a,b,w\n1,2,3\n", {"source": "a", "target": "b", "weight": "a"}, "weight='a' is a column of ids"),
        ("a,b,w\nx,y,3\n", {"source": "a", "target": "b", "weight": "b"}, "weight='b' is a column of ids"),
        ("1 2 3\n", {"source": 0, "target": 1, "weight": 1}, "weight=1 is a column of ids"),
        ("x y 3\n", {"source": 1, "target": 1}, "are both 1; name two columns"),
        ('graph [ node [ id 7 ] node [ id "7" ] ]', {}, "two nodes have the id 7, once in quotes"),
    ],
)
def test_what_is_refused(tmp_path, content, options, problem):
    (tmp_path / "a").write_bytes(content.encode())
    with pytest.raises(EdgewiseError) as raised:
        ew.read(tmp_path / "a", **options)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_weights_of_a_table_are_no_ids():
    with pytest.raises(OptionError, match="weight='a' is a column of ids"):
        ew.Graph.from_frame({"a": [1], "b": [2]}, "a", "b", weight="a")


@pytest.mark.parametrize("node", [2**63 - 1, 2**63, 2**64 - 1, 2**64, LONG, -5])
@pytest.mark.parametrize("other", [1, -1])
def test_ids_of_gml_are_kept(tmp_path, node, other):
    edge = f"edge [ source {node} target {other} ]"
    (tmp_path / "a.gml").write_text(f"graph [ node [ id {node} ] node [ id {other} ] {edge} ]")
    graph = ew.read(tmp_path / "a.gml")
    assert {str(one) for one in graph.ids.tolist()} == {str(node), str(other)}
    assert graph.n_edges == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ncol", " a b\nc d\n"),
        ("a.ncol", "a b\nc d\n"),
        ("a.txt", " a b\nc d\n"),
        ("a.txt", "# comment\n1 2\n3 4\n"),
        ("a.csv", " 1,2\n3,4\n"),
        ("a.csv", "from,to\na,b\nc,d\n"),
        ("a.graph", " 4 2\n2\n1\n4\n3\n"),
        ("a.gr", "p sp 4 2\na 1 2 3\na 3 4 3\n"),
        ("a.jsonl", ' {"a":1,"b":2}\n{"a":3,"b":4}\n'),
    ],
)
def test_a_byte_order_mark_is_no_id(tmp_path, name, content):
    (tmp_path / name).write_text("\ufeff" + content)
    graph = ew.read(tmp_path / name, directed=False)
    ids = {str(one) for one in graph.ids.tolist()}
    assert (graph.n_edges, ids) in ((2, {"a", "b", "c", "d"}), (2, {"1", "2", "3", "4"}))
