"""Ctrl-C interrupts a command even inside libraries that do not expect it.

A bare ``except`` swallows ``KeyboardInterrupt``, and a callback from the compiler returns garbage because of
it.  Therefore the interrupt is postponed while the compiler works, and recorded: every step of a command
checks the record, and the signal is repeated until the command ends.
"""

import os
import signal
import sys
from _thread import interrupt_main
from threading import Timer, main_thread

#: Seconds after which a Ctrl-C without effect is repeated; longer than the clean-up takes.
AGAIN = 2.0
#: Seconds after which it is repeated if the compiler was running.
SOON = 0.02
COMPILER = "llvmlite"

_pressed = False


def watch():
    """Handle Ctrl-C from now on."""
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = _swallowed


def leave(status):
    """End the process, at once after an interrupt: threads may use what an orderly exit would destroy."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _pressed:
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def check_interrupt():
    """Raise ``KeyboardInterrupt`` if Ctrl-C was pressed."""
    if _pressed:
        raise KeyboardInterrupt


def _press(_, frame):
    global _pressed
    _pressed = True
    compiling = _is_compiling(frame)
    once_more = Timer(SOON if compiling else AGAIN, _again)
    once_more.daemon = True
    once_more.start()
    if not compiling:
        raise KeyboardInterrupt


def _again():
    if hasattr(signal, "pthread_kill"):  # wakes a main thread that waits
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
    else:
        interrupt_main()


def _is_compiling(frame):
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == COMPILER:
            return True
        frame = frame.f_back
    return False


def _swallowed(lost):
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
