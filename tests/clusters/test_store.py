"""What a store of clusters takes, and what it refuses; it is unchanged then."""

import itertools
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.clusters import batch
from edgewise.clusters.runs import ABSENT, Run, Runs
from edgewise.errors import EdgewiseError, GraphError

pytestmark = pytest.mark.interpreter
PAIRS = [("a", "b", 0.9), ("b", "c", 0.8), ("d", "e", 0.7)]


def clusters_of(store):
    table = store.to_frame()
    return dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist()))


def store_of(pairs=PAIRS, threshold=0.5):
    store = ew.ClusterStore(threshold=threshold)
    store.apply(add=pairs)
    return store


def test_pairs_come_in_every_form(tmp_path):
    columns = {"left_id": ["a", "b", "d"], "right_id": ["b", "c", "e"], "score": [0.9, 0.8, 0.7]}
    table = pa.table(columns)
    ew.write(table, tmp_path / "pairs.parquet")
    ew.write(table.slice(0, 1), tmp_path / "one.csv")
    ew.write(table.slice(1), tmp_path / "two.csv")
    weighted = ew.Graph.from_edges(columns["left_id"], columns["right_id"], weights=columns["score"])
    files = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    for given in (PAIRS, columns, table, tmp_path / "pairs.parquet", files, weighted):
        store = store_of(given)
        assert clusters_of(store) == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1}
        assert store.pairs()["score"].to_pylist() == [0.9, 0.8, 0.7]
    named = {"l": ["a"], "r": ["b"], "km": [0.6]}
    store = ew.ClusterStore(threshold=0.5)
    store.add(named, source="l", target="r", score="km")
    assert store.pairs().to_pylist() == [{"source": "a", "target": "b", "score": 0.6}]


@pytest.mark.parametrize(
    ("one", "other"),
    ((7, 2**62), ("x", "y" * 40), (b"x", b"y"), (UUID(int=1), UUID(int=2)), (np.int32(1), np.int32(2))),
)
def test_ids_come_out_as_they_came_in(one, other):
    store = store_of([(one, other, 0.9)])
    assert set(clusters_of(store)) == {one, other}
    store.apply(cannot=[(one, other)], records=[])
    assert len(set(clusters_of(store).values())) == 2
    store.apply(remove=[(other, one)], withdraw=[(one, other)], delete=[one])
    assert set(clusters_of(store)) == {other}


def test_pairs_without_scores():
    store = ew.ClusterStore()
    store.apply(add=[(1, 2), (2, 3)])
    assert store.pairs().column_names == ["source", "target"]
    assert clusters_of(store) == {1: 0, 2: 0, 3: 0}
    for wrong in ({"add": [(4, 5, 0.5)]}, {"threshold": 0.5}):
        with pytest.raises(EdgewiseError, match="have none"):
            store.apply(**wrong)


def test_weaker_pairs_are_kept_for_a_lower_threshold():
    store = store_of()
    log = store.apply(threshold=0.85)
    assert log["change"].to_pylist() == ["shrank", "shrank", "split", "split"]
    assert clusters_of(store) == {"a": 0, "b": 0, "c": 2, "d": 1, "e": 3}
    store.apply(threshold=None)
    assert clusters_of(store) == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1}


def test_two_decisions_do_not_part_what_a_pair_joins():
    """A forest has the two stronger pairs only, both of which are refused."""
    store = store_of([("a", "m", 0.9), ("m", "b", 0.9), ("a", "b", 0.8)])
    store.apply(cannot=[("a", "m"), ("m", "b")])
    found = clusters_of(store)
    assert found["a"] == found["b"] != found["m"]
    refused = store.conflicts()
    assert refused["source"].to_pylist() == ["a", "m"] and refused["score"].to_pylist() == [0.9, 0.9]
    assert store.decisions()["decision"].to_pylist() == ["cannot", "cannot"]


