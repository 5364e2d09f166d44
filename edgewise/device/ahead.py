"""Compiling ahead: other processes compile the kernels that a command will need, while it does other things.

The compilers of kernels work on one core, in Python for the most part, so a process cannot use another core
for them.  The list ``usual_kernels.json`` has the kernels that commands need.  A process imports the compiler
and forks; then each of its copies compiles those kernels of the list that no other process compiles.  Whoever
compiles a kernel has its lock (:func:`~edgewise.device.cache.sole`), so processes share the work without a
plan, and none is done twice.  Nothing is started where kernels came with the package.

On a GPU the first command that uses a kind of GPU starts the processes as soon as it knows that kind, while
it reads its input and CuPy starts.  Most of them begin with the kernels of the command, a few with those of
other commands, which are then there for the next one.  Where NVIDIA's linker is installed, as it is with
Numba's compiler, they make binaries, which the driver only loads; the driver's compiler takes up to a second.
They use no GPU, and end once every kernel is compiled.

On the CPU a command, or ``edgewise warmup``, starts the processes when it has to compile the first kernel
that is in the list.  They compile what it usually needs from the last kernel backwards, while it compiles
what it needs first; where they meet, the rest is there already.  They end with the command, however that
ends.
"""

import atexit
import gc
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import cache as memoize
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from edgewise import notices, unfinished
from edgewise.device import cache, launch, shipped, threads
from edgewise.device.first_use import PUBLIC_ONLY
from edgewise.device.target import SIMULATED
from edgewise.device.usable_cores import usable_cores
from edgewise.garbage_collection import collection_paused

#: The usual runs of commands, and their kernels with the types of arguments; made by
#: ``bench/usual_kernels.py``.
USUAL = Path(__file__).with_name("usual_kernels.json")
#: Processes on a machine with many cores; each takes 0.2 GB.
PROCESSES = 6
#: Kernels for the CPU that are worth processes, as many as a partition has.  Where fewer are missing, most of
#: the time is that of one.
FEWEST_KERNELS = 8
#: Kernels for each process, which takes half a second until it compiles the first one.
KERNELS_OF_PROCESS = 6
#: Seconds between two looks at what the processes have compiled.
POLL_SECONDS = 0.005


# -- the list ------------------------------------------------------------------------------------------------


@memoize
def runs() -> list[dict[str, Any]]:
    """The runs of the list: ``device``, the ``words`` of the command, and ``kernels`` as names and types.

    Those for the CPU are in the order of need.  A kernel for GPUs is in one run, the slowest come first.
    """
    found = json.loads(USUAL.read_text())
    for run in found["runs"]:
        run["kernels"] = [found["kernels"][number] for number in run["kernels"]]
    return found["runs"]


def gpu_kernels(command="", others_first=False):
    """Names and types of all kernels for GPUs, those of a command first or last."""
    of_gpus = [run for run in runs() if run["device"] == "cuda"]
    of_gpus.sort(key=lambda run: (run["words"] == [command]) == others_first)
    return [kernel for run in of_gpus for kernel in run["kernels"]]


def kernel_named(name: str) -> launch.Kernel:
    """The kernel of a loop or region for GPUs, by its full name."""
    return _imported(name, launch.kernels)


def function_named(name: str):
    """A loop, region or compiled function, by its full name."""
    return _imported(name, threads.by_name)


def _imported(name, known):
    """What is ``known`` under a full name, which begins with that of its page, once that is imported."""
    page = name
    while name not in known:
        page = page.rpartition(".")[0]
        with suppress(ModuleNotFoundError):
            import_module(page)
    return known[name]


def kinds_of(written) -> tuple:
    """Argument types as kernels have them, from how they are written in the list: ``[class, fields]``."""
    return tuple(one if isinstance(one, str) else (_class_named(one[0]), kinds_of(one[1])) for one in written)


def _class_named(name):
    page, _, attribute = name.partition(":")
    return getattr(import_module(page), attribute)


