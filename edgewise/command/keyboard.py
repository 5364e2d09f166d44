"""Ctrl-C is obeyed even where a library cannot bear it.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be.  A bare ``except`` there loses it,
and a callback from the compiler returns rubbish for it.  So it waits for the compiler, and it is remembered:
asked for between the steps of a command, and raised again until the command ends.
"""

import os
import signal
import sys
from _thread import interrupt_main
from threading import Timer, main_thread

#: Seconds after which Ctrl-C that had no effect is tried again; longer than tidying up takes.
AGAIN = 2.0
#: Seconds after which it is tried again if the compiler was at work.
SOON = 0.02
COMPILER = "llvmlite"

_pressed = False


def watch():
    """Obey Ctrl-C from now on."""
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = _swallowed


def leave(status):
    """End the process; Ctrl-C comes too late now.

    Threads that were interrupted may still use what an orderly end would take away, so there is none then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _pressed:
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def obey():
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
