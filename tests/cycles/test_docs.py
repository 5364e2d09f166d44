"""The page on cycles agrees with the code.

``python tests/cycles/test_docs.py`` writes its tables anew.
"""

import ast
import doctest
from pathlib import Path

import pytest

from edgewise import tuning
from edgewise.cycles import METHODS, SCHEDULES, selection
from edgewise.cycles.selection import BY_LENGTH, has_hubs, select_devices, select_method

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
        summary = schedule.summary + " (baseline)" * schedule.baseline
        lines.append(f"| `{shown}` | {summary} | {order} |")
    return "\n".join(lines)


def table_of_choices():
    lines = ["| Device | Cycles | Method |", "| --- | --- | --- |"]
    lines += [f"| any | length {length} | `{select_method(length)}` |" for length in BY_LENGTH]
    return "\n".join([*lines, f"| any | other lengths | `{select_method(max(BY_LENGTH) + 1)}` |"])


TABLES = {"auto": table_of_choices, "methods of cycles": table_of_methods, "schedules": table_of_schedules}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_code_s(name):
    shown = PAGE.read_text().partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]
    assert shown == TABLES[name](), "run python tests/cycles/test_docs.py"


def test_outcomes_are_few_methods_and_all_but_baselines_are_shown():
    outcomes = {*BY_LENGTH.values(), select_method(99)}
    assert len(outcomes) <= 5
    assert outcomes == {name for name, method in METHODS.items() if not method.baseline}
    assert all(METHODS[select_method(length)].can(length) for length in range(3, 30))
    assert all(kinds == ("cpu", "cuda") for kinds in (METHODS[name].devices for name in outcomes))


def test_every_limit_of_the_choices_is_a_line_of_the_record():
    """The page that selects has no numbers of its own but lengths; the guide names the limits."""
    tree, page = ast.parse(Path(selection.__file__).read_text()), PAGE.read_text()
    numbers = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {value for value in numbers if type(value) in (int, float)} == {*BY_LENGTH, 1}
    limits = {name for _, name, _, _ in tuning.described() if name.startswith("cycles_")}
    assert limits and all(f"`{name}`" in page for name in limits)


def test_limits_are_where_the_guide_says():
    assert not has_hubs(8 * 100, 100) and has_hubs(8 * 100 + 1, 100)
    assert select_devices(("cuda:0", "cpu"), [8.9, 1], 1.0) == [0, 1]
    assert select_devices(("cuda:0", "cpu"), [9.1, 1], 1.0) == [0]
    assert select_devices(("cuda:0", "cpu"), [1, 1], 0.049) == [0]


def test_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert not failed and tried


if __name__ == "__main__":
    text = PAGE.read_text()
    for name, table in TABLES.items():
        head, before, rest = text.partition(f"<!-- {name} -->\n")
        text = head + before + table() + f"\n<!-- /{name} -->" + rest.partition(f"<!-- /{name} -->")[2]
    PAGE.write_text(text)
