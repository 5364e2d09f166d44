"""The page on transactions shows the table of protocols, and what happens.

python tests/transactions/test_docs.py    writes the table into the page
"""

from pathlib import Path

from edgewise.transactions import PROTOCOLS
from tests.shown import run_page

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "transactions.md"
BEFORE, AFTER = "<!-- protocols -->\n", "\n<!-- /protocols -->"


def table_of_protocols():
    lines = [
        "| Protocol | What it does | Opaque | Progress | Source |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, one in PROTOCOLS.items():
        opaque = "yes" if one.opaque else "no"
        lines.append(f"| `{name}` | {one.summary} | {opaque} | {one.progress} | {one.source} |")
    return "\n".join(lines)


def test_the_page_has_all_protocols():
    assert BEFORE + table_of_protocols() + AFTER in PAGE.read_text()


def test_the_page_says_where_published_protocols_are():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    for protocol, one in PROTOCOLS.items():
        for name in one.published:
            assert any(f"`{protocol}`" in row for row in rows if name in row.split("|")[1])


def test_the_page_shows_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page(PAGE.read_text(), tmp_path) > 10


if __name__ == "__main__":
    head, _, rest = PAGE.read_text().partition(BEFORE)
    PAGE.write_text(head + BEFORE + table_of_protocols() + AFTER + rest.partition(AFTER.strip())[2])