def test_why():
    store = store_of()
    store.apply(must=[("c", "d")])
    found = store.why("a", "e")
    assert found.path["source"].to_pylist() == ["a", "b", "c", "d"]
    assert found.weakest["weight"] == 0.7
    store.apply(withdraw=[("d", "c")])
    with pytest.raises(GraphError, match="'a' is in cluster 0, and 'e' in"):
        store.why("a", "e")
    numbers = store_of([(5, 9, 0.9), (9, 2, 0.8)])
    assert numbers.why(5, 2).threshold == 0.8
    numbers.apply(delete=[2], with_pairs=True)
    with pytest.raises(GraphError, match="names 2, which is no record of the store"):
        numbers.why(5, 2)


REFUSED = (
    ({"max_size": 2}, "c", "'b' and 'c' (0.8) is refused, since their cluster would have 3 records, more"),
    ({"cannot": [("c", "a")]}, "c", "'b' and 'c' (0.8) is refused, since 'a' and 'c' cannot be together"),
    ({"cannot": [("c", "a")], "max_size": 1}, "b", "'a' and 'b' (0.9) is refused, since their cluster would"),
)


@pytest.mark.parametrize(("setting", "other", "problem"), REFUSED)
def test_why_names_what_parts_two_records(setting, other, problem):
    store = store_of()
    store.apply(**setting)
    with pytest.raises(GraphError) as caught:
        store.why("a", other)
    assert f"; the pair of {problem}" in str(caught.value)


@pytest.mark.parametrize("seed", range(3))
def test_why_names_a_pair_that_is_refused(seed):
    """It is a conflict, unless no pairs join two records."""
    draw = np.random.default_rng(seed)
    pairs = sided_pairs(draw, 20, draw.integers(3, 10, 20) / 10)
    store = ew.ClusterStore(threshold=0.2, max_size=2, one_to_one=["a"])
    store.apply(add=pairs, cannot=[(pairs[0][1], pairs[1][1])] if pairs[0][1] != pairs[1][1] else [])
    graph = ew.Graph.from_frame(store.pairs(), threshold=0.2, vertices=store.to_frame().select(["id"]))
    clusters, trees = clusters_of(store), ew.connected_components(graph).to_dict()
    found = store.conflicts().select(["source", "target"]).to_pylist()
    refused = {
        f"{one!r} and {other!r}" for row in found for one, other in itertools.permutations(row.values())
    }
    reasons = set()
    for one, other in itertools.combinations(clusters, 2):
        if clusters[one] == clusters[other]:
            continue
        with pytest.raises(GraphError) as caught:
            store.why(one, other)
        _, _, problem = str(caught.value).partition("; ")
        assert ("nothing joins them" in problem) == (trees[one] != trees[other])
        if "nothing" not in problem:
            assert problem.removeprefix("the pair of ").partition(" (")[0] in refused
            reasons |= {word for word in ("max_size=2", "one_to_one=['a']") if word in problem}
    assert len(reasons) == 2


def test_the_log_of_one_cluster():
    store = store_of()
    store.apply(remove=[("c", "b")], cause="a mistake")
    assert store.log(cluster=2).to_pylist()[0]["change"] == "split"
    assert store.log(cluster=2)["cause"].to_pylist() == ["a mistake"]
    assert store.log(cluster=0)["change"].to_pylist() == ["born", "shrank", "split"]
    assert store.log()["entry"].to_pylist() == [1, 1, 2, 2]
    assert store.at(0).num_rows == 0 and store.at(1).num_rows == 5
    assert repr(store) == "<ClusterStore: 5 records, 2 pairs, 3 clusters at entry 2>"


