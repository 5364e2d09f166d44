"""Clusters by best links: against rounds written as they are described, and against Splink."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import GraphError, OptionError, VerificationError

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]


def naive(ids, dataset, pairs, chosen, ties="lowest_id"):
    """Clusters as sets: every round joins the clusters whose best pair is the same one."""
    if ties == "drop":
        tied = set()
        for one, far in product(range(len(pairs)), (0, 1)):
            near, other, score = pairs[one][1 - far], pairs[one][far], pairs[one][2]
            others = {p[far] for p in pairs if p[1 - far] == near and p[2] == score}
            others |= {p[1 - far] for p in pairs if p[far] == near and p[2] == score}
            others = {vertex for vertex in others if dataset[vertex] == dataset[other]}
            if len(others) > 1 and dataset[other] in chosen:
                tied.add(one)
        pairs = [pair for place, pair in enumerate(pairs) if place not in tied]
    clusters = {one: frozenset([one]) for one in ids}

    def held(cluster):
        return {dataset[one] for one in cluster} & set(chosen)

    while True:
        best = {}
        for one, other, score in pairs:
            left, right = clusters[one], clusters[other]
            if left != right and not held(left) & held(right):
                key = (-score, min(one, other), max(one, other))
                for cluster in (left, right):
                    if cluster not in best or key < best[cluster][0]:
                        best[cluster] = key, left, right
        joined = {(left, right) for _, left, right in best.values() if best[left][0] == best[right][0]}
        if not joined:
            return set(clusters.values())
        for left, right in joined:
            for one in left | right:
                clusters[one] = left | right


def random_pairs(seed, datasets=3, records=5, levels=4, sides=False):
    """Ids, datasets by id, and scored pairs between any records, or between different datasets."""
    random = np.random.default_rng(seed)
    ids = [f"{name}{number}" for name in "abcdefgh"[:datasets] for number in range(records)]
    ids = [ids[place] for place in random.permutation(len(ids))]
    dataset = {one: one[0] for one in ids}
    pairs = []
    for _ in range(random.integers(0, 4 * len(ids))):
        one, other = random.choice(ids, 2)
        if not sides or dataset[one] < dataset[other]:
            pairs.append((str(one), str(other), float(random.integers(1, levels + 1)) / levels))
    return ids, dataset, pairs


def graph_of(ids, pairs):
    columns = list(zip(*pairs)) or [(), (), ()]
    sources, targets = (pa.array(column, pa.string()) for column in columns[:2])
    return ew.Graph.from_edges(sources, targets, weights=np.array(columns[2], float), ids=ids)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("ties", ["lowest_id", "drop"])
def test_against_rounds(seed, ties):
    ids, dataset, pairs = random_pairs(seed, datasets=2 + seed % 4, levels=(2, 5, 1000)[seed % 3])
    for chosen in (None, ["a"], ["a", "b"]):
        result = ew.best_links(
            graph_of(ids, pairs), datasets=[dataset[one] for one in ids], duplicate_free=chosen, ties=ties
        )
        found = {frozenset(cluster) for cluster in result.verify().sets()}
        assert found == naive(ids, dataset, pairs, chosen or sorted(set(dataset.values())), ties)
        assert result.count == result.graph.n_vertices - result.n_links
        assert ew.connected_components(result.kept).labels.tolist() == result.labels.tolist()


def test_the_order_of_the_input_changes_nothing():
    for seed in range(20):
        ids, dataset, pairs = random_pairs(seed, levels=2)
        clusters = []
        for order in (1, -1):
            names, links = ids[::order], [(b, a, s) if order < 0 else (a, b, s) for a, b, s in pairs][::order]
            result = ew.best_links(graph_of(names, links), datasets=[dataset[one] for one in names])
            clusters.append({frozenset(cluster) for cluster in result.sets()})
        assert clusters[0] == clusters[1]


@pytest.mark.parametrize("ties", ["lowest_id", "drop"])
@pytest.mark.parametrize("seed", range(2))
def test_against_splink(seed, ties):
    """Two datasets without duplicates, where Splink's rounds and rule for ties are the same."""
    clusters_of = splink_s(ties)
    ids, dataset, pairs = random_pairs(seed, 2, 30, levels=(8, 10**6)[seed % 2], sides=True)
    pairs = list({pair[:2]: pair for pair in pairs}.values())
    for threshold in (0.0, 0.5):
        found = ew.best_links(
            graph_of(ids, pairs), datasets=[dataset[one] for one in ids], threshold=threshold, ties=ties
        )
        assert {frozenset(one) for one in found.sets()} == clusters_of(
            ids, dataset, pairs, ["a", "b"], threshold
        )


def splink_s(ties):
    """Splink's clusters by single best links, as sets."""
    pytest.importorskip("splink")
    pytest.importorskip("pandas")
    module = pytest.importorskip("splink.internals.one_to_one_clustering")
    import pandas as pd
    from splink import DuckDBAPI

    def clusters_of(ids, dataset, pairs, chosen, threshold):
        api = DuckDBAPI()
        nodes = api.register(pd.DataFrame({"node_id": ids, "source_dataset": [dataset[one] for one in ids]}))
        frame = pd.DataFrame(pairs, columns=["node_id_l", "node_id_r", "match_probability"])
        for side in "lr":
            frame[f"source_dataset_{side}"] = frame[f"node_id_{side}"].map(dataset)
        made = module.one_to_one_clustering(
            nodes,
            api.register(frame),
            "node_id",
            "source_dataset",
            "node_id_l",
            "node_id_r",
            chosen,
            ties,
            api,
            threshold,
        ).as_pandas_dataframe()
        return {frozenset(members) for _, members in made.groupby("cluster_id")["node_id"]}

    return clusters_of


