"""What edgewise writes it reads, byte for byte the same graph."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.errors import EdgewiseError, FileError

#: Endings, and what the format cannot hold.
EXACT = [".txt", ".el", ".parquet", ".arrow", ".npz", ".mtx"]
PACKED = [".txt.gz", ".el.bz2", ".mtx.xz", ".npz.zst", ".graph.gz", ".sg.xz", ".gr.zst"]


def edges_of(graph):
    """Sorted (end, end, weight) triples; ends of undirected edges in ascending order."""
    sources, targets = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
    if not graph.directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    weights = np.ones(len(sources)) if graph.weights is None else graph.weights
    return sorted(zip(sources.tolist(), targets.tolist(), weights.tolist()))


def same(one, other):
    assert one.n_vertices == other.n_vertices
    assert one.directed == other.directed
    assert edges_of(one) == edges_of(other)


def sample(directed=False, weights=None, loops=True, seed=0, vertices=40):
    random = np.random.default_rng(seed)
    sources, targets = random.integers(0, vertices - 3, (2, 90))
    if not loops:
        sources, targets = sources[sources != targets], targets[sources != targets]
    values = None if weights is None else random.integers(1, 100, len(sources)).astype(weights)
    if weights == np.float64:
        values /= 7
    return ew.Graph.from_edges(sources, targets, weights=values, n_vertices=vertices, directed=directed)


@pytest.mark.parametrize("weights", [None, np.int64, np.float64])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", EXACT)
def test_formats_that_hold_everything(tmp_path, suffix, directed, weights):
    graph = sample(directed, weights)
    ew.write(graph, tmp_path / f"graph{suffix}")
    back = ew.read(tmp_path / f"graph{suffix}")
    same(back, graph)
    assert (back.weights is None) == (weights is None)
    assert weights is None or back.weights.dtype == weights


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed(tmp_path, suffix):
    graph = sample(loops=False, weights=np.int64 if suffix[:3] in (".gr", ".tx") else None)
    ew.write(graph, tmp_path / f"graph{suffix}")
    same(ew.read(tmp_path / f"graph{suffix}"), graph)
    (tmp_path / f"graph{suffix}").rename(tmp_path / "graph.dat")
    if suffix not in (".sg.xz",):
        same(ew.read(tmp_path / "graph.dat"), graph)


@pytest.mark.parametrize("directed", [False, True])
def test_dimacs(tmp_path, directed):
    graph = sample(directed, np.int64)
    ew.write(graph, tmp_path / "a.gr")
    same(ew.read(tmp_path / "a.gr"), graph)
    if not directed:
        arcs = ew.read(tmp_path / "a.gr", directed=True)
        assert arcs.n_edges == 2 * graph.n_edges - int((graph.sources == graph.targets).sum())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", [".sg", ".wsg"])
def test_gap(tmp_path, suffix, directed):
    graph = sample(directed, np.int64)
    ew.write(graph, tmp_path / f"a{suffix}")
    back = ew.read(tmp_path / f"a{suffix}")
    if suffix == ".sg":
        graph = sample(directed)
        graph = ew.Graph.from_edges(graph.sources, graph.targets, n_vertices=40, directed=directed)
    assert (back.weights is None) == (suffix == ".sg")
    same(back, graph)
    (tmp_path / f"a{suffix}").rename(tmp_path / "a.bin")
    same(ew.read(tmp_path / "a.bin"), graph)


@pytest.mark.parametrize("vertex_weights", [None, 1, 2])
@pytest.mark.parametrize("weights", [None, np.int64])
def test_metis(tmp_path, weights, vertex_weights):
    graph = sample(weights=weights, loops=False)
    if vertex_weights:
        shape = (40,) if vertex_weights == 1 else (40, vertex_weights)
        graph.vertex_weights = np.arange(40 * vertex_weights).reshape(shape)
    ew.write(graph, tmp_path / "a.graph")
    back = ew.read(tmp_path / "a.graph")
    same(back, graph)
    if vertex_weights:
        assert back.vertex_weights.tolist() == graph.vertex_weights.tolist()
    assert ew.read(tmp_path / "a.graph", weight=False).weights is None


@pytest.mark.interpreter
@pytest.mark.parametrize("fmt", ["100", "101", "110", "111"])
def test_vertex_sizes_of_metis_are_left_out_with_a_warning(tmp_path, fmt):
    path, target = tmp_path / "a.graph", tmp_path / "b.graph"

    def write(sizes):
        neighbours = {1: [2], 2: [1, 3], 3: [2]}
        rows = [f"4 2 {fmt}"]
        for vertex, size in enumerate(sizes, 1):
            weight = [10 * vertex] if fmt[1] == "1" else []
            ends = [f"{one} 7" if fmt[2] == "1" else one for one in neighbours.get(vertex, [])]
            rows.append(" ".join(map(str, [*size, *weight, *ends])))
        path.write_text("\n".join(["% sizes", *rows]) + "\n")

    def check(graph):
        assert list(zip(graph.sources.tolist(), graph.targets.tolist())) == [(0, 1), (1, 2)]
        assert (graph.vertex_weights is None) == (fmt[1] == "0") and (graph.weights is None) == (
            fmt[2] == "0"
        )
        assert graph.vertex_weights is None or graph.vertex_weights.tolist() == [10, 20, 30, 40]
        assert graph.weights is None or graph.weights.tolist() == [7, 7]
        ew.write(graph, target)
        assert target.read_text().splitlines()[0].split()[2:] == ([f"0{fmt[1:]}"] if fmt != "100" else [])
        assert ew.read(target).n_edges == 2

    write([[5], [1], [0], [1]])
    with pytest.warns(
        ew.errors.EdgewiseWarning, match=r"a\.graph:2: the vertex sizes .* are left out"
    ) as seen:
        check(ew.read(path))
    assert len(seen) == 1 and seen[0].filename == __file__
    write([[1], [1], [1], [1]])  # what vertices without sizes have
    check(ew.read(path))
    write([[], [], [], []])  # announced, but not there, as in files of the 10th DIMACS challenge
    check(ew.read(path))
    write([[1], [1], [-2], [1]])
    with pytest.raises(ew.errors.FileError, match="vertex size -2 is negative") as caught:
        ew.read(path)
    assert caught.value.line == 5


@pytest.mark.interpreter
def test_a_triangle_whose_sizes_are_not_there_is_undirected(tmp_path):
    path = tmp_path / "a.graph"
    path.write_text("3 3 100\n2 3\n1 3\n1 2\n")  # with sizes there would be m entries
    assert (ew.read(path).n_edges, ew.read(path).directed) == (3, False)
    path.write_text("3 3 100\n1 2 3\n1 1 3\n1 1 2\n")
    assert (ew.read(path).n_edges, ew.read(path).directed) == (3, False)


@pytest.mark.parametrize("suffix", [*EXACT, ".graph", ".gr", ".sg", ".txt.gz"])
@pytest.mark.parametrize("vertices", [0, 1, 5])
def test_graphs_without_edges(tmp_path, suffix, vertices):
    none = np.empty(0, np.int64)
    ew.write(ew.Graph.from_edges(none, none, n_vertices=vertices), tmp_path / f"a{suffix}")
    back = ew.read(tmp_path / f"a{suffix}")
    assert (back.n_vertices, back.n_edges) == (vertices, 0)


IDS = {
    "gaps": ([10, 7, -5, 2**62], [7, 7, 2**62, 10]),
    "unsigned": ([2**64 - 1, 3], [3, 2**63]),
    "names": (["b", "a", "Å", "b"], ["a", "c'd", "a", "{quo[te"]),
}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npz", ".txt", ".txt.zst"])
@pytest.mark.parametrize("kind", IDS)
def test_external_ids(tmp_path, suffix, kind):
    columns = [np.array(c, np.uint64 if kind == "unsigned" else None) for c in IDS[kind]]
    if kind == "names":
        columns = [pa.array(c) for c in IDS[kind]]
    graph = ew.Graph.from_edges(*columns)
    ew.write(graph, tmp_path / f"a{suffix}")
    back = ew.read(
        tmp_path / f"a{suffix}", **({"ids": "string"} if ".txt" in suffix and kind == "names" else {})
    )
    named = [(g.ids_of(g.sources).tolist(), g.ids_of(g.targets).tolist()) for g in (back, graph)]
    assert named[0] == named[1]


UNFIT = [
    " a",
    "#1",
    "%1",
    "a b",
    "a\tb",
    "a\nb",
    'a"b',
    "a,b",
    "a;b",
    "a|b",
    "",
    " ",
    "a\0",
    "%%MatrixMarket",
]


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("suffix", [".txt", ".el.gz"])
def test_names_that_edge_lists_do_not_hold(tmp_path, name, suffix):
    for columns in ([name, "b"], ["b", "c"]), (["b", "d"], ["c", name]):
        graph = ew.Graph.from_edges(*columns)
        with pytest.raises(FileError, match=r"the id .* would not be read again.*; write \.") as raised:
            ew.write(graph, tmp_path / f"a{suffix}")
        assert str(raised.value).count("\n") == 0 and list(tmp_path.iterdir()) == []
        for other in (".csv", ".parquet") if ".csv" in str(raised.value) else (".parquet",):
            ew.write(graph, tmp_path / f"a{other}")
            assert ew.read(tmp_path / f"a{other}").ids.tolist() == graph.ids.tolist()
            (tmp_path / f"a{other}").unlink()


def test_bytes_that_are_no_text(tmp_path):
    with pytest.raises(FileError, match=r"ids that are not UTF-8, which text cannot hold; write \.parquet"):
        ew.write(ew.Graph.from_edges([b"a"], [b"\xff"]), tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["{a", "[a", "<a", "graph[", "1", "007", "-5", "1e5", "nan", "from", "é"])
def test_odd_names_in_edge_lists(tmp_path, name):
    for columns in ([name, "b"], ["x", "y"]), (["x", name], ["y", "b"]), (["x", "y"], ["c", name]):
        graph = ew.Graph.from_edges(*columns)
        ew.write(graph, tmp_path / "a.txt")
        back = ew.read(tmp_path / "a.txt")
        assert (back.ids.tolist(), back.sources.tolist()) == (graph.ids.tolist(), graph.sources.tolist())


def test_rows_are_stored_as_rows(tmp_path):
    offsets, neighbours = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    graph = ew.Graph.from_csr(offsets, neighbours, weights=np.array([5, 5, 6, 6]))
    ew.write(graph, tmp_path / "a.npz")
    back = ew.read(tmp_path / "a.npz")
    assert back.has_rows and not back.has_edges
    same(back, graph)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_text_tables_hold_edges_and_weights(tmp_path, suffix):
    graph = sample(weights=np.int64)
    ew.write(graph, tmp_path / f"a{suffix}")
    back = ew.read(tmp_path / f"a{suffix}", one_based=False)
    assert edges_of(back) == edges_of(graph)


def test_scipy_archives(tmp_path):
    import scipy.sparse

    matrix = scipy.sparse.coo_array(([1.5, 1.5, 2.0], ([0, 1, 2], [1, 0, 2])), shape=(4, 4))
    scipy.sparse.save_npz(tmp_path / "a.npz", matrix)
    graph = ew.read(tmp_path / "a.npz")
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (4, 2, False)
    assert ew.read(tmp_path / "a.npz", directed=True).n_edges == 3
    scipy.sparse.save_npz(tmp_path / "b.npz", matrix.tocsr()[:, :2])
    with pytest.raises(FileError, match="square"):
        ew.read(tmp_path / "b.npz")


MATRIX = {"rows": [0, 1, 1, 3], "columns": [1, 0, 3, 1], "values": [1.5, 1.5, 2.0, 2.0]}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("inside", ["A", "Problem.A", "dense"])
def test_matlab_files(tmp_path, inside, compressed):
    import scipy.sparse
    from scipy.io import savemat

    matrix = scipy.sparse.coo_array((MATRIX["values"], (MATRIX["rows"], MATRIX["columns"])), shape=(4, 4))
    variables = (
        {"Problem": {"A": matrix, "name": "a/b"}, "other": 3.0} if inside == "Problem.A" else {"A": matrix}
    )
    if inside == "dense":
        variables = {"A": matrix.toarray(), "b": np.ones((4, 1))}
    savemat(tmp_path / "a.mat", variables, do_compression=compressed)
    graph = ew.read(tmp_path / "a.mat")
    assert (graph.n_vertices, graph.directed, graph.ids.tolist()) == (4, False, [1, 2, 3, 4])
    assert edges_of(graph) == [(0, 1, 1.5), (1, 3, 2.0)]
    assert graph.assumed_weights == "the values of the matrix"
    assert ew.read(tmp_path / "a.mat", directed=True).n_edges == 4


def test_matlab_files_that_are_no_graph(tmp_path):
    from scipy.io import savemat

    path = tmp_path / "a.mat"
    for variables, words in (
        ({"b": np.ones((3, 2))}, r"no square matrix \(b\); save one"),
        ({"b": np.eye(3), "c": np.eye(2)}, r"several square matrices \(b, c\); save one"),
        ({}, r"no square matrix \(nothing\)"),
    ):
        savemat(path, variables)
        with pytest.raises(FileError, match=words):
            ew.read(path)
    savemat(path, {"A": np.zeros((4000, 4000))}, do_compression=True)
    with pytest.raises(FileError, match="more than 200 times the"):
        ew.read(path)
    savemat(path, {"A": np.eye(100)}, do_compression=True)
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(FileError, match="damaged"):
        ew.read(path)
    path.write_bytes(content.replace(b"MATLAB 5.0", b"MATLAB 7.3"))
    with pytest.raises(FileError, match="save -v7"):
        ew.read(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_matlab_files(tmp_path, compressed):
    from scipy.io import savemat
    from scipy.sparse import eye_array

    path, draw = tmp_path / "a.mat", np.random.default_rng(1)
    savemat(path, {"Problem": {"A": eye_array(30).tocsc()}}, do_compression=compressed)
    content = np.fromfile(path, np.uint8)
    for _ in range(300):
        damaged = content[: draw.integers(len(content))].copy() if draw.random() < 0.3 else content.copy()
        damaged[draw.integers(0, max(len(damaged), 1), min(len(damaged), 3))] = draw.integers(0, 256)
        damaged.tofile(path)
        try:
            ew.read(path)
        except EdgewiseError as error:
            assert "\n" not in str(error)


REFUSALS = [
    (sample(True), ".graph", "undirected"),
    (sample(), ".graph", "self-loops"),
    (sample(weights=np.float64, loops=False), ".graph", "whole weights"),
    (sample(weights=np.float64), ".gr", "whole weights"),
    (sample(), ".wsg", "needs weights"),
    (sample(weights=np.float64), ".wsg", "whole weights from -2147483648"),
    (sample(), ".parquet.gz", "compressed inside"),
    (sample(), ".what", "says no format"),
    (sample(), "", "is missing and says no format"),
]


@pytest.mark.parametrize(("graph", "suffix", "message"), REFUSALS)
def test_what_a_format_cannot_hold(tmp_path, graph, suffix, message):
    with pytest.raises(FileError, match=message):
        ew.write(graph, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_formats_by_name(tmp_path):
    graph = sample()
    ew.write(graph, tmp_path / "a.txt", format="mtx")
    assert (
        (tmp_path / "a.txt").read_bytes().startswith(b"%%MatrixMarket matrix coordinate pattern symmetric\n")
    )
    same(ew.read(tmp_path / "a.txt"), graph)
    with pytest.raises(ew.errors.OptionError, match="unknown"):
        ew.write(graph, tmp_path / "a.txt", format="what")
    with pytest.raises(ew.errors.OptionError, match="read only"):
        ew.write(graph, tmp_path / "a.txt", format="tntp")
    with pytest.raises(ew.errors.OptionError, match="holds graphs"):
        ew.write(pa.table({"a": [1]}), tmp_path / "a.mtx")


ends = st.integers(0, 6)


@settings(max_examples=30)
@given(
    edges=st.lists(st.tuples(ends, ends, st.integers(-9, 9)), max_size=12),
    directed=st.booleans(),
    suffix=st.sampled_from([".txt", ".mtx", ".npz", ".parquet", ".txt.gz", ".sg"]),
)
def test_any_small_graph(tmp_path, edges, directed, suffix):
    sources, targets, weights = np.array(edges, np.int64).reshape(-1, 3).T
    graph = ew.Graph.from_edges(
        sources, targets, weights=None if suffix == ".sg" else weights, n_vertices=7, directed=directed
    )
    ew.write(graph, tmp_path / f"a{suffix}")
    back = ew.read(tmp_path / f"a{suffix}", directed=directed)
    if suffix == ".mtx" and directed:
        back = ew.read(tmp_path / f"a{suffix}", directed=True)
    same(back, graph)


@pytest.mark.parametrize("name", [" a", "a\t", "", "a\0b", "\ufeffa"])
def test_tables_in_text_hold_no_ids_that_text_does_not_keep(tmp_path, name):
    graph = ew.Graph.from_edges([name, "a b"], ["a", "b"])
    with pytest.raises(
        FileError, match=r"has blanks around it, or .*, which text does not keep; write \.parquet"
    ):
        ew.write(graph, tmp_path / "a.csv")
    ew.write(graph, tmp_path / "a.parquet")
    assert ew.read(tmp_path / "a.parquet").ids.to_pylist() == graph.ids.to_pylist()
    ew.connected_components(graph).write(tmp_path / "clusters.csv")
