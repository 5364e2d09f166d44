"""Edge lists in all their dress, and the line that is named when one does not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.errors import FileError, OptionError
from edgewise.files.text_blocks import normalise


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.txt"


def edges(graph):
    """Edges as they stand, with the ids of the file."""
    columns = [graph.ids_of(graph.sources).tolist(), graph.ids_of(graph.targets).tolist()]
    return list(zip(*columns, *([] if graph.weights is None else [graph.weights.tolist()])))


DRESSES = {
    "tabs": "1\t2\n7\t1\n",
    "blanks": "1 2\n7 1\n",
    "commas": "1,2\n7,1\n",
    "commas and blanks": "1,  2\n 7 ,1\n",
    "bars": "1|2\n7|1\n",
    "semicolons": "1;2\n7;1\n",
    "ragged": "  1   2 \n7\t 1\t\n",
    "windows": "1\t2\r\n7\t1\r\n",
    "ragged windows": " 1  2 \r\n\r\n7 1\r\n",
    "no last line end": "1 2\n7 1",
    "snap": "# Nodes: 3 Edges: 2\n# From\tTo\n1\t2\n7\t1\n",
    "percent": "% sym\n%\n1 2\n7 1\n",
    "comments among rows": "1 2\n# here\n  \n7 1\n% and here\n",
    "byte order mark": "\ufeff1 2\n7 1\n",
    "quotes": '"1","2"\n"7","1"\n',
    "names above commas": "from,to\n1,2\n7,1\n",
    "names above blanks": "from to\n1 2\n7 1\n",
}


@pytest.mark.parametrize("dress", DRESSES)
def test_dresses(path, dress):
    path.write_text(DRESSES[dress], encoding="utf-8")
    graph = ew.read(path)
    assert edges(graph) == [(1, 2), (7, 1)]
    assert (graph.n_vertices, graph.directed, graph.ids.tolist()) == (3, False, [1, 2, 7])


@pytest.mark.parametrize(
    "name", ["graph.mtx", "graph.csv", "graph.parquet", "graph", "graph.npz", "graph.sg"]
)
def test_wrong_endings(tmp_path, name):
    (tmp_path / name).write_text("1 2\n7 1\n")
    assert edges(ew.read(tmp_path / name)) == [(1, 2), (7, 1)]


def test_weights(path):
    path.write_text("1 2 3\n7 1 4\n")
    assert edges(ew.read(path)) == [(1, 2, 3), (7, 1, 4)]
    assert ew.read(path).weights.dtype == np.int64
    assert ew.read(path, weight=False).weights is None
    path.write_text("1 2 3\n7 1 0.5\n5 7 1e3\n5 7 nan\n")
    assert ew.read(path).weights.tolist()[:3] == [3, 0.5, 1000]
    path.write_text("1 2 x\n7 1 y\n")
    with pytest.raises(FileError, match=r"graph.txt:1: the weight 'x' is not a number"):
        ew.read(path)


def test_a_weight_that_turns_out_to_be_a_fraction_later(path):
    path.write_text("1 2 3\n" * 20000 + "7 1 0.5\n")
    assert ew.read(path).weights[[0, -1]].tolist() == [3, 0.5]


def test_columns_by_position(path):
    path.write_text("9 1 2 0.5\n9 7 1 0.25\n")
    with pytest.raises(FileError, match="4 columns found; choose with source="):
        ew.read(path)
    assert edges(ew.read(path, source=1, target=2, weight=3)) == [(1, 2, 0.5), (7, 1, 0.25)]
    assert edges(ew.read(path, source="2", target="1")) == [(2, 1), (1, 7)]
    with pytest.raises(FileError, match="positions run from 0 to 3"):
        ew.read(path, source=1, target=4)
    with pytest.raises(OptionError, match="belong together"):
        ew.read(path, source=1)


def test_names(path):
    path.write_text("ann bob 1\nbob  cy 2\n# no row\n7 ann 3\n")
    graph = ew.read(path)
    assert graph.ids.to_pylist() == ["ann", "bob", "cy", "7"]
    assert graph.weights.tolist() == [1, 2, 3]
    path.write_text("New York\tLa Paz\nLa Paz\tRome\n")
    assert ew.read(path).ids.to_pylist() == ["New York", "La Paz", "Rome"]
    path.write_text("01 1\n1 2\n")
    assert ew.read(path, ids="string").ids.to_pylist() == ["01", "1", "2"]


def test_any_64_bits(path):
    path.write_text(f"{-(2**63)} {2**63 - 1}\n")
    assert ew.read(path).ids.tolist() == [-(2**63), 2**63 - 1]
    path.write_text(f"{2**64 - 1} 1\n")
    assert ew.read(path).ids.tolist() == [1, 2**64 - 1]
    path.write_text(f"5 1\n{2**64} 1\n")
    with pytest.raises(FileError, match=r":2: 18446744073709551616 does not fit into 64 bits"):
        ew.read(path)


def test_numbering(path):
    path.write_text("1 2\n5 1\n")
    graph = ew.read(path, one_based=True)
    assert (graph.n_vertices, graph.ids.tolist()) == (5, [1, 2, 3, 4, 5])
    assert edges(graph) == [(1, 2), (5, 1)]
    graph = ew.read(path, one_based=False)
    assert (graph.n_vertices, graph.ids) == (6, None)
    path.write_text("1 2\n0 1\n")
    with pytest.raises(FileError, match=r":2: vertex 0 is not in 1 \.\."):
        ew.read(path, one_based=True)


COUNTED = "\n".join(f"{i} {i + 40}" for i in range(40))


def test_a_first_row_that_counts(path):
    path.write_text(f"80 40\n{COUNTED}\n")
    with pytest.raises(FileError, match=r":1: the row '80 40' may count .*format='el1' or format='el'"):
        ew.read(path)  # vertex 40 occurs, so the row could be an edge
    assert ew.read(path, format="el").n_edges == 41
    graph = ew.read(path, format="el1")
    assert (graph.n_vertices, graph.n_edges) == (80, 40)
    path.write_text(f"90 41\n{COUNTED}\n")
    with pytest.raises(FileError, match=":1: 41 edges promised, but 40 found"):
        ew.read(path, format="el1")
    path.write_text(f"20 40\n{COUNTED}\n")
    with pytest.raises(FileError, match=":1: 20 vertices promised"):
        ew.read(path, format="el1")
    many = "".join(f"{i % 7} {i % 5}\n" for i in range(30))
    path.write_text(f"9 30\n{many}")
    assert (ew.read(path).n_vertices, ew.read(path).n_edges) == (9, 30)
    path.write_text("3 2 \n1 2 5\n3 1 6\n")
    graph = ew.read(path)
    assert (graph.n_vertices, graph.weights.tolist(), graph.ids.tolist()) == (3, [5, 6], [1, 2, 3])


def test_an_edge_that_looks_like_a_count(path):
    path.write_text("1 0\n")
    assert ew.read(path).n_edges == 1
    path.write_text("3 2\n2 1\n1 0\n")
    with pytest.raises(FileError, match="may count"):
        ew.read(path)
    path.write_text("# Edges: 3\n3 2\n2 1\n1 0\n")
    assert ew.read(path).n_edges == 3
    path.write_text("2 2 1\n1 0 5\n")
    with pytest.raises(FileError, match="format='smat' or format='el'"):
        ew.read(path)
    graph = ew.read(path, format="smat")
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (2, 1, True)


def test_isolated_vertices_at_the_end(path):
    path.write_text("1 2\n2 5\n9\n8\n")
    graph = ew.read(path)
    assert (graph.n_vertices, graph.n_edges, graph.ids.tolist()) == (5, 2, [1, 2, 5, 8, 9])
    for text, line in (("1 2\n9\n", 2), ("1 2\n9\n8\n2 5\n", 2), ("1 2\n9\n2\n", 2), ("1 2\n9\nx\n", 2)):
        path.write_text(text)
        with pytest.raises(FileError) as caught:
            ew.read(path)
        assert caught.value.line == line


FAULTS = {
    "1 2\n3\n": (2, "2 columns expected, as in the first row, but found 1"),
    "1 2\n3 4 5\n": (2, "found 3: '3 4 5'"),
    "# c\n\n1 2\n3 x\n": (4, "'x' is not an integer"),
    "1 2\n1.5 2\n": (2, "'1.5' is not an integer"),
    "1,2\n3,\n": (2, "an id is missing"),
    "a,b\n,c\n": (2, "an id is missing"),
    "1 2 0.5\n3 4 heavy\n": (2, "the weight 'heavy' is not a number"),
    "1,2,0.5\n3,4,\n": (2, "the weight is missing"),
    "7\n8\n": (1, "only one column"),
    "1 2\n" * 5000 + "# c\n3 4 5\n" + "1 2\n" * 5000: (5002, "found 3"),
}


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: repr(text[:12]))
def test_the_line_is_named(path, text):
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        ew.read(path)
    assert caught.value.line == FAULTS[text][0]
    assert FAULTS[text][1] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_is_named_in_a_large_file(path):
    path.write_bytes(b"12345 67890\n" * 700_000 + b"1 2 3\n" + b"12345 67890\n" * 100)
    with pytest.raises(FileError, match=":700001: 2 columns expected"):
        ew.read(path)


def test_incomplete_rows_can_be_dropped(path):
    path.write_text("1,2\n,3\n4\n5,\n6,7\n")
    assert edges(ew.read(path, null="drop")) == [(1, 2), (6, 7)]
    path.write_text("1 2\n4\n6 7\n")
    assert edges(ew.read(path, null="drop")) == [(1, 2), (6, 7)]


def test_long_beginnings(path):
    path.write_text("\n" * 100_000 + "1 2\n7 1\n")
    assert edges(ew.read(path)) == [(1, 2), (7, 1)]
    path.write_text("# comment\n" * 100_000 + "1 2\n7 1\n")
    assert edges(ew.read(path)) == [(1, 2), (7, 1)]
    path.write_text("%\n" * 100_000 + "2 1\n2\n1\n")
    assert ew.read(path, format="metis").n_edges == 1


def test_not_text(path):
    path.write_bytes(b"a b\n\xff\xfe c\n")
    with pytest.raises(FileError, match=r":2: .*UTF-8"):
        ew.read(path)


def test_options_that_mean_nothing(path):
    path.write_text("1 2\n2 3\n")
    for option in ({"where": "x > 1"}, {"source": "a", "target": "b"}):
        with pytest.raises((OptionError, FileError)):
            ew.read(path, **option)
    for option in ({"null": "what"}, {"ids": "what"}, {"format": "what"}):
        with pytest.raises(OptionError, match="unknown"):
            ew.read(path, **option)
    path.write_text("a b\n")
    with pytest.raises(OptionError, match="one_based"):
        ew.read(path, one_based=True)


def test_headers_can_be_forced(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ann,bob\nbob,cy\n")
    assert ew.read(path, header=False).n_edges == 2
    assert ew.read(path).n_edges == 1


def test_no_rows(path):
    path.write_text("# Nodes: 0 Edges: 0\n")
    assert (ew.read(path).n_vertices, ew.read(path).n_edges) == (0, 0)
    path.write_text("from,to\n")
    assert ew.read(path, header=True).n_edges == 0


blanks = st.text(" \t", max_size=3)
gaps = st.text(" \t", min_size=1, max_size=3)
rows = st.lists(st.tuples(blanks, st.lists(st.text("12ab-.", min_size=1, max_size=4), max_size=4), gaps))


@given(rows, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_normalising_is_split_and_join(rows, end, ended):
    text = end.join(before + gap.join(fields) + before for before, fields, gap in rows) + (
        end if ended else ""
    )
    expected = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    assert normalise(text.encode(), b" \t\r", b"#%").decode() == expected
