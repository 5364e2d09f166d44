"""The rules of the house, as far as a machine can check them."""

import ast
import inspect
import math
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import edgewise
from edgewise.method import Driver, Method
from tests.problems import PROBLEMS

ROOT = Path(__file__).resolve().parent.parent
#: Texts of all pages of the package, by their path inside it.
SOURCES = {page.relative_to(ROOT / "edgewise"): page.read_text() for page in ROOT.glob("edgewise/**/*.py")}
HEAVY = (
    "cupy",
    "distributed",
    "matplotlib",
    "networkx",
    "numba",
    "numba_cuda",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
)
#: Where packages may be imported that the rest of the house must not know.
AT_HOME = {
    "numba": ("device", "primitives"),
    "numba_cuda": ("device", "primitives"),
    "llvmlite": ("device", "primitives"),
    "cupy": ("device", "primitives"),
    "typer": ("command",),
    "rich": ("command",),
    "matplotlib": ("plots.py",),
    "networkx": ("networkx", "ingest", "experiments"),  # experiments measure other libraries, too
    "distributed": ("workers",),
    "sklearn": ("estimators.py",),
}
MAX_LINES_PER_FUNCTION, MAX_PARAMETERS = 60, 8


def cpu_seconds(statement, enough):
    """Least CPU seconds of fresh processes, and the heavy modules they imported.

    A process on a busy machine takes more, so there are further ones until one needs no more than ``enough``.
    """
    script = f"""
import sys, time
start = time.process_time()
{statement}
spent = time.process_time() - start
print(spent, *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    least = math.inf
    for _ in range(10):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        seconds, *heavy = done.stderr.split()
        least = min(least, float(seconds))
        if least < enough:
            break
    return least, heavy


def test_import_is_quick_and_light():
    seconds, heavy = cpu_seconds("import edgewise; dir(edgewise); edgewise.errors", 0.3)
    assert heavy == []
    assert seconds < 0.3


def test_help_is_quick_and_light():
    seconds, heavy = cpu_seconds("from edgewise.command import run; run(['--help'])", 0.5)
    assert set(heavy) <= {"rich"}
    assert seconds < 0.5


def test_public_names_are_listed_and_there():
    assert set(edgewise.__all__) <= set(dir(edgewise))
    for name in edgewise.__all__:
        assert getattr(edgewise, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        edgewise.nothing  # noqa: B018


parsed = cache(ast.parse)


def called(call):
    """What a call names, as it is written, such as ``print`` or ``module.function``."""
    function, names = call.func, []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    names.append(function.id if isinstance(function, ast.Name) else "...")
    return ".".join(reversed(names))


def imported(tree):
    """Names of the modules that a page imports, also those imported by name at run time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and called(node).endswith(("import_module", "__import__")):
            yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant))


@pytest.fixture(scope="module")
def trees():
    """Syntax trees of all pages of the package, by their path inside it."""
    return {page: parsed(text) for page, text in SOURCES.items()}


def test_packages_stay_at_home(trees):
    for page, tree in trees.items():
        for name in imported(tree):
            assert page.parts[0] in AT_HOME.get(name.partition(".")[0], page.parts), f"{page} imports {name}"


def test_imports_run_one_way():
    lint = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if lint is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    layers = set(re.findall(r"edgewise\.(\w+)", (ROOT / "pyproject.toml").read_text()))
    folders = {page.parts[0] for page in SOURCES if len(page.parts) > 1}
    assert folders <= layers, "a folder has no layer in pyproject.toml"


