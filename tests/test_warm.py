"""Options of ``warmup`` are divided among processes, and a process that fails is told."""

import inspect

import pytest

from edgewise import warm
from edgewise.device import ahead_on_cpu, cache, usable_cores
from edgewise.errors import WorkerError

pytestmark = pytest.mark.interpreter


@pytest.fixture
def noted(monkeypatch, tmp_path):
    """Make processes only write a kernel's file and their options; return these, after :data:`warm.START`."""
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("EDGEWISE_QUIET", "1")
    monkeypatch.setattr(usable_cores, "usable_cores", lambda: 2)
    cache.folder.cache_clear()
    folder = cache.folder()
    write = f"from pathlib import Path; Path({str(folder)!r}, '-'.join({{options}}) + '.nbc').touch()"
    monkeypatch.setattr(warm, "START", f"bool({{path}} and {{commands}} and {{folder!r}}); {write}")
    yield lambda: sorted(path.stem for path in folder.glob("*.nbc"))
    cache.folder.cache_clear()


def test_a_process_for_each_core(noted):
    shown = []
    warm.compile_in_processes(["cores", "paths", "partitions"], lambda *both: shown.append(both))
    assert noted() == ["partitions-cores", "paths"]
    total = sum(warm.KERNELS[option] for option in ("cores", "paths", "partitions"))
    assert shown and all(0 <= done <= 2 and of == total for done, of in shown)


def test_a_process_that_fails(noted, monkeypatch):
    start = "import sys; sys.exit(3 * ('paths' in {options}) if {path} and {commands} and {folder!r} else 0)"
    monkeypatch.setattr(warm, "START", start)
    with pytest.raises(WorkerError, match="for paths has ended with status 3; run edgewise warmup --paths"):
        warm.compile_in_processes(["paths", "partitions"], lambda done, total: None)


def test_every_command_of_the_list_belongs_to_an_option():
    listed = {run["words"][0] for run in ahead_on_cpu.runs()}
    assert listed == {command for commands in warm.COMMANDS.values() for command in commands}
    assert warm.COMMANDS.keys() == warm.KERNELS.keys()


def test_every_option_is_a_parameter():
    parameters = inspect.signature(warm.warmup).parameters.values()
    assert {*warm.KERNELS} == {one.name for one in parameters if one.default is False}