def types_of(written) -> tuple:
    """Numba's types of arguments, from how they are written in the list."""
    return tuple(map(launch.numba_type, kinds_of(written)))


# -- processes -----------------------------------------------------------------------------------------------


def processes(device: str) -> int:
    """How many processes may compile ahead: on Linux one for each core that the command leaves free.

    A command on a GPU has two cores and half of all others.  ``EDGEWISE_COMPILE_AHEAD=0`` switches them off.
    """
    chosen = os.environ.get("EDGEWISE_COMPILE_AHEAD", "1") not in ("", "0")
    if not chosen or not hasattr(os, "sched_getaffinity"):
        return 0
    free = usable_cores() // 2 if device == "cuda" else min(usable_cores(), threads.count())
    return max(0, min(free - 1, PROCESSES))


def start_for_gpu(capability: tuple[int, int], command: str | None) -> None:
    """Start the processes for a command, unless a command has started them for this kind of GPU before."""
    is_usual = any(run["device"] == "cuda" and run["words"] == [command] for run in runs())
    count = processes("cuda")
    if SIMULATED or PUBLIC_ONLY or count == 0 or not is_usual:
        return
    with suppress(PackageNotFoundError, OSError):  # there is no compiler, or there are too many processes
        known = (one for one in shipped.CAPABILITIES if one <= capability)
        if any(cache.came_with_package(launch.label_of(one)) for one in known):
            return
        if cache.begin(f"ahead-{launch.label_of(capability)}"):
            process = subprocess.Popen(
                _calling(f"compile_for_gpu({capability}, {command!r}, {count})"),
                env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C ends the command only
            )
            launch.wait_for_others = partial(_wait_for_usual, process)


def _calling(call):
    """The words that start a process which calls a function of this page, and imports the same modules."""
    begin = f"import sys; sys.path[:] = {sys.path}; from edgewise.device import ahead"
    return [sys.executable, "-c", f"{begin}; ahead.{call}"]


def _wait_for_usual(process, name, kinds, is_kept):
    """Wait for a kernel while the processes import the compiler, which the command would do no sooner."""
    if any(name == one and kinds == kinds_of(written) for one, written in gpu_kernels()):
        while not is_kept() and process.poll() is None:
            time.sleep(POLL_SECONDS)


def start_on_cpu(words: list[str], name: str, signature: str) -> bool:
    """Start the processes for a command, given by its words, and by a kernel that it has to compile.

    Returns whether it is known what the command needs, so that there is nothing to start for later kernels.
    """
    for number, run in enumerate(runs()):
        if run["device"] == "cpu" and {*run["words"]} <= {*words}:
            for position, (one, kinds) in enumerate(run["kernels"]):
                if one == name and repr(types_of(kinds)) == signature:
                    share([number], run["kernels"][position:])
                    return True
    return False


def share_warmup(options: list[str]) -> None:
    """Start the processes for ``edgewise warmup`` with some options, or with none for all kernels."""
    found = [(number, run["words"]) for number, run in enumerate(runs()) if run["words"][0] == "warmup"]
    numbers = [number for number, words in found if not options or words[1].removeprefix("--") in options]
    share(numbers, _kernels_of(numbers))