#: Modules of the package that a first call may import beside those of ``import edgewise`` and of its graph.
MAX_MODULES_PER_CALL = 45
#: Imported when a function is compiled for the CPU, which the interpreter does not do.
OF_COMPILING = (
    "edgewise.device.atomics_on_cpu",
    "edgewise.device.numba_entries",
    "edgewise.device.numba_internals",
    "edgewise.device.numba_lowering",
    "edgewise.device.numba_pipeline",
)
FIRST_CALLS = {name: f"ew.{name}(plain)" for name in PROBLEMS} | {
    "all_pairs_shortest_paths": "ew.all_pairs_shortest_paths(weighted)",
    "best_links": "ew.best_links(weighted, datasets=ids % 3)",
    "bfs": "ew.bfs(plain, 0)",
    "clustering": "ew.clustering(plain)",
    "cycle_counts": "ew.cycle_counts(plain, 5)",
    "diameter": "ew.diameter(plain)",
    "distance_measures": "ew.distance_measures(plain)",
    "estimate_closeness": "ew.estimate_closeness(plain)",
    "distance_table": "ew.distance_table(weighted, [0, 1], [2])",
    "estimate_cycles": "ew.estimate_cycles(plain, 5, samples=1000)",
    "evaluate_partition": "ew.evaluate_partition(plain, ids % 4)",
    "has_path": "ew.has_path(plain, 0, 1)",
    "isochrones": "ew.isochrones(plain, [0, 5], 2)",
    "largest_component": "ew.largest_component(plain)",
    "minimum_spanning_forest": "ew.minimum_spanning_forest(weighted)",
    "nearest": "ew.nearest(plain, [0, 5])",
    "partition": "ew.partition(plain, 4)",
    "routes": "ew.routes(weighted, 0, 1)",
    "shortest_paths": "ew.shortest_paths(weighted, 0)",
    "single_linkage": "ew.single_linkage(ew.minimum_spanning_forest(weighted))",
    "strongly_connected_components": "ew.strongly_connected_components(directed)",
}


#: Makes each call in a child of its own, and prints the modules that it imports.
IN_CHILDREN = """
import os, sys
import numpy as np
import edgewise as ew
ids, ends, weights = np.arange(100), np.random.default_rng(1).integers(0, 100, (2, 300)), np.arange(300)
plain, weighted = (ew.Graph.from_edges(*ends, weights=given) for given in (None, weights))
directed = ew.Graph.from_edges(*ends, directed=True)
before = set(sys.modules)
for call in sys.argv[1:]:
    if os.fork() == 0:
        exec(call)
        print(*set(sys.modules) - before)
        break
    if os.wait()[1]:
        sys.exit(call)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process cannot be copied")
def test_first_calls_import_what_they_need():
    command = [sys.executable, "-c", IN_CHILDREN, *FIRST_CALLS.values()]
    alone = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    for name, line in zip(FIRST_CALLS, done.stdout.splitlines(), strict=True):
        modules = {one for one in line.split() if one.startswith("edgewise.")} | {*OF_COMPILING}
        assert len(modules) <= MAX_MODULES_PER_CALL, (name, sorted(modules))


def name_of(page):
    """Name of the module of a page."""
    return ".".join(("edgewise", *page.with_suffix("").parts)).removesuffix(".__init__")


def tables():
    """The tables of methods, by their pages."""
    for page, text in SOURCES.items():
        if re.search(r"^METHODS\b.*= \{", text, re.MULTILINE):
            name = name_of(page)
            table = import_module(name).METHODS
            if all(isinstance(entry, Method) for entry in table.values()):
                yield name, table


def test_every_entry_of_every_table_has_its_driver():
    found = dict(tables())
    assert len(found) >= 9
    for page, table in found.items():
        for name, entry in table.items():
            named = [one for one in vars(entry).values() if isinstance(one, Driver)]
            assert entry.run in named, f"{name} in {page} does not name its driver"
            for one in named:
                driver = one.load()
                assert one.name == f"{driver.__module__}:{driver.__qualname__}"


def at_run_time(tree):
    """The nodes of a page, without imports for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        yield node
        yield from at_run_time(node)


