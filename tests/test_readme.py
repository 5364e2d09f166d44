"""README and documentation agree with the code.

``python tests/test_readme.py`` writes the tables of methods and merges anew.
"""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from edgewise.command import PAGES
from edgewise.components import MERGES, METHODS
from edgewise.cores import METHODS as CORES
from edgewise.cycles import METHODS as CYCLES
from edgewise.device.arrays import why_no_gpu
from edgewise.forest import METHODS as FOREST
from edgewise.partitions import METHODS as PARTITIONS
from edgewise.paths.apsp import METHODS as APSP
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.strong import METHODS as STRONG
from edgewise.tuning import described
from tests.shown import COMMAND, on_a_terminal, without_times

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES_OF_TEXT = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def summary_of(method):
    """What a table says of a method, or of a merge: its idea, and whether it is a baseline."""
    return method.summary + " (baseline)" * method.baseline


def table_of_methods():
    """The table of methods as the README must show it."""
    rows = [("Method", "What it does", "Reads", "Source")]
    rows += [(f"`{name}`", summary_of(m), m.reads, m.source) for name, m in METHODS.items()]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "| --- | --- | --- | --- |", *lines[1:]])


BEFORE, AFTER = "<!-- methods -->\n", "\n<!-- /methods -->"


def test_table_of_methods_is_the_code_s():
    shown = README.partition(BEFORE)[2].partition(AFTER)[0]
    assert shown == table_of_methods(), "run python tests/test_readme.py"


def table_of_merges():
    """The table of merges as the page on components must show it."""
    lines = ["| Merge | What it does | Split by | Source |", "| --- | --- | --- | --- |"]
    return "\n".join(
        lines + [f"| `{n}` | {summary_of(m)} | {m.by} | {m.source} |" for n, m in MERGES.items()]
    )


MERGES_BEFORE, MERGES_AFTER = "<!-- merges -->\n", "\n<!-- /merges -->"
COMPONENTS = ROOT / "docs" / "components.md"


def test_table_of_merges_is_the_code_s():
    shown = COMPONENTS.read_text().partition(MERGES_BEFORE)[2].partition(MERGES_AFTER)[0]
    assert shown == table_of_merges(), "run python tests/test_readme.py"


KINDS = {"cpu": "CPU", "cuda": "GPU"}
CONTRIBUTING = ROOT / "docs" / "contributing.md"
LIMITS_BEFORE, LIMITS_AFTER = "<!-- limits -->\n", "\n<!-- /limits -->"


def table_of_limits():
    """The table of limits as the page for contributors must show it."""
    lines = ["| Device | Limit | Value | Below it; from it on | Measured |", "| --- " * 5 + "|"]
    for kind, name, value, of in described():
        separates = of.separates.replace(" | ", "; ")
        cells = KINDS[kind], f"`{name}`", f"{value:,} {of.unit}", separates, f"{of.measured}, {of.date}"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_table_of_limits_is_the_code_s():
    shown = CONTRIBUTING.read_text().partition(LIMITS_BEFORE)[2].partition(LIMITS_AFTER)[0]
    assert shown == table_of_limits(), "run python tests/test_readme.py"


FORESTS = ROOT / "docs" / "forest.md"
FORESTS_BEFORE, FORESTS_AFTER = "<!-- methods of forest -->\n", "\n<!-- /methods of forest -->"


def table_of_devices(methods):
    """The table of methods as the pages on spanning forests and on partitions must show it."""
    lines = ["| Method | What it does | Runs on | Source |", "| --- | --- | --- | --- |"]
    for name, method in methods.items():
        devices = ", ".join(KINDS[kind] for kind in method.devices)
        lines.append(f"| `{name}` | {summary_of(method)} | {devices} | {method.source} |")
    return "\n".join(lines)


def test_table_of_forests_is_the_code_s():
    shown = FORESTS.read_text().partition(FORESTS_BEFORE)[2].partition(FORESTS_AFTER)[0]
    assert shown == table_of_devices(FOREST), "run python tests/test_readme.py"


@pytest.mark.parametrize(
    "page, methods",
    {"partitions": PARTITIONS, "strong": STRONG, "cores": CORES}.items(),
)
def test_tables_of_devices_are_the_code_s(page, methods):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    shown = text.partition(f"<!-- methods of {page} -->\n")[2].partition("\n<!-- /methods")[0]
    assert shown == table_of_devices(methods)


