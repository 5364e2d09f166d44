"""Archives and serialised graphs whose arrays do not fit together are refused before a kernel sees them."""

import struct

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

import edgewise as ew
from edgewise.errors import FileError

#: The path 0 - 1 - 2, by rows and by edges, with ids, weights and weights of the vertices.
COMMON = {"edgewise": np.int64(1), "shape": np.array([3, 0]), "ids": np.array([5, 7, 9])}
ROWS = {"offsets": np.array([0, 1, 3, 4]), "neighbours": np.array([1, 0, 2, 1], np.uint32), **COMMON}
EDGES = {"sources": np.array([0, 1], np.uint32), "targets": np.array([1, 2], np.uint32), **COMMON}
NAMES = {"ids": np.frombuffer(b"abbccc", np.uint8), "ids_offsets": np.array([0, 1, 3, 6])}


def refused(path, **options):
    with pytest.raises(FileError) as caught:
        ew.read(path, **options)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


def archive(path, arrays, **changes):
    kept = {name: array for name, array in {**arrays, **changes}.items() if array is not None}
    np.savez(path, **kept)
    return path


FAULTS = [
    (ROWS, {"neighbours": np.array([1, 0, -1, 1])}, r"neighbours[2] is -1"),
    (ROWS, {"neighbours": np.array([1, 0, 4_000_000_000, 1], np.uint32)}, "neighbours[2] is 4000000000"),
    (ROWS, {"neighbours": np.array([1.0, 0, 2, 1])}, "neighbours has type float64"),
    (ROWS, {"neighbours": np.array([[1, 0, 2, 1]])}, "neighbours has 2 dimensions"),
    (ROWS, {"neighbours": np.array([2, 0, 2, 1], np.uint32)}, "but not the other way round"),
    (ROWS, {"offsets": np.array([0, 3, 1, 4])}, "offsets fall from 3 to 1 at row 1"),
    (ROWS, {"offsets": np.array([0, -1, 3, 4])}, "offsets fall from 0 to -1"),
    (ROWS, {"offsets": np.array([0, 1, 3, 9])}, "must run from 0 to 4"),
    (ROWS, {"offsets": np.array([0, 1, 3, 4, 4])}, "4 rows of 3 vertices"),
    (ROWS, {"offsets": np.array([0, 4])}, "neighbours[0] is 1"),
    (ROWS, {"offsets": np.empty(0, np.int64)}, "at least one entry"),
    (ROWS, {"offsets": np.int64(3)}, "offsets has 0 dimensions"),
    (ROWS, {"weights": np.array([1, 2, 2])}, "weights have shape (3,)"),
    (ROWS, {"weights": np.array([1, 2, 2, 2])}, "the other way round with the same weight"),
    (ROWS, {"weights": np.array(["a"] * 4)}, "weights have type <U1"),
    (ROWS, {"vertex_weights": np.array([1, 2])}, "vertex_weights have type int64 and shape (2,)"),
    (ROWS, {"shape": np.array([3])}, "shape is [3]"),
    (ROWS, {"shape": np.array([-3, 0])}, "shape is [-3 0]"),
    (ROWS, {"shape": np.array([3, 7])}, "shape is [3 7]"),
    (ROWS, {"shape": np.array([2**45, 0])}, "vertices need"),
    (ROWS, {"shape": None}, "no graph"),
    (ROWS, {"neighbours": None}, "no graph"),
    (ROWS, {"edgewise": np.int64(2)}, "another version"),
    (ROWS, {"ids": np.array([5, 7])}, "2 ids for 3 vertices"),
    (ROWS, {"ids": np.array([5, 7, 5])}, "3 vertices have 2 different ids"),
    (ROWS, {"ids": np.array([5.0, 7, 9])}, "ids has type float64"),
    (EDGES, {"sources": np.array([0, -1])}, "sources[1] is -1"),
    (EDGES, {"sources": np.array([0, 1, 2])}, "3 sources but 2 targets"),
    (EDGES, {"targets": np.array([0, 2**33])}, "targets[1] is 8589934592"),
    (EDGES, {"ids": np.array([5, 7])}, "2 ids for 3 vertices"),
    (EDGES, {"ids": np.array([[5], [7], [9]])}, "ids has 2 dimensions"),
    (EDGES, {**NAMES, "ids": None}, "the names of the vertices are damaged"),
    (EDGES, {**NAMES, "ids_offsets": np.array([0, 1, 3])}, "2 ids for 3 vertices"),
    (EDGES, {**NAMES, "ids_offsets": np.array([0, 1, 3, 10**9])}, "the names of the vertices are damaged"),
    (EDGES, {**NAMES, "ids_offsets": np.array([0, 3, 1, 6])}, "the names of the vertices are damaged"),
    (EDGES, {**NAMES, "ids_offsets": np.array([0, 1, 2, 3])}, "3 vertices have 2 different ids"),
    (
        EDGES,
        {**NAMES, "ids": np.frombuffer(b"abb\xff\xfe\xfd", np.uint8)},
        "the names of the vertices are damaged",
    ),
]


