"""Every option that a message names is one that the command has."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import edgewise
from edgewise import command

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

HOME = Path(edgewise.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
#: Arguments of functions without a counterpart in the command, where they are spelled as in Python.
PYTHON_ONLY = {
    *(
        "by",
        "clusters",
        "column",
        "coordinates",
        "count",
        "direction",
        "distance_threshold",
        "every",
        "files",
        "k",
        "kind",
        "pair",
    ),
    *(
        "function",
        "match_probability_thresholds",
        "match_weight_thresholds",
    ),  # as DuckDB's and Splink's users
    *("eweights", "node_size", "nparts", "options", "symmetrize", "vsize"),  # as METIS' users know them
    *(
        "log",
        "max_points",
        "metric",
        "min_angle",
        "n_clusters",
        "n_neighbors",
        "operation",
        "parts",
        "path",
        "problem",
        "progress",
        "protocol",
        "purpose",
    ),
    *(
        "seeds",
        "similarity_threshold",
        "sources",
        "targets",
        "ubvec",
        "values",
        "vertex_weights",
        "wide",
        "workload",
    ),
}
#: Pages with variables of style sheets.
STYLES = ("web_page.py",)


@cache
def sources():
    """The syntax trees of the pages that may name an argument or an option."""
    texts = ((path.relative_to(HOME), path.read_text("utf-8")) for path in sorted(HOME.rglob("*.py")))
    return [(path, ast.parse(text)) for path, text in texts if "argument(" in text or OPTION.search(text)]


@cache
def arguments():
    return list(_arguments())


def _arguments():
    """Names in calls of ``argument``, with the page on which each is."""
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "argument":
                yield from ((path, word.value) for word in node.args[:1] if isinstance(word, ast.Constant))


@cache
def literals():
    return list(_literals())


def _literals():
    """Options in texts that are no docstrings, with the page on which each is."""
    for path, tree in sources():
        if path.name in STYLES or path.parent.name == "torture":  # whose child processes have options
            continue
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                yield from ((path, option) for option in OPTION.findall(node.value))


OPTIONS = {page: command.options_of(page) | {"--help"} for page in command.PAGES}
EVERY = set().union(*OPTIONS.values(), {"--version"})


def test_arguments_are_options():
    names = {name for _, name in arguments()}
    unknown = {
        name
        for name in names
        if not any(command._as_option(page, name, "").startswith("--") for page in command.PAGES)
    }
    assert unknown <= PYTHON_ONLY
    assert len(names) > 50


@pytest.mark.parametrize("page", command.PAGES)
def test_no_page_names_an_option_that_it_does_not_have(page):
    for _, name in arguments():
        for value in "", "'x'", "True", "False":
            shown = command._as_option(page, name, value)
            option = shown.split()[0]
            assert option in OPTIONS[page] if option.startswith("-") else shown == f"{name}={value}"


def test_literal_options_exist():
    found = literals()
    for path, option in found:
        page = path.stem.replace("_", "-")
        own = OPTIONS.get(page, EVERY) if path.parent.name == "command" else EVERY
        assert option in own | EVERY, (str(path), option)
    assert len(found) > 50


@pytest.mark.parametrize("page", command.PAGES)
def test_pages_name_their_own_options(page):
    module = page.replace("-", "_")
    for path, option in literals():
        if path.parts == ("command", f"{module}.py"):
            assert option in OPTIONS[page] or option.startswith("--no-"), option


def test_a_forest_without_weights(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("source,target\na,b\n")
    assert command.run(["forest", str(path)]) == 2
    assert "give --weight\n" in capsys.readouterr().err


def test_what_a_page_does_not_have_is_spelled_as_in_python(tmp_path, capsys):
    path = tmp_path / "a.graph"
    assert command._as_option("cores", "self_loops", "'drop'") == "self_loops='drop'"
    assert command._as_option("convert", "self_loops", "'drop'") == "--self-loops drop"
    assert command._as_option("forest", "weights", "") == "--weight"
    assert command._as_option("generate", "weights", "") == "--weights"
    assert command._as_option(None, "weights", "") == "weights="
    assert not path.exists()
