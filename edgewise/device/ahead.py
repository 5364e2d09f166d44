"""Compiling ahead: child processes compile the usual kernels of a GPU while the first command runs.

The compiler of CUDA kernels spends nine tenths of its time in Python, on one core, and takes seconds for a
search; to load what it wrote takes the driver's compiler up to a second.  The first command that uses a kind
of GPU therefore starts a process as soon as it knows that kind.  While the command reads its input and CuPy
starts, the process imports the compiler; then it forks, so that several processes have it.  They compile the
kernels of the file ``usual_kernels.json``: most of them begin with those of the command, a few with those of
other commands, which are then there for the next one.  Where NVIDIA's linker is installed, as it is with
Numba's compiler, they make binaries, which the driver only loads.  The processes use no GPU, and end once
every kernel is compiled.  A command does not wait for them, only for a kernel that it needs.

Every kernel is compiled by the process that has its lock (:func:`~edgewise.device.cache.sole`), so processes
share the work without a plan, and none is done twice.
"""

import gc
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache as memoize
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from edgewise.device import cache, launch, shipped
from edgewise.device.first_use import PUBLIC_ONLY
from edgewise.device.target import SIMULATED
from edgewise.device.usable_cores import usable_cores

#: Kernels with their argument types, by the name of the command; made by ``bench/usual_kernels.py``.
USUAL = Path(__file__).with_name("usual_kernels.json")
#: Processes on a machine with many cores; the command has two cores for itself.
PROCESSES = 6
CHILD = "from edgewise.device.ahead import compile_usual; compile_usual()"
#: Seconds between two looks at what the processes have compiled.
POLL_SECONDS = 0.005


@memoize
def start(capability: tuple[int, int], command: str):
    """Start the processes for a command, unless a command has started them for this kind of GPU before.

    Nothing is started either where the package came with these kernels.

    ``EDGEWISE_COMPILE_AHEAD=0`` switches this off.
    """
    chosen = os.environ.get("EDGEWISE_COMPILE_AHEAD", "1") not in ("", "0")
    if SIMULATED or PUBLIC_ONLY or not chosen or processes() == 0:
        return
    with suppress(PackageNotFoundError):  # without the compiler no GPU is used
        known = (one for one in shipped.CAPABILITIES if one <= capability)
        if any(cache.came_with_package(launch.label_of(one)) for one in known):
            return
        label = launch.label_of(capability)
        if command in json.loads(USUAL.read_text()) and cache.begin(f"ahead-{label}"):
            process = _start(capability, command)
            if process is not None:
                launch.wait_for_others = partial(_wait, process)


def _wait(process, name, kinds, is_kept):
    """Wait for a kernel while the processes import the compiler, which the command would do no sooner."""
    if [name, written_as(kinds)] in usual_kernels():
        while not is_kept() and process.poll() is None:
            time.sleep(POLL_SECONDS)


def processes() -> int:
    """How many processes compile ahead on this machine."""
    cores = usable_cores() if hasattr(os, "sched_getaffinity") else 1
    return max(0, min(cores // 2 - 1, PROCESSES))


def _start(capability, command):
    package = os.fspath(Path(__file__).resolve().parent.parent.parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    nothing = subprocess.DEVNULL
    with suppress(OSError):  # too many processes, say; then the command compiles what it needs
        return subprocess.Popen(
            [sys.executable, "-P", "-c", CHILD, *map(str, capability), command],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": "-1"},
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,  # Ctrl-C ends the command only
        )
    return None


def compile_usual():
    """Compile what no other process compiles, in a process that :func:`start` has started."""
    *numbers, command = sys.argv[1:]
    capability = tuple(map(int, numbers))
    with suppress(Exception):  # the command that needs a kernel shows the error
        launch.prepare_compiler(capability)
    gc.freeze()
    for name, kinds in usual_kernels(command, others_first=_fork(processes())):
        with suppress(Exception):
            kernel_named(name).compile_if_free(kinds_of(kinds), capability, assembled)


def compile_all(capability: tuple[int, int]):
    """Compile every usual kernel for a compute capability, also without a GPU."""
    for name, kinds in usual_kernels():
        kernel_named(name).compile_if_free(kinds_of(kinds), capability, assembled)


def _fork(count):
    """Become so many processes, where there is ``fork``; return whether this is one of the last third."""
    with suppress(OSError, AttributeError):
        for number in range(1, count):
            if os.fork() == 0:
                return number >= count - count // 3
    return False


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


def usual_kernels(command="", others_first=False):
    """Names of kernels and their types, those of a command first or last, slow ones before quick ones."""
    by_command = json.loads(USUAL.read_text())
    own = by_command.pop(command, [])
    others = [kernel for kernels in by_command.values() for kernel in kernels]
    return others + own if others_first else own + others


def kernel_named(name: str) -> launch.Kernel:
    """The kernel of a loop or region, by its full name."""
    return imported(name, launch.kernels)


def imported(name: str, known):
    """What is ``known`` under a full name, which begins with that of its page, once that is imported."""
    page = name
    while name not in known:
        page = page.rpartition(".")[0]
        with suppress(ModuleNotFoundError):
            import_module(page)
    return known[name]


def kinds_of(written) -> tuple:
    """Argument types as kernels have them, from how they are written in the file: ``[class, fields]``."""
    return tuple(one if isinstance(one, str) else (_class_named(one[0]), kinds_of(one[1])) for one in written)


def written_as(kinds) -> list:
    """Argument types as the file has them."""
    return [
        one if isinstance(one, str) else [f"{one[0].__module__}:{one[0].__qualname__}", written_as(one[1])]
        for one in kinds
    ]


def _class_named(name):
    page, _, attribute = name.partition(":")
    return getattr(import_module(page), attribute)