def pages_needed(text, pages):
    """Those of the pages that a page imports, also inside functions, or names as those of drivers."""
    for node in at_run_time(parsed(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = ((node.module, f"{node.module}.{alias.name}") for alias in node.names)
            names = [page if page in pages else package for package, page in pairs]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value.partition(":")[0]]
        else:
            continue
        yield from (name for name in names if name in pages)


def circle_in(texts):
    """A circle of pages that import each other, given their texts by name; empty if there is none."""
    needed = {page: {*pages_needed(text, texts)} - {page} for page, text in texts.items()}
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def rooms():
    """The pages of each folder of the package, with their texts."""
    found = {}
    for page, text in SOURCES.items():
        room, *_ = page.parts
        if room != page.name:
            found.setdefault(room, {})[name_of(page)] = text
    return found


def test_no_room_has_a_circle_of_pages():
    assert [circle for room in rooms().values() if (circle := circle_in(room))] == []


def test_circles_are_seen():
    texts = {"room.one": "from room.two import name", "room.two": "def late():\n    import room.three"}
    texts["room.three"] = "if TYPE_CHECKING:\n    from room import one"
    assert circle_in(texts) == []
    assert circle_in(texts | {"room.three": "def late():\n    from room import one"}) != []
    assert circle_in(texts | {"room.three": "DRIVER = 'room.one:name'"}) != []


def without_docstring(node):
    """Lines of a module, class or function less those of docstrings inside."""
    lines = node.end_lineno - node.lineno + 1
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner):
            lines -= inner.body[0].end_lineno - inner.body[0].lineno + 1
    return lines


def test_functions_are_short(trees):
    """Pages are split by idea, so there is no limit of theirs."""
    for page, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                assert without_docstring(node) <= MAX_LINES_PER_FUNCTION, f"{page}: {node.name} is too long"


#: The only functions that print: words for people, which are escaped, and ASCII.
PRINTING = {("command/standard.py", "say"), ("command/report.py", "as_json"), ("device/cache.py", "announce")}


def test_names_of_users_are_printed_by_one_function(trees):
    for page, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (str(page), node.name) not in PRINTING:
                names = {called(one) for one in ast.walk(node) if isinstance(one, ast.Call)}
                assert not {"print", "traceback.print_exc", "escape"} & names, f"{page}: {node.name} prints"


def parameters(function):
    """Names of all parameters of a function or lambda, but only those by position of a public function."""
    given, marks = function.args, getattr(function, "decorator_list", ())
    by_keyword = [*given.kwonlyargs, given.vararg, given.kwarg]
    of_public = "front", "weighted_front", "named"
    is_public = any(isinstance(mark, ast.Name) and mark.id in of_public for mark in marks)
    named = [*given.posonlyargs, *given.args, *([] if is_public else by_keyword)]
    return [one.arg for one in named if one is not None]


def test_every_page_is_formatted():
    assert [page for page, text in SOURCES.items() if "fmt: skip" in text or "fmt: off" in text] == []


#: Functions with the arguments of another library's function of the same name.
AS_ELSEWHERE = {("integrations/splink.py", "cluster_pairwise_predictions_at_multiple_thresholds")}


def test_state_travels_in_records(trees):
    for page, tree in trees.items():
        if page.parts[0] == "command":  # parameters there are options of the command line
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                name = getattr(node, "name", "lambda")
                if (str(page), name) in AS_ELSEWHERE:
                    continue
                assert len(parameters(node)) <= MAX_PARAMETERS, f"{page}: {name}{parameters(node)}"


def retired_words():
    """Patterns of words that standard terms replaced, each with the term.

    Before each is what it begins with less the boundary of the word, which is found ten times as fast.
    """
    table = (ROOT / "tests" / "retired_words.txt").read_text()
    for line in table.splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, term = line.partition(" -> ")
            for one in re.split(r"\|(?![^(]*[^\\]\))", pattern.strip()):
                yield re.compile(one.removeprefix(r"\b")), re.compile(one), term.strip()


