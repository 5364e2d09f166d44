"""README and documentation agree with the code.

``python tests/test_readme.py`` writes the tables of methods and merges anew.
"""

import doctest
import re
import shlex
import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from edgewise.command import HOMES, PAGES
from edgewise.components import MERGES
from edgewise.torture.peers import PEERS
from edgewise.torture.problems import PROBLEMS as QUESTIONS
from edgewise.tuning import described
from tests.how_tos import HOW_TOS
from tests.problems import PROBLEMS
from tests.shown import COMMAND, on_a_terminal, without_times

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES_OF_TEXT = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def summary_of(method):
    """What a table says of a method, or of a merge: its idea, and whether it is a baseline."""
    return method.summary + " (baseline)" * method.baseline


def table_of_components(methods):
    """The table of methods for components."""
    lines = ["| Method | What it does | Reads | Source |", "| --- | --- | --- | --- |"]
    return "\n".join(
        lines + [f"| `{n}` | {summary_of(m)} | {m.reads} | {m.source} |" for n, m in methods.items()]
    )


def table_of_merges():
    """The table of merges of several devices."""
    lines = ["| Merge | What it does | Split by | Source |", "| --- | --- | --- | --- |"]
    return "\n".join(
        lines + [f"| `{n}` | {summary_of(m)} | {m.by} | {m.source} |" for n, m in MERGES.items()]
    )


KINDS = {"cpu": "CPU", "cuda": "GPU"}


def table_of_limits():
    """The table of limits as the page for contributors must show it."""
    lines = ["| Device | Limit | Value | Below it; from it on | Measured |", "| --- " * 5 + "|"]
    for kind, name, _, of in described():
        separates = of.separates.replace(" | ", "; ")
        cells = KINDS[kind], f"`{name}`", f"{of.default:,} {of.unit}", separates, f"{of.measured}, {of.date}"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_devices(methods):
    """The table of methods of a problem whose methods differ in their devices."""
    lines = ["| Method | What it does | Runs on | Source |", "| --- | --- | --- | --- |"]
    for name, method in methods.items():
        devices = ", ".join(KINDS[kind] for kind in method.devices)
        lines.append(f"| `{name}` | {summary_of(method)} | {devices} | {method.source} |")
    return "\n".join(lines)


#: The heading of the third column of the methods of each kind of search, and what it shows.
SEARCHES = {
    "bfs": ("Needs incoming rows", lambda method: "yes" if method.needs_incoming else ""),
    "sssp": ("Weights", lambda method: method.weights),
    "apsp": ("Weights", lambda method: method.weights),
}


def table_of_searches(kind, methods):
    """The table of methods of ``kind`` as the page on paths must show it."""
    heading, third = SEARCHES[kind]
    lines = [f"| Method | What it does | {heading} | Runs on | Source |", "| --- | --- | --- | --- | --- |"]
    for name, method in methods.items():
        devices = ", ".join(KINDS[kind] for kind in method.devices)
        lines.append(f"| `{name}` | {summary_of(method)} | {third(method)} | {devices} | {method.source} |")
    return "\n".join(lines)


def table_of_commands():
    """The subcommands as the page on the command line must show them."""
    lines = ["| Subcommand | What it does |", "| --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | {summary} |" for name, summary in PAGES.items()])


def table_of_calls(peer):
    """The questions to a library as the page on the kit must show them."""
    lines = ["| Problem | Expression | Of a graph | Conventions of the library |", "| --- " * 4 + "|"]
    for call in PEERS[peer].calls:
        kinds = {(False, True): [], (False,): ["undirected"], (True,): ["directed"]}[call.kinds]
        needs = ", ".join([*kinds, *call.needs])
        lines.append(f"| {call.problem} | `{call.asked}` | {needs} | {call.convention} |")
    return "\n".join(lines)


def table_of_questions():
    """The problems of the kit."""
    lines = ["| Problem | What is asked | Expression of edgewise |", "| --- " * 3 + "|"]
    return "\n".join(
        lines + [f"| `{name}` | {one.summary} | `{one.asked}` |" for name, one in QUESTIONS.items()]
    )


#: What writes the table of methods of a problem, if it has columns of its own.
WRITERS = {"components": table_of_components} | {kind: partial(table_of_searches, kind) for kind in SEARCHES}
#: Tables that other tests hold against the code.
ELSEWHERE = {"cycles"}


def page_with(mark):
    """The name of the guide that has a table."""
    found = [path.stem for path in PAGES_OF_TEXT if f"<!-- {mark} -->\n" in path.read_text()]
    assert len(found) == 1, f"pages with <!-- {mark} -->: {found}"
    return found[0]


#: The generated tables, by their marks, and what makes them.
TABLES = {
    "merges": table_of_merges,
    "limits": table_of_limits,
    "commands": table_of_commands,
    "questions": table_of_questions,
    **{f"calls of {peer}": partial(table_of_calls, peer) for peer in PEERS},
    **{
        f"methods of {problem.name}": partial(WRITERS.get(problem.name, table_of_devices), problem.methods)
        for problem in PROBLEMS.values()
        if problem.name not in ELSEWHERE
    },
}


def guide(name):
    """The file of a guide."""
    return ROOT / "docs" / f"{name}.md"