def share(numbers: list[int], needed: list[list]) -> None:
    """Start processes for the kernels of some runs, of which those that are ``needed`` may be missing."""
    notices.first_kernel = None
    if cache.shipped_folder() is not None or not cache.keeps_of_all_processes():
        return
    there = cache.names_of_kernels()
    missing = len([name for name, _ in needed if name not in there])
    cache.progress = partial(_progress, missing, len(there), time.monotonic())
    count = min(processes("cpu"), missing // KERNELS_OF_PROCESS)
    if count == 0 or missing < FEWEST_KERNELS or not os.access(cache.folder() or "", os.W_OK):
        return
    cache.remove_locks()
    with suppress(OSError), ExitStack() as stack:  # there may be too many processes
        stack.callback(cache.remove_locks)
        child = _calling(f"compile_on_cpu({numbers}, {count})")
        process = stack.enter_context(unfinished.session(child, quiet=True))
        cache.wait_for_other = partial(_wait, process)
        atexit.register(stack.pop_all().close)


def _kernels_of(numbers):
    """The kernels of some runs, each once."""
    found: list[list] = []
    for number in numbers:
        found += [kernel for kernel in runs()[number]["kernels"] if kernel not in found]
    return found


def _wait(process, name):
    """Wait for a kernel that another process compiles, unless those that were started have ended."""
    if process.poll() is not None:
        cache.wait_for_other = None
    time.sleep(POLL_SECONDS)


def _progress(total, before, began):
    """In words: how many of the kernels that a command needs are there, and how long the others take."""
    done = max(0, len(cache.names_of_kernels()) - before)
    if done >= total:
        return ""
    left = f", {(time.monotonic() - began) / done * (total - done):.0f} s left" if done else ""
    return f" ({done} of about {total} kernels{left})"


# -- what they do --------------------------------------------------------------------------------------------


class _CompiledElsewhere(Exception):
    """Another process compiles the kernel."""


def _leave(name):
    raise _CompiledElsewhere(name)


@contextmanager
def _forked(count):
    """Context that so many processes run, or fewer if that is not possible; it yields the number of each.

    The first of them waits for the others.
    """
    gc.freeze()
    number = 0
    others: list[int] = []
    with suppress(OSError):
        for one in range(1, count):
            if (other := os.fork()) == 0:
                number, others = one, []
                break
            others.append(other)
    yield number
    for other in others:
        with suppress(ChildProcessError):
            os.waitpid(other, 0)


def compile_all(capability: tuple[int, int]) -> None:
    """Compile every usual kernel for a compute capability, also without a GPU."""
    for name, kinds in gpu_kernels():
        kernel_named(name).compile_if_free(kinds_of(kinds), capability, assembled)


def compile_for_gpu(capability: tuple[int, int], command: str, count: int) -> None:
    """Compile the usual kernels for GPUs in processes that :func:`start_for_gpu` has started."""
    with suppress(Exception):  # the command that needs a kernel shows the error
        launch.prepare_compiler(capability)
    with _forked(count) as number:
        for name, kinds in gpu_kernels(command, others_first=number >= max(1, count - count // 3)):
            with suppress(Exception):
                kernel_named(name).compile_if_free(kinds_of(kinds), capability, assembled)


def compile_on_cpu(numbers: list[int], count: int) -> None:
    """Compile the kernels of some runs in processes that :func:`share` has started, the last ones first."""
    notices.listener = lambda name: None
    cache.wait_for_other = _leave
    kernels = [(function_named(name), kinds) for name, kinds in reversed(_kernels_of(numbers))]
    threads.prepare_compiler()
    with _forked(count):
        unfinished.end_with_caller()
        for one, kinds in kernels:
            with suppress(Exception), collection_paused():  # the command that needs it shows the error
                one.cpu.dispatcher.compile(types_of(kinds))
            cache.unlock_kernels()


def assembled(text: str, capability: tuple[int, int]) -> bytes | None:
    """Binary code of a PTX text for a compute capability; ``None`` without NVIDIA's linker."""
    try:
        from cuda.bindings import nvjitlink

        handle = nvjitlink.create(1, [f"-arch=sm_{capability[0]}{capability[1]}"])
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text.encode(), len(text), "kernel")
            nvjitlink.complete(handle)
            binary = bytearray(nvjitlink.get_linked_cubin_size(handle))
            nvjitlink.get_linked_cubin(handle, binary)
            return bytes(binary)
        finally:
            nvjitlink.destroy(handle)
    except Exception:  # of the import, of the library that it loads, or of the linker
        return None
