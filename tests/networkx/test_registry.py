"""The table that NetworkX reads at import, and the documentation, are those of the registry.

``python tests/networkx/test_registry.py`` writes them anew.
"""

import contextlib
import io
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")

import edgewise.networkx  # noqa: E402
from edgewise.networkx.registry import FUNCTIONS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIGHT, GUIDE = ROOT / "_edgewise_nx.py", ROOT / "docs" / "networkx.md"
for page in pkgutil.iter_modules(edgewise.networkx.__path__):
    import_module(f"edgewise.networkx.{page.name}")


def tables():
    """The tables of the light module as text."""
    named = sorted(FUNCTIONS.values())
    pages = "".join(f'    "{one.name}": "{one.page}",\n' for one in named)
    notes = "".join(f'    "{one.name}": {quoted(one.note)},\n' for one in named if one.note)
    return {"pages": f"PAGES = {{\n{pages}}}\n", "notes": f"NOTES = {{\n{notes}}}\n"}


def quoted(text):
    return f"'{text}'" if '"' in text else f'"{text}"'


def between(name):
    return re.compile(rf"(# <{name}>\n)(.*?)(# </{name}>\n)", re.DOTALL)


def table_of_functions():
    """The table of the guide: functions by page, and what differs."""
    titles = {page: page.replace("_", " ") for page in sorted({one.page for one in FUNCTIONS.values()})}
    lines = ["| Page | Functions |", "| --- | --- |"]
    for page, title in titles.items():
        names = [f"`{name}`" for name, one in sorted(FUNCTIONS.items()) if one.page == page]
        lines.append(f"| {title} | {', '.join(names)} |")
    lines += ["", "| Function | What differs from NetworkX |", "| --- | --- |"]
    lines += [f"| `{name}` | {one.note} |" for name, one in sorted(FUNCTIONS.items()) if one.note]
    return "\n".join(lines) + "\n"


IN_GUIDE = re.compile(r"(<!-- functions -->\n)(.*?)(<!-- /functions -->)", re.DOTALL)


def test_guide_has_the_registry_s_table():
    found = IN_GUIDE.search(GUIDE.read_text())
    assert found[2] == table_of_functions(), "run python tests/networkx/test_registry.py"


def test_every_function_is_known_to_networkx():
    known = nx.utils.backends._registered_algorithms
    assert set(FUNCTIONS) - set(known) == set() or not nx.__version__.startswith(("3.6", "3.7"))


def test_examples_of_the_guide():
    blocks = re.findall(r"^```python\n([^`]*)```\n\n```text\n([^`]*)```", GUIDE.read_text(), re.MULTILINE)
    assert len(blocks) == 2
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert printed.getvalue() == shown


def test_light_module_has_the_registry_s_tables():
    text = LIGHT.read_text()
    for name, table in tables().items():
        assert between(name).search(text)[2] == table, "run python tests/networkx/test_registry.py"


if __name__ == "__main__":
    text = LIGHT.read_text()
    for name, table in tables().items():
        text = between(name).sub(lambda found, table=table: found[1] + table + found[3], text)
    LIGHT.write_text(text)
    guide = IN_GUIDE.sub(lambda found: found[1] + table_of_functions() + found[3], GUIDE.read_text())
    GUIDE.write_text(guide)
