"""Batches in any split, on every engine, give the labels of the oracle."""

import json
import os
import pickle
from copy import deepcopy

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import DeviceError, FileError, GraphError, OptionError, OutOfMemoryError
from edgewise.streams import batches, checkpoint, union
from tests.oracles import components as oracle
from tests.ownership import give_away
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


@pytest.mark.skipif(PLACE != "cpu", reason="arrays of a GPU are not copied so")
def test_a_copy_goes_on_by_itself():
    found = streamed(4, np.array([0]), np.array([1]), 1)
    for copied in (deepcopy(found), pickle.loads(pickle.dumps(found))):
        copied.add([1], [3])
        assert labels_of(copied) == [0, 0, 2, 0]
    assert labels_of(found) == [0, 0, 2, 3]


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
    with pytest.raises(GraphError, match="2 ids in u but 3 in v"):
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
        (([0, 1.5], [1, 1]), r"sources has type float64; ids are integers or strings"),
        (([0, 1], ["a", "b"]), "sources are integers and targets are strings; convert one"),
        (([[0]], [[1]]), "2 dimensions"),
        (([[0], [1, 2]], [1, 2]), "sources cannot be made an array"),
        ((None, None), "sources is of type NoneType; ids come as arrays or lists"),
        (((one for one in (1, 2)), [1, 2]), "sources is of type generator"),
        ((np.array([1, 2.5], object), [1, 2]), r"sources hold double .* ids are integers or strings"),
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
    with pytest.raises(GraphError, match=r"targets has type float64; ids are integers"):
        found.add([1, 2], pandas.Series([1.0, 2], index=[5, 6]))


@pytest.mark.parametrize("kind", (np.int8, np.int16, np.int32, np.int64))
def test_negative_numbers_of_every_type(kind):
    vertices = 300 if SIMULATED else 2**20
    found = ew.ComponentsStream(vertices, device=PLACE)
    with pytest.raises(
        GraphError, match=rf"sources\[1\] is -100; vertex numbers run from 0 to {vertices - 1}"
    ):
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
    monkeypatch.setattr(union, "index_type", lambda count: np.uint32 if count <= 20 else np.int64)
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


PAIRS = [
    ("b", "a"),
    ("ä", "ä"),
    ("c", "d"),
    ("", "b"),
    ("a\0", "a"),
    ("d", "b" * 300),
    ("e", "c"),
    ("x", "y"),
]


def in_form(values, form):
    """A column of strings as callers may have it."""
    if form == "objects":
        return np.array(values, object)
    if form == "NumPy":
        return np.array(values, np.dtypes.StringDType())
    if form == "pandas":
        return pytest.importorskip("pandas").Series(values, index=range(5, 5 + len(values)))
    column = pa.array(values)
    if form == "dictionary":
        return column.dictionary_encode()
    if form == "views":
        return column.cast(pa.string_view())
    return pa.chunked_array([column[:1], column[1:]]) if form == "chunks" else values


FORMS = ("list", "objects", "NumPy", "pandas", "dictionary", "views", "chunks")


@pytest.mark.parametrize("form", FORMS)
def test_strings_in_batches_are_as_in_a_graph(form):
    graph = ew.Graph.from_edges(*map(list, zip(*PAIRS)))
    expected = ew.connected_components(graph).labels.tolist()
    for size in (1, 3, len(PAIRS)):
        found = ew.ComponentsStream(device=PLACE)
        for start in range(0, len(PAIRS), size):
            found.add(*(in_form(list(column), form) for column in zip(*PAIRS[start : start + size])))
        result = found.result()
        assert result.graph.ids.to_pylist() == graph.ids.to_pylist()
        assert labels_of(found) == expected
        assert (found.n_vertices, found.edges) == (len(graph.ids), len(PAIRS))
        assert found.connected(in_form(["b", "x", "c"], form), "e").tolist() == [False, False, True]
    assert result.on_host().to_frame() == ew.connected_components(graph).to_frame()


def test_questions_about_strings():
    found = ew.ComponentsStream(device=PLACE)
    assert (found.connected("a", "a"), found.connected("a", "b")) == (True, False)
    found.add(["a", "b"], ["b", "c"])
    assert (found.connected("a", "c"), found.connected("a", "new")) == (True, False)
    assert found.connected("new", "new")
    assert found.connected(["a", "new", "new"], ["c", "new", "b"]).tolist() == [True, True, False]
    assert found.connected("a", []).tolist() == found.connected([], []).tolist() == []
    assert found.n_vertices == 3
    with pytest.raises(GraphError, match="u and v are integers, and the ids so far are strings"):
        found.connected(1, 2)
    with pytest.raises(GraphError, match="u are strings and v are integers; convert one"):
        found.connected("a", 2)
    with pytest.raises(GraphError, match="2 ids in u but 3 in v"):
        found.connected(["a", "b"], ["a", "b", "c"])


