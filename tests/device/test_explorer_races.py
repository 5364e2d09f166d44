"""Races: which accesses are told, what hides none, and that those of the library are documented at stores."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from edgewise.device.explorer import CPU, GPU, Fault, Scheduler, Shared, fetch_add
from edgewise.device.explorer.operations import fence, load, store
from edgewise.device.explorer.races import Races
from edgewise.device.explorer.reports import DOCUMENTED

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS = range(60)
PAGES = Path(__file__).resolve().parents[2] / "edgewise"


def races_of(*threads, memory=None):
    """All races that threads over four words have by any seed, each as the names of two functions."""
    found = set()
    for seed in SEEDS:
        scheduler = Scheduler(seed, memory=memory, races=True)
        words = Shared(np.zeros(4, np.int64), scheduler)
        try:
            scheduler.run(*(lambda task=task, words=words: task(words) for task in threads))
        except Fault:
            texts = [text for text, _ in scheduler.memory.races.found.values()]
            found |= {tuple(sorted(re.findall(r"\((\w+)\)", text))) for text in texts}
    return found


def write(words):
    words[0] = 1


def read(words):
    return words[0]


def write_and_tell(words):
    words[0] = 1
    fence()
    store(words, 1, 1)


def add_when_told(words):
    while load(words, 1) == 0:
        pass
    fence()
    fetch_add(words, 0, 1)


@pytest.mark.parametrize("memory", [None, CPU, GPU])
def test_stores_of_one_value_are_none(memory):
    assert races_of(write, write, write, memory=memory) == set()


@pytest.mark.parametrize("memory", [None, CPU, GPU])
def test_an_atomic_operation_between_hides_no_race(memory):
    """The operation comes after the store, but nothing orders the read behind either."""
    assert races_of(write_and_tell, add_when_told, memory=memory) == set()
    assert races_of(write_and_tell, add_when_told, read, memory=memory) == {("read", "write_and_tell")}


@pytest.mark.parametrize("memory", [None, CPU, GPU])
def test_both_orders_of_a_read_and_a_store_are_found(memory):
    assert races_of(write, read, memory=memory) == {("read", "write")}


def replace_and_reuse(words):
    store(words, 1, 1)
    fence()
    words[0] = 7


def use_and_look_again(words):
    value = load(words, 0)
    fence()
    return int(value), int(load(words, 1))


@pytest.mark.parametrize("memory", [None, CPU, GPU])
def test_who_sees_a_plain_store_sees_what_a_fence_has_ordered_before_it(memory):
    """As where a log is used again only once nothing names it, and its readers look at the name once more."""
    for seed in SEEDS:
        scheduler, seen = Scheduler(seed, memory=memory), []
        words = Shared(np.zeros(4, np.int64), scheduler)
        tasks = replace_and_reuse, lambda words, seen=seen: seen.append(use_and_look_again(words))
        scheduler.run(*(lambda task=task, words=words: task(words) for task in tasks))
        assert seen[0] != (7, 0)


def released_by_addition(words):
    words[0] = 1
    fetch_add(words, 1, 1)


def acquired_by_addition(words):
    while fetch_add(words, 1, 0) == 0:
        pass
    return words[0]


def test_atomic_operations_order_on_the_cpu_and_not_on_a_gpu():
    threads = released_by_addition, acquired_by_addition
    assert races_of(*threads, memory=CPU) == set()
    assert races_of(*threads, memory=GPU) == {("acquired_by_addition", "released_by_addition")}


def documented():
    """Every statement of the library that a comment says races, with the comment's page, line and reason."""
    for page in PAGES.rglob("*.py"):
        if "explorer" not in page.parts and DOCUMENTED in (text := page.read_text()):
            statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
            for line, code in enumerate(text.splitlines(), 1):
                if DOCUMENTED in code:
                    after = line + 1 if code.lstrip().startswith("#") else line
                    own = [node for node in statements if node.lineno == after]
                    yield page.name, line, code.partition(DOCUMENTED)[2].strip(), own


def test_every_documented_race_is_of_an_access_and_has_a_reason():
    found = list(documented())
    assert found
    for page, line, reason, statements in found:
        assert len(reason) > 5, f"{page}:{line} gives no reason"
        nodes = [node for statement in statements for node in ast.walk(statement)]
        is_access = any(isinstance(node, ast.Subscript) for node in nodes) or any(
            isinstance(node, ast.Name) and node.id == "load" for node in nodes
        )
        assert is_access, f"{page}:{line} is not directly above an access, or beside it"


@pytest.mark.parametrize(("found", "more"), [(1, ""), (2, "; and 1 more"), (3, "; and 2 more")])
def test_a_report_says_how_many_more_there_are(found, more):
    races = Races()
    races.found = {number: (f"race {number}", False) for number in range(found)} | {"intended": ("no", True)}
    with pytest.raises(Fault, match=f"^race 0{more}$"):
        races.report()
