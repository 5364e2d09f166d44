"""The record of limits: each says what it separates and where it was measured, and is read somewhere."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from edgewise import tuning

PACKAGE = Path(tuning.__file__).parent
ROOMS = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
LIMITS = tuning.described()
pytestmark = pytest.mark.interpreter


def test_a_limit_says_what_it_separates_where_and_when():
    for _, name, value, limit in LIMITS:
        assert value > 0, name
        assert limit.unit and limit.measured, name
        assert re.fullmatch(r"\S.* \| .*\S", limit.separates), name
        assert date.fromisoformat(limit.date), name


def test_a_limit_is_named_by_its_room_and_read_there():
    for kind, name, _, _ in LIMITS:
        room, record = name.partition("_")[0], {"cpu": "CPU", "cuda": "GPU"}[kind]
        assert room in ROOMS, name
        pages = [page.read_text() for page in (PACKAGE / room).rglob("*.py")]
        assert any(f"tuning.{record}" in page and f".{name}" in page for page in pages), name


def test_another_record_takes_the_place(monkeypatch):
    kind, name, value, _ = LIMITS[0]
    assert kind == "cpu"
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, **{name: value + 1}))
    assert tuning.described()[0][:3] == (kind, name, value + 1)
