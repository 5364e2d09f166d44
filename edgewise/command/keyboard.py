"""Ctrl-C, ``kill`` and a closed terminal end a command even inside libraries that do not expect it.

Python handles a signal in the main thread, between two of its instructions, and raises ``KeyboardInterrupt``
there.  The compiler of kernels runs for seconds without one, and loses exceptions in its callbacks.
Therefore a thread is told of every signal at once.  It ends the process where any thread compiles, since
nothing is lost then that a later run would miss: unfinished files are removed.  Otherwise the main thread
ends the command in good order; every step checks whether a signal came, and the signal is repeated until the
command ends.
"""

import atexit
import os
import signal
import sys
import threading
from _thread import interrupt_main
from contextlib import suppress
from functools import partial
from threading import main_thread
from time import monotonic, sleep

from edgewise.errors import EdgewiseError
from edgewise.files.atomic_write import discard_unfinished

#: Seconds after which a Ctrl-C without effect is repeated; longer than the clean-up takes.
AGAIN = 2.0
#: Seconds after which it is repeated if it was postponed, and between two looks at what the threads do.
SOON = 0.02
COMPILERS = "numba", "llvmlite"
#: The page that writes messages; an interrupt between a message and the note of it would write it twice.
MESSAGES = "edgewise.command.standard"
#: Signals that end a command in good order, and what it says then.
WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}
#: What a terminal shows again, and removes: a display of progress has hidden the cursor.
CLEARED = b"\r\x1b[2K\x1b[?25h"

#: Number of the signal that came first, or 0; when it was last raised in the main thread.
_pressed, _raised_at = 0, 0.0
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
    sys.unraisablehook = _swallowed
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
    """Wait for a signal; then end the process as soon as a thread compiles, or repeat the signal."""
    numbers = [getattr(signal, name, None) for name in WORDS]
    while (number := next_byte()[0]) not in numbers:
        pass
    noticed_at = monotonic()
    while True:
        if any(_is_in(frame, COMPILERS) for frame in list(sys._current_frames().values())):
            _end(number)
            return
        now, last = monotonic(), max(noticed_at, _raised_at)
        if (_pressed and not _raised_at) or now > last + AGAIN:
            noticed_at = now
            _send_again(number)
        sleep(SOON)


def _end(number):
    """End the process now, unless the main thread does so already."""
    if not _last_word.acquire(blocking=False):
        return
    words = WORDS[signal.Signals(number).name]
    with suppress(OSError):
        os.write(2, (CLEARED if os.isatty(2) else b"") + f"edgewise: {words}\n".encode())
    _discard()
    os._exit(128 + number)


def leave(status):
    """End the process, at once after an interrupt: threads may use what an orderly exit would destroy.

    Without one, what was registered for the end is done first.  To take the modules apart, which changes
    nothing any more, would take a twentieth of a second, and longer after large graphs.
    """
    for name in WORDS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if _pressed:
        _discard()
        sys.stderr.flush()
        os._exit(status)
    at_end = getattr(atexit, "_run_exitfuncs", None)
    if at_end is None or set(threading.enumerate()) - {main_thread(), _watcher}:
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
    """What an interrupted command says, and its exit status; who asks is to say it."""
    _last_word.acquire()
    number = signal.Signals(_pressed or signal.SIGINT)
    return WORDS[number.name], 128 + number


def check_interrupt():
    """Raise ``KeyboardInterrupt`` if one of the signals came."""
    if _pressed:
        raise KeyboardInterrupt


def _press(number, frame):
    global _pressed, _raised_at
    _pressed = _pressed or number
    if not _is_in(frame, (*COMPILERS, MESSAGES)):  # where it would be lost, it is postponed
        _raised_at = monotonic()
        raise KeyboardInterrupt


def _send_again(number):
    thread = main_thread().ident
    if thread is not None and hasattr(signal, "pthread_kill"):  # wakes a main thread that waits
        signal.pthread_kill(thread, number)
    else:
        interrupt_main(number)


def _discard():
    """Remove unfinished files, also of kernels."""
    discard_unfinished()
    kernels = sys.modules.get("edgewise.device.cache")
    if kernels is not None:
        kernels.discard_drafts()


def _is_in(frame, packages):
    """Whether a frame, or one that it returns to, is of one of the packages."""
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name in packages or name.partition(".")[0] in packages:
            return True
        frame = frame.f_back
    return False


def _swallowed(lost):
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
