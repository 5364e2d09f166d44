"""Ctrl-C in Python code while Numba is imported, or compiles.

An exception between any two instructions of Numba may leave it half imported, or with half of its tables, so
that the next call fails; in a callback of LLVM it is lost.  The command has its own handler of the signal,
which ends the process (:mod:`edgewise.command.keyboard`).
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from types import FrameType

#: Seconds after which an interrupt that came inside of the compiler is sent again.
SOON = 0.02
COMPILERS = "numba", "llvmlite"


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Context in which Python's own handler of Ctrl-C raises ``KeyboardInterrupt`` outside of Numba only.

    The signal is sent again until that is so, which takes as long as it takes to compile one kernel.
    """
    own = signal.default_int_handler
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not own:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, own)


def _interrupt(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if (frame.f_globals.get("__name__") or "").partition(".")[0] in COMPILERS:
            again = Timer(SOON, _send, [number])
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _send(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # wakes a main thread that waits
        signal.pthread_kill(main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
