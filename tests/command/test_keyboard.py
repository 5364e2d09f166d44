"""A Ctrl-C that something swallows stops the command at its next step."""

import os
import signal
import subprocess
import sys

import pytest

from edgewise import __main__
from edgewise.command import keyboard
from edgewise.command.stages import stages

pytestmark = pytest.mark.interpreter
posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def run(script):
    """Run a script in a process that watches the keyboard; return its status, output and messages."""
    before = "import os, signal, sys, time\nfrom edgewise.command import keyboard\nkeyboard.AGAIN = 0.2\n"
    script = f"{before}signal.signal(signal.SIGINT, signal.default_int_handler)\nkeyboard.watch()\n{script}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


LOSES = """
def lose():
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        print("lost")
"""


@posix
def test_the_next_step_is_not_begun():
    script = (
        LOSES
        + """
from edgewise.command.stages import stages
lose()
try:
    with stages() as (stage, _), stage("write", "writing"):
        print("begun")
except KeyboardInterrupt:
    print("ended")
os._exit(0)
"""
    )
    assert run(script) == (0, "lost\nended\n", "")


@posix
def test_a_lost_signal_is_repeated():
    script = (
        LOSES
        + """
lose()
try:
    time.sleep(30)
except KeyboardInterrupt:
    print("again")
    keyboard.ending()
    os._exit(5)
"""
    )
    status, out, said = run(script.replace('print("again")', 'print("again", flush=True)'))
    assert (status, out.splitlines()[-1], said) == (5, "again", "")


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("thread, module", [("main", "llvmlite.binding"), ("other", "numba.core.codegen")])
def test_a_signal_ends_the_process_while_a_thread_compiles(name, module, thread, tmp_path):
    """Whatever the compiler does with exceptions: here it loses them all, and comes to no end."""
    part = tmp_path / "part"
    script = f"""
import threading, types
from pathlib import Path
from edgewise.device import cache
from edgewise.files import atomic_write
for part, known in (({str(part)!r}, atomic_write._unfinished), ({str(part) + "2"!r}, cache._drafts)):
    Path(part).touch()
    known.add(Path(part))
def compile():
    threading.Timer(0.2, os.kill, [os.getpid(), signal.{name}]).start()
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
compile = types.FunctionType(compile.__code__, globals() | {{"__name__": {module!r}}})
if {thread!r} == "main":
    compile()
threading.Thread(target=compile).start()
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""
    status, out, said = run(script)
    number = getattr(signal, name)
    assert (status, out, said) == (128 + number, "", f"edgewise: {keyboard.WORDS[name]}\n")
    assert list(tmp_path.iterdir()) == []


@posix
def test_what_a_forked_child_is_sent_is_not_for_its_parent():
    script = """
child = os.fork()
if child == 0:
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        os._exit(3)
time.sleep(0.2)
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
time.sleep(0.5)
"""
    assert run(script)[:2] == (0, "3\n")


def test_reading_stops_at_the_next_batch(monkeypatch):
    monkeypatch.setattr(keyboard, "_pressed", 0)
    with pytest.raises(KeyboardInterrupt), stages() as (stage, _), stage("read", "reading") as progress:
        progress(1, 2)
        monkeypatch.setattr(keyboard, "_pressed", signal.SIGINT)
        progress(2, 2)


def test_the_compiler_is_not_disturbed(monkeypatch):
    def callback():
        return keyboard._is_in(sys._getframe(), keyboard.COMPILERS)

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
