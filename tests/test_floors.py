"""The oldest versions that are allowed are those that are tested."""

import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.interpreter
ROOT = Path(__file__).resolve().parent.parent


def test_the_floors_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    allowed = dict(one.split(">=") for one in project["dependencies"])
    lines = (ROOT / "tests" / "floors.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert allowed == {name: re.sub(r"\.0$", "", version) for name, version in tested.items()}