WRONG = (
    ({"remove": [("a", "c")]}, "the pair of 'a' and 'c' is not in the store"),
    ({"remove": [("a", "x")]}, "remove= names 'x', which is no record of the store"),
    ({"delete": ["x"]}, "delete= names 'x'"),
    ({"delete": ["b"]}, "such as 'b', are named by 2 pairs; remove them, or use with_pairs=True"),
    ({"delete": ["b"], "remove": [("a", "b")]}, "are named by 1 pair;"),
    ({"delete": ["p"]}, "'p', are named by 1 decision"),
    ({"must": [("a", "x")]}, "must= names 'x'"),
    ({"cannot": [("a", "c")], "must": [("c", "a")]}, "among 'must' and among 'cannot'"),
    ({"cannot": [("a", "c")], "must": [("c", "b"), ("b", "a")]}, "'cannot' parts 'a' and 'c'"),
    ({"cannot": [("p", "q")]}, "'must' joins 'p' and 'q' but 'cannot' parts 'p' and 'q'"),
    ({"cannot": [("a", "a")]}, "'a' from itself"),
    ({"withdraw": [("a", "b")]}, "there is no decision on 'a' and 'b'"),
    ({"must": [("b", "d")], "delete": ["d"], "with_pairs": True}, "a decision names 'd', which is deleted"),
    ({"add": [("a", "x", float("nan"))]}, "the score of pair 1 of add= is not a number"),
    ({"add": [("a", "x")]}, "add= has no scores, and the store has"),
    ({"add": [("a", "x", 0.5), ("a", "y")]}, "some pairs have a score, and some have none"),
    ({"add": [("a", "x", 0.5, 1)]}, "is no pair of ids"),
    ({"add": [(1, 2, 0.5)]}, "add= hold int64, and the store has strings"),
    ({"add": {"l": ["a"], "r": [None], "score": [1.0]}}, "is null in row 1"),
    ({"add": "absent.csv"}, "absent.csv"),
    ({"add": 7}, "add=: int is no table"),
    ({"records": [1.5]}, "records="),
    ({"records": {"id": ["x", None]}}, "null in row 2"),
    ({"threshold": "high"}, "is no number"),
    ({"threshold": float("nan")}, "is no number"),
    ({"cause": 7}, "is no text"),
    ({"max_size": 0}, "max_size=0 is no whole number from 1 on"),
    ({"max_size": 2.5}, "is no whole number"),
    ({"max_size": True}, "is no whole number"),
    ({"max_size": "many"}, "is no whole number"),
    ({"max_size": 1}, "must= joins 2 records, more than max_size=1"),
    ({"max_size": 3, "must": [("a", "b"), ("b", "c"), ("c", "d")]}, "must= joins 4 records"),
    ({"one_to_one": "crm"}, "one_to_one='crm' is no list of datasets"),
    ({"one_to_one": []}, "is no list of datasets"),
    ({"one_to_one": [7]}, "is no list of datasets"),
    ({"one_to_one": 7}, "is no list of datasets"),
    ({"one_to_one": ["crm"]}, "the id 'a' names no dataset, which one_to_one= needs"),
)


@pytest.mark.parametrize(
    ("asked", "problem"), WRONG, ids=lambda one: "" if isinstance(one, str) else str(one)[:40]
)
def test_what_cannot_be_done_changes_nothing(asked, problem):
    store = store_of()
    store.apply(records=["p", "q"], must=[("p", "q")])
    before = store.to_frame(), store.pairs(), store.decisions(), store.log()
    with pytest.raises(EdgewiseError) as caught:
        store.apply(**asked)
    assert problem in str(caught.value) and "\n" not in str(caught.value)
    assert (store.to_frame(), store.pairs(), store.decisions(), store.log()) == before
    store.apply(add=[("a", "z", 0.6)])
    assert clusters_of(store)["z"] == 0


def sided_pairs(draw, n_pairs, scores):
    """Pairs of some records of two datasets."""
    ends = draw.integers(0, 30, (2, n_pairs)).tolist()
    return [(f"a-__-{one}", f"b-__-{other}", score) for one, other, score in zip(*ends, scores)]


def partition_of(records, labels):
    groups = {}
    for record, label in zip(records, labels):
        groups.setdefault(label, set()).add(record)
    return {frozenset(members) for members in groups.values()}


