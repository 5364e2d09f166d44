"""Meshes: formats, graphs and the parts that are written back, against a count of all pairs."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.device.target import INTERPRETED
from edgewise.errors import FileError, GraphError, OptionError

pytestmark = pytest.mark.interpreter

FACES = {
    "line": [[0], [1]],
    "triangle": [[0, 1], [1, 2], [0, 2]],
    "quad": [[0, 1], [1, 2], [2, 3], [3, 0]],
    "tetra": [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]],
    "pyramid": [[0, 1, 2, 3], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    "wedge": [[0, 1, 2], [3, 4, 5], [0, 1, 3, 4], [1, 2, 4, 5], [0, 2, 3, 5]],
    "hexahedron": [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [1, 2, 5, 6], [2, 3, 6, 7], [0, 3, 4, 7]],
}
SIZES = {"line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
DIMENSIONS = {"line": 1, "triangle": 2, "quad": 2, "tetra": 3, "pyramid": 3, "wedge": 3, "hexahedron": 3}


def edges_of(graph):
    pairs = np.stack([graph.sources, graph.targets], 1).astype(int)
    return sorted(map(tuple, np.sort(pairs, axis=1).tolist()))


def pairs_where(count, holds):
    return [(i, j) for i in range(count) for j in range(i + 1, count) if holds(i, j)]


def mesh_of(blocks, n_nodes):
    rows = [row for _, data in blocks for row in data]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    kinds = [(kind, len(data)) for kind, data in blocks]
    from edgewise.files.mesh import Mesh

    return Mesh(offsets, np.array([node for row in rows for node in row], np.int64), kinds, n_nodes)


def test_random_meshes_against_all_pairs():
    for seed in range(300):
        draw = np.random.default_rng(seed)
        n_nodes = int(draw.integers(8, 14))
        kinds = draw.choice(list(SIZES), draw.integers(1, 4), replace=False)
        blocks = [
            (str(kind), [draw.permutation(n_nodes)[: SIZES[kind]] for _ in range(draw.integers(1, 9))])
            for kind in kinds
        ]
        mesh = mesh_of(blocks, n_nodes)
        highest = max(DIMENSIONS[kind] for kind in kinds)
        cells = [(kind, row) for kind, data in blocks if DIMENSIONS[kind] == highest for row in data]
        faces = [{frozenset(row[face].tolist()) for face in FACES[kind]} for kind, row in cells]
        expected = pairs_where(len(cells), lambda i, j, faces=faces: faces[i] & faces[j])
        assert edges_of(mesh.dual_graph()) == expected, seed
        ncommon = int(draw.integers(1, 5))
        sets = [set(row.tolist()) for _, row in cells]
        expected = pairs_where(
            len(cells),
            lambda i, j, sets=sets, ncommon=ncommon: (
                len(sets[i] & sets[j]) >= min(ncommon, len(sets[i]) - 1, len(sets[j]) - 1)
            ),
        )
        assert edges_of(mesh.dual_graph(ncommon)) == expected, seed
        every = [set(row.tolist()) for _, data in blocks for row in data]
        expected = pairs_where(n_nodes, lambda u, v, every=every: any({u, v} <= one for one in every))
        assert edges_of(mesh.nodal_graph()) == expected, seed


def test_faces_of_many_nodes():
    far = 3_000_000
    mesh = mesh_of(
        [("tetra", [[0, 1, 2, 3], [1, 2, 3, far]]), ("tetra10", [[1, 2, far, 9, *range(20, 26)]])], far + 1
    )
    assert edges_of(mesh.dual_graph()) == [(0, 1), (1, 2)]


@pytest.fixture
def square():
    meshio = pytest.importorskip("meshio")
    points = np.array([[x, y, 0.0] for y in range(4) for x in range(4)])
    corners = [4 * y + x for y in range(3) for x in range(3)]
    quads = [[c, c + 1, c + 5, c + 4] for c in corners[:6]]
    triangles = [t for c in corners[6:] for t in ([c, c + 1, c + 5], [c, c + 5, c + 4])]
    return meshio.Mesh(points, [("line", [[0, 1], [1, 2]]), ("quad", quads), ("triangle", triangles)])


@pytest.mark.parametrize("suffix", [".vtk", ".vtu", ".inp"])
@pytest.mark.parametrize("gtype", ["dual", "nodal"])
def test_parts_come_back(square, tmp_path, suffix, gtype):
    import meshio

    square.write(tmp_path / f"square{suffix}")
    mesh = ew.read_mesh(tmp_path / f"square{suffix}")
    assert (mesh.n_elements, mesh.n_nodes, len(mesh.elements)) == (14, 16, 12)
    graph = mesh.dual_graph() if gtype == "dual" else mesh.nodal_graph()
    assert graph.n_edges == (15 if gtype == "dual" else 9 * 2 + 6 + 6 * 2 + 3)
    parts = ew.partition(graph, 3).parts
    for goal in (tmp_path / "parts.vtu", tmp_path / "parts.vtk"):
        mesh.write(goal, parts, gtype=gtype)
        again = meshio.read(goal)
        if gtype == "nodal":
            assert np.array_equal(again.point_data["part"], parts)
        else:
            written = np.concatenate(again.cell_data["part"]).ravel()
            assert np.array_equal(written[mesh.elements], parts)
            assert (np.delete(written, mesh.elements) == -1).all()
    mesh.write(tmp_path / "square.part.3", parts, gtype=gtype)
    assert np.array_equal(np.loadtxt(tmp_path / "square.part.3"), parts)


@pytest.mark.parametrize("version", ["gmsh", "gmsh22"])
@pytest.mark.parametrize("gtype", ["dual", "nodal"])
def test_gmsh(square, tmp_path, version, gtype):
    import meshio

    wanted = ("line", "triangle") if version == "gmsh22" else ("triangle",)
    square.cells = [block for block in square.cells if block.type in wanted]
    square.write(tmp_path / "square.msh", version)
    mesh = ew.read_mesh(tmp_path / "square.msh")
    assert len(mesh.elements) == 6 and mesh.n_elements == 4 + 2 * len(wanted)
    parts = np.arange(6 if gtype == "dual" else 16) % 3
    for suffix in (".msh", ".vtu"):
        mesh.write(tmp_path / f"parts{suffix}", parts, gtype=gtype)
        again = meshio.read(tmp_path / f"parts{suffix}", "gmsh" if suffix == ".msh" else None)
        data = again.point_data["part"] if gtype == "nodal" else again.cell_data["part"][-1]
        assert np.array_equal(data, parts)


def test_a_format_without_data_is_refused(square, tmp_path):
    square.write(tmp_path / "square.vtk")
    mesh = ew.read_mesh(tmp_path / "square.vtk")
    with pytest.raises(FileError, match=r"keeps no parts of such a mesh; write \.vtu"):
        mesh.write(tmp_path / "parts.inp", np.zeros(12, int))
    with pytest.raises(FileError, match="is gmsh, in which"):
        mesh.write(tmp_path / "parts.msh", np.zeros(12, int))
    assert [one.name for one in tmp_path.iterdir()] == ["square.vtk"]
    with pytest.raises(GraphError, match="2 parts for 12 elements"):
        mesh.write(tmp_path / "parts.vtk", [0, 1])
    with pytest.raises(OptionError, match="gtype"):
        mesh.write(tmp_path / "parts.vtk", [0, 1], gtype="face")


METIS = {
    "2\n1 2 3\n1 3 4\n": (["unknown"], 4, None, [(0, 1)]),
    "2 4\n1 2 3 4\n3 4 5 6\n": (["quad"], 6, None, [(0, 1)]),
    "2 0\n1 2 3\n1 3 4\n": (["unknown"], 4, None, [(0, 1)]),
    "2 1\n7 1 2 3\n9 1 3 4 5\n": (["unknown"], 5, [7, 9], [(0, 1)]),
    "2 2\n7 1 1 2 3\n9 1 3 4 5\n": (["unknown"], 5, [[7, 1], [9, 1]], [(0, 1)]),
}


@pytest.mark.parametrize("text", METIS)
@pytest.mark.parametrize("name", ["m.mesh", "m.txt", "m"])
def test_meshes_of_metis(tmp_path, text, name):
    kinds, n_nodes, weights, edges = METIS[text]
    (tmp_path / name).write_text(text)
    mesh = ew.read_mesh(tmp_path / name)
    assert [kind for kind, _ in mesh.types] == kinds
    assert mesh.n_nodes == n_nodes and edges_of(mesh.dual_graph()) == edges
    assert weights is None if mesh.element_weights is None else mesh.element_weights.tolist() == weights
    mesh.write(tmp_path / "m.part.2", [0, 1])
    assert (tmp_path / "m.part.2").read_text() == "0\n1\n"


HEXAHEDRA = "1 2 3 4 5 6 7 8\n5 6 7 8 9 10 11 12\n"
#: Files that fit METIS 4 and 5, with the type in METIS 4 and the weights and nodes in METIS 5.
BOTH = {
    "2 1\n1 2 3\n1 3 4\n": ("triangle", [1, 1], [1, 2, 2, 3]),
    "% a comment\n2 2\n1 2 3 4\n2 3 4 5\n": ("tetra", [[1, 2], [2, 3]], [2, 3, 3, 4]),
    f"2 3\n{HEXAHEDRA}": ("hexahedron", [[1, 2, 3], [5, 6, 7]], [3, 4, 5, 6, 7, 7, 8, 9, 10, 11]),
}


@pytest.mark.parametrize("text", BOTH)
@pytest.mark.parametrize("name", ["m.mesh", "m"])
def test_the_version_of_metis_is_not_guessed(tmp_path, text, name):
    kind, weights, nodes = BOTH[text]
    (tmp_path / name).write_text(text)
    with pytest.raises(
        FileError, match=rf"may mean {kind}.*give metis_version=4 or metis_version=5"
    ) as error:
        ew.read_mesh(tmp_path / name)
    assert "\n" not in str(error.value)
    old, new = (ew.read_mesh(tmp_path / name, metis_version=version) for version in (4, 5))
    assert old.types == [(kind, 2)] and old.element_weights is None
    assert new.types == [("unknown", 2)] and new.element_weights.tolist() == weights
    assert new.nodes.tolist() == nodes


@pytest.mark.parametrize(
    ("text", "version", "match"),
    [
        ("2\n1 2 3\n1 3 4\n", 4, ":1: the header of METIS 4"),
        ("2 5\n1 2 3\n1 3 4\n", 4, ":1: the header of METIS 4"),
        ("2 1\n1 2 3\n1 3 4 5\n", 4, ":3: 3 nodes of a triangle expected, but 4 numbers"),
        ("2 4\n1 2 3 4\n3 4 5 6\n", 5, ":2: 4 weights and at least one node"),
        ("2 1\n1 2 3\n0 3 4\n", 4, ":3: the node 0 is out of range"),
        ("2 1\n1 2 3\n1 3 4\n", 6, "metis_version=6 is neither 4 nor 5"),
        ("MeshVersionFormatted 2\n", 4, "metis_version= is for meshes of METIS"),
    ],
)
def test_a_wrong_version_of_metis(tmp_path, text, version, match):
    (tmp_path / "m.mesh").write_text(text)
    with pytest.raises((FileError, OptionError), match=match):
        ew.read_mesh(tmp_path / "m.mesh", metis_version=version)


def test_medit_is_not_metis(square, tmp_path):
    del square.cells[0]
    square.write(tmp_path / "m.mesh")
    assert [kind for kind, _ in ew.read_mesh(tmp_path / "m.mesh").types] == ["quad", "triangle"]


WRONG = {
    ("m.mesh", "3 1\n1 2 3\n1 3 4\n"): ":1: 3 elements promised, but 2 rows",
    ("m.mesh", "1 1\n1 2 3\n1 3 4\n"): "1 elements promised, but 2 rows",
    ("m.mesh", "2\n1 2 3\n0 3 4\n"): ":3: the node 0 is out of range",
    ("m.mesh", "2 1\n1 2 3\n1 x 4\n"): ":3: a node is not a whole number",
    ("m.mesh", "2\n1 2 3\n\n"): ":3: an element without nodes|2 elements promised",
    ("m.mesh", "0\n"): "has no elements",
    ("m.mesh", "2 5\n1 2 3\n1 3 4\n"): ":2: 5 weights and at least one node",
    ("m.xyz", "hello\n"): "not a suffix of meshio|has not a suffix",
    ("m.vtk", "hello\n"): "cannot be read by meshio",
    ("m.vtu", "<VTKFile"): "cannot be read by meshio",
    ("m.msh", "$MeshFormat\n4.1 0 8\n"): "cannot be read by meshio",
    ("m.mesh", ""): "empty|cannot be read|nothing",
}


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_bad_files_give_one_line(tmp_path, capsys, name, text):
    pytest.importorskip("meshio")
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=WRONG[name, text]) as error:
        ew.read_mesh(tmp_path / name)
    assert "\n" not in str(error.value)
    assert capsys.readouterr() == ("", "")


def test_cut_and_changed_files(square, tmp_path):
    square.write(tmp_path / "whole.vtu", binary=False)
    square.write(tmp_path / "whole.vtk", binary=False)
    square.cells = [block for block in square.cells if block.type != "quad"]
    square.write(tmp_path / "whole.msh", "gmsh22")
    for suffix in (".vtu", ".vtk", ".msh"):
        content = (tmp_path / f"whole{suffix}").read_bytes()
        for length in range(10, len(content) - 60, 97):
            (tmp_path / f"cut{suffix}").write_bytes(content[:length])
            try:
                ew.read_mesh(tmp_path / f"cut{suffix}")
            except FileError as error:
                assert "\n" not in str(error)


def test_nodes_out_of_range(square, tmp_path):
    square.cells[1].data[0, 0] = 99
    square.write(tmp_path / "m.vtk")
    with pytest.raises(FileError, match=r"element 2 has the node 99, which is not in 0 \.\. 15"):
        ew.read_mesh(tmp_path / "m.vtk")


def test_nodes_beyond_the_memory(tmp_path, monkeypatch):
    """A node of a high number promises as many nodes, and arrays for them."""
    path = tmp_path / "a.mesh"
    path.write_text("1\n1 2 2147483647\n")
    mesh = ew.read_mesh(path)
    monkeypatch.setattr("edgewise.device.arrays.free_memory", lambda device: 1 << 33)
    for graph in mesh.nodal_graph, mesh.dual_graph:
        with pytest.raises(GraphError, match="2,147,483,647 vertices need"):
            graph()


def test_without_meshio(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshio", None)
    (tmp_path / "m.vtk").write_text("# vtk DataFile Version 3.0\n")
    with pytest.raises(FileError, match=r"pip install 'edgewise\[mesh\]'"):
        ew.read_mesh(tmp_path / "m.vtk")
    (tmp_path / "m.mesh").write_text("2\n1 2 3\n1 3 4\n")
    mesh = ew.read_mesh(tmp_path / "m.mesh")
    mesh.write(tmp_path / "m.part.2", [0, 1])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.mesh", "2 1\n1 2 3\n1 3 4\n"),
        ("m.vtk", "# vtk DataFile Version 3.0\n"),
        ("m.msh", "$MeshFormat\n"),
    ],
)
def test_a_mesh_is_no_graph(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=r"is a mesh, not a graph; read it with ew\.read_mesh.*--mesh"):
        ew.read(tmp_path / name)


def test_part_mesh():
    cells = [[0, 1, 2], [0, 2, 3], [2, 3, 4, 5]]
    found = ew.part_mesh(2, cells, gtype="dual", ncommon=2)
    assert found._fields == ("edge_cuts", "element_part", "vertex_part")
    cut, elements, nodes = found
    assert cut == 1 and set(elements) == {0, 1} and len(nodes) == 6
    found = ew.part_mesh(2, cells, options={"seed": 3}, tpwgts=[0.5, 0.5])
    assert len(found.element_part) == 3 and sorted(found.vertex_part) == [0, 0, 0, 1, 1, 1]
    assert ew.part_mesh(1, cells) == (0, [0] * 3, [0] * 6)


@pytest.mark.parametrize(
    ("cells", "more", "match"),
    [
        ([], {}, "without elements"),
        ([[0, 1], []], {}, "element 1 is no sequence"),
        ([[0, -1]], {}, "element 0 has the node -1"),
        ([[0, 1.5]], {}, "element 0 is no sequence"),
        ([[0, 1]], {"gtype": "face"}, "gtype"),
        ([[0, 1]], {"ncommon": 0}, "ncommon"),
        ([[0, 1]], {"options": {"numbering": 1}}, "numbering"),
        ([], {"options": {"numbering": 1}}, "METIS numbering"),
        ([], {"n_parts": 0}, "n_parts=0 must be"),
        ([], {"tpwgts": [1]}, "tpwgts= mismatches the parts"),
        ([], {"tpwgts": [-1, 2]}, "tpwgts=: the share of part 0 is -1.0; shares are non-negative"),
    ],
)
def test_part_mesh_refuses(cells, more, match):
    with pytest.raises((GraphError, OptionError), match=match):
        ew.part_mesh(**{"n_parts": 2, "connectivity": cells} | more)


@pytest.mark.skipif(INTERPRETED, reason="takes a minute in the interpreter")
@pytest.mark.parametrize("gtype", ["nodal", "dual"])
def test_parts_of_a_mesh_have_their_shares(gtype):
    """Elements and nodes are within a tenth of the shares, as the tests of pymetis ask of METIS."""
    corners = [71 * y + x for y in range(50) for x in range(70)]
    cells = [[c, c + 1, c + 72, c + 71] for c in corners]
    found, shares = ew.part_mesh(4, cells, tpwgts=[1, 2, 3, 4], gtype=gtype), np.arange(1, 5) / 10
    for parts in (found.element_part, found.vertex_part):
        assert np.bincount(parts) / len(parts) == pytest.approx(shares, rel=0.1)


@pytest.mark.parametrize("ncommon", [1, 2, 3])
def test_as_pymetis(ncommon):
    """The cut of METIS in the graph of edgewise is the one that METIS counts (pymetis has 0 for duals)."""
    pymetis = pytest.importorskip("pymetis")
    n = 12
    corners = [n * y + x for y in range(n - 1) for x in range(n - 1)]
    cells = [cell for c in corners for cell in ([c, c + 1, c + n + 1], [c, c + n + 1, c + n])]
    mesh = mesh_of([("unknown", cells)], n * n)
    for kind in (pymetis.GType.DUAL, pymetis.GType.NODAL):
        theirs = pymetis.part_mesh(3, cells, None, None, kind, ncommon)
        dual = kind == pymetis.GType.DUAL
        graph = mesh.dual_graph(ncommon) if dual else mesh.nodal_graph()
        parts = np.asarray(theirs.element_part if dual else theirs.vertex_part)
        cut = (parts[graph.sources.astype(int)] != parts[graph.targets.astype(int)]).sum()
        assert dual or cut == theirs.edge_cuts
        own = ew.part_mesh(3, cells, gtype=kind, ncommon=ncommon)
        assert own.edge_cuts <= 1.5 * cut
        assert own._fields == theirs._fields
        assert [len(one) for one in own[1:]] == [len(one) for one in theirs[1:]]


def test_the_command(square, tmp_path, monkeypatch, capsys):
    import meshio

    monkeypatch.chdir(tmp_path)
    square.write("square.vtu")
    Path("m.mesh").write_text("2 1\n1 2 3\n1 3 4\n")
    assert run(["partition", "--mesh", "square.vtu", "3", "-o", "parts.vtk", "--json", "--verify"]) == 0
    out, error = capsys.readouterr()
    assert error == "" and json.loads(out)["parts"] == 3
    written = np.concatenate(meshio.read("parts.vtk").cell_data["part"]).ravel()
    assert written.tolist()[:2] == [-1, -1] and np.bincount(written[2:]).tolist() == [4, 4, 4]
    mesh = ["--mesh", "m.mesh", "--metis-version", "4"]
    assert run(["partition", *mesh, "2", "--gtype", "nodal", "-o", "m.part", "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert sorted(Path("m.part").read_text().split()) == ["0", "0", "1", "1"]
    for words, said in [
        (("partition", "m.mesh", "2"), "--mesh"),
        (("info", "m.mesh"), "is a mesh, not a graph"),
        (("partition", "--gtype", "nodal", "m.mesh", "2"), "give --mesh too"),
        (("partition", "--metis-version", "4", "m.mesh", "2"), "give --mesh too"),
        (("partition", "--mesh", "m.mesh", "2"), "give --metis-version 4 or --metis-version 5"),
        (("partition", "--mesh", "m.mesh", "2", "--where", "a > 1"), "means nothing for a mesh"),
        (("partition", "--mesh", "--metis-version", "5", "m.mesh", "2", "-o", "m.vtu"), "has none"),
        (("partition", "--mesh", "m.mesh", "2", "--gtype", "nodal", "--ncommon", "2"), "dual graph"),
        (("partition", "--mesh", "none.vtu", "2"), "none.vtu"),
    ]:
        assert run(words) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1, (words, error)
