"""Help at every level: short names of options, no types of switches, and examples that work."""

import inspect
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.models import OptionInfo

import edgewise as ew
from edgewise import command
from edgewise.command import help_text, run

#: Subcommands of bench.
PROBLEMS = ["components", "paths", "cycles", "graph", "report"]
FAMILIES = [name.replace("_", "-") for name in ew.generate.__all__ if callable(getattr(ew.generate, name))]
#: Subcommands of clusters.
ON_STORES = ["open", "add", "remove", "apply", "log", "at", "review", "cohesion"]
#: All pages of help, by the words before ``--help``.
PAGES = [
    (),
    *((name,) for name in command.PAGES),
    *(("generate", family) for family in FAMILIES),
    *(("bench", problem) for problem in PROBLEMS),
    *(("clusters", word) for word in ON_STORES),
]
#: Examples that take minutes, or need a cluster; their options are parsed.
SLOW = (
    "bench",
    "tune",
    "torture",
    "warmup",
    "generate named",
    "components shards/ --scheduler",
    "components shards/ --memory",
)


def page_of(words, capsys):
    assert run([*words, "--help"]) == 0
    return capsys.readouterr().out


def examples_of(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  edgewise ")]


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_pages(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = page_of(words, capsys)
    assert run([*words, "-h"]) == 0
    assert capsys.readouterr().out == text
    assert "<bool>" not in text and "BOOLEAN" not in text
    assert max(map(len, text.splitlines()[:-1])) <= 80
    first, *_, last = text[text.index("Examples:") :].splitlines()
    assert examples_of(text) and first == "Examples:"
    assert last.startswith("Documentation: ")
    assert Path(last.removeprefix("Documentation: ")).is_file()


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_examples_work(words, capsys, folder_of_examples):
    for line in examples_of(page_of(words, capsys)):
        _, *arguments = shlex.split(line)
        assert tuple(arguments[: len(words)]) == words
        if line.removeprefix("edgewise ").startswith(SLOW):
            parse(arguments)
        else:
            assert run(arguments) == 0, capsys.readouterr().err


def parse(arguments):
    """Check the options of a command line without running it."""
    tree, context = command._command(arguments), None
    while arguments and hasattr(tree, "commands"):
        context = tree.make_context(tree.name, list(arguments), parent=context)
        _, tree, arguments = tree.resolve_command(context, arguments)
    tree.make_context(tree.name, list(arguments), parent=context)


@pytest.fixture
def folder_of_examples(tmp_path, monkeypatch):
    """A working folder with the files that the examples read."""
    monkeypatch.chdir(tmp_path)
    rows = "ann,anne,0.97\nanne,anna,0.91\nanna,ann,0.93\n"
    Path("pairs.csv").write_text(f"left_id,right_id,score\n{rows}")
    Path("links.csv").write_text("left_id,right_id,score\na1,b1,0.97\na1,b2,0.91\na2,b2,0.93\n")
    Path("friends.csv").write_text("a,b\nann,anne\nanne,anna\nanna,ann\n")
    Path("edges.txt").write_text("1 2\n2 3\n")
    Path("pharmacies.csv").write_text("id,name\n7,north\n30,south\n")
    Path("roads.csv").write_text("from,to,km\n1,2,5.5\n2,3,2.5\n1,3,9\n")
    Path("shards").mkdir()
    ew.write(ew.generate.pairs(50), "pairs.parquet")
    Path("people.csv").write_text("id,age\nann,1\nbob,2\nanna,3\nanne,4\n")
    Path("new.csv").write_text("left_id,right_id\nanna,bob\n")
    Path("more.csv").write_text("left_id,right_id,score\nanna,bob,0.95\n")
    Path("reviewed.csv").write_text("left_id,right_id\nann,anna\n")
    store = ew.ClusterStore.create("people", threshold=0.9)
    store.apply(add="pairs.csv")
    ew.write(ew.generate.pairs(50), "shards/one.parquet")
    ew.write(ew.generate.with_weights(ew.generate.grid(6), 1, 9), "roads.gr")
    ew.write(ew.generate.grid(6), "graph.mtx")
    ew.write(ew.generate.grid(12), "mesh.graph")
    Path("wing.mesh").write_text("2\n1 2 3\n1 3 4\n")
    graph = ew.read("pairs.parquet")
    ew.connected_components(graph).certificate().save("clusters.npz")
    Path("labels.csv").write_text("id,cluster\nann,A\nanne,A\nanna,A\n")
    Path("forest.csv").write_text("from,to\n2,3\n1,2\n")
    Path("mesh.graph.part.64").write_text("".join(f"{number % 64}\n" for number in range(144)))


def test_short_name_of_version(capsys):
    assert run(["-V"]) == 0
    assert capsys.readouterr().out == f"edgewise {ew.__version__}\n"


def test_completion_knows_values_of_options(capsys, monkeypatch):
    typed = {"COMP_WORDS": "edgewise components x --method re", "COMP_CWORD": "4"}
    for name, value in {"_EDGEWISE_COMPLETE": "complete_bash", **typed}.items():
        monkeypatch.setenv(name, value)
    assert run([]) == 0
    assert capsys.readouterr().out.split() == [
        "rem",
        "rem-sequential",
        "rem-ranges",
        "rem-edge-sample",
        "rem-sample",
    ]


def test_only_the_requested_page_is_imported():
    script = "import sys; from edgewise.command import run; run(['info', '-h']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(command.PAGES) & {
        name.removeprefix("edgewise.command.")
        for name in done.stdout.split()
        if name.startswith("edgewise.command.")
    }
    assert imported == {"info", "convert"}  # both describe graphs


def test_documentation_of_an_installed_package(tmp_path, monkeypatch):
    package = tmp_path / "edgewise"
    monkeypatch.setattr(ew, "__file__", os.fspath(package / "__init__.py"))
    assert help_text.documentation() == tmp_path / "docs"
    (package / "docs").mkdir(parents=True)
    assert help_text.documentation() == package / "docs"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["componets"], "No such command 'componets'; did you mean components? (see edgewise --help)"),
        (["generate", "rmatt"], "No such command 'rmatt'; did you mean rmat? (see edgewise generate --help)"),
        (["components", "x", "--thread", "2"], "No such option: --thread; did you mean --threads? (see"),
        (["components", "x", "--no-head"], "did you mean --no-header?"),
        (["components", "--nosuch"], "No such option: --nosuch (see edgewise components --help)"),
        (["components", "x", "-z"], "No such option: -z (see edgewise components --help)"),
        (["components", "x", "-o"], "Option '-o' requires an argument (see edgewise components --help)"),
        (["components", "x", "--method", "remm"], "'propagate'; did you mean rem?"),
        (["components", "x", "--threads", "two"], "integer"),
        (["components", "x", "--null", "dorp"], "--null dorp is unknown; did you mean drop? The choices"),
        (["components", "x", "--format", "parket"], "--format parket is unknown; did you mean parquet?"),
        (["components", "x", "--device", "cdua"], "device 'cdua' is unknown; did you mean cuda?"),
        (["components", "x", "--device", "gpus"], "device 'gpus' is unknown; did you mean gpu?"),
        (["components", "x", "--devices", "cpu:0,cdua:1"], "'cdua:1' is unknown; did you mean cuda:N?"),
        (["convert", "x", "y", "--to", "parket"], "--to parket is unknown; did you mean parquet?"),
        (["convert", "x", "y.el", "--repeated", "frist"], "--repeated frist is unknown; did you mean first?"),
        (
            ["cycles", "x", "-k", "3", "--schedule", "sttic"],
            "--schedule sttic is unknown; did you mean static?",
        ),
        (["generate", "named", "rmat21", "-o", "x.el"], "no graph is named 'rmat21'; did you mean rmat22?"),
        (["bench", "components", "--preset", "helas"], "'baltzakis'; did you mean hellas-2018? (see"),
        (["bench", "pats"], "did you mean paths?"),
    ],
)
def test_closest_names(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x").write_text("0 1\n1 2\n")
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


@pytest.mark.parametrize("name", command.PAGES)
def test_no_option_is_named_by_its_metavar(name):
    """Typer 0.27.2 and 0.27.3 take a metavar that is the name in capitals for the name of the option."""
    page = import_module(f"edgewise.command.{command.HOMES.get(name, name)}")
    for function in vars(page).values():
        parameters = inspect.signature(function).parameters if inspect.isfunction(function) else {}
        for parameter in parameters.values():
            for option in getattr(parameter.annotation, "__metadata__", ()):
                metavar, named = getattr(option, "metavar", None), isinstance(option.default, str)
                is_option = isinstance(option, OptionInfo)
                assert not is_option or named or metavar != parameter.name.upper(), parameter