@pytest.mark.parametrize("seed", range(4))
def test_settings_are_those_of_a_run_from_scratch(seed):
    """Scores are distinct, so that the order of equal ones does not matter."""
    draw = np.random.default_rng(seed)
    pairs = sided_pairs(draw, 70, draw.permutation(70) / 70)
    cut, linked = ew.ClusterStore(threshold=0.2, max_size=4), ew.ClusterStore(threshold=0.2, one_to_one="all")
    for store in (cut, linked):
        for first in range(0, 70, 10):
            store.apply(add=pairs[first : first + 10])
        known = store.pairs().select([0, 1]).slice(0, 5)
        store.apply(remove=known)
    decisions = {"must": [pairs[7][:2]], "cannot": [(pairs[20][0], pairs[30][0])]}
    cut.apply(**decisions)
    graph = ew.Graph.from_frame(cut.pairs(), vertices=cut.to_frame().select(["id"]))
    forest = ew.minimum_spanning_forest(graph, maximum=True)
    found = forest.split(max_size=4, threshold=0.2, **decisions)
    assert found.n_cut > 0
    assert {frozenset(one) for one in found.sets()} == partition_of(*cut.to_frame().to_pydict().values())
    graph = ew.Graph.from_frame(linked.pairs(), vertices=linked.to_frame().select(["id"]))
    found = ew.best_links(graph, threshold=0.2)
    assert {frozenset(one) for one in found.sets()} == partition_of(*linked.to_frame().to_pydict().values())


def test_settings_change_by_an_entry_and_the_log_names_them():
    store = ew.ClusterStore(threshold=0.5, max_size=2, one_to_one=["crm", "crm"])
    store.apply(
        add=[("crm-__-1", "web-__-1", 0.9), ("web-__-1", "web-__-2", 0.8), ("web-__-2", "crm-__-2", 0.7)]
    )
    assert store.max_size == 2 and store.one_to_one == ["crm"]
    assert list(clusters_of(store).values()) == [0, 0, 1, 2]
    assert store.conflicts()["score"].to_pylist() == [0.8, 0.7]
    assert set(store.apply(max_size=3)["cause"].to_pylist()) == {"max_size 3"}
    assert list(clusters_of(store).values()) == [0, 0, 0, 2]
    log = store.apply(max_size=None, one_to_one=None, threshold=0.6)
    assert log["cause"][0].as_py() == "threshold 0.6, no max_size, no one_to_one"
    assert set(clusters_of(store).values()) == {0}
    assert store.apply(one_to_one="all", cause="linked")["cause"][0].as_py() == "linked"
    assert store.max_size is None and store.n_clusters == 2


def test_a_record_that_is_deleted_needs_no_dataset():
    store = store_of([("x", "y", 0.9)])
    store.apply(delete=["x", "y"], with_pairs=True, one_to_one="all", add=[("a-__-1", "b-__-1", 0.9)])
    assert clusters_of(store) == {"a-__-1": 1, "b-__-1": 1}
    with pytest.raises(GraphError, match="the id 'y' names no dataset"):
        store.apply(records=["y"])


def test_a_bound_of_the_size_without_scores():
    store = ew.ClusterStore(max_size=2)
    store.apply(add=[(1, 2), (2, 3), (3, 4)])
    assert clusters_of(store) == {1: 0, 2: 0, 3: 1, 4: 2}


