"""Links inside the documentation lead to what is there, and the states that it names are in the history."""

import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTES = sorted((ROOT / "bench" / "notes").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")), *NOTES]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,3} (.*)$", re.MULTILINE)
ADDRESS = re.compile(r"[a-z]+:")


def prose(page):
    """A page without its code."""
    return CODE.sub("", page.read_text())


def anchors(page):
    """The anchors of the headings of a page, as MyST and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(text)}


def broken(page):
    """The links of a page that lead nowhere."""
    for target in LINK.findall(prose(page)):
        if ADDRESS.match(target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert not list(broken(page))


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_stay_in_the_documentation(page):
    """It is installed with the package, and so are no files beside it."""
    inside = (target for target in LINK.findall(prose(page)) if not ADDRESS.match(target))
    assert not [target for target in inside if target.startswith("..") and page.name not in OUTWARD]


#: Pages for readers of a checkout.
OUTWARD = ("contributing.md", "changes.md")


@pytest.mark.parametrize("left_out", ["", "cores\n"])
def test_pages_and_pictures_are_all_used(left_out, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    source = [(DOCS / "index.md").read_text().replace(f"\n{left_out}", "\n", 1)]
    import_module("conf").with_all_guides(None, "index", source)  # adds guides that the index does not list
    lists = re.findall(r"```{toctree}\n(.*?)```", source[0], re.DOTALL)
    listed = {line for part in lists for line in part.split("\n") if line and not line.startswith(":")}
    assert listed == {page.stem for page in DOCS.glob("*.md")} - {"index"}
    shown = {
        Path(target).name for page in PAGES for target in LINK.findall(prose(page)) if "pictures/" in target
    }
    assert shown == {path.name for path in (DOCS / "pictures").iterdir()}


def test_llms_txt_names_pages():
    named = re.findall(r"\((\w[\w-]*)\.html", (DOCS / "llms.txt").read_text())
    assert named and all((DOCS / f"{name}.md").exists() for name in named)


#: The short name of a commit: seven hexadecimal digits, with a letter and a number among them.
COMMIT = re.compile(r"(?<![\w-])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7}(?!\w)")


def states(page):
    """The commits that a page names."""
    return set(COMMIT.findall(page.read_text()))


def git(*words):
    """What git says of this checkout, without the line end; empty where it has nothing to say."""
    asked = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return asked.stdout.strip() if not asked.returncode else ""


@pytest.fixture(scope="module")
def history():
    """The short names of all commits that lead to this state."""
    if not shutil.which("git"):
        pytest.skip("git is not there")
    if not (top := git("rev-parse", "--show-toplevel")) or Path(top).resolve() != ROOT:
        pytest.skip("these files have no history")
    if git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("the history of this clone is not complete")
    return {name[:7] for name in git("rev-list", "HEAD").split()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_states_are_in_the_history(page, history):
    """A figure of a state that nobody can look up proves nothing."""
    assert states(page) <= history


def test_a_state_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "`R1de77d1`, 1612010, 12.34567 (state 185df6d), d9ad787-dirty, 2026-11-23, a decade, e1234567\n"
    )
    assert states(page) == {"185df6d", "d9ad787"}


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n[one](#a-title), [two](#another), [three](none.md), `[four](none.md)`\n")
    assert list(broken(page)) == ["#another", "none.md"]
