"""The page on the five documents: every name on it exists, and every experiment is recorded.

``python tests/test_documents.py`` writes its table of records anew.
"""

import ast
import inspect
import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import edgewise as ew
from edgewise import components, cycles, forest, partitions
from edgewise.experiments import PRESETS
from edgewise.paths import apsp, bfs, sssp
from edgewise.transactions import PROTOCOLS, TransactionalMemory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "documents.md"
RESULTS = ROOT / "bench" / "results"
BEFORE, AFTER = "<!-- records -->\n", "\n<!-- /records -->"
#: The page has these tables.
HEADS = ("| Item | Where | As described? |", "| Preset | Experiments | Ran on | State | Figures in |")
NAME = re.compile(r"`(edgewise(?:\.\w+)+)`")
CALL = re.compile(r"`(\w+\([^`]*\))`")
EXPERIMENTS = re.compile(r"experiments? ((?:`[\w-]+`(?:, )?)+)")
FILE = re.compile(r"`((?:bench|examples)/[\w./-]+)`")
PRESET = re.compile(r"preset\s+is\s+`([\w-]+)`")
#: The functions of the page, and what some of their arguments name.
METHODS = {
    "connected_components": components.METHODS,
    "minimum_spanning_forest": forest.METHODS,
    "bfs": bfs.METHODS,
    "shortest_paths": sssp.METHODS,
    "all_pairs_shortest_paths": apsp.METHODS,
    "cycle_counts": cycles.METHODS,
}
NAMES = {
    "merge": components.MERGES,
    "protocol": PROTOCOLS,
    "preset": partitions.PRESETS,
    "schedule": cycles.SCHEDULES,
    "rows": components.ROWS,
}


@cache
def recorded():
    """The results of presets, by the name of their file."""
    found = {path: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    return {path.name: one for path, one in found.items() if one.get("preset") in PRESETS}


def where(found):
    """The cores and the GPUs of a run."""
    machine, words = found["machine"], [f"{found['machine']['cores']} cores"]
    gpus = machine["gpus"] if "gpus" in machine else [machine["gpu"]]
    names = [re.search(r"NVIDIA \w+", str(gpu)) for gpu in gpus]
    count = sum(device.startswith("cuda") for device in found["devices"])
    words += [f"{count} x {one[0]}" for one in names[:1] if one and count]
    return ", ".join(words)


def records():
    """The table of what was run where."""
    lines = [HEADS[1], "| --- | --- | --- | --- | --- |"]
    for preset in PRESETS:
        for name, found in recorded().items():
            if found["preset"] == preset:
                shown = ", ".join(f"`{table['name']}`" for table in found["tables"] if table["rows"])
                tables = f"[{preset}](published.md#{preset})"
                state = found["state"][:7]
                lines.append(f"| {tables} | {shown} | {where(found)} | {state} | `bench/results/{name}` |")
    return "\n".join(lines)


def test_the_table_of_records_is_that_of_the_results():
    assert BEFORE + records() + AFTER in PAGE.read_text(), "run python tests/test_documents.py"


def test_every_experiment_is_recorded():
    done = {(one["preset"], table["name"]) for one in recorded().values() for table in one["tables"]}
    assert done == {(preset, name) for preset, one in PRESETS.items() for name in one.experiments}


def resolved(name):
    """What a dotted name is."""
    parts, last = name.split("."), 0
    for count in range(1, len(parts) + 1):
        try:
            found, last = import_module(".".join(parts[:count])), count
        except ModuleNotFoundError:
            break
    for attribute in parts[last:]:
        found = getattr(found, attribute)
    return found


@pytest.mark.parametrize("name", sorted(set(NAME.findall(PAGE.read_text()))))
def test_names_exist(name):
    assert resolved(name) is not None


@pytest.mark.parametrize("call", sorted(set(CALL.findall(PAGE.read_text()))))
def test_calls_are_possible(call):
    node = ast.parse(call, mode="eval").body
    function = TransactionalMemory if node.func.id == "TransactionalMemory" else getattr(ew, node.func.id)
    given = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
    assert given.keys() <= inspect.signature(function).parameters.keys()
    names = NAMES | {"method": METHODS.get(node.func.id, ())}
    assert all(one.partition(":")[0] in names[key] for key, one in given.items() if key in names)
    options = {"method", "merge", "schedule", "count_directions"}
    if "method" in given and METHODS.get(node.func.id):
        assert given.keys() - options <= METHODS[node.func.id][given["method"]].options.keys()


def sections():
    """The preset and the text of the section of each document."""
    for text in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE):
        if found := PRESET.search(text):
            yield found[1], text


def test_each_document_has_a_section_that_names_all_of_its_experiments():
    named = {
        preset: {name for part in EXPERIMENTS.findall(text) for name in re.findall(r"`(.*?)`", part)}
        for preset, text in sections()
    }
    assert named == {preset: {*one.experiments} for preset, one in PRESETS.items() if preset != "ecl-mst"}


def test_files_exist():
    named = set(FILE.findall(PAGE.read_text()))
    assert named and all((ROOT / name).exists() for name in named)


def test_rows_are_whole():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    columns = {HEADS[0]: 3, HEADS[1]: 5}
    assert {line for line in rows if line in columns} == {*HEADS}
    count = 0
    for line in rows:
        count = columns.get(line, count)
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == count and all(cells), line


if __name__ == "__main__":
    head, _, rest = PAGE.read_text().partition(BEFORE)
    PAGE.write_text(head + BEFORE + records() + AFTER + rest.partition(AFTER.strip())[2])