def test_datasets_by_sides_ids_and_records(tmp_path):
    pairs = {"left_id": ["a", "a", "b"], "right_id": ["x", "y", "x"], "score": [0.9, 0.8, 0.7]}
    graph = ew.Graph.from_frame(pairs)
    assert sorted(map(sorted, ew.best_links(graph).sets())) == [["a", "x"], ["b"], ["y"]]
    one_side = ew.best_links(graph, duplicate_free="right")
    assert sorted(map(sorted, one_side.sets())) == [["a", "b", "x"], ["y"]]
    predictions = {
        "source_dataset_l": ["p", "p"],
        "source_dataset_r": ["q", "q"],
        "unique_id_l": [1, 1],
        "unique_id_r": [1, 2],
        "match_probability": [0.5, 0.7],
    }
    joined = ew.Graph.from_frame(predictions, weight=True)
    result = ew.best_links(joined)
    assert result.duplicate_free == ("p", "q") and {"p-__-1", "q-__-2"} in result.sets()
    people = {"id": ["x", "y", "a", "b"], "source_dataset": ["r", "r", "l", "l"], "kind": [1, 2, 3, 4]}
    records = ew.Graph.from_frame(pairs, vertices=people)
    result = ew.best_links(records)
    assert result.duplicate_free == ("r", "l") and result.to_frame().column_names == [
        *people,
        "cluster",
        "size",
    ]
    assert ew.best_links(records, datasets="kind").n_links == 3


def test_thresholds_and_weights():
    graph = ew.Graph.from_edges([0, 0], [2, 3], weights=[3, 5], n_vertices=4)
    assert ew.best_links(graph).labels.tolist() == [0, 1, 2, 0]
    assert ew.best_links(graph, threshold=6).n_links == 0
    assert ew.best_links(graph, weight=[7, 5]).labels.tolist() == [0, 1, 0, 3]
    integers = ew.Graph.from_edges([0, 0], [2, 3], weights=np.array([-(2**63), 2**62]), n_vertices=4)
    assert ew.best_links(integers).labels.tolist() == [0, 1, 2, 0]


def test_many_datasets():
    n = 200
    graph = ew.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights=np.ones(n - 1), n_vertices=n)
    assert ew.best_links(graph, datasets=np.arange(n)).verify().count == 1
    again = ew.best_links(graph, datasets=np.arange(n) % 100).verify()
    assert again.largest == 100 and again.count == 2
    assert ew.best_links(graph, datasets=np.arange(n) % 100, ties="drop").verify().count == 2


def test_what_is_refused():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[0.5, 0.6])
    null = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"]))
    for call, error, words in (
        (lambda: ew.best_links(graph), GraphError, "'b' is on the left side of a pair and on the right"),
        (lambda: ew.best_links(graph, datasets=["a"]), GraphError, "1 values, and the graph 3 vertices"),
        (lambda: ew.best_links(graph, datasets=null), GraphError, "datasets= has a null; name the dataset"),
        (lambda: ew.best_links(graph, datasets=["a", None, "b"]), GraphError, "null"),
        (lambda: ew.best_links(graph, datasets="kind"), OptionError, "no column of the records of the graph"),
        (
            lambda: ew.best_links(graph, datasets=[1, 2, 3], duplicate_free=[4]),
            OptionError,
            "has 4, which is no datas",
        ),
        (
            lambda: ew.best_links(graph, datasets=[1, 2, 3], ties="lowest"),
            OptionError,
            "did you mean lowest_id",
        ),
        (lambda: ew.best_links(graph, datasets=[1, 2, 3], threshold="a"), OptionError, "must be a number"),
        (
            lambda: ew.best_links(graph.without_weights(), datasets=[1, 2, 3]),
            GraphError,
            "best links need scores",
        ),
        (lambda: ew.best_links(graph.with_weights([np.nan, 1]), datasets=[1, 2, 3]), GraphError, "NaN"),
        (
            lambda: ew.best_links(ew.Graph.from_csr([0, 1, 2], [1, 0], weights=[1.0, 1.0])),
            GraphError,
            "no left and right side",
        ),
    ):
        with pytest.raises(error, match=words):
            call()


def test_a_wrong_result_is_found():
    graph = ew.Graph.from_edges([0, 0], [2, 3], weights=[3, 5], n_vertices=4)
    result = ew.best_links(graph)
    object.__setattr__(result, "_labels", np.array([0, 1, 0, 3], np.uint32))
    with pytest.raises(VerificationError, match="vertex 2 is not in the cluster of its best links"):
        result.verify()


def test_no_pairs_and_no_vertices():
    empty = ew.Graph.from_edges([], [], weights=[], n_vertices=0)
    assert ew.best_links(empty).verify().count == 0
    lonely = ew.Graph.from_edges([], [], weights=[], n_vertices=3)
    assert ew.best_links(lonely, datasets=[1, 1, 2], ties="drop").verify().count == 3