@pytest.mark.parametrize("mark", TABLES)
def test_tables_are_the_code_s(mark):
    text = guide(page_with(mark)).read_text()
    shown = text.partition(f"<!-- {mark} -->\n")[2].partition(f"\n<!-- /{mark} -->")[0]
    assert shown == TABLES[mark](), "run python tests/test_readme.py"


#: Guides whose examples other tests run.
RUN_ELSEWHERE = {
    *("certificates", "clusters", "coming-from", "cycles", "dask", "datatrove", "dbt", "duckdb", "files"),
    *(
        "forest",
        "osmnx",
        "pandana",
        "partitions",
        "polars",
        "results",
        "routes",
        "spark",
        "splink",
        "thresholds",
        "transactions",
        *HOW_TOS,
    ),
}
EXAMPLES = [path.stem for path in PAGES_OF_TEXT[1:] if "\n>>> " in path.read_text()]


@pytest.mark.parametrize("name", sorted({*EXAMPLES} - RUN_ELSEWHERE))
def test_examples_of_a_page_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / f"{name}.md"), module_relative=False, optionflags=options
    )
    assert not failed and tried


def commands(path):
    for line in re.findall(r"^\$ (edgewise .*)$", path.read_text(), re.MULTILINE):
        yield shlex.split(line, comments=True)


@pytest.mark.parametrize("path", PAGES_OF_TEXT, ids=lambda path: path.name)
def test_commands_shown_are_commands(path, capsys):
    """Every subcommand and option in a console block is one that the help knows."""
    from edgewise.command import run

    for _, *words in commands(path):
        pages = [word for word in words if word in PAGES]
        family = [
            word for word in words[1:2] if words[0] in ("generate", "bench", "clusters") and word.islower()
        ]
        assert pages or words[0] in ("--help", "--version"), words
        assert run([*pages[:1], *family, "--help"]) == 0
        text = capsys.readouterr().out
        for option in (word.partition("=")[0] for word in words if word.startswith("--")):
            assert option in text, f"{option} of {shlex.join(words)}"


def blocks(kind, text=README):
    """Blocks of code of one language, without their fences."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which every command of the README has run as it is shown, one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    for block in blocks("console"):
        for command, shown in COMMAND.findall(block):
            if command.split()[0] in ("pip", "make"):
                continue
            status, printed = on_a_terminal(command, folder)
            assert status == 0, f"{command}: {printed}"
            if shown:
                assert without_times(printed) == without_times(shown), command
    return folder


def test_commands_of_the_readme_run_as_shown(folder):
    assert (folder / "clusters.parquet").exists()
    assert (folder / "pentagons.parquet").exists()


def test_python_of_the_readme_runs(folder, monkeypatch):
    """The blocks run one after the other, on data in memory of the kinds that one of them names."""
    import numpy as np
    import pyarrow.parquet
    import scipy.sparse

    monkeypatch.chdir(folder)
    names = {
        "frame": pyarrow.parquet.read_table("pairs.parquet"),
        "sources": np.array([1, 17, 5]),
        "targets": np.array([17, 42, 6]),
        "matrix": scipy.sparse.eye_array(5, k=1),
    }
    ran = 0
    for block in blocks("python"):
        exec(block, names)
        ran += 1
    assert ran >= 3
    assert names["forest"].components(0.95).count > names["forest"].components(0.8).count


def test_the_readme_is_short_and_names_the_set_up():
    assert len(README.encode()) <= 9000
    assert {"make demo", "make test"} <= set(re.findall(r"^\$ (make \w+)", README, re.MULTILINE))


def test_the_readme_installs_what_is_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    shown = re.findall(r"^\$ pip install (\S+)", README, re.MULTILINE)
    assert "." in shown
    for word in shown:
        assert re.fullmatch(r"\.|'\.\[(.*)\]'", word), word
        assert set(re.findall(r"\w+", word)) <= set(extras), word


def tables_of(page):
    """The tables of methods, and of merges, that the options of a subcommand name."""
    held = list(vars(import_module(f"edgewise.command.{HOMES.get(page, page)}")).values())
    tables = [MERGES, *(problem.methods for problem in PROBLEMS.values())]
    return [table for table in tables if any(one is table for one in held)]


@pytest.mark.parametrize(
    ("page", "tables"), [(page, tables_of(page)) for page in PAGES if page not in HOMES and tables_of(page)]
)
def test_help_names_the_baselines(page, tables, capsys, monkeypatch):
    from edgewise.command import run

    monkeypatch.setenv("COLUMNS", "1000")
    assert run([page, "--help"]) == 0
    _, *texts = capsys.readouterr().out.split("Baselines, for comparison only: ")
    named = {name for text in texts for name in text.partition(".")[0].split(", ")}
    assert named == {name for table in tables for name, method in table.items() if method.baseline}


@pytest.mark.parametrize("path", PAGES_OF_TEXT, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_pages_named_for_contributors_exist():
    text = (ROOT / "docs" / "contributing.md").read_text()
    named = set(re.findall(r"`([\w/]+(?:\.py|\.toml|\.txt|/))`", text)) - {"components/minimum_labels.py"}
    assert len(named) > 20
    for page in sorted(named):
        assert (ROOT / page).exists() or (ROOT / "edgewise" / page).exists(), page


if __name__ == "__main__":
    for mark, table in TABLES.items():
        path, before, after = guide(page_with(mark)), f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
        head, _, rest = path.read_text().partition(before)
        path.write_text(head + before + table() + "\n" + after + rest.partition(after)[2])
