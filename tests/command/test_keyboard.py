"""A Ctrl-C that something swallows stops the command at its next step."""

import signal
import subprocess
import sys
import time

import pytest

from edgewise import __main__
from edgewise.command import keyboard
from edgewise.command.stages import stages


@pytest.fixture
def pressed(monkeypatch):
    names = [name for name in keyboard.WORDS if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    monkeypatch.setattr(keyboard, "_pressed", 0)
    monkeypatch.setattr(keyboard, "AGAIN", 0.2)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    keyboard.watch()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    yield
    with pytest.raises(KeyboardInterrupt):  # once more, since nothing ended
        time.sleep(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    time.sleep(0.4)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_next_step_is_not_begun(pressed):
    begun = []
    with pytest.raises(KeyboardInterrupt), stages() as (stage, _), stage("write", "writing"):
        begun.append("write")
    assert begun == []


def test_reading_stops_at_the_next_batch(monkeypatch):
    monkeypatch.setattr(keyboard, "_pressed", 0)
    with pytest.raises(KeyboardInterrupt), stages() as (stage, _), stage("read", "reading") as progress:
        progress(1, 2)
        monkeypatch.setattr(keyboard, "_pressed", signal.SIGINT)
        progress(2, 2)


def test_the_compiler_is_not_disturbed(monkeypatch):
    def callback():
        return keyboard._is_compiling(sys._getframe())

    assert not callback()
    monkeypatch.setitem(callback.__globals__, "__name__", "llvmlite.binding")
    assert callback()


def test_signals_while_the_command_is_imported():
    """They end it with the words and the status that it has later."""
    assert __main__.WORDS == keyboard.WORDS
    for name in __main__.WORDS:
        script = (
            f"from edgewise import __main__ as m; m.expect_signals(); m.signal.raise_signal(m.signal.{name})"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.stderr == f"edgewise: {keyboard.WORDS[name]}\n"
        assert done.returncode == 128 + getattr(signal, name)


def test_nothing_pressed(monkeypatch):
    monkeypatch.setattr(keyboard, "_pressed", 0)
    keyboard.check_interrupt()
