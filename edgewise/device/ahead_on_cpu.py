"""Compiling ahead for CPU cores: while a command compiles a kernel, other processes compile later ones.

Numba compiles on one core, and in Python for the most part, so a process cannot use a second core for it.
The first kernel that a command has to compile, and that is in the list, therefore starts processes for the
other cores.  They compile the kernels that such a command usually needs (``usual_cpu_kernels.json``), from
the last one backwards, while the command compiles those that it needs first; where they meet, the rest is
there already.  The kernel that a process compiles is locked (:func:`~edgewise.device.cache.sole`): the
command waits for such a kernel, the processes leave it out.  They end with the command, however that ends.

A process takes more than a second to import the compiler, so none is started where little is left to do, and
none where kernels came with the package.
"""

import atexit
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import cache as memoize
from functools import partial
from pathlib import Path
from typing import Any

from edgewise import notices, unfinished
from edgewise.device import cache, launch, threads
from edgewise.device.ahead import imported, kinds_of
from edgewise.device.usable_cores import usable_cores
from edgewise.garbage_collection import collection_paused

#: Kernels with their argument types in the order of need, by the words of a command; made by
#: ``bench/usual_cpu_kernels.py``.
USUAL = Path(__file__).with_name("usual_cpu_kernels.json")
#: Processes on a machine with many cores: the slowest kernel of a command takes a third of its time.
PROCESSES = 3
#: Kernels that are worth a process.  Components need fewer: they are in the list so that they are counted.
FEWEST_KERNELS = 6
START = "import sys; sys.path[:] = {path}; from edgewise.device.ahead_on_cpu import compile_usual; "
START += "compile_usual({number})"
#: Seconds between two looks at what another process compiles.
POLL_SECONDS = 0.005


class _CompiledElsewhere(Exception):
    """Another process compiles the kernel."""


def start(words: list[str], name: str, signature: str) -> bool:
    """Start the processes for a command, given by its words, and by a kernel that it has to compile.

    Returns whether it is known what the command needs, so that there is nothing to start for later kernels.
    """
    if cache.shipped_folder() is not None or not cache.keeps_of_all_processes():
        return True
    number, needed = _run_of(words, name, signature)
    if number is None:
        return False
    chosen = os.environ.get("EDGEWISE_COMPILE_AHEAD", "1") not in ("", "0")
    there = cache.names_of_kernels()
    known = set(there)
    missing = [one for one in needed if one not in known]
    cache.progress = partial(_progress, len(missing), len(there), time.monotonic())
    if len(missing) < FEWEST_KERNELS or not chosen or not os.access(cache.folder() or "", os.W_OK):
        return True
    child = [sys.executable, "-c", START.format(path=sys.path, number=number)]
    running, stack = [], ExitStack()
    with suppress(OSError):  # too many processes, say
        for _ in range(processes()):
            running.append(stack.enter_context(unfinished.session(child, quiet=True)))
    if running:
        atexit.register(stack.close)
        cache.wait_for_other = partial(_wait, running)
    return True


def _wait(running, name):
    """Wait for a kernel that another process compiles, unless none of those that were started runs still."""
    if all(one.poll() is not None for one in running):
        cache.wait_for_other = None
    time.sleep(POLL_SECONDS)


def _progress(total, before, began):
    """In words: how many of the kernels that a command needs are there, and how long the others take."""
    done = max(0, len(cache.names_of_kernels()) - before)
    if done >= total:
        return ""
    left = f", {(time.monotonic() - began) / done * (total - done):.0f} s left" if done else ""
    return f" ({done} of about {total} kernels{left})"


def _run_of(words, name, signature):
    """The first run whose words a command has, and that has a kernel.

    Returns its number in the list, or ``None``, and the names of its kernels from that one on.
    """
    for number, run in enumerate(runs()):
        if {*run["words"]} <= {*words}:
            for position, (one, kinds) in enumerate(run["kernels"]):
                if one == name and repr(types_of(kinds)) == signature:
                    return number, [kernel[0] for kernel in run["kernels"][position:]]
    return None, []


@memoize
def runs() -> list[dict[str, Any]]:
    """The usual runs of commands, each with its ``words`` and its ``kernels`` in the order of need."""
    return json.loads(USUAL.read_text())


def processes() -> int:
    """How many processes compile ahead: on Linux one for each further core that the command may use."""
    if not hasattr(os, "sched_getaffinity"):
        return 0
    return min(usable_cores() - 1, threads.count() - 1, PROCESSES)


def compile_usual(number: int) -> None:
    """Compile the kernels of a run, the last one first, in a process that :func:`start` has started."""
    unfinished.end_with_caller()
    notices.listener = lambda name: None
    compile_free(reversed(runs()[number]["kernels"]))


def kernels_of(commands: Sequence[str]) -> list[list]:
    """The kernels of all runs of some commands, each once, in an order in which slow ones come early."""
    found: list[list] = []
    for run in runs():
        if run["words"][0] in commands:
            found += [kernel for kernel in reversed(run["kernels"]) if kernel not in found]
    return found


def compile_free(kernels: Iterable[list]) -> None:
    """Compile kernels, given as the list has them, but for those that another process compiles."""
    cache.wait_for_other = _leave
    for name, kinds in kernels:
        with suppress(Exception), collection_paused():  # the command that needs it shows the error
            function = function_named(name).cpu.function
            getattr(function, "dispatcher", function).compile(types_of(kinds))
        cache.unlock_kernels()
    cache.wait_for_other = None


def _leave(name):
    raise _CompiledElsewhere(name)


def function_named(name: str):
    """A loop, region or compiled function, by its full name."""
    return imported(name, threads.by_name)


def types_of(kinds) -> tuple:
    """Numba's types of arguments, from how they are written in the file."""
    return tuple(map(launch.numba_type, kinds_of(kinds)))


def written_as(signature) -> list:
    """Numba's types of arguments as the file has them."""
    return [_written(kind) for kind in signature]


def _written(kind):
    if hasattr(kind, "types"):  # a tuple
        made = getattr(kind, "instance_class", tuple)
        return [f"{made.__module__}:{made.__qualname__}", written_as(kind.types)]
    return f"{kind.dtype.name}[]" if hasattr(kind, "dtype") else kind.name
