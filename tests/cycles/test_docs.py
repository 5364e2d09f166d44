"""The page on cycles agrees with the code.

``python tests/cycles/test_docs.py`` writes its tables anew.
"""

import doctest
from pathlib import Path

import pytest

from edgewise.cycles import METHODS, SCHEDULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cycles.md"
KINDS = {"cpu": "CPU", "cuda": "GPU"}


def table_of_methods():
    lines = ["| Method | Length | What it does | Runs on | Source |", "| --- | --- | --- | --- | --- |"]
    for name, method in METHODS.items():
        lengths = "any" if method.lengths is None else ", ".join(map(str, method.lengths))
        devices = ", ".join(KINDS[kind] for kind in method.devices)
        summary = method.summary + " (baseline)" * method.baseline
        lines.append(f"| `{name}` | {lengths} | {summary} | {devices} | {method.source} |")
    return "\n".join(lines)


def table_of_schedules():
    lines = ["| Schedule | Each device gets | Order of the tasks |", "| --- | --- | --- |"]
    for name, schedule in SCHEDULES.items():
        shown = name if schedule.number is None else f"{name}:{schedule.number}"
        order = "by work" if schedule.by_work else "by vertex number"
        lines.append(f"| `{shown}` | {schedule.summary} | {order} |")
    return "\n".join(lines)


TABLES = {"methods of cycles": table_of_methods, "schedules": table_of_schedules}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_code_s(name):
    shown = PAGE.read_text().partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]
    assert shown == TABLES[name](), "run python tests/cycles/test_docs.py"


def test_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert not failed and tried


if __name__ == "__main__":
    text = PAGE.read_text()
    for name, table in TABLES.items():
        head, before, rest = text.partition(f"<!-- {name} -->\n")
        text = head + before + table() + f"\n<!-- /{name} -->" + rest.partition(f"<!-- /{name} -->")[2]
    PAGE.write_text(text)
