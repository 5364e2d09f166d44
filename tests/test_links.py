"""Every link inside the documentation leads to a page, a heading or a picture that is there."""

import re
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


def test_pages_and_pictures_are_all_used():
    lists = re.findall(r"```{toctree}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    listed = {line for part in lists for line in part.split("\n") if line and not line.startswith(":")}
    assert listed == {page.stem for page in DOCS.glob("*.md")} - {"index"}
    shown = {
        Path(target).name for page in PAGES for target in LINK.findall(prose(page)) if "pictures/" in target
    }
    assert shown == {path.name for path in (DOCS / "pictures").iterdir()}


def test_llms_txt_names_pages():
    named = re.findall(r"\((\w[\w-]*)\.html", (DOCS / "llms.txt").read_text())
    assert named and all((DOCS / f"{name}.md").exists() for name in named)


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n[one](#a-title), [two](#another), [three](none.md), `[four](none.md)`\n")
    assert list(broken(page)) == ["#another", "none.md"]
