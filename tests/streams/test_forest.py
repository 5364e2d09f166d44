"""Streams of batches and of files find the forest of the graph that has all their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device.target import SIMULATED
from edgewise.errors import FileError, GraphError, OptionError, OutOfMemoryError
from edgewise.files import row_groups
from edgewise.streams import file_stream, forest
from edgewise.streams.file_stream import FileStream
from edgewise.streams.forest import KeepForest
from edgewise.workers import device_team
from tests.forest.test_forest import DEVICE, oracle, weighted
from tests.streams.test_files import change, stored
from tests.zoo import ZOO

SHAPES = ("isolated", "repeated edges") if SIMULATED else tuple(ZOO)


@pytest.fixture(autouse=True)
def _few_are_collected(monkeypatch):
    monkeypatch.setattr(forest, "capacity_for", lambda *_: 9)


def batches(graph, size):
    for start in range(0, graph.n_edges, size):
        part = slice(start, start + size)
        yield graph.sources[part], graph.targets[part], graph.weights[part]


def add(stream, sources, targets, weights):
    stream.add(sources, targets, weights=weights)


def same(found, expected):
    found = found.on_host()
    assert found.edges.tolist() == expected.edges.tolist()
    assert found.to_frame() == expected.to_frame() or not found.graph.n_edges  # without a type of weights
    assert found.labels.tolist() == expected.labels.tolist()
    assert (found.weight, found.count, found.maximum) == (expected.weight, expected.count, expected.maximum)
    assert found.graph.n_edges == expected.graph.n_edges
    found.verify(expected.graph)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_batches(shape):
    for dtype, size, maximum in (("int32", 7, False), ("float64", 30, True))[: 1 if SIMULATED else 2]:
        graph = weighted(ZOO[shape], dtype)
        stream = ew.ForestStream(graph.n_vertices, maximum=maximum, device=DEVICE)
        for batch in batches(graph, size):
            add(stream, *batch)
        same(stream.result(), ew.minimum_spanning_forest(graph, maximum=maximum))
        assert stream.n_vertices == graph.n_vertices


@pytest.mark.interpreter
@given(st.data())
def test_any_batches(data):
    n = data.draw(st.integers(1, 12))
    m = data.draw(st.integers(0, 40))
    ends = st.lists(st.integers(0, n - 1), min_size=m, max_size=m)
    weights = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)), "float32")
    columns, maximum = [np.array(data.draw(ends), np.int64) for _ in range(2)], data.draw(st.booleans())
    stream, start = ew.ForestStream(maximum=maximum), 0
    while start < m:
        stop = start + data.draw(st.integers(1, 12))
        add(stream, *(column[start:stop] for column in (*columns, weights)))
        start = stop
        if data.draw(st.booleans()):
            known = stream.n_vertices
            seen = [column[:start] for column in (*columns, weights)]
            graph = ew.Graph.from_edges(*seen[:2], weights=seen[2], n_vertices=known)
            edges, labels = oracle(graph, maximum)
            found = stream.result()
            assert found.edges.tolist() == edges and found.labels.tolist() == labels


def test_strings_and_saved_streams(tmp_path):
    graph = weighted(ZOO["dense"])
    names = [np.array([f"v{vertex}" for vertex in column]) for column in (graph.sources, graph.targets)]
    expected = ew.minimum_spanning_forest(ew.Graph.from_edges(*names, weights=graph.weights))
    stream, saved = ew.ForestStream(), tmp_path / "saved.npz"
    stream.save(saved)
    for start in range(0, graph.n_edges, 50):
        stream = ew.ForestStream.load(saved)
        part = slice(start, start + 50)
        add(stream, names[0][part], names[1][part], graph.weights[part])
        stream.save(saved)
    same(stream.result(), expected)
    found = stream.result()
    assert found.path("v1", "v2").num_rows
    assert found.components(0).labels.tolist() == expected.components(0).labels.tolist()
    for damage in (
        lambda facts, arrays: arrays["positions"].put(0, 10**6),
        lambda facts, arrays: arrays["sources"].put(0, 10**6),
        lambda facts, arrays: arrays["labels"].put(0, 3),
        lambda facts, arrays: arrays.pop("weights"),
        lambda facts, arrays: facts.pop("maximum"),
    ):
        stream.save(saved)
        change(saved, damage)
        with pytest.raises(FileError, match="holds no stream that was saved, or a damaged one"):
            ew.ForestStream.load(saved)


def test_nothing_and_what_is_refused():
    stream = ew.ForestStream(3)
    found = stream.result()
    assert (found.n_edges, found.count, found.labels.tolist()) == (0, 3, [0, 1, 2])
    assert ew.ForestStream().result().count == 0
    add(stream, [0], [1], [2])
    for batch, error, message in (
        (([0], [1], None), GraphError, "no weights; give weights="),
        (([0, 1], [1, 2], [1]), GraphError, r"weights have shape \(1,\); \(2,\) is needed"),
        (([0], [1], [0.5]), GraphError, "weights are float64, and those so far are int64; convert"),
        (([0], [3], [1]), GraphError, r"targets\[0\] is 3; vertex numbers run from 0 to 2"),
        (([0], [1, 2], [1]), GraphError, "1 sources but 2 targets"),
        ((["a"], ["b"], [1]), GraphError, "sources are strings, and the ids so far are integers"),
    ):
        with pytest.raises(error, match=message):
            add(stream, *batch)
    floats = ew.ForestStream()
    add(floats, [0], [1], [0.25])
    add(floats, [1], [2], np.array([3], np.float32))
    with pytest.raises(GraphError, match="edge 1 of the batch weighs NaN"):
        add(floats, [0, 1], [1, 2], [0.5, float("nan")])
    assert floats.result().weights.tolist() == [0.25, 3.0]
    assert (stream.edges, floats.edges, stream.result().edges.tolist()) == (1, 2, [0])
    with pytest.raises(GraphError, match="the edges were not kept"):
        stream.result().verify()


def test_memory_is_estimated_before_it_is_taken(monkeypatch):
    from edgewise.device import arrays
    from edgewise.forest.reduction import capacity_for

    monkeypatch.setattr(forest, "capacity_for", capacity_for)
    monkeypatch.setattr(arrays, "free_memory", lambda device: 10**6)
    with pytest.raises(OutOfMemoryError, match=r"cpu has too little memory: [\d,]+ bytes needed"):
        add(ew.ForestStream(10**5), [0], [1], [1])


def tables(low, high, kind=np.int64, rows=60, shards=3, names=False):
    draw = np.random.default_rng(rows)
    for _ in range(shards):
        ends = draw.integers(low, high, (2, rows))
        if names:
            ends = [[f"v{value}" for value in column] for column in ends]
        yield {"source": ends[0], "target": ends[1], "km": draw.integers(0, 30, rows).astype(kind) / 2}


KINDS = {
    "dense": tables(0, 40),
    "sparse": tables(0, 4000),
    "far apart": tables(-(2**50), 2**50),
    "negative": tables(-300, 300),
    "strings": tables(0, 300, names=True),
    "self-loops": [{"source": [7, 9, 5], "target": [7, 12, 5], "km": [1.0, 2.0, 3.0]}],
}
KINDS = {kind: list(found) for kind, found in KINDS.items()}
KINDS["late"] = [*KINDS["dense"], {"source": [-5, 3], "target": [2, -7], "km": [0.5, 9.0]}]
KINDS["whole"] = [{**one, "km": (np.array(one["km"]) * 2).astype(int)} for one in KINDS["sparse"]]


def read(folder, maximum=False, **options):
    graph = ew.read(folder, weight="km", **options)
    return ew.minimum_spanning_forest(graph, maximum=maximum)


@pytest.mark.parametrize("kind", KINDS)
def test_files(kind, tmp_path):
    for ending in ("parquet", "csv") if kind in ("sparse", "late", "whole") else ("parquet",):
        folder = stored(tmp_path / ending, *KINDS[kind], ending=ending)
        for maximum in (False, True):
            found = ew.stream_forest(folder, maximum=maximum, device=DEVICE)
            same(found, read(folder, maximum))
    options = {"where": "km >= 3", "source": "target", "target": "source"}
    same(ew.stream_forest(folder, weight="km", **options), read(folder, **options))


def test_batches_are_sifted_where_they_are_decoded(tmp_path, monkeypatch):
    """Beside each other, in row groups of any size; and in their turn, once an id is no vertex number."""
    folder = stored(tmp_path / "shards", *KINDS["dense"], group=7)
    beside, seen = forest.ForestReducer.join_beside, []

    def watched(*given):
        seen.append(beside(*given))
        return seen[-1]

    monkeypatch.setattr(forest.ForestReducer, "join_beside", watched)
    for maximum in (False, True):
        same(ew.stream_forest(folder, maximum=maximum), read(folder, maximum))
    assert seen and None not in seen
    assert sum(len(edges.sources) for edges in seen) < sum(len(one["km"]) for one in KINDS["dense"]) * 2
    seen.clear()
    columns = dict(KINDS["dense"][0], km=np.full(60, np.nan))
    with pytest.raises(FileError, match=r"3\.parquet: the edge in row 1 weighs NaN"):
        ew.stream_forest(stored(tmp_path / "nan", *KINDS["dense"], columns, group=7))
    assert None in seen  # the filter would leave some of them out
    seen.clear()
    monkeypatch.setattr(row_groups.PairFiles, "survey", lambda *_: (180, 0, 25))  # there are larger ids
    same(ew.stream_forest(folder), read(folder))
    assert None in seen


@pytest.mark.parametrize("kind", ["sparse", "strings", "far apart", "late", "self-loops"])
def test_an_interrupted_run_goes_on(kind, tmp_path, monkeypatch):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS[kind]), tmp_path / "so-far"
    seen, take = [], file_stream.StreamedPairs.take

    def stop_in_the_middle(pairs, chosen):
        take(pairs, chosen)
        seen.append(chosen)
        if len(seen) == 2:
            pairs.stream.stopping = True

    monkeypatch.setattr(file_stream.StreamedPairs, "take", stop_in_the_middle)
    columns = {"source": None, "target": None, "where": None, "null": "error"}
    first = FileStream(
        folder, columns, KeepForest(None, False), team=device_team("cpu:0"), checkpoint=checkpoint
    )
    first.run()
    assert checkpoint.exists()
    monkeypatch.setattr(file_stream.StreamedPairs, "take", take)
    with pytest.raises(FileError, match="belongs to another run: maximum was False and is True now"):
        ew.stream_forest(folder, maximum=True, checkpoint=checkpoint)
    found = ew.stream_forest(folder, checkpoint=checkpoint)
    same(found, read(folder))
    assert found.graph.resumed == first.saved
    assert not checkpoint.exists()


def test_files_that_are_refused(tmp_path):
    (tmp_path / "no.csv").write_text("source,target\n1,2\n")
    with pytest.raises(GraphError, match="no third column of numbers; give weight="):
        ew.stream_forest(tmp_path / "no.csv")
    (tmp_path / "score.csv").write_text("source,target,score\n1,2,0.5\n")
    with pytest.raises(GraphError, match="sounds like a score"):
        ew.stream_forest(tmp_path / "score.csv")
    assert ew.stream_forest(tmp_path / "score.csv", maximum=True).weight == 0.5
    (tmp_path / "nan.csv").write_text("source,target,km\n1,2,0.5\n2,3,nan\n")
    with pytest.raises(FileError, match=r"nan\.csv: the edge in row 2 weighs NaN"):
        ew.stream_forest(tmp_path / "nan.csv")
    with pytest.raises(FileError, match=r"nan\.csv: column 'miles' is not there"):
        ew.stream_forest(tmp_path / "nan.csv", weight="miles")
    with pytest.raises(OptionError, match="has no option 'directed'"):
        ew.stream_forest(tmp_path / "nan.csv", directed=True)