def test_results_keep_their_ids_while_strings_are_added():
    found = ew.ComponentsStream(device=PLACE)
    found.add(["a"], ["b"])
    before = found.result()
    for start in range(0, 3000, 1000):
        found.add([f"n{number}" for number in range(start, start + 1000)], ["b"] * 1000)
    assert before.graph.ids.to_pylist() == ["a", "b"]
    assert before.on_host().labels.tolist() == [0, 0]
    assert found.result().graph.ids[-1].as_py() == "n2999"
    assert labels_of(found) == [0] * 3002
    asked = [f"n{number}" for number in range(6000)]
    assert found.connected(asked, "a").tolist() == [True] * 3000 + [False] * 3000


DAMAGED_TEXT = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (([1, 2], [2, 3]), "sources are integers, and the ids so far are strings; convert them"),
        (([b"a"], [b"b"]), "sources are bytes, and the ids so far are strings"),
        ((["a", "new"], ["b", 1]), "integers and strings are mixed in targets"),
        ((["a", None], ["b", "new"]), r"sources\[1\] is null; drop such edges first"),
        (([None, "a"], ["b", "new"]), r"sources\[0\] is null; drop such edges first"),
        ((["a", "new"], ["b"]), "2 sources but 1 targets"),
        ((["a"], []), "1 sources but 0 targets"),
        ((["a"], [b"b"]), "sources are strings and targets are bytes"),
        ((pa.array(["new"]), DAMAGED_TEXT), "targets hold text that is not UTF-8"),
        ((pa.array(["new"]), DAMAGED_TEXT.dictionary_encode()), "targets hold text that is not UTF-8"),
        (("new", "a"), "sources is of type str; ids come as arrays or lists"),
        (([["new"]], [["a"]]), "2 dimensions"),
    ],
)
def test_bad_batches_of_strings_leave_nothing(batch, words):
    found = ew.ComponentsStream(device=PLACE)
    found.add([], [])
    found.add(["a"], ["b"])
    with pytest.raises(GraphError, match=words):
        found.add(*batch)
    assert (found.edges, found.n_vertices, found.result().graph.ids.to_pylist()) == (1, 2, ["a", "b"])


def test_strings_after_integers_and_with_a_number_of_vertices():
    found = ew.ComponentsStream(device=PLACE)
    found.add([0], [1])
    with pytest.raises(GraphError, match="sources are strings, and the ids so far are integers"):
        found.add(["a"], ["b"])
    assert (found.edges, found.connected(0, 1)) == (1, True)
    with pytest.raises(OptionError, match="n_vertices=5 is for vertex numbers; sources are strings"):
        ew.ComponentsStream(5, device=PLACE).add(["a"], ["b"])


KINDS_OF_PAIRS = {
    "strings": PAIRS,
    "bytes": [(left.encode(), right.encode()) for left, right in PAIRS],
    "integers": [(5, 3), (0, 0), (7, 9), (3, 1), (9, 2), (6, 6), (1, 0), (4, 8)],
}


@pytest.mark.parametrize(
    ("kind", "limit"), [("strings", None), ("bytes", None), ("integers", None), ("integers", 12)]
)
def test_saved_at_any_batch(kind, limit, tmp_path):
    """A stream that is saved and loaded between two batches is the stream that was not."""
    pairs, path = KINDS_OF_PAIRS[kind], tmp_path / "stream.npz"
    whole = ew.ComponentsStream(limit, device=PLACE)
    whole.add(*map(list, zip(*pairs)))
    whole.save(tmp_path / "whole.npz")
    for at in range(len(pairs) + 1):
        found = ew.ComponentsStream(limit, device=PLACE)
        for number, (left, right) in enumerate(pairs):
            if number == at:
                found.save(path)
                found = ew.ComponentsStream.load(path, device=PLACE)
            found.add([left], [right])
        found.save(path)
        assert path.read_bytes() == (tmp_path / "whole.npz").read_bytes()
        found = ew.ComponentsStream.load(path)
        assert found.result().labels.tobytes() == whole.result().on_host().labels.tobytes()
        assert found.result().to_frame() == whole.result().on_host().to_frame()
        assert (found.edges, found.n_vertices) == (whole.edges, whole.n_vertices)
    assert found.connected(*pairs[0])
    if limit is not None:
        with pytest.raises(GraphError, match="from 0 to 11"):
            found.add([12], [0])


def rewritten(path, name, change):
    """Change one array of a saved stream."""
    with np.load(path) as file:
        content = {one: file[one] for one in file.files}
    found = content.pop(name)
    np.savez(path, **content, **({name: change(found)} if change else {}))


