"""Every figure says where it is from: a state of the history, a command of that state, and a machine.

Results (``bench/results/*.json``) say it in their fields.  In README.md and docs/*.md, tables and charts are
written with their origin; a paragraph of prose with times or ratios names a state, or points to the table,
the chart or the page that does, or says that the figures are published ones.
"""

import json
import re
import subprocess

import pytest

from tests.test_house import ROOT

RESULTS = sorted((ROOT / "bench" / "results").glob("*.json"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: A state of the history as it is written: of a result, and in prose.
STATE = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b")
IN_PROSE = re.compile(r"\bstates? ((?=[0-9a-f]*[0-9])[0-9a-f]{7,40})\b")
#: Scripts of a command, which are in the tree of its state.
SCRIPT = re.compile(r"\b(?:bench|tests)/[\w/]+\.py\b")
#: A time, a rate or a ratio of times.
FIGURE = re.compile(
    r"\d[\d,.]*\s(?:ns|µs|ms|s|seconds|minutes|GB/s|M/s|million(?: \w+)? a second)\b"
    r"|\d times as (?:fast|long|slow)\b|\d %\s(?:faster|slower)"
)
#: What tells the origin of the figures of a paragraph.
ORIGIN = re.compile(
    r"state [0-9a-f]{7}|bench/results/|bench/peers/|\]\([\w./]*#|\(see the (?:table|chart)"
    r"|\bpubli[sc]|\breports?\b",
    re.IGNORECASE,
)
BLOCK = re.compile(r"<!-- (\w+)(?:: [^>]*)? -->.*?<!-- /\1 -->", re.DOTALL)
CODE = re.compile(r"```.*?```", re.DOTALL)
#: In the place of a block that is written with its origin.
WRITTEN = "(written)"
#: Seconds that are an option or a limit of the program, and no measurement.
SETTINGS = re.compile(r"\(`--\w+`\)|cycles_joined|--patience|`EDGEWISE_\w+`|a run\s+that should take")


@pytest.fixture(scope="module")
def known():
    """Whether a state is in the history."""
    shallow = _git("rev-parse", "--is-shallow-repository")
    if shallow.returncode or shallow.stdout.strip() != "false":
        pytest.skip("the tree has no history")
    return lambda name: _git("cat-file", "-e", name).returncode == 0


def _git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_names_its_state_its_command_and_its_machine(path, known):
    found = json.loads(path.read_text())
    states = STATE.findall(found["state"])
    assert states, f"{found['state']!r} is no state"
    assert "dirty" not in found["state"]
    assert all(known(f"{state}^{{commit}}") for state in states), f"{found['state']} is not in the history"
    assert found["date"]
    assert found.get("machine") or "outcomes" in found, "there are times of an unknown machine"
    for script in SCRIPT.findall(found["command"]):
        assert any(known(f"{state}:{script}") for state in states), f"{script} is not in the tree of {states}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_states_that_are_named_are_in_the_history(path, known):
    for state in IN_PROSE.findall(path.read_text()):
        assert known(f"{state}^{{commit}}"), f"{path.name} names {state}, which is not in the history"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_figures_in_prose_have_an_origin(path):
    text = CODE.sub("", BLOCK.sub(f"\n\n{WRITTEN}\n\n", path.read_text()))
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n|\n(?=\* |: )", text) if one.strip()]
    unlabelled = [
        paragraph
        for before, paragraph, after in zip(["", *paragraphs], paragraphs, [*paragraphs[1:], ""])
        if FIGURE.search(paragraph)
        and not ORIGIN.search(paragraph)
        and not SETTINGS.search(paragraph)
        and not any(near == WRITTEN or near.startswith(("*`", "![")) for near in (before, after))
    ]
    assert not unlabelled
