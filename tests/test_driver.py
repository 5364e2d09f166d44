"""The driver of GPUs starts in a thread, if a subcommand may use a GPU, and errors are left to CuPy."""

import ctypes
import importlib.util
import threading
from importlib import import_module
from types import SimpleNamespace

import pytest

from edgewise import command, driver
from edgewise.device import ahead

pytestmark = pytest.mark.interpreter


@pytest.fixture
def calls(monkeypatch):
    """What is asked of a driver with two GPUs."""
    made = []

    def get_device(_, number):
        made.append(f"device {number}")
        return 0 if number < 2 else 101

    def get_attribute(value, attribute, _):
        value.value = {driver.MAJOR: 9, driver.MINOR: 0}[attribute]
        return 0

    library = SimpleNamespace(
        cuInit=lambda flags: made.append("init") or 0,
        cuDeviceGet=get_device,
        cuDeviceGetAttribute=get_attribute,
        cuDevicePrimaryCtxRetain=lambda *_: made.append("context"),
    )
    monkeypatch.setattr(driver, "_found", [])
    monkeypatch.setattr(driver, "_waiting", [])
    monkeypatch.setattr(ctypes, "byref", lambda value: value)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    for name in driver.WITHOUT_GPU:
        monkeypatch.setenv(name, "0")
    driver.start.cache_clear()
    yield made
    driver.start.cache_clear()


def wait():
    for thread in threading.enumerate():
        if thread.name == "edgewise-driver":
            thread.join()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("components pairs.csv", ["init", "device 0", "context"]),
        ("components pairs.csv --device cuda", ["init", "device 0", "context"]),
        ("components pairs.csv --device=gpu:1", ["init", "device 1", "context"]),
        ("paths pairs.csv --device cuda:2", ["init", "device 2"]),
        ("components pairs.csv --device cpu", []),
        ("components pairs.csv --device", []),
        ("components pairs.csv --devices cuda:0,cuda:1", []),
        ("components pairs.csv --device nothing", []),
        ("generate rmat 8", []),
        ("generate rmat 8 --device cuda", ["init", "device 0", "context"]),
        ("convert a.csv b.csv", []),
        ("components --help", []),
        ("", []),
    ],
)
def test_commands_start_the_driver(words, expected, calls, monkeypatch):
    monkeypatch.setattr(command, "run", lambda *_: 0)
    monkeypatch.setattr(command.keyboard, "leave", lambda status: None)
    monkeypatch.setattr(command.notices, "command", None)
    monkeypatch.setattr(command.standard, "prepare", lambda: None)
    command.main(words.split())
    wait()
    assert calls == expected


def test_nothing_happens_without_cupy_or_a_driver(calls, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    driver.start(0)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError("no such library")))
    driver.start(1)
    wait()
    assert calls == []


@pytest.mark.parametrize("name", driver.WITHOUT_GPU)
def test_nothing_happens_where_kernels_are_not_compiled(name, calls, monkeypatch):
    monkeypatch.setenv(name, "1")
    assert not driver.start(0)
    wait()
    assert calls == []


def test_who_waits_for_the_compute_capability_is_told_once(calls):
    told = []
    driver.when_found(lambda capability: told.append(("early", capability)))
    driver.start(0)
    wait()
    driver.when_found(lambda capability: told.append(("late", capability)))
    assert told == [("early", (9, 0)), ("late", (9, 0))]


def test_nobody_is_told_of_a_gpu_that_is_not_there(calls):
    told = []
    driver.when_found(told.append)
    driver.start(2)
    wait()
    assert told == []


def test_commands_on_a_gpu_compile_ahead(calls, monkeypatch):
    started = []
    monkeypatch.setattr(
        ahead, "start_for_gpu", lambda capability, command: started.append((capability, command))
    )
    monkeypatch.setattr(command.keyboard, "watch", lambda: None)
    monkeypatch.setattr(command.notices, "command", "paths")
    monkeypatch.setattr(command.notices, "first_kernel", None)
    assert driver.start(1)
    wait()
    command._begin(on_gpu=True, arguments=["paths"])
    assert started == [((9, 0), "paths")]
    assert command.notices.first_kernel is None


def test_commands_on_the_cpu_compile_ahead_from_the_first_kernel_on(monkeypatch):
    started = []
    monkeypatch.setattr(ahead, "start_for_gpu", None)
    monkeypatch.setattr(ahead, "start_on_cpu", lambda *given: started.append(given))
    monkeypatch.setattr(command.keyboard, "watch", lambda: None)
    monkeypatch.setattr(command.notices, "first_kernel", None)
    command._begin(on_gpu=False, arguments=["paths", "roads.gr"])
    assert not started
    command.notices.first_kernel("edgewise.some", "(int64,)")
    assert started == [(["paths", "roads.gr"], "edgewise.some", "(int64,)")]


@pytest.mark.parametrize("name", command.PAGES)
def test_subcommands_that_use_a_gpu_by_default(name):
    page = import_module(f"edgewise.command.{command.HOMES.get(name, name)}")
    function = getattr(page, name.replace("-", "_"), None)
    has_device = "device" in getattr(function, "__signature__", SimpleNamespace(parameters=())).parameters
    if not has_device and function is not None:
        has_device = "device" in getattr(function, "__annotations__", {})
    assert has_device == (name not in command.ON_CPU)