def of_version(path, version):
    """Save the stream again as another version of edgewise would."""
    facts, arrays = checkpoint.load_state(path, "damaged")
    checkpoint.save_state(path, facts | {"stream": version}, arrays)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:300]), "or a damaged one; save it again"),
        (lambda path: path.write_text("a,b"), "holds no stream that was saved"),
        (lambda path: np.savez(path, labels=np.zeros(3)), "holds no stream that was saved"),
        (lambda path: path.unlink(), "no such file"),
        (
            lambda path: of_version(path, 2),
            "another version of edgewise .format 2, not 1.",
        ),
        (lambda path: rewritten(path, "facts", lambda facts: facts[:-5]), "damaged"),
        (lambda path: rewritten(path, "labels", lambda labels: labels[::-1]), "damaged"),
        (lambda path: rewritten(path, "labels", lambda labels: labels[:-1]), "damaged"),
        (lambda path: rewritten(path, "offsets", lambda offsets: offsets[::-1].copy()), "damaged"),
        (lambda path: rewritten(path, "arena", lambda arena: np.full_like(arena, 255)), "damaged"),
        (lambda path: rewritten(path, "arena", lambda arena: np.full_like(arena, 97)), "damaged"),
        (lambda path: rewritten(path, "arena", lambda arena: np.roll(arena, 1)), "damaged"),
        (lambda path: rewritten(path, "labels", lambda labels: np.arange(5, dtype=labels.dtype)), "damaged"),
        (lambda path: rewritten(path, "checksum", lambda found: found[::-1]), "damaged"),
        (lambda path: rewritten(path, "checksum", None), "damaged"),
    ],
)
def test_files_that_hold_no_stream(tmp_path, spoil, words):
    found = ew.ComponentsStream(device=PLACE)
    found.add(["a", "b", "x"], ["b", "c", "y"])
    path = tmp_path / "stream.npz"
    found.save(path)
    spoil(path)
    with pytest.raises(FileError, match=f"stream.npz.*{words}") as raised:
        ew.ComponentsStream.load(path)
    assert "\n" not in str(raised.value)


def test_a_stream_that_was_saved_without_a_checksum(tmp_path):
    found = ew.ComponentsStream(device=PLACE)
    found.add(["a", "b", "x"], ["b", "c", "y"])
    path = tmp_path / "stream.npz"
    found.save(path)
    with np.load(path) as file:
        content = {name: file[name] for name in file.files if name != "checksum"}
    facts = {name: one for name, one in json.loads(content["facts"].tobytes()).items() if name != "checksum"}
    content["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    np.savez(path, **content)
    assert ew.ComponentsStream.load(path).connected("a", "c")


def test_the_stream_of_another_user(tmp_path, monkeypatch):
    path = tmp_path / "stream.npz"
    ew.ComponentsStream(device=PLACE).save(path)
    give_away(path, monkeypatch)
    with pytest.raises(
        FileError, match=r"stream.npz: belongs to another user \(.*\); copy it if it is right"
    ):
        ew.ComponentsStream.load(path)


def test_a_saved_stream_that_expands_without_measure(tmp_path):
    path = tmp_path / "stream.npz"
    np.savez_compressed(path, facts=np.frombuffer(b"{}", np.uint8), labels=np.zeros(1 << 23, np.int32))
    with pytest.raises(FileError, match=r"stream.npz: its arrays hold more than 200 times its [\d,]+ bytes"):
        ew.ComponentsStream.load(path)


def test_a_stream_that_cannot_be_saved_leaves_the_old_file(tmp_path, monkeypatch):
    found = ew.ComponentsStream(device=PLACE)
    found.save(tmp_path / "stream.npz")
    before = (tmp_path / "stream.npz").read_bytes()
    found.add(["a"], ["b"])
    with pytest.raises(FileError, match="the folder does not exist"):
        found.save(tmp_path / "none" / "stream.npz")
    monkeypatch.setattr(np, "savez", lambda file, **content: (file.write(b"half"), 1 / 0))
    with pytest.raises(ZeroDivisionError):
        found.save(tmp_path / "stream.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["stream.npz"]
    assert (tmp_path / "stream.npz").read_bytes() == before
    assert ew.ComponentsStream.load(tmp_path / "stream.npz").n_vertices == 0


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
        (batches.query, (kind, "int64[]", "int64[]", "bool[]")),
        (union.make_further_singletons, ("int64", kind)),
        (union.unite_numbers, (kind, "int64[]", "int64[]")),
        (union.unite_numbers, (kind, kind, kind)),
    ):
        assert ".entry" in loop.cuda.ptx(kinds, (9, 0))


@pytest.mark.parametrize(
    "labels, words",
    [
        ([0, 0, 3, 2], "no vertex"),
        ([0, -1], "no vertex"),
        ([[0]], "no vertex"),
        ([0.0], "no vertex"),
        ([0, 0, 1], "another label"),
    ],
)
def test_labels_of_a_state_are_the_smallest_vertices_of_trees(labels, words):
    checkpoint.check_labels(np.array([0, 0, 2, 2]))
    with pytest.raises(ValueError, match=words):
        checkpoint.check_labels(np.array(labels))