def test_how_clusters_hold_together():
    store = store_of()
    store.apply(add=[("a", "c", 0.6), ("c", "f", 0.6)], must=[("d", "f")])
    graph = ew.Graph.from_frame(store.pairs(), threshold=0.5, vertices=store.to_frame().select(["id"]))
    store.apply(withdraw=[("d", "f")])
    found = ew.connected_components(graph)
    for method in ("cohesion", "review"):
        expected, table = getattr(found, method)(name="row").to_pydict(), getattr(store, method)().to_pydict()
        names = [store.to_frame()["cluster"][row].as_py() for row in expected.pop("cluster")]
        assert table.pop("cluster") == names and table == expected
    assert store.review(1).to_pylist()[0]["source"] == "c" and store.review(0).num_rows == 0
    log = store.log()
    changed = log.filter(log["entry"].to_numpy() == store.entry)["cluster"]
    assert set(store.cohesion(clusters=changed)["cluster"].to_pylist()) == set(changed.to_pylist())
    store.apply(must=[("d", "f")])
    bridges = store.review(clusters=[0]).to_pylist()
    assert {row["source"] for row in bridges} == {"c", "d"}, "what people have decided is not to review"
    assert store.review(clusters=[10**6]).num_rows == store.cohesion(clusters=[]).num_rows == 0


@pytest.mark.parametrize("method", ("review", "cohesion"))
@pytest.mark.parametrize("clusters", ("7", ["7"], [None], [[{}]], [2**70]))
def test_names_that_are_none(method, clusters):
    with pytest.raises(ew.errors.OptionError, match="clusters= holds other things than names"):
        getattr(store_of(), method)(clusters=clusters)


@pytest.mark.parametrize("settings", ({}, {"max_size": 3}, {"one_to_one": "all"}))
def test_higher_thresholds_are_those_of_the_store_there(settings):
    draw = np.random.default_rng(1)
    store = ew.ClusterStore(threshold=0.2, **settings)
    pairs = sided_pairs(draw, 60, draw.integers(0, 10, 60) / 10)
    store.apply(add=pairs)
    store.apply(must=[("a-__-1", "b-__-2")], cannot=[("a-__-3", "b-__-4")])
    table = store.at(thresholds=[0.2, 0.5, 0.8])
    for threshold in (0.2, 0.5, 0.8):
        store.apply(threshold=threshold)
        expected = partition_of(*store.to_frame().to_pydict().values())
        assert partition_of(table["id"].to_pylist(), table[f"cluster_{threshold}"].to_pylist()) == expected
    with pytest.raises(
        ew.errors.OptionError, match=r"holds 0.7, which is below the threshold of the store, 0.8"
    ):
        store.at(thresholds=[0.7, 0.9])
    with pytest.raises(ew.errors.OptionError, match="needs scores, and the pairs of the store have none"):
        ew.ClusterStore().at(thresholds=[0.7])


@pytest.mark.parametrize("entry", (-1, 2, 1.5, "1", True))
def test_an_entry_that_is_not_there(entry):
    with pytest.raises(ew.errors.OptionError, match="the entries are 0 to 1"):
        store_of().at(entry)


@pytest.mark.parametrize(
    "change", [{"add": [(2**63, 1)]}, {"remove": [(2**63, 1)]}, {"records": [2**63 + 5]}]
)
def test_integers_that_do_not_fit_need_a_store_of_strings(change):
    store = ew.ClusterStore()
    store.apply(add=[(1, 2**63 - 1)])
    problem = r"id 92\d* does not fit into int64, .* in a store; make a store whose ids are all strings"
    with pytest.raises(GraphError, match=problem):
        store.apply(**change)
    store.apply(records=np.array([3], np.uint64))
    assert store.to_frame()["id"].to_pylist() == [1, 2**63 - 1, 3]


def test_datasets_that_contradict_decisions():
    store = ew.ClusterStore(one_to_one="all")
    store.apply(add=[("a-__-1", "b-__-1", 0.9), ("b-__-1", "a-__-2", 0.8)])
    before = store.to_frame(), store.log()
    for must in ([("a-__-1", "a-__-2")], [("a-__-1", "b-__-1"), ("b-__-1", "a-__-2")]):
        with pytest.raises(GraphError, match=r"'must' joins .* and so two records of one dataset"):
            store.apply(must=must)
    with pytest.raises(GraphError, match="add= hold int64, and the store has strings"):
        store.apply(add=[(1, 2, 0.9)])
    assert (store.to_frame(), store.log()) == before
    store = ew.ClusterStore(one_to_one="all")
    with pytest.raises(
        GraphError, match="needs ids that name a dataset, such as 'crm-__-7', and these are no text"
    ):
        store.apply(add=[(1, 2, 0.9)])
    assert store.n_records == 0


