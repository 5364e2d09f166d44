"""A few of the planted faults, and that each of them can be planted; the campaign plants all."""

from collections import Counter

import pytest

from tests.campaigns.mutants import ROOT
from tests.campaigns.planted_faults import copy_for, faults, found_by_explorer, run, scenarios

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
KINDS = {
    "ABA",
    "lost atomic",
    "missing barrier",
    "missing fence",
    "off by one in shared memory",
    "stale read",
    "wrong shuffle",
}
#: Rooms and kinds of primitives that have faults.
ROOMS = {
    "components",
    "cores",
    "cycles",
    "device",
    "forest",
    "ingest",
    "partitions",
    "paths",
    "primitives",
    "refinement",
    "streams",
    "strong",
    "transactions",
}
#: Faults that show at once.
QUICK = ("arrive without a fence", "a key is entered", "filter is read")


def test_every_fault_can_be_planted():
    rows, (on_gpu, by_threads) = faults(), scenarios()
    assert len(rows) >= 30
    assert len({one.name for one in rows}) == len(rows)
    assert {one.file.split("/")[1] for one in rows} == ROOMS
    assert set(Counter(one.kind for one in rows)) == KINDS
    for one in rows:
        assert (ROOT / one.file).read_text().count(one.old) == 1, one.name
        assert one.scenario in on_gpu or one.scenario in by_threads, one.name
        assert one.simulator in ("", *on_gpu) and one.jitter in ("", *by_threads), one.name
        assert one.memory in ("", "cpu", "gpu")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree."""
    folder = tmp_path_factory.mktemp("planted") / "tree"
    folder.mkdir()
    copy_for(folder, None)
    return folder


@pytest.mark.parametrize("name", QUICK)
def test_the_explorer_finds_it_and_its_seed_finds_it_again(name, tree):
    (fault,) = [one for one in faults() if name in one.name]
    found = found_by_explorer(tree, fault, 60, 20)
    assert found["seed"] >= 0, found
    engine = "explorer" if fault.scenario in scenarios()[0] else "threads"
    memory = [f"--memory={fault.memory}"] if fault.memory else []
    assert run(tree, engine, fault.scenario, *memory, "--seeds=12", seconds=5)["seed"] == -1
