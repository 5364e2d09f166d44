"""Heads of text tables: one file, a list, a folder, a condition and a stream take them alike."""

import pytest

import edgewise as ew
from edgewise.errors import FileError

ROWS = 20_000


def store(folder, text, name="a.csv"):
    path = folder / name
    path.write_text(text)
    return path


def clusters(result):
    ids = range(len(result.labels)) if result.graph.ids is None else result.graph.ids.tolist()
    groups: dict = {}
    for one, label in zip(ids, result.labels.tolist(), strict=True):
        groups.setdefault(label, []).append(str(one))
    return {frozenset(group) for group in groups.values()}


def ways(folder, text, name="a.csv", column=None):
    """The clusters of a file by each way to read it; ``column`` is one of numbers, for a condition."""
    path = store(folder, text, name)
    graphs = [ew.read(path), ew.read([path]), ew.read(f"{folder}/a*")]
    graphs += [ew.read(path, where=f"`{column}` > -1000")] if column else []
    found = [clusters(ew.connected_components(graph)) for graph in graphs]
    found.append(clusters(ew.stream_components(path)))
    assert all(one == found[0] for one in found), found
    return found[0]


def groups(*texts):
    return {frozenset(text.split()) for text in texts}


def test_usual_names_are_the_ids_wherever_they_are(tmp_path):
    for text in "id,source,target\n0,1,2\n1,2,3\n", "target,id,source\n1,0,2\n3,1,2\n":
        assert ways(tmp_path, text) == groups("1 2 3")
        assert ew.read(tmp_path / "a.csv").weights is None
    path = store(tmp_path, "target,source\n1,2\n")
    for graph in ew.read(path, directed=True), ew.read([path], directed=True):
        assert graph.ids.tolist()[graph.sources[0]] == 2
    assert ways(tmp_path, "source,target,when,x\n1,2,5,6\n", column="x") == groups("1 2")


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("rows", ["0,10,20\n1,20,30\n", "0,x,y\n1,y,z\n"])
def test_the_index_of_pandas_is_no_id(tmp_path, name, rows):
    found = ways(tmp_path, f"{name},a,b\n{rows}")
    assert found == (groups("10 20 30") if "10" in rows else groups("x y z"))
    assert ew.read(tmp_path / "a.csv").weights is None
    path = store(tmp_path, f"{name},a,b,w\n" + rows.replace("\n", ",0.5\n"))
    assert ew.read(path).weights.tolist() == [0.5, 0.5]
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2], "b": [2, 3]}, index=[7, 9])
    frame.to_parquet(tmp_path / "a.parquet")
    assert ew.read(tmp_path / "a.parquet").weights is None


@pytest.mark.parametrize(
    "head",
    ["# made by x, v2\n", "#\n\n% a,b\n", "sep=,\r\n", "#from,to\n", "# a\n#from,to\n"],
)
@pytest.mark.parametrize("rows", ["1,2\n2,3\n", "x,y\ny,z\n"])
def test_lines_above_the_names(tmp_path, head, rows):
    text = head + ("" if "#from" in head else "from,to\n") + rows
    assert ways(tmp_path, text) == groups(" ".join(sorted(set(rows.replace("\n", ",").split(",")) - {""})))


def test_a_list_of_one_file_is_that_file(tmp_path):
    for name, text in {"a.txt": "1,2\n2,3\n", "b.txt": "1\t2\n2\t3\n", "c.graph": "3 2\n2\n1 3\n2\n"}.items():
        path = store(tmp_path, text, name)
        assert ew.read([path]).n_edges == ew.read(f"{tmp_path}/{name[0]}*").n_edges == 2


def test_blanks_around_ids_are_no_part_of_them(tmp_path):
    assert ways(tmp_path, "a, b\nx, y\ny , z\n") == groups("x y z")
    rows = "".join(f"{row}, {row + 1}\n" for row in range(ROWS))
    path = store(tmp_path, f"from,to\n{rows}x, 5\n")
    for graph in ew.read(path, ids="string"), ew.stream_components(path).graph:
        assert graph.n_vertices == ROWS + 2
    assert ew.read(store(tmp_path, "ann, bob\nbob, carl\n", "a.txt")).n_vertices == 3
    with pytest.raises(ValueError, match="null in row 2"):
        ew.read(store(tmp_path, "a,b\nx,y\nx,  \n"))


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
@pytest.mark.parametrize("row", ['"x", "y"', '"1", "2"'])
def test_quotes_behind_blanks(tmp_path, name, row):
    text = ("a,b\n" if name == "a.csv" else "") + f'"x","y"\n{row}\n'
    with pytest.raises(FileError, match="a quote behind a blank opens no field") as caught:
        ew.read(store(tmp_path, text, name))
    assert caught.value.line == text.count("\n")


def test_decimal_points_in_ids(tmp_path):
    for text, line in {
        "a,b\n1.0,2\n2.0,3\n": None,
        "a,b\n" + "1,2\n" * ROWS + "1,3.0\n": ROWS + 2,
    }.items():
        path = store(tmp_path, text)
        for read in ew.read, ew.stream_components:
            problem = "'3.0' is not an integer" if line and read is ew.read else "decimal point"
            with pytest.raises(FileError, match=problem) as caught:
                read(path)
            assert caught.value.line == line
        assert "2.0" in ew.read(path, ids="string").ids.to_pylist() or line
    assert ways(tmp_path, "a,b\n1.5,2.10\n2.10,x\n") == groups("1.5 2.10 x")
    first, second = store(tmp_path, "a,b\n1,2\n", "1.csv"), store(tmp_path, "a,b\n1.0,2.0\n", "2.csv")
    with pytest.raises(FileError, match=r"2\.csv:2: the column 'a' holds numbers with a decimal point"):
        ew.read([first, second])


def test_a_fraction_in_another_column_leaves_ids_integers(tmp_path):
    rows = "".join(f"{row},{row + 1},1\n" for row in range(ROWS))
    path = store(tmp_path, f"from,to,w\n{rows}0,5,0.5\n")
    for graph in (
        ew.read(path),
        ew.read([path]),
        ew.read(path, source="from", target="to", weight="w"),
        ew.read(path, where="w > 0"),
        ew.stream_components(path, where="w > 0").graph,
    ):
        assert graph.ids is None or graph.ids[:3].tolist() == [0, 1, 2]
        assert graph.n_vertices == ROWS + 1


def test_weights_are_decided_by_more_than_the_first_row(tmp_path):
    path = store(tmp_path, "a,b,weight\nx,y,\ny,z,2\n")
    with pytest.raises(FileError, match="'weight' is null in row 1"):
        ew.read(path)
    assert ew.read(path, null="drop").weights.tolist() == [2]
    for field in "0;5", "x":
        with pytest.raises(FileError, match=f"column 'weight': '{field}' is not a number"):
            ew.read(store(tmp_path, f"a,b,weight\nx,y,{field}\ny,z,2\n"))
    assert ew.read(store(tmp_path, "a,b,kind\nx,y,1\ny,z,k\n")).weights is None


def test_names_that_are_not_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes("é,x\nx,ü\n".encode("latin-1"))
    for path in tmp_path / "a.csv", [tmp_path / "a.csv"]:
        with pytest.raises(FileError, match="UTF-8"):
            ew.read(path)


def test_names_between_blanks_in_tables(tmp_path):
    path = store(tmp_path, "a b\nx y\ny z\n")
    assert ew.read(path).n_edges == 2
    with pytest.raises(FileError, match="a quote in the row of names has no end"):
        ew.read(store(tmp_path, 'a,"b\nx,y\n'))