@pytest.mark.parametrize(("arrays", "changes", "problem"), FAULTS)
def test_archives_of_edgewise(tmp_path, arrays, changes, problem):
    path = archive(tmp_path / "a.npz", arrays)
    assert ew.read(path).n_edges == 2
    assert problem in refused(archive(path, arrays, **changes))


def test_archives_of_other_widths_and_byte_orders(tmp_path):
    weights = np.array([2, 2, 3, 3], ">f8")
    path = archive(
        tmp_path / "a.npz", {name: array.astype(">i8") for name, array in ROWS.items()}, weights=weights
    )
    graph = ew.read(path)
    assert graph.ids.tolist() == [5, 7, 9]
    assert ew.shortest_paths(graph, 5).distances.tolist() == [0, 2, 5]
    assert ew.read(archive(path, EDGES, **NAMES)).ids.to_pylist() == ["a", "bb", "ccc"]


def test_unsymmetric_rows_are_read_as_directed(tmp_path):
    path = archive(tmp_path / "a.npz", ROWS, neighbours=np.array([2, 0, 2, 1]))
    assert refused(path) == "vertex 0 lists 2, but not the other way round; correct it, or pass directed=True"
    assert ew.read(path, directed=True).n_edges == 4


SCIPY = [
    ("csr", {"indices": np.array([1, 0, 9, 1], np.int32)}, "is 9; vertex numbers run from 0 to 2"),
    ("csr", {"indices": np.array([1, 0, -2, 1], np.int32)}, "is -2"),
    ("csr", {"indices": np.array([1, 0, 2], np.int32)}, ""),
    ("csr", {"indices": np.array([1.0, 0, 2, 1])}, ""),
    ("csr", {"indptr": np.array([0, 10**6, 3, 4], np.int32)}, "offsets fall from 1000000 to 3"),
    ("csr", {"indptr": np.array([0, -5, 3, 4], np.int32)}, "offsets fall from 0 to -5"),
    ("csr", {"indptr": np.array([0, 1], np.int32)}, ""),
    ("csr", {"indptr": None}, "the array 'indptr' is missing"),
    ("csr", {"shape": np.array([3, 4])}, "only a square one is a graph"),
    ("csr", {"shape": np.array([3])}, "only a square one is a graph"),
    ("csr", {"shape": np.array([2**45, 2**45])}, "vertices need"),
    ("csr", {"shape": np.array(True)}, "the matrix has the shape True"),
    ("csr", {"format": np.array(b"abc")}, "a matrix in the format 'abc'"),
    ("csr", {"format": np.array([[b"csr"]])}, "a matrix in the format"),
    ("csr", {"data": np.zeros(4, "i4,f4")}, "must be numbers"),
    ("coo", {"row": None, "col": None, "coords": np.array(1)}, ""),
    ("csr", {"data": np.array(["a"] * 4)}, ""),
    ("csc", {"indices": np.array([1, 0, 9, 1], np.int32)}, "is 9"),
    ("bsr", {"indices": np.array([1, 0, 9, 1], np.int32)}, "damaged"),
    ("bsr", {"indptr": np.array([0, 3, 2, 4], np.int32)}, "damaged"),
    ("coo", {"row": np.array([0, 1, 9, 2], np.int32)}, ""),
    ("coo", {"row": np.array([0, 1, -1, 2], np.int32)}, ""),
    ("coo", {"col": np.array([0, 1], np.int32)}, ""),
    ("dia", {"offsets": np.array([1, 2, 3], np.int32)}, ""),
]


