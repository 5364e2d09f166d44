"""Certificates in files; checkers that import nothing of the solvers and fit on a page."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise import certificates
from edgewise.certificates import CHECKERS, Certificate, check
from edgewise.errors import FileError, OptionError
from edgewise.result import edge_arrays

pytestmark = [pytest.mark.interpreter]

#: What a checker may import: other checkers, which are held to the same, and little else.
ALLOWED = {
    *CHECKERS.values(),
    "numpy",
    "edgewise.certificates",
    "edgewise.certificates.record",
    "edgewise.errors",
    "typing",
    "__future__",
    "hashlib",
    "math",
}
PAGES = sorted(Path(certificates.__file__).parent.glob("*.py"))
GRAPH = ew.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"], weights=[1, 2, 3])


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem in CHECKERS], ids=lambda page: page.stem
)
def test_a_checker_is_a_page_of_numpy(page):
    text = page.read_text()
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert imported <= ALLOWED
    assert text.count("\n") <= 150


def test_a_file_gives_back_what_was_saved(tmp_path):
    made = ew.minimum_spanning_forest(GRAPH).certificate()
    made.save(tmp_path / "forest.npz")
    read = Certificate.load(tmp_path / "forest.npz")
    assert (read.problem, read.facts, read.nbytes) == ("forest", made.facts, made.nbytes)
    for part in ("answer", "proof"):
        assert getattr(read, part).keys() == getattr(made, part).keys()
    check(edge_arrays(GRAPH), read)


def archive(path, about, **arrays):
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    np.savez(path, certificate=np.frombuffer(text, np.uint8), **arrays)


def test_other_files_are_refused_in_one_line(tmp_path):
    path = tmp_path / "it.npz"
    good = {"version": 1, "problem": "cores", "facts": {}}

    def said():
        with pytest.raises(FileError) as caught:
            Certificate.load(path)
        return caught.value.problem

    assert "no such file" in said()
    path.write_bytes(b"PK nothing")
    assert "is damaged, or no certificate" in said()
    ew.write(GRAPH, path)
    assert "is damaged, or no certificate" in said()
    archive(path, good | {"version": 2})
    assert "was written by a newer edgewise" in said()
    for about in (b"\xff", b"[]", b"{}", json.dumps(good | {"facts": 3}).encode()):
        archive(path, about)
        assert "is damaged, or no certificate" in said()
    archive(path, good, **{"answer.cores": np.array([{}], object)})
    assert "is damaged, or no certificate" in said()
    archive(path, good, other=np.zeros(1))
    assert "is damaged, or no certificate" in said()
    text = np.frombuffer(json.dumps(good).encode(), np.uint8)
    np.savez_compressed(path, certificate=text, **{"answer.cores": np.zeros(10_000)})
    assert "is compressed" in said()
    ew.core_numbers(GRAPH).certificate().save(path)
    path.write_bytes(path.read_bytes()[:-40])
    assert "is damaged, or no certificate" in said()


def test_an_array_of_another_byte_order_is_read(tmp_path):
    path = tmp_path / "it.npz"
    about = {"version": 1, "problem": "cores", "facts": {"n_vertices": 5, "n_edges": 3}}
    arrays = {"answer.cores": np.ones(5, ">i4"), "proof.places": np.array([0, 1, 2, 3, 4], ">i4")}
    archive(path, about, **arrays)
    check(edge_arrays(GRAPH), Certificate.load(path))


def test_results_without_certificates_say_so():
    forest = ew.minimum_spanning_forest(GRAPH)
    with pytest.raises(OptionError, match="not all edges of the graph join"):
        forest.components(2).certificate()
    with pytest.raises(OptionError, match="not all edges of the graph join"):
        forest.split(max_size=2).certificate()
    with pytest.raises(OptionError, match="have no certificate; verify"):
        ew.clustering(GRAPH.without_weights()).certificate()
