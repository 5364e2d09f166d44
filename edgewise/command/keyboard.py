"""Ctrl-C, ``kill`` and a closed terminal end a command within a second, whatever it is doing.

Python handles a signal in the main thread, between two of its instructions, and raises ``KeyboardInterrupt``
there.  A kernel may run for seconds without one, the compiler loses exceptions in its callbacks, and
libraries make other errors of them.  Therefore a thread is told of every signal at once.  Unless the main
thread ends the command in good order in half a second, it removes what is unfinished and ends the process;
while a thread compiles, it does so immediately.  Nothing is lost that a later run would miss: a step that has
to be completed, such as to save a checkpoint, is waited for.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import main_thread
from time import monotonic, sleep

from edgewise import unfinished
from edgewise.errors import EdgewiseError
from edgewise.printable import printable

#: Seconds that the main thread has to end the command.
PATIENCE = 0.5
#: Seconds between two looks at what the threads do.
SOON = 0.02
COMPILERS = "numba", "llvmlite"
#: The page that writes messages; an interrupt between a message and the note of it would write it twice.
MESSAGES = "edgewise.command.standard"
#: Signals that end a command in good order, and what it says then.
WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}
#: What a terminal shows again, and removes: a display of progress has hidden the cursor.
CLEARED = b"\r\x1b[2K\x1b[?25h"

#: What an interrupted command says first.
_remark: Callable[[], str | None] | None = None
#: Number of the signal that came first, or 0.
_pressed = 0
#: Who has it says how the command ends: the main thread, or the one that watches.
_last_word = threading.RLock()
_watcher: threading.Thread | None = None


def watch():
    """Handle these signals from now on, except those that the shell wants to be ignored."""
    global _watcher
    for name in WORDS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _press)
    sys.excepthook = _uncaught
    sys.unraisablehook = partial(_unless_pressed, sys.unraisablehook)
    threading.excepthook = partial(_unless_pressed, threading.excepthook)
    if _watcher is None:
        descriptor, next_byte = _pipe()
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
        if hasattr(os, "register_at_fork"):  # what the child is sent is not for this process
            os.register_at_fork(after_in_child=partial(signal.set_wakeup_fd, -1))
        _watcher = threading.Thread(target=_watch, args=(next_byte,), name="edgewise-keyboard", daemon=True)
        _watcher.start()


def _pipe():
    """The descriptor to which signals are written, and a function that waits for one."""
    if os.name == "nt":  # there it must be a socket
        from socket import socketpair

        reader, writer = socketpair()
        writer.setblocking(False)
        return writer.detach(), partial(reader.recv, 1)
    descriptor, end = os.pipe()
    os.set_blocking(end, False)
    return end, partial(os.read, descriptor, 1)


def _watch(next_byte):
    """Wait for a signal; then end the process when a thread compiles, or the main thread does not end it."""
    numbers = [getattr(signal, name, None) for name in WORDS]
    while (number := next_byte()[0]) not in numbers:
        pass
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        if any(_is_in(frame, COMPILERS) for frame in list(sys._current_frames().values())):
            break
        if unfinished.must_complete():
            deadline = monotonic() + PATIENCE
        sleep(SOON)
    _end(number)


def _end(number):
    """End the process now, unless another thread does so already."""
    if not _last_word.acquire(blocking=False):
        return
    _silence()
    lines = f"{_remarked()}edgewise: {WORDS[signal.Signals(number).name]}\n"
    with suppress(OSError):
        os.write(2, (CLEARED if os.isatty(2) else b"") + lines.encode(errors="backslashreplace"))
    unfinished.abandon()
    os._exit(128 + number)


def _silence():
    """Let no library say what it thinks of the end of the command."""
    if logging := sys.modules.get("logging"):
        logging.disable()


def leave(status):
    """End the process, at once after an interrupt: threads may use what an orderly exit would destroy.

    Without one, what was registered for the end is done first.  To take the modules apart, which changes
    nothing any more, would take a tenth of a second, and longer after large graphs.
    """
    for name in WORDS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if _pressed:
        unfinished.abandon()
        sys.stderr.flush()
        os._exit(status)
    at_end = getattr(atexit, "_run_exitfuncs", None)
    if at_end is None or any(one is not main_thread() and not one.daemon for one in threading.enumerate()):
        sys.exit(status)
    at_end()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, EdgewiseError):
            stream.flush()
    os._exit(status)


def interrupted() -> bool:
    """Whether one of the signals came."""
    return bool(_pressed)


@contextmanager
def remark(words: Callable[[], str | None]) -> Iterator[None]:
    """Context in which a command that a signal ends first says ``words()``, unless that is ``None``."""
    global _remark
    _remark = words
    yield
    _remark = None


def _remarked():
    """The line of the remark, or nothing."""
    global _remark
    words, _remark = _remark and _remark(), None
    return f"edgewise: {printable(words)}\n" if words else ""


def ending() -> tuple[str, int]:
    """What an interrupted command says, and its exit status; who asks is to say it."""
    _last_word.acquire()
    sys.stderr.write(_remarked())
    number = signal.Signals(_pressed or signal.SIGINT)
    return WORDS[number.name], 128 + number


def check_interrupt():
    """Raise ``KeyboardInterrupt`` if one of the signals came."""
    if _pressed:
        raise KeyboardInterrupt


def _press(number, frame):
    """Raise ``KeyboardInterrupt``, once, and not where it would be lost."""
    global _pressed
    if _pressed:
        return
    _pressed = number
    _silence()
    unfinished.end_sessions(patience=0)
    if not _is_in(frame, (*COMPILERS, MESSAGES)):
        raise KeyboardInterrupt


def _is_in(frame, packages):
    """Whether a frame, or one that it returns to, is of one of the packages."""
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name in packages or name.partition(".")[0] in packages:
            return True
        frame = frame.f_back
    return False


def _uncaught(kind, error, trace):
    """End the process, whose command has ended already when a signal came."""
    if _pressed:
        _end(_pressed)
    sys.__excepthook__(kind, error, trace)


def _unless_pressed(hook, lost):
    if not _pressed:
        hook(lost)
