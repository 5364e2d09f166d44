"""Every call on the page for users of other libraries is made, with the arguments that are shown."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from tests.shown import run_page

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "coming-from.md").read_text()
TABLE = re.compile(r"<!-- names of (\w+) -->\n(.*?)<!-- /names -->", re.DOTALL)
#: The name of each public class in the reference, such as Components, and its module.
CLASSES = {
    name: module
    for module, name in re.findall(r"^   ((?:\w+\.)+)([A-Z]\w+)$", (DOCS / "api.md").read_text(), re.M)
}
#: Where the names of a table of another library live.
THEIRS = {
    "networkx": {"nx": "networkx"},
    "igraph": {"Graph": "igraph.Graph", "VertexClustering": "igraph.VertexClustering"},
    "scipy": {"scipy": "scipy", "": "scipy.sparse.csgraph"},
    "cugraph": {"cugraph": "cugraph"},
}


def rows(library):
    """The cells of a table: what is between backquotes, in the left and in the right column."""
    table = dict(TABLE.findall(PAGE))[library]
    cells = (line.strip("|\n ").split(" | ") for line in table.splitlines()[2:])
    return [(re.findall("`(.*?)`", left), re.findall("`(.*?)`", right)) for left, right in cells]


def called(text):
    """The dotted name that is called or read, and the call or None."""
    node = ast.parse(text, mode="eval").body
    call = node if isinstance(node, ast.Call) else None
    return ast.unparse(call.func if call else node), call


def ours(name):
    """What a dotted name of edgewise is, and whether it is a method that takes itself first."""
    first, *rest = name.split(".")
    if first == "ew":
        owner, found = None, ew
    else:
        owner, found = None, getattr(importlib.import_module("edgewise." + CLASSES[first].rstrip(".")), first)
    for attribute in rest:
        owner = found
        if attribute in getattr(found, "__dataclass_fields__", ()):
            return None, False
        found = getattr(found, attribute)
    return found, inspect.isclass(owner) and not inspect.ismethod(found)


OURS = sorted({text for library in THEIRS for _, right in rows(library) for text in right})


@pytest.mark.parametrize("text", OURS)
def test_calls_of_edgewise(text, tmp_path):
    name, call = called(text)
    found, is_method = ours(name)
    if call is None:
        assert not inspect.isfunction(found), f"{name} is called"
        return
    assert callable(found), f"{name} is not called"
    if name.endswith(".to"):
        inspect.signature(found).bind(*[None] * (len(call.args) + is_method))  # there may be no GPU
        return
    names = arguments_named(text, tmp_path)
    if is_method:
        owner, _, method = name.rpartition(".")
        made = ast.parse(names[owner], mode="eval").body
        text = ast.unparse(ast.Call(ast.Attribute(made, method), call.args, call.keywords))
    eval(text, names)


def arguments_named(text, folder):
    """What the names in a call stand for, and for the classes the names of graphs and results."""
    edges, weights = ([0, 1, 2, 0, 3, 4, 2], [1, 2, 0, 3, 4, 0, 3]), [1, 2, 3, 4, 5, 6, 7]
    g = ew.Graph.from_edges(*edges, weights=weights, directed="strongly" in text)
    ends = {"s": 0, "u": 0, "i": 0, "start": 0, "source": 0, "t": 3, "v": 3, "k": 2, "x": 4.5, "n": 0, "r": 4}
    several = {key: [0, 2] for key in ("several", "nodes", "ids", "centers")}
    names = {"ew": ew, "g": g, **ends, **several}
    columns = {"a": g.sources, "b": g.targets}
    names |= {"edges": np.stack([g.sources, g.targets], 1), "sources": g.sources, "targets": g.targets}
    names["weights"] = weights
    if text == "ew.shortest_paths(g, sources)":
        names["sources"] = [0, 2]
    if "(df" in text:
        pa = pytest.importorskip("pyarrow")
        named = columns if '"a"' in text else {"source": g.sources, "target": g.targets}
        names["df"] = pa.table(named)
    if "(file)" in text:
        names["file"] = folder / "edges.csv"
        names["file"].write_text("source,target\n0,1\n1,2\n")
    if "networkx" in text:
        names["G"] = pytest.importorskip("networkx").path_graph(4)
    if "from_igraph" in text:
        names["g"] = pytest.importorskip("igraph").Graph([(0, 1), (1, 2)])
    if "(forest)" in text:
        names["forest"] = ew.minimum_spanning_forest(g)
    names |= {"A": g.to_scipy(), "matrix": g.to_scipy()}
    names |= {"Distances": "ew.shortest_paths(g, 0)", "AllPairs": "ew.all_pairs_shortest_paths(g)"}
    names |= {"Isochrones": "ew.isochrones(g, 0, 4)"}
    names |= {"CoreNumbers": "ew.core_numbers(g)", "Components": "ew.connected_components(g)"}
    return names | {"ew.Graph": "g"}


@pytest.mark.parametrize("library", THEIRS)
def test_names_of_other_libraries(library):
    pytest.importorskip(library)
    assert len(rows(library)) > 10
    for left, _ in rows(library):
        for text in left:
            first, *rest = called(text)[0].split(".")
            home = THEIRS[library]
            path = ".".join([home[first], *rest] if first in home else [home[""], first, *rest])
            module, _, attribute = path.rpartition(".")
            assert hasattr(resolved(module), attribute), text


def resolved(path):
    """A module, or a class in one."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def test_examples_run(tmp_path):
    pytest.importorskip("networkx")
    assert run_page(PAGE, tmp_path) >= 9
