"""Every name on the page for users of other libraries exists, and takes the arguments that are shown."""

import ast
import importlib
import inspect
import re
from pathlib import Path

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
def test_names_of_edgewise(text):
    name, call = called(text)
    found, is_method = ours(name)
    if call is None:
        assert not inspect.isfunction(found), f"{name} is called"
        return
    assert callable(found), f"{name} is not called"
    values = [None] * (len(call.args) + is_method)
    inspect.signature(found).bind(*values, **{keyword.arg: None for keyword in call.keywords})


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
