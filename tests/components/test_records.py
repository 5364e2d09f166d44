"""Every record gets a cluster: numbering by records, names of clusters, and the table."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.components.cluster_table import ClusterTable
from edgewise.errors import EdgewiseError, EdgewiseWarning, FileError, GraphError, OptionError

PEOPLE = {"id": ["zoe", "bob", "ann", "anna", "rob"], "zip": ["1", "02", "3", None, ""]}
PAIRS = {"left_id": ["ann", "rob", "ann"], "right_id": ["anna", "bob", "ann"]}


def clusters(pairs=PAIRS, people=PEOPLE, **how):
    return ew.connected_components(ew.Graph.from_frame(pairs, vertices=people, **how))


def least_members(ids, pairs):
    """Name of the cluster of each id, the least id in it, found by joining sets."""
    sets = {one: {one} for one in ids}
    for left, right in pairs:
        if sets[left] is not sets[right]:
            sets[left] |= sets[right]
            for one in sets[right]:
                sets[one] = sets[left]
    return [min(sets[one]) for one in ids], [len(sets[one]) for one in ids]


@pytest.mark.interpreter
def test_all_records_with_their_columns():
    table = clusters().to_frame()
    assert table.column_names == ["id", "zip", "cluster", "size"]
    assert table["id"].to_pylist() == PEOPLE["id"] and table["zip"].to_pylist() == PEOPLE["zip"]
    assert table["cluster"].to_pylist() == ["zoe", "bob", "ann", "ann", "bob"]
    assert table["size"].to_pylist() == [1, 2, 2, 2, 2]
    assert clusters().to_frame("row")["cluster"].to_pylist() == [0, 1, 2, 2, 1]
    for min_size, rows in ((1, 5), (2, 4), (3, 0)):
        assert clusters().to_frame(min_size=min_size).num_rows == rows
        assert ClusterTable(clusters(), "first", min_size).rows() == rows
    assert pa.table(clusters()).equals(table)


KEYS = st.sampled_from(["", "a", "a\0", "ab", "b", "é", "z" * 9, "z" * 8, "z" * 17, "z" * 16 + "a"])


@given(st.lists(st.tuples(KEYS, KEYS)), st.permutations(KEYS.elements), st.booleans())
@settings(max_examples=60, deadline=None)
def test_least_names_are_those_of_an_oracle(pairs, order, large):
    kind = pa.large_string() if large else pa.string()
    people = pa.table({"id": pa.array(order, kind)})
    columns = {side: pa.array([pair[at] for pair in pairs], kind) for at, side in enumerate(("l", "r"))}
    graph = ew.Graph.from_frame(pa.table(columns), "l", "r", vertices=people)
    table = ew.connected_components(graph).to_frame("min")
    names, sizes = least_members(order, pairs)
    assert table["cluster"].to_pylist() == names and table["size"].to_pylist() == sizes


def test_records_of_linked_datasets_need_joined_ids():
    pairs = {
        "source_dataset_l": ["crm"],
        "source_dataset_r": ["shop"],
        "unique_id_l": [1],
        "unique_id_r": [2],
    }
    with pytest.raises(GraphError, match="give the records a column with ids such as dataset-__-id"):
        clusters(pairs, {"unique_id": [1, 2]})
    assert clusters(pairs, {"id": ["crm-__-1", "shop-__-2"], "unique_id": [1, 2]}).count == 1


@pytest.mark.parametrize(
    "kind", ["string", "dictionary", "large_string", "binary", "int64", "uint64", "int16"]
)
def test_ids_of_every_kind(kind):
    given = (
        [f"{n}" for n in (30, 7, 12, 9)]
        if kind in ("string", "dictionary", "large_string")
        else [30, 7, 12, 9]
    )
    given = [b"30", b"7", b"12", b"9"] if kind == "binary" else given
    if kind == "dictionary":
        column = pa.array(given).dictionary_encode()
    else:
        column = pa.array(given, getattr(pa, kind)())
    pairs = pa.table({"l": column.take([3, 1]), "r": column.take([0, 1])})
    graph = ew.Graph.from_frame(pairs, vertices=pa.table({"id": column, "n": [1, 2, 3, 4]}))
    table = ew.connected_components(graph).to_frame("min")
    assert table["id"].to_pylist() == given
    least = min(given[0], given[3])
    assert table["cluster"].to_pylist() == [least, given[1], given[2], least]


def test_vertices_of_edges_by_their_ids():
    graph = ew.Graph.from_edges([5, 2**63 - 1], [-3, 5], ids=[7, 2**63 - 1, -3, 5])
    assert graph.ids.tolist() == [7, 2**63 - 1, -3, 5]
    assert ew.connected_components(graph).to_frame("min")["cluster"].to_pylist() == [-3, -3, 7, -3]  # by id
    assert ew.Graph.from_edges([1], [0], ids=[0, 1, 2]).ids is None
    assert ew.Graph.from_edges([], [], ids=["a"]).n_vertices == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"ids": ["a"]}, "the id 'b' is not in ids"),
        ({"ids": ["a", "b", "a"]}, "ids holds 'a' in rows 1 and 3"),
        ({"ids": ["a", None, "b"]}, "null"),
        ({"ids": [1, 2]}, "'sources' holds string, but ids holds int64"),
        ({"ids": ["a", "b"], "n_vertices": 2}, "both count the vertices"),
    ],
)
def test_wrong_ids(arguments, problem):
    with pytest.raises((GraphError, OptionError), match=problem):
        ew.Graph.from_edges(["a"], ["b"], **arguments)


def test_a_copy_among_many_integers_is_named():
    ids = np.arange(3000)[::-1].copy()
    ids[2500] = ids[17]
    with pytest.raises(GraphError, match=f"ids holds {ids[17]} in rows 18 and 2,501"):
        ew.Graph.from_edges([1], [2], ids=ids)


@pytest.mark.parametrize("apart", [1, 3, 1000])  # by an array over the range, or by a hash table
@pytest.mark.parametrize("first", [-50, 0, 2**63 - 50_000_000, np.uint64(2**64 - 50_000_000)])
def test_integers_have_the_positions_of_their_records(first, apart):
    rng = np.random.default_rng(apart)
    ids = rng.permutation(3000).astype(type(first) if first else np.int64) * type(first)(apart) + first
    rows = rng.integers(0, 3000, (2, 5000))
    graph = ew.Graph.from_frame({"a": ids[rows[0]], "b": ids[rows[1]]}, vertices=pa.table({"id": ids}))
    assert np.array_equal(graph.sources, rows[0]) and np.array_equal(graph.targets, rows[1])
    assert np.array_equal(graph.ids, ids)
    for strange in (ids.min() - 1, ids.max() + 1, ids.min() + 1 if apart > 1 else ids.max() + 2):
        with pytest.raises(GraphError, match=f"the id {strange} in row 2 is not in column 'id'"):
            pairs = {"a": ids[:3], "b": np.array([ids[0], strange, ids[1]])}
            ew.Graph.from_frame(pairs, vertices=graph.records)


def test_records_that_are_there_twice_are_refused_without_pairs():
    with pytest.raises(GraphError, match="holds 7 in rows 1 and 3"):
        ew.Graph.from_frame({"a": [], "b": []}, vertices={"id": [7, 8, 7]})


@pytest.mark.parametrize(
    ("people", "how", "problem"),
    [
        ({"id": ["ann", "anna", "bob"]}, {}, "the id 'rob' in row 2 is not in column 'id' of the records"),
        ({"name": ["ann"], "n": [1]}, {}, "which column of the records holds the ids"),
        (PEOPLE, {"vertex_id": "key"}, "column 'key' of the records is not there"),
        ({"id": [0.5]}, {}, "holds double"),
        (PEOPLE | {"size": [1] * 5}, {}, "has a column 'size' already"),
    ],
)
def test_wrong_records(people, how, problem):
    with pytest.raises(GraphError, match=problem):
        clusters(people=people, **how).to_frame()


def test_a_column_of_ids_needs_records():
    with pytest.raises(OptionError, match="vertex_id"):
        ew.Graph.from_frame(PAIRS, vertex_id="id")


def test_names_without_records():
    graph = ew.Graph.from_edges(["d", "b", "x"], ["c", "a", "x"])
    found = ew.connected_components(graph)
    assert found.to_frame().column_names == ["id", "component"]
    least = {"id": ["a", "b", "c", "d", "x"], "cluster": ["a", "a", "c", "c", "x"], "size": [2, 2, 2, 2, 1]}
    assert found.to_frame("min").to_pydict() == least
    assert found.to_frame("first")["cluster"].to_pylist() == ["d", "d", "b", "b", "x"]
    assert found.top(2, "min").to_pydict() == {"cluster": ["c", "a"], "size": [2, 2]}
    assert found.size_counts().to_pydict() == {"size": [1, 2], "clusters": [1, 2]}
    assert found.members("a").to_pylist() == ["b", "a"]
    with pytest.raises(OptionError, match="name='last' is unknown"):
        found.to_frame("last")
    with pytest.raises(GraphError, match="'y' is not in the graph"):
        found.members("y")
    numbers = ew.connected_components(ew.Graph.from_edges([0], [1], n_vertices=3))
    assert numbers.to_frame("min").to_pydict() == {"id": [0, 1, 2], "cluster": [0, 0, 2], "size": [2, 2, 1]}


def test_records_in_files(tmp_path):
    people = pa.table(PEOPLE | {"born": pa.array([1, None, 3, 4, 5], pa.int16())})
    pa.parquet.write_table(people, tmp_path / "people.parquet", row_group_size=2)
    pa.parquet.write_table(pa.table(PAIRS), tmp_path / "pairs.parquet")
    graph = ew.read(tmp_path / "pairs.parquet", vertices=tmp_path / "people.parquet")
    found = ew.connected_components(graph)
    found.write(tmp_path / "out.parquet")
    table = pa.parquet.read_table(tmp_path / "out.parquet")
    assert table.drop_columns(["cluster", "size"]).equals(people)
    assert pa.parquet.read_metadata(tmp_path / "out.parquet").num_row_groups == 1
    pa.parquet.write_table(people.slice(1), tmp_path / "people.parquet")
    with pytest.raises(GraphError, match="has changed since its ids were read"):
        found.to_frame()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_that_are_compressed_once_more_are_no_records(kind, tmp_path):
    (tmp_path / "pairs.csv").write_text("l,r\na,b\n")
    people = tmp_path / f"people.{kind}"
    ew.write(ew.Graph.from_edges(["a"], ["b"]), people)
    packed = tmp_path / f"people.{kind}.gz"
    packed.write_bytes(gzip.compress(people.read_bytes()))
    with pytest.raises(FileError, match=rf"people\.{kind}\.gz: is a table inside gzip; decompress it"):
        ew.read(tmp_path / "pairs.csv", vertices=packed)


def test_text_keeps_every_character(tmp_path):
    (tmp_path / "pairs.csv").write_text("l,r\n007,9\n9,8\n")
    (tmp_path / "people.csv").write_text('id,zip,name\n9,00501,"x, y"\n8,1e5,\n007,2.50,true\n7,-0,""\n')
    found = ew.connected_components(ew.read(tmp_path / "pairs.csv", vertices=tmp_path / "people.csv"))
    found.write(tmp_path / "out.csv", "min")
    assert pa.csv.read_csv(
        tmp_path / "out.csv",
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(("id", "zip", "name", "cluster"), pa.string())
        ),
    ).to_pydict() == {
        "id": ["9", "8", "007", "7"],
        "zip": ["00501", "1e5", "2.50", "-0"],
        "name": ["x, y", "", "true", ""],
        "cluster": ["007", "007", "007", "7"],
        "size": [3, 3, 3, 1],
    }


def test_integers_of_text_with_records_that_are_text(tmp_path):
    (tmp_path / "pairs.txt").write_text("1 2\n")
    (tmp_path / "people.csv").write_text("id,n\n2,a\nx,b\n1,c\n")
    graph = ew.read(tmp_path / "pairs.txt", vertices=tmp_path / "people.csv")
    assert ew.connected_components(graph).labels.tolist() == [0, 1, 0]
    with pytest.raises(OptionError, match="vertices= means nothing for Matrix Market"):
        (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
        ew.read(tmp_path / "m.mtx", vertices=tmp_path / "people.csv")


def test_several_files_of_records_have_the_same_columns(tmp_path):
    (tmp_path / "pairs.csv").write_text("l,r\na,d\n")
    for name, text in {"1": "id,n\na,1\nb,2\n", "2": "id,n\nc,3\nd,4\n", "3": "id,m\nc,3\n"}.items():
        (tmp_path / f"people{name}.csv").write_text(text)
    parts = [tmp_path / f"people{name}.csv" for name in "12"]
    table = ew.connected_components(ew.read(tmp_path / "pairs.csv", vertices=parts)).to_frame()
    assert table["n"].to_pylist() == ["1", "2", "3", "4"]
    assert table["cluster"].to_pylist() == ["a", "b", "c", "a"]
    with pytest.raises(FileError, match=r"people3\.csv: has other columns than"):
        ew.read(tmp_path / "pairs.csv", vertices=[parts[0], tmp_path / "people3.csv"])


def test_no_pairs_at_all(tmp_path):
    (tmp_path / "pairs.csv").write_text("l,r,score\na,b,0.1\n")
    for column in (["a", "b"], [1, 2]):
        graph = ew.Graph.from_frame({"l": [], "r": []}, vertices={"id": column})
        assert ew.connected_components(graph).to_frame()["cluster"].to_pylist() == column
    (tmp_path / "people.csv").write_text("id\na\nb\n")
    with pytest.warns(EdgewiseWarning, match="keeps none"):
        graph = ew.read(tmp_path / "pairs.csv", where="score > 1", vertices=tmp_path / "people.csv")
    assert ew.connected_components(graph).to_frame()["size"].to_pylist() == [1, 1]
    empty = ew.Graph.from_frame({"l": [], "r": []}, vertices=pa.table({"id": pa.array([], pa.string())}))
    assert ew.connected_components(empty).to_frame().column_names == ["id", "cluster", "size"]


@pytest.mark.interpreter
@pytest.mark.parametrize("coded", [False, True])
def test_text_of_records_that_is_not_utf8(coded, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.array([b"ann", b"b\xffb"], pa.binary()).view(pa.string())
    note = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), text) if coded else text
    table = pa.table({"id": ["a", "b"], "note": note})
    pq.write_table(table, tmp_path / "records.parquet")
    (tmp_path / "pairs.csv").write_text("source,target\na,b\n")
    for records in (table, tmp_path / "records.parquet"):
        with pytest.raises(EdgewiseError, match="column 'note' has text that is not UTF-8"):
            ew.connected_components(ew.read(tmp_path / "pairs.csv", vertices=records)).write(
                tmp_path / "c.csv"
            )
        assert not (tmp_path / "c.csv").exists()