@pytest.mark.parametrize(("form", "changes", "problem"), SCIPY)
def test_archives_of_scipy(tmp_path, form, changes, problem):
    matrix = scipy.sparse.csr_array(([1, 1, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3)).asformat(form)
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, matrix)
    assert ew.read(path).n_edges == 2
    with np.load(path) as file:
        arrays = dict(file)
    assert problem in refused(archive(path, arrays, **changes))


def rows_of_scipy(form="csr", **changes):
    matrix = scipy.sparse.csr_array(([1, 1, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3)).asformat(form)
    for name, array in changes.items():
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.array([1, 0, 9, 1], np.int32)},
        {"indices": np.array([1, 0, -1, 1], np.int32)},
        {"indices": np.array([1, 0], np.int32)},
        {"indptr": np.array([0, 10**6, 3, 4], np.int32)},
        {"indptr": np.array([0, 1, 3], np.int32)},
        {"indptr": np.array([0, 1, 3, 10**6], np.int32)},
        {"indptr": np.array([0.0, 1, 3, 4])},
        {"data": np.array([1, 1])},
    ],
)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_damaged_matrices(form, changes):
    with pytest.raises(ew.errors.GraphError):
        ew.Graph.from_scipy(rows_of_scipy(form, **changes))


def test_damaged_coordinates():
    matrix = rows_of_scipy().tocoo()
    matrix.coords = (np.array([0, 1, 1, 7]), matrix.coords[1])
    with pytest.raises(ew.errors.GraphError, match="row"):
        ew.Graph.from_scipy(matrix)


def test_matrices_with_room_for_more_entries():
    matrix = rows_of_scipy(indices=np.array([1, 0, 2, 1, 7, 7]), data=np.ones(6))
    assert ew.Graph.from_scipy(matrix).n_edges == 2


@pytest.mark.parametrize(
    "given",
    [
        {"ids": [5, 7]},
        {"ids": [5, 7, 7]},
        {"ids": ["a", "b", "a"]},
        {"ids": pa.array(["a", None, "b"])},
        {"ids": [0.5, 1.5, 2.5]},
        {"vertex_weights": [1, 2]},
        {"vertex_weights": ["a", "b", "c"]},
    ],
)
def test_facts_of_vertices(given):
    with pytest.raises(ew.errors.GraphError):
        ew.Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], **given)


@pytest.mark.parametrize("ids", [[5, 9, 7], ["a", "b", "c"], pa.array(["x", "z", "y"])])
def test_ids_of_vertices(ids):
    graph = ew.Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], ids=ids)
    assert graph.vertices_of([ids[2]]).tolist() == [2]


def serialised(path, offsets, neighbours, weights=None, directed=False):
    fields = neighbours if weights is None else np.column_stack([neighbours, weights]).ravel()
    content = struct.pack("<?qq", directed, len(neighbours), len(offsets) - 1)
    path.write_bytes(content + np.array(offsets, "<i8").tobytes() + np.array(fields, "<i4").tobytes())
    return path


def test_unsymmetric_gap_graphs(tmp_path):
    path = serialised(tmp_path / "a.sg", [0, 2, 3, 3], [1, 2, 0])
    assert refused(path) == "vertex 0 lists 2, but not the other way round; correct it, or pass directed=True"
    assert ew.read(path, directed=True).n_edges == 3
    path = serialised(tmp_path / "a.wsg", [0, 1, 2], [1, 0], [4, 5])
    assert "with the same weight" in refused(path)
    assert ew.read(path, weight=False).n_edges == 1


def test_gap_graphs_with_self_loops(tmp_path):
    graph = ew.read(serialised(tmp_path / "a.sg", [0, 2, 3], [0, 1, 0]))
    assert sorted(zip(graph.sources.tolist(), graph.targets.tolist())) == [(0, 0), (0, 1)]
