"""A signal ends the command, whatever swallows it or does not let Python see it."""

import os
import signal
import subprocess
import sys

import pytest

from edgewise import __main__
from edgewise.command import keyboard
from edgewise.command.stages import stages

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def run(script):
    """Run a script in a process that watches the keyboard; return its status, output and messages."""
    before = "import os, signal, sys, time\nfrom edgewise.command import keyboard\n"
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
def test_a_lost_signal_ends_the_process():
    status, _, said = run(f"{LOSES}\nlose()\ntime.sleep(60)")
    assert (status, said) == (130, "edgewise: interrupted\n")


@posix
def test_a_signal_after_the_command():
    status, _, said = run("signal.raise_signal(signal.SIGTERM)")
    assert (status, said) == (143, "edgewise: terminated\n")


#: Never ends, and sees no signal; another thread sends one, for which it takes the lock of the interpreter.
ENDLESS = """
import threading
import numpy as np
from edgewise.device import compiled, load

@compiled
def endless(steps):
    count = 0
    while load(steps, 0) >= 0:
        count += 1
    return count

endless(np.full(1, -1))
threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
endless(np.ones(1, np.int64))
"""


@posix
def test_a_signal_ends_the_process_while_a_kernel_runs(tmp_path):
    begun = """
from edgewise.files.atomic_write import atomic_write
context = keyboard.remark(lambda: "repeat the command")
context.__enter__()
part = atomic_write("whole.csv")
part.__enter__().write_text("half")
assert len(os.listdir()) == 1
"""
    status, out, said = run(f"os.chdir({str(tmp_path)!r})\n{begun}{ENDLESS}")
    assert (status, out, said) == (130, "", "edgewise: repeat the command\nedgewise: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_step_that_is_to_be_completed(tmp_path):
    """It takes twice as long as the main thread has otherwise."""
    file = tmp_path / "whole"
    script = f"""
from pathlib import Path
from edgewise.unfinished import to_be_completed
with to_be_completed():
    lose()
    time.sleep(2 * keyboard.PATIENCE)
    Path({str(file)!r}).touch()
time.sleep(60)
"""
    status, _, said = run(LOSES + script)
    assert (status, said) == (130, "edgewise: interrupted\n")
    assert file.exists()


#: Says the number of a process that ends with its session only.
SESSION = """
from edgewise import unfinished
words = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"]
with unfinished.session(words) as leader:
    os.write(1, leader.stdout.readline())
    {then}
"""


@posix
@pytest.mark.parametrize(
    "then",
    (
        "pass",
        "raise KeyboardInterrupt",
        "signal.raise_signal(signal.SIGINT)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, (2,)); os.kill(os.getpid(), 2); time.sleep(60)",
    ),
    ids=["end", "error", "signal", "unseen signal"],
)
def test_sessions_end(then):
    _, out, _ = run(SESSION.format(then=then))
    with pytest.raises(ProcessLookupError):
        os.kill(int(out), 0)


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("thread, module", [("main", "llvmlite.binding"), ("other", "numba.core.codegen")])
def test_a_signal_ends_the_process_while_a_thread_compiles(name, module, thread, tmp_path):
    """Whatever the compiler does with exceptions: here it loses them all, and comes to no end."""
    part = tmp_path / "part"
    script = f"""
import threading, types
from pathlib import Path
from edgewise import unfinished
Path({str(part)!r}).touch()
unfinished.begin(Path({str(part)!r}))
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


@pytest.mark.parametrize("waits", (False, True))
def test_the_end_waits_for_threads_that_have_to_end_alone(waits):
    """Others, such as those that help with loops, do not make a command take its modules apart."""
    script = f"""
import atexit, threading
class Module:
    def __del__(self):
        os.write(1, b"taken apart\\n")
module = Module()
atexit.register(print, "end", flush=True)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
threading.Thread(target=time.sleep, args=(0.2,), daemon={not waits}).start()
keyboard.leave(3)
"""
    assert run(script) == (3, "end\ntaken apart\n" if waits else "end\n", "")


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
