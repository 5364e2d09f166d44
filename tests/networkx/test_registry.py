"""The table that NetworkX reads at import, and the documentation, are those of the registry.

``python tests/networkx/test_registry.py`` writes them anew.
"""

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


def test_light_module_has_the_registry_s_tables():
    text = LIGHT.read_text()
    for name, table in tables().items():
        assert between(name).search(text)[2] == table, "run python tests/networkx/test_registry.py"


if __name__ == "__main__":
    text = LIGHT.read_text()
    for name, table in tables().items():
        text = between(name).sub(lambda found, table=table: found[1] + table + found[3], text)
    LIGHT.write_text(text)