def test_a_record_that_is_deleted_and_added_again():
    store = store_of()
    store.apply(delete=["b"], with_pairs=True, add=[("b", "c", 0.9)])
    assert clusters_of(store)["b"] == clusters_of(store)["c"] != clusters_of(store)["a"]
    assert store.n_pairs == 2


def test_removed_pairs_take_no_room_for_good():
    store = store_of([(0, 1, 0.9)])
    for one in range(1, 20):
        store.apply(add=[(one, one + 1, 0.9)], remove=[(one - 1, one)])
        assert store._state.n_pairs <= 4
    assert store.pairs().to_pylist() == [{"source": 19, "target": 20, "score": 0.9}]
    store.apply(add=[(18, 19, 0.9), (3, 4, 0.9)], remove=[(20, 19)])
    found = clusters_of(store)
    assert found[18] == found[19] != found[20] and found[3] == found[4]


def test_only_touched_trees_are_clustered_again(monkeypatch):
    sizes, tree_labels = [], batch._tree_labels
    monkeypatch.setattr(batch, "_tree_labels", lambda one: sizes.append(len(one.members)) or tree_labels(one))
    store = store_of([(2 * one, 2 * one + 1, 0.9) for one in range(100)])
    store.apply(add=[(0, 2, 0.9)])
    store.apply(add=[(0, 1, 0.8), (4, 6, 0.1)])
    store.apply(remove=[(4, 6)])
    store.apply(remove=[(8, 9)])
    assert sizes == [200, 4, 0, 0, 2]


def test_a_pair_inside_a_cluster_of_a_divided_tree_touches_nothing(monkeypatch):
    store = store_of([(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9), (3, 4, 0.9)])
    store.apply(cannot=[(0, 4)])
    sizes, tree_labels = [], batch._tree_labels
    monkeypatch.setattr(batch, "_tree_labels", lambda one: sizes.append(len(one.members)) or tree_labels(one))
    store.apply(add=[(0, 2, 0.8), (0, 3, 0.4)])
    store.apply(threshold=0.3)
    store.apply(add=[(2, 4, 0.95)])
    assert sizes == [0, 0, 5]
    found = clusters_of(store)
    assert found[0] == found[1] and found[2] == found[4] != found[0]


def test_strings_with_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(
        "edgewise.clusters.runs.hashes_of", lambda one: np.zeros(len(one.starts) - 1, np.uint64)
    )
    monkeypatch.setattr(
        "edgewise.clusters.ids.hashes_of", lambda one: np.zeros(len(one.starts) - 1, np.uint64)
    )
    store = store_of()
    store.apply(add=[("c", "f", 0.9), ("ab", "ba", 0.9)])
    assert clusters_of(store) == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1, "f": 0, "ab": 2, "ba": 2}


@pytest.mark.parametrize("n_keys", [1, 2, 1000, 9000])
def test_keys_are_found_in_any_order(n_keys):
    rng = np.random.default_rng(n_keys)
    keys = np.unique(rng.integers(0, 4 * n_keys, n_keys).astype(np.uint64) << np.uint64(20))
    rows = rng.permutation(len(keys)).astype(np.uint32)
    runs = Runs()
    for part in range(3):
        runs.add(Run(keys[part::3].copy(), rows[part::3].copy()))
    expected = dict(zip(keys.tolist(), rows.tolist()))
    near = keys[rng.integers(0, len(keys), n_keys)] + rng.integers(0, 2, n_keys).astype(np.uint64)
    for wanted in (
        keys,
        keys[::-1].copy(),
        near,
        np.sort(near),
        near[:0],
        np.array([0, 2**64 - 1], np.uint64),
    ):
        assert runs.find(wanted).tolist() == [expected.get(key, ABSENT) for key in wanted.tolist()]
