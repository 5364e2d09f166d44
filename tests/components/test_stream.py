"""Batches in any split, on every engine, give the labels of the oracle."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.components import batch_stream, parents
from edgewise.components.verification import oracle
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import DeviceError, GraphError, OptionError, OutOfMemoryError
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")


def streamed(vertices, sources, targets, batch, known=True, where=PLACE):
    """A stream that the edges were given to, so many at a time."""
    found = ew.ComponentsStream(vertices if known else None, device=where)
    for start in range(0, len(sources), batch):
        found.add(sources[start : start + batch], targets[start : start + batch])
    return found


def labels_of(found):
    return found.result().on_host().labels.tolist()


@pytest.mark.parametrize("known", (True, False))
@pytest.mark.parametrize("shape", ZOO)
def test_labels_are_the_oracles(shape, known):
    vertices, sources, targets = ZOO[shape]
    found = streamed(*ZOO[shape], 6, known)
    expected = oracle(vertices, sources.tolist(), targets.tolist())
    assert found.n_vertices == (vertices if known else max([-1, *sources, *targets]) + 1)
    assert labels_of(found) == expected[: found.n_vertices]
    assert found.edges == found.result().graph.n_edges == len(sources)


@given(st.data())
def test_any_split_of_any_edges(data):
    if SIMULATED:
        pytest.skip("a minute of Python threads would add nothing to the zoo")
    vertices = data.draw(st.integers(1, 30))
    edges = data.draw(st.lists(st.tuples(*[st.integers(0, vertices - 1)] * 2), max_size=50))
    found, done = ew.ComponentsStream(vertices), 0
    while done < len(edges):
        size = data.draw(st.integers(0, len(edges) - done)) or 1
        found.add(*zip(*edges[done : done + size]))
        done += size
        expected = np.array(oracle(vertices, *(zip(*edges[:done]))))
        u, v = data.draw(st.tuples(*[st.integers(0, vertices - 1)] * 2))
        assert found.connected(u, v) is bool(expected[u] == expected[v])
    assert labels_of(found) == oracle(vertices, *(zip(*edges) if edges else ([], [])))


@pytest.mark.parametrize("kind", (np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4"))
def test_integers_of_every_type(kind):
    vertices, sources, targets = ZOO["grid"]
    found = streamed(vertices, sources.astype(kind), targets.astype(kind), 20)
    assert labels_of(found) == oracle(vertices, sources, targets)


def test_questions():
    found = ew.ComponentsStream(6, device=PLACE)
    found.add([0, 1], [1, 2])
    assert (found.connected(0, 2), found.connected(np.int64(0), 3)) == (True, False)
    assert found.connected([0, 3, 4], [2, 3, 5]).tolist() == [True, True, False]
    assert found.connected(0, np.array([1, 3])).tolist() == [True, False]
    for u, v in ((6, 0), (0, -1)):
        with pytest.raises(GraphError, match=r"[uv]\[0\] is (6|-1); vertex numbers run from 0 to 5"):
            found.connected(u, v)
    with pytest.raises(GraphError, match="2 numbers in u but 3 in v"):
        found.connected([0, 1], [2, 3, 4])
    with pytest.raises(GraphError, match="u is of type float"):
        found.connected(1.0, 2)


def test_questions_about_numbers_not_met():
    found = ew.ComponentsStream(device=PLACE)
    assert (found.connected(7, 7), found.connected(7, 8)) == (True, False)
    found.add([1], [2])
    assert found.connected([1, 1, 9, 9], [2, 9, 9, 8]).tolist() == [True, False, True, False]


def test_adding_goes_on_after_a_result():
    found = ew.ComponentsStream(4, device=PLACE)
    found.add([0], [1])
    before = found.result()
    found.add([1, 3], [2, 3])
    assert before.on_host().labels.tolist() == [0, 0, 2, 3]
    assert labels_of(found) == [0, 0, 0, 3]
    assert before.count == 3


@pytest.mark.parametrize("known", (True, False))
@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (([0, 1], [1]), "2 sources but 1 targets"),
        (([0, -3], [1, 1]), r"sources\[1\] is -3; vertex numbers run from 0"),
        (([0, 1.5], [1, 1]), r"sources\[1\] is 1.5; vertex numbers are integers"),
        (([0, 1], ["a", "b"]), r"targets\[0\] is 'a'; vertex numbers are integers"),
        (([[0]], [[1]]), "2 dimensions"),
        (([[0], [1, 2]], [1, 2]), "sources cannot be made an array"),
        ((None, None), "sources is of type NoneType; vertex numbers come as arrays or lists"),
        (((one for one in (1, 2)), [1, 2]), "sources is of type generator"),
        ((np.array([1, 2.5], object), [1, 2]), r"sources\[1\] is 2.5; vertex numbers are integers"),
    ],
)
def test_bad_batches_leave_nothing(batch, words, known):
    found = ew.ComponentsStream(5 if known else None, device=PLACE)
    with pytest.raises(GraphError, match=words):
        found.add(*batch)
    assert (found.edges, found.connected(0, 1)) == (0, False)


def test_series_and_objects():
    pandas = pytest.importorskip("pandas")
    found = ew.ComponentsStream(5, device=PLACE)
    found.add(pandas.Series([0, 1], index=[5, 6]), np.array([1, np.int8(2)], object))
    assert labels_of(found) == [0, 0, 0, 3, 4]
    with pytest.raises(GraphError, match=r"targets\[0\] is 1.0; vertex numbers are integers"):
        found.add([1, 2], pandas.Series([1.0, 2], index=[5, 6]))


@pytest.mark.parametrize("kind", (np.int8, np.int16, np.int32, np.int64))
def test_negative_numbers_of_every_type(kind):
    found = ew.ComponentsStream(2**20, device=PLACE)
    with pytest.raises(GraphError, match=r"sources\[1\] is -100; vertex numbers run from 0 to 1048575"):
        found.add(np.array([1, -100], kind), np.array([2, 3], kind))
    with pytest.raises(GraphError, match=r"v\[0\] is -100"):
        found.connected(1, np.array([-100], kind))
    assert found.edges == 0


def test_numbers_beyond():
    found = ew.ComponentsStream(5, device=PLACE)
    with pytest.raises(GraphError, match=r"targets\[2\] is 9; vertex numbers run from 0 to 4"):
        found.add([0, 1, 2], [1, 2, 9])
    assert not found.connected(0, 1)
    with pytest.raises(
        OutOfMemoryError, match=r"vertices up to 1,152,921,504,606,846,976: [\d,]+ bytes needed"
    ):
        ew.ComponentsStream(device=PLACE).add([0], [2**60])


def test_bad_options():
    for wrong in (-1, 1.5, "many", True):
        with pytest.raises(OptionError, match="n_vertices="):
            ew.ComponentsStream(wrong)
    with pytest.raises(DeviceError, match="abacus"):
        ew.ComponentsStream(device="abacus")


def test_edges_are_gone():
    result = streamed(*ZOO["path"], 10).result()
    with pytest.raises(GraphError, match="were not kept"):
        result.verify()
    vertices, sources, targets = ZOO["path"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    result.on_host().verify(graph)
    assert "not kept" in repr(result.graph)


def test_vertices_that_need_64_bits(monkeypatch):
    monkeypatch.setattr(parents, "index_type", lambda count: np.uint32 if count <= 20 else np.int64)
    vertices, sources, targets = ZOO["path"]
    found = streamed(vertices, sources, targets, 5, known=False)
    assert found.result()._labels.dtype == np.int64
    assert labels_of(found) == oracle(vertices, sources, targets)


def test_a_batch_that_lies_on_the_gpu():
    if not SIMULATED:
        pytest.skip("tests/components/test_segments.py does this on a GPU")
    from edgewise.device import arrays

    there = [arrays.move(np.array(column, np.int64), "cuda:0") for column in ([0, 1], [1, 2])]
    for where in ("cpu", "cuda"):
        found = ew.ComponentsStream(4, device=where)
        found.add(*there)
        assert labels_of(found) == [0, 0, 0, 3]
        assert found.connected(0, there[1]).tolist() == [True, True]
        assert found.connected(there[0], [2, 3]).tolist() == [True, False]


@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="needs compiled loops")
def test_real_graph(data):
    graph = ew.read(data / "ca-CondMat" / "CA-CondMat.txt.gz")
    found = streamed(graph.n_vertices, graph.sources, graph.targets, 10_000)
    assert labels_of(found) == ew.connected_components(graph).labels.tolist()


@pytest.mark.ptx
@pytest.mark.parametrize("kind", ("uint32[]", "int64[]"))
def test_kernels_compile(kind):
    if SIMULATED or INTERPRETED:
        pytest.skip("needs the compiler")
    for loop, kinds in (
        (batch_stream.query, (kind, "int64[]", "int64[]", "bool[]")),
        (parents.make_further_singletons, ("int64", kind)),
        (parents.unite_numbers, (kind, "int64[]", "int64[]")),
        (parents.unite_numbers, (kind, kind, kind)),
    ):
        assert ".entry" in loop.cuda.ptx(kinds, (9, 0))
