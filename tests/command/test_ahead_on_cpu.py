"""What commands need on the CPU: they compile the kernels of the list."""

import importlib.util
from pathlib import Path

import pytest

from edgewise.device import ahead
from edgewise.device.numba_internals import HAS_CACHE
from edgewise.device.target import INTERPRETED, SIMULATED

pytestmark = pytest.mark.skipif(
    INTERPRETED or SIMULATED or not HAS_CACHE, reason="it is the compiler that keeps kernels"
)
PAGE = Path(__file__).parent.parent.parent / "bench" / "usual_kernels.py"
COMMANDS = ("partition mesh.graph 8", "paths roads.gr --source 1 --to 5000", "forest weighted.csv")
COMMANDS += ("strong pairs.csv", "cores pairs.csv")
COMMANDS += ("clusters apply store --add scores.parquet --remove first.parquet",)


@pytest.fixture(scope="module")
def listing():
    """The page that makes the list."""
    specification = importlib.util.spec_from_file_location("usual_kernels", PAGE)
    page = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(page)
    return page


@pytest.fixture(scope="module")
def folder(listing, tmp_path_factory):
    """A folder with the input of the commands."""
    folder = tmp_path_factory.mktemp("inputs")
    listing.make_files(folder)
    return folder


@pytest.mark.release
@pytest.mark.parametrize("words", COMMANDS)
def test_commands_need_usual_kernels(words, listing, folder, monkeypatch):
    found = []
    monkeypatch.setattr(ahead, "share", lambda numbers, needed: found.extend(numbers))
    needed = listing.kernels_of("cpu", words.split(), folder)
    assert ahead.start_on_cpu(words.split(), needed[0][0], repr(ahead.types_of(needed[0][1])))
    usual = ahead.runs()[found[0]]["kernels"]
    assert [kernel for kernel in needed if kernel not in usual] == []


def test_all_functions_of_the_list_are_there():
    """A name that is not would end what is compiled ahead."""
    for run in ahead.runs():
        if run["device"] == "cpu":
            for name, written in run["kernels"]:
                assert ahead.function_named(name) and ahead.types_of(written)
