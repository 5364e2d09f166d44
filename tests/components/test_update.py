"""Updates of clusters: old clusters and new pairs, against all pairs at once and brute force."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError

pytestmark = pytest.mark.interpreter


def random_pairs(rng, n, m, kind):
    ends = rng.integers(0, n, (m, 2))
    names = np.array([f"{number * 7919 % 1000:03}-{number}" for number in range(n)])
    return names[ends] if kind == "strings" else ends * 7919 % 10007 - 300


def table_of(pairs):
    return pa.table({"l": pa.array(pairs[:, 0]), "r": pa.array(pairs[:, 1])})


def written(result, path, name="min"):
    result.write(path, name)
    return path.read_bytes()


def members(table):
    """Sets of ids by the names of their clusters."""
    sets = {}
    for one, name in zip(table["id"].to_pylist(), table["cluster"].to_pylist()):
        sets.setdefault(name, set()).add(one)
    return sets


def changes_by_brute_force(before, after):
    """Rows of the table of changes out of the sets of members before and after."""
    rows = set()
    for new_name, new in after.items():
        old = {name: one for name, one in before.items() if one & new}
        if not old:
            rows.add(("new", None, new_name, 0, len(new)))
        elif len(old) > 1:
            rows |= {("merged", name, new_name, len(one), len(new)) for name, one in old.items()}
        elif len(next(iter(old.values()))) < len(new):
            rows.add(("grown", next(iter(old)), new_name, len(next(iter(old.values()))), len(new)))
    return rows


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("kind", ["strings", "integers"])
def test_least_names_in_any_order_and_in_ten_steps(tmp_path, kind, suffix):
    rng = np.random.default_rng(5)
    pairs = random_pairs(rng, 700, 500, kind)
    whole = tmp_path / f"whole{suffix}"
    expected = written(ew.connected_components(ew.Graph.from_frame(table_of(pairs))), whole)
    shards = np.array_split(pairs, 7)
    for order in itertools.islice(itertools.permutations(range(7)), 0, 5040, 2003):
        shuffled = np.concatenate([shards[shard] for shard in order])
        found = ew.connected_components(ew.Graph.from_frame(table_of(shuffled)))
        assert written(found, tmp_path / f"shuffled{suffix}") == expected
    steps = np.array_split(pairs, 10)
    path = tmp_path / f"steps{suffix}"
    written(ew.connected_components(ew.Graph.from_frame(table_of(steps[0]))), path)
    for step in steps[1:]:
        before = members(ew.update_components(path, table_of(step[:0])).to_frame())
        result = ew.update_components(path, table_of(step))
        after = members(result.to_frame())
        rows = [tuple(row.values()) for row in result.changes().to_pylist()]
        assert len(rows) == len(set(rows)) and set(rows) == changes_by_brute_force(before, after)
        result.verify()
        written(result, path)
    assert path.read_bytes() == expected


@pytest.mark.parametrize("name", ["min", "first", "row"])
def test_records_in_ten_steps(tmp_path, name):
    rng = np.random.default_rng(9)
    ids = np.array([f"r{number:04}" for number in rng.permutation(3000)])
    people = pa.table({"key": pa.array(ids), "age": pa.array(rng.integers(0, 99, 3000).astype(np.int16))})
    ends = np.sort(rng.integers(0, 3000, (2000, 2)))
    ends = ends[np.argsort(ends.max(1), kind="stable")]
    path, whole = tmp_path / "steps.parquet", tmp_path / "whole.parquet"
    graph = ew.Graph.from_frame(table_of(ids[ends]), vertices=people, vertex_id="key")
    expected = written(ew.connected_components(graph), whole, name)
    cuts = np.linspace(300, 3000, 10).astype(int)
    for start, stop in zip([0, *cuts[:-1]], cuts):
        now = table_of(ids[ends[(ends.max(1) >= start) & (ends.max(1) < stop)]])
        records = people.slice(start, stop - start)
        if start == 0:
            result = ew.connected_components(ew.Graph.from_frame(now, vertices=records, vertex_id="key"))
        else:
            result = ew.update_components(path, now, name=name, vertices=records, vertex_id="key")
        written(result, path, name)
    assert path.read_bytes() == expected


OLD = {"id": ["a", "b", "c"], "cluster": ["a", "a", "c"], "size": [2, 2, 1]}
NEW = {"l": ["b"], "r": ["c"]}


def test_a_column_of_records_asks_for_records_of_new_ids():
    old = OLD | {"zip": ["1", "2", "3"]}
    more = {"id": ["d"], "zip": ["4"]}
    result = ew.update_components(old, {"l": ["d"], "r": ["c"]}, vertices=more)
    assert result.to_frame().to_pydict() == {
        "id": ["a", "b", "c", "d"],
        "zip": ["1", "2", "3", "4"],
        "cluster": ["a", "a", "c", "c"],
        "size": [2, 2, 2, 2],
    }
    with pytest.raises(GraphError, match="the id 'd' in row 1 is not in column 'id' of the records"):
        ew.update_components(old, {"l": ["d"], "r": ["c"]})
    with pytest.raises(GraphError, match="holds 'a' in rows 1 and 4"):
        ew.update_components(old, NEW, vertices={"id": ["a"], "zip": ["4"]})
    with pytest.raises(GraphError, match="has no column 'zip'"):
        ew.update_components(old, NEW, vertices={"id": ["d"]})
    with pytest.raises(GraphError, match=r"column 'zip' holds string in .* but int64 in"):
        ew.update_components(old, NEW, vertices={"id": ["d"], "zip": [4]})


@pytest.mark.parametrize(
    ("old", "problem"),
    [
        ({"id": ["a"], "component": [0]}, "has no column 'cluster'"),
        ({"id": [1, 2], "cluster": [1, 1]}, "'l' holds string, but column 'id' of the records holds int64"),
        (
            {"id": ["a", "b"], "cluster": ["b", "b"]},
            "the cluster of row 1 of the records is 'b', but by the rule",
        ),
        ({"id": ["a", "b"], "cluster": ["a", None]}, "null in row 2"),
        ({"id": ["a", "a"], "cluster": ["a", "a"]}, "holds 'a' in rows 1 and 2"),
        ({"id": ["a", "b"], "cluster": [0.5, 0.5]}, "cluster of row 1 .* is|clusters are named by the id"),
    ],
)
def test_wrong_clusters(old, problem):
    with pytest.raises(GraphError, match=problem):
        ew.update_components(old, NEW)


def test_an_update_that_fails_keeps_the_old_file(tmp_path):
    path = tmp_path / "clusters.csv"
    path.write_text("id,cluster\na,a\nb,a\n")
    (tmp_path / "new.csv").write_text("l,r\nb\n")
    with pytest.raises(FileError, match=r"new\.csv"):
        ew.update_components(path, tmp_path / "new.csv")
    assert path.read_text() == "id,cluster\na,a\nb,a\n"