PATHS = ROOT / "docs" / "paths.md"
#: The methods of each kind of search, the heading of their third column, and what it shows.
SEARCHES = {
    "bfs": (BFS, "Needs incoming rows", lambda method: "yes" if method.needs_incoming else ""),
    "sssp": (SSSP, "Weights", lambda method: method.weights),
    "apsp": (APSP, "Weights", lambda method: method.weights),
}


def table_of_searches(kind):
    """The table of methods of ``kind`` as the page on paths must show it."""
    methods, heading, third = SEARCHES[kind]
    lines = [f"| Method | What it does | {heading} | Runs on | Source |", "| --- | --- | --- | --- | --- |"]
    for name, method in methods.items():
        devices = ", ".join(KINDS[kind] for kind in method.devices)
        lines.append(f"| `{name}` | {summary_of(method)} | {third(method)} | {devices} | {method.source} |")
    return "\n".join(lines)


@pytest.mark.parametrize("kind", SEARCHES)
def test_tables_of_searches_are_the_code_s(kind):
    shown = PATHS.read_text().partition(f"<!-- methods of {kind} -->\n")[2]
    shown = shown.partition(f"\n<!-- /methods of {kind} -->")[0]
    assert shown == table_of_searches(kind), "run python tests/test_readme.py"


@pytest.mark.parametrize("name", ["paths", "conditions", "streams", "graphs", "strong", "cores"])
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
        family = [word for word in words[1:2] if words[0] in ("generate", "bench") and word.islower()]
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
    has_gpu = not why_no_gpu()
    for block in blocks("console"):
        for command, shown in COMMAND.findall(block):
            if command.split()[0] in ("pip", "make"):
                continue
            status, printed = on_a_terminal(command, folder)
            if "--devices all" in command and not has_gpu:
                assert status == 2 and "needs a GPU" in printed, command
                continue
            assert status == 0, f"{command}: {printed}"
            if shown:
                assert without_times(printed) == without_times(shown), command
    return folder


def test_commands_of_the_readme_run_as_shown(folder):
    assert (folder / "clusters.parquet").exists()
    assert (folder / "distances.npy").exists()


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
        if "cuda" not in block or not why_no_gpu():
            exec(block, names)
            ran += 1
    assert ran >= 5
    assert names["stream"].connected(17, 42)


def test_the_readme_installs_what_is_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    shown = re.findall(r"^\$ pip install (\S+)", README, re.MULTILINE)
    assert "." in shown
    for word in shown:
        assert re.fullmatch(r"\.|'\.\[(.*)\]'", word), word
        assert set(re.findall(r"\w+", word)) <= set(extras), word


@pytest.mark.parametrize(
    ("page", "tables"),
    {
        "components": [METHODS, MERGES],
        "paths": [BFS, SSSP, APSP],
        "cycles": [CYCLES],
        "cores": [CORES],
    }.items(),
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
    head, _, rest = README.partition(BEFORE)
    (ROOT / "README.md").write_text(head + BEFORE + table_of_methods() + AFTER + rest.partition(AFTER)[2])
    head, _, rest = COMPONENTS.read_text().partition(MERGES_BEFORE)
    filled = head + MERGES_BEFORE + table_of_merges() + MERGES_AFTER + rest.partition("<!-- /merges -->")[2]
    COMPONENTS.write_text(filled)
    head, _, rest = FORESTS.read_text().partition(FORESTS_BEFORE)
    filled = head + FORESTS_BEFORE + table_of_devices(FOREST) + FORESTS_AFTER
    FORESTS.write_text(filled + rest.partition("<!-- /methods of forest -->")[2])
    text = PATHS.read_text()
    for kind in SEARCHES:
        head, before, rest = text.partition(f"<!-- methods of {kind} -->\n")
        after = f"<!-- /methods of {kind} -->"
        text = head + before + table_of_searches(kind) + "\n" + after + rest.partition(after)[2]
    PATHS.write_text(text)
    head, _, rest = CONTRIBUTING.read_text().partition(LIMITS_BEFORE)
    filled = head + LIMITS_BEFORE + table_of_limits() + LIMITS_AFTER + rest.partition("<!-- /limits -->")[2]
    CONTRIBUTING.write_text(filled)
