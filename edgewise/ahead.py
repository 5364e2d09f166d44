"""The first use of a command: other processes compile its kernels while this one reads its input.

A command compiles its kernels one after the other, as it comes to them, and a compiler uses one core.  So the
first use of a command starts a process that reads in ``kernels.txt`` what the command will need, and forks
into as many workers as there are other cores.  The list has the kernels from the last to the first, since the
command itself begins at the other end; :mod:`edgewise.device.claims` keeps them apart.  When the command
has ended, no further kernel is begun.

A list cannot be wrong, only out of date: then the command compiles what is missing, as without it.  ``python
tests/command/test_ahead.py`` writes it anew.
"""

import os
import select
import subprocess
import sys
from contextlib import suppress

from edgewise.kernel_folder import PACKAGE, digest_of_sources, root

#: Kernels by command: lines ``[job]``, each with lines of :mod:`edgewise.device.listed` below it.
LIST = PACKAGE / "kernels.txt"
#: Words of a command line that choose other kernels, by command; a word with ``=`` has a value.
VARIANTS = {
    "components": (),
    "paths": ("--bfs", "--all-pairs"),
    "cycles": ("--length=",),
    "generate": (),
    "warmup": ("--paths", "--cycles"),
}
#: Settings with which nothing is compiled ahead: there is no compiler, or it keeps its own files.
WITHOUT = ("NUMBA_DISABLE_JIT", "NUMBA_ENABLE_CUDASIM", "EDGEWISE_PUBLIC_ONLY")
#: On fewer cores workers take more from the command than they give: two threads of one core, as machines of
#: two cores often have them, took 5.2 s for the first ``components`` with a worker, and 4.5 without.
LEAST_CORES, MAX_WORKERS = 4, 12
#: The other process, which finds this package wherever it is.
HELPER = (
    "import sys; sys.path.insert(0, sys.argv[1]); from edgewise import ahead; ahead.help_out(*sys.argv[2:])"
)


def job_of(arguments) -> str:
    """The job of a command line: the command, and the words that choose its kernels."""
    words = [word for part in arguments for word in part.split("=", 1)]
    name = next((word for word in words if word in VARIANTS), "")
    chosen = [name] if name else []
    for variant in VARIANTS.get(name, ()):
        if variant.endswith("=") and variant[:-1] in words[:-1]:
            chosen.append(variant + words[words.index(variant[:-1]) + 1])
        elif variant in words:
            chosen.append(variant)
    return " ".join(chosen)


def start(arguments):
    """Start compiling the kernels of a command line, if it is the first of its kind of this version.

    Returns the process, or None.  It ends soon after this one, because its standard input ends.
    """
    job = job_of(arguments)
    if not job or not _can_help() or not {"--help", "-h"}.isdisjoint(arguments):
        return None
    try:
        mark = root() / "first" / f"{digest_of_sources()[:20]}-{job.replace(' ', '-').replace('=', '-')}"
        if mark.exists():
            return None
        for old in mark.parent.glob("*"):
            if not old.name.startswith(mark.name[:20]):
                old.unlink(missing_ok=True)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        return subprocess.Popen(
            [sys.executable, "-c", HELPER, str(PACKAGE.parent), job, _device_of(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "NUMBA_NUM_THREADS": "1", "EDGEWISE_QUIET": "1"},
        )
    except (OSError, RuntimeError):
        return None


def _can_help():
    switched = any(os.environ.get(name, "0") not in ("", "0") for name in WITHOUT)
    if not hasattr(os, "fork") or switched or not sys.executable:
        return False
    return _cores() >= LEAST_CORES and os.getloadavg()[0] < _cores() / 2  # idle ones, or the command waits


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _device_of(arguments):
    """The value of ``--device``; that of ``--devices`` names GPUs if any part does."""
    words = [word for part in arguments for word in part.split("=", 1)]
    for option in ("--device", "--devices"):
        if option in words[:-1]:
            return words[words.index(option) + 1]
    return "auto"


def help_out(job, device):
    """Compile the kernels of a job on all cores except one, as long as standard input is open."""
    from edgewise.device import cache, listed

    capability = None if device.startswith("cpu") else _capability()
    target = listed.CPU if capability is None else listed.CUDA
    wanted = [line for line in lines_of(job, target) if target == listed.CPU or capability]
    cache.waits = False
    _prepare(wanted)
    workers = [_fork(wanted, capability) for _ in range(min(max(_cores() - 1, 1), MAX_WORKERS, len(wanted)))]
    for worker in workers:
        os.waitpid(worker, 0)


def lines_of(job, target):
    """The lines of a job on a device of the target, in the order of the list."""
    found, inside = {}, False
    for line in LIST.read_text().splitlines() if LIST.exists() else ():
        if line.startswith("["):
            title, _, device = line.strip("[]").rpartition(" on ")
            inside = device == target and _includes(job, title)
        elif inside and line:
            found[line] = None
    return list(found)


def _includes(job, title):
    """Whether a job needs the kernels of a list; ``warmup`` needs those of several commands."""
    command, *options = job.split(" ")
    if command != "warmup":
        return job == title
    return title.partition(" ")[0] in ("components", *(option.removeprefix("--") for option in options))


def _prepare(lines):
    """Import what all workers need."""
    from edgewise.device import listed

    for line in lines:
        with suppress(Exception):
            listed.import_module_of(line.split(" ", 2)[1])
    if any(line.startswith(listed.CUDA) for line in lines):
        from edgewise.device.target import cuda_compiler

        cuda_compiler()


def _fork(lines, capability):
    """A child that compiles kernels until there are no more, or the command has ended."""
    child = os.fork()
    if child:
        return child
    try:
        from edgewise.device import listed

        for line in lines:
            if select.select([sys.stdin], [], [], 0)[0]:
                break
            with suppress(Exception):
                listed.compile_line(line, capability)
    finally:
        os._exit(0)


def _capability():
    """Compute capability of the first GPU, asked of its driver; None without one."""
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    found = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        value = ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0):
            return None
        found.append(value.value)
    return tuple(found)