def test_words_are_the_field_s():
    texts = [ROOT / "README.md"]
    for pattern in ("edgewise/**/*.py", "tests/**/*.py", "docs/*.md", "bench/notes/*.md", "changes/*.md"):
        texts += ROOT.glob(pattern)
    words, used = list(retired_words()), []
    for path in texts:
        text = path.read_text()
        for begins, word, term in words:
            if begins.search(text):
                used += [f"{path}: {found[0]} -> {term}" for found in word.finditer(text)]
    assert used == []


def test_every_test_is_collected():
    """The files under tests/ that define tests have the names by which pytest finds them."""
    defines = re.compile(r"^(async )?def test_|^class Test", re.MULTILINE)
    written = {path for path in (ROOT / "tests").rglob("*.py") if defines.search(path.read_text())}
    assert written == set((ROOT / "tests").rglob("test_*.py"))
    assert not any("collect_ignore" in path.read_text() for path in (ROOT / "tests").rglob("conftest.py"))


def public_callables():
    for name in edgewise.__all__:
        thing = getattr(edgewise, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            yield from methods(name, thing)
    for name in edgewise.generate.__all__:
        yield f"generate.{name}", getattr(edgewise.generate, name)
    from edgewise.components.result import Components
    from edgewise.cycles import Cycles

    yield from methods("Components", Components)
    yield from methods("Cycles", Cycles)


def methods(name, kind):
    yield name, kind
    bases = [one for one in kind.__mro__ if one.__module__.startswith("edgewise.")]
    for attribute, value in (item for base in bases for item in vars(base).items()):
        if attribute.startswith("_"):
            continue
        value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        if callable(value):
            yield f"{name}.{attribute}", value


def section(docstring, title):
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", docstring, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def test_public_names_are_documented():
    wanting = []
    for name, thing in public_callables():
        text = inspect.getdoc(thing)
        if not text:
            wanting.append(f"{name}: no docstring")
            continue
        if inspect.isclass(thing):
            continue
        told = re.findall(r"^\*{0,2}(\w[\w, *]*)(?: :|$)", section(text, "Parameters"), re.MULTILINE)
        names = {word.strip(" *") for line in told for word in line.split(",")}
        asked = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
        if len(asked) > 1:
            wanting += [f"{name}: parameter {p} is not described" for p in asked if p not in names]
    assert wanting == []


def test_everything_after_the_data_is_keyword_only():
    data = {"self", "cls", "graph", "path", "sources", "targets", "offsets", "neighbours", "matrix", "frame"}
    data |= {
        "source",
        "target",
        "cutoffs",
        "places",
        "k",
        "graph_or_table",
        "device",
        "devices",
        "key",
        "make",
        "vertices",
        "u",
        "v",
        "ids",
        "length",
        "clusters",
        "parts",
        "pairs",
        "problem",
        "name",
        "count",
        "entry",
        "column",
        "weights",
        "id",
        "forest",
        "X",
        "y",
    }
    for name, thing in public_callables():
        if inspect.isclass(thing) or name.startswith("generate."):
            continue
        if name in ("part_graph", "part_mesh"):  # as in pymetis
            continue
        for parameter in inspect.signature(thing).parameters.values():
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                assert parameter.name in data, f"{name}({parameter.name}) can be given by position"


def test_no_path_of_a_machine_in_the_tree():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    somewhere = re.compile("/wo" + r"rk/|/ro" + r"ot/|/ho" + r"me/\w")
    for name in listed.stdout.splitlines():
        try:
            text = (ROOT / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        assert not somewhere.search(text), f"{name} names a folder of one machine"


def test_the_citation_names_this_version():
    written = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert written and written[1] == edgewise.__version__


def report_long_pages():
    """Print the ten longest pages of the package, with their lines."""
    for lines, page in sorted((text.count("\n"), str(page)) for page, text in SOURCES.items())[-10:]:
        print(f"{lines:4} {page}")


if __name__ == "__main__":
    report_long_pages()
