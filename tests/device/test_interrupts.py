"""Ctrl-C is neither lost in the compiler nor raised in the middle of it, and its handler is restored."""

import signal
import threading
import time

import numpy as np
import pytest

from edgewise.device import interrupts, python_threads

pytestmark = [
    pytest.mark.interpreter,
    pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX"),
]


@pytest.mark.parametrize("module", ["numba.core.base", "llvmlite.binding.ffi"])
def test_it_is_raised_once_the_compiler_is_left(module, monkeypatch):
    def compiler():
        signal.raise_signal(signal.SIGINT)
        return "compiled"

    compiled = None
    with pytest.raises(KeyboardInterrupt), interrupts.interrupts_kept():
        with monkeypatch.context() as inside:
            inside.setitem(globals(), "__name__", module)
            compiled = compiler()
            time.sleep(0.1)
        time.sleep(10)
    assert compiled == "compiled"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_raised_elsewhere_at_once():
    with pytest.raises(KeyboardInterrupt), interrupts.interrupts_kept():
        signal.raise_signal(signal.SIGINT)


def test_handlers_of_others_are_left_alone(monkeypatch):
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with interrupts.interrupts_kept():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [1]


def test_other_threads_set_no_handlers():
    entered = []

    def work():
        with interrupts.interrupts_kept():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]


def test_workers_that_are_python_threads_end_first():
    """However often Ctrl-C is pressed; those that wait for others see the flag."""
    main, flag, begun, ended = threading.main_thread().ident, np.zeros(1, np.int32), [], []
    is_over = threading.Event()

    def call(worker_id):
        begun.append(worker_id)
        if worker_id == 1:
            signal.pthread_kill(main, signal.SIGINT)
        end = time.monotonic() + 30
        while not flag[0] and time.monotonic() < end:
            time.sleep(0.001)
        if not is_over.is_set():
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.02)
        ended.append(worker_id)

    with pytest.raises(KeyboardInterrupt):
        try:
            python_threads.run(call, 2, flag)
        finally:
            is_over.set()
    assert flag[0] == 1 and 1 in ended
    assert sorted(begun) == sorted(ended)
