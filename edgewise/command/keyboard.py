"""Ctrl-C, ``kill`` and a closed terminal end a command even inside libraries that do not expect it.

A bare ``except`` swallows ``KeyboardInterrupt``, and a callback from the compiler returns garbage because of
it.  Therefore the interrupt is postponed while the compiler works, and recorded: every step of a command
checks the record, and the signal is repeated until the command ends.
"""

import atexit
import os
import signal
import sys
import threading
from _thread import interrupt_main
from contextlib import suppress
from threading import Timer, main_thread

from edgewise.errors import EdgewiseError
from edgewise.files.atomic_write import discard_unfinished

#: Seconds after which a Ctrl-C without effect is repeated; longer than the clean-up takes.
AGAIN = 2.0
#: Seconds after which it is repeated if the compiler was running.
SOON = 0.02
COMPILER = "llvmlite"
#: The page that writes messages; an interrupt between a message and the note of it would write it twice.
MESSAGES = "edgewise.command.standard"
#: Signals that end a command in good order, and what it says then.
WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}

#: Number of the signal that came first, or 0.
_pressed = 0


def watch():
    """Handle these signals from now on, except those that the shell wants to be ignored."""
    for name in WORDS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _press)
    sys.unraisablehook = _swallowed


def leave(status):
    """End the process, at once after an interrupt: threads may use what an orderly exit would destroy.

    Without one, what was registered for the end is done first.  To take the modules apart, which changes
    nothing any more, would take a twentieth of a second, and longer after large graphs.
    """
    for name in WORDS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if _pressed:
        discard_unfinished()
        sys.stderr.flush()
        os._exit(status)
    at_end = getattr(atexit, "_run_exitfuncs", None)
    if at_end is None or threading.active_count() > 1:
        sys.exit(status)
    at_end()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, EdgewiseError):
            stream.flush()
    os._exit(status)


def interrupted() -> bool:
    """Whether one of the signals came."""
    return bool(_pressed)


def ending() -> tuple[str, int]:
    """What an interrupted command says, and its exit status."""
    number = signal.Signals(_pressed or signal.SIGINT)
    return WORDS[number.name], 128 + number


def check_interrupt():
    """Raise ``KeyboardInterrupt`` if one of the signals came."""
    if _pressed:
        raise KeyboardInterrupt


def _press(number, frame):
    global _pressed
    _pressed = _pressed or number
    compiling = _is_compiling(frame)
    once_more = Timer(SOON if compiling else AGAIN, _again)
    once_more.daemon = True
    once_more.start()
    if not compiling:
        raise KeyboardInterrupt


def _again():
    if hasattr(signal, "pthread_kill"):  # wakes a main thread that waits
        signal.pthread_kill(main_thread().ident, _pressed or signal.SIGINT)
    else:
        interrupt_main()


def _is_compiling(frame):
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == MESSAGES or name.partition(".")[0] == COMPILER:
            return True
        frame = frame.f_back
    return False


def _swallowed(lost):
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
