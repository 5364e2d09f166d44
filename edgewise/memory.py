"""The limit of memory: the bytes that this process may hold, who says so, and whether a call fits.

The least of these that are there is in force:

1. ``memory=`` of a call, or ``--memory`` of the command line: what the process may hold in all, with Python,
   the packages and the graphs that are there already;
2. the limit of the container: that of the control groups of the process and of all groups above, by version 1
   or 2 of the interface, of which what the other processes of a group hold is taken off.  Files that the
   system keeps in memory count as free;
3. the limit of ``ulimit -v``, which counts addresses, whether or not there is memory behind them;
4. the memory of the machine that is available.

A call that needs much asks :func:`check` before it begins.  Whatever fits in memory in several ways asks
:func:`free`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from mmap import PAGESIZE
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from edgewise import control_groups
from edgewise.control_groups import text
from edgewise.errors import OptionError, OutOfMemoryError, argument

#: Bytes that a call may take without asking, since the question takes longer than that memory matters.
UNCHECKED_BYTES = 1 << 26
#: Addresses without memory behind them that a process with all of its packages has at least, and those that
#: each thread adds: stacks, buffers, and what allocators reserve.
ADDRESSES, OF_THREAD = 500_000_000, 100_000_000
#: Bytes of the units in which memory may be given.
UNITS = {"": 1, "B": 1} | {f"{unit}B": 10 ** (3 * power) for power, unit in enumerate("KMGT", 1)}
UNITS |= {unit: 10 ** (3 * power) for power, unit in enumerate("KMGT", 1)}
UNITS |= {f"{unit}IB": 1 << (10 * power) for power, unit in enumerate("KMGT", 1)}
#: Source of a limit that the user has given.
GIVEN = argument("memory")
#: Source of the limit of addresses.
OF_ADDRESSES = "the limit of ulimit -v"
#: How much more than the estimate is advised, since that is rounded and not exact.
MORE = 1.1
#: A limit of version 1 of the control groups that is none.
NONE_1 = 1 << 60

#: Bytes that were given for the call, or for the command.
_given: ContextVar[int | None] = ContextVar("memory", default=None)
#: Returns the bytes that ``memory=`` or ``--memory`` allows, or ``None``.
given = _given.get


class MemoryLimit(NamedTuple):
    """What this process may hold.

    Attributes
    ----------
    bytes : int
        In all.
    held : int
        What it holds already, or with the other processes of its container.
    source : str
        In words what has decided it.
    """

    bytes: int
    held: int
    source: str

    @property
    def is_given(self) -> bool:
        """Whether the user has given it, and may give another one."""
        return self.source == GIVEN

    def in_words(self) -> str:
        """Who allows how much, and what of that is taken."""
        taken = "" if self.is_given else f", of which {in_words(self.held)} are taken"
        return f"{self.source} is {in_words(self.bytes)}{taken}"

    def more(self, need: float) -> str:
        """What to do to have so many bytes in all."""
        if self.source == OF_ADDRESSES:
            return f"raise it to {in_words(MORE * need)}"
        return f"give {in_words(MORE * need)}" if self.is_given else "use a machine with more"

    @property
    def free(self) -> int:
        """Bytes that may still be taken."""
        return max(0, self.bytes - self.held)


def limit() -> MemoryLimit:
    """The limit in force: the one that leaves least."""
    return min(_limits(), key=lambda one: one.free)


def free() -> int:
    """Bytes that this process may still take."""
    return limit().free


@contextmanager
def limited(memory: Any) -> Iterator[None]:
    """Context of a call, or of a command, with a limit; ``None`` changes nothing."""
    if memory is None:
        yield
        return
    token = _given.set(bytes_of(memory))
    try:
        yield
    finally:
        _given.reset(token)


def check(needed: int, what: str, remedy: str = "") -> None:
    """Raise :class:`OutOfMemoryError` unless so many further bytes are allowed.

    Parameters
    ----------
    needed : int
        Bytes beside those that the process holds.
    what : str
        What needs them.
    remedy : str
        What may be done beside giving more; empty if there is nothing.
    """
    if needed <= UNCHECKED_BYTES and given() is None:
        return
    most = limit()
    if needed > most.free:
        raise OutOfMemoryError(refusal(needed, most, what, remedy))


def refusal(needed: int, most: MemoryLimit, what: str, remedy: str) -> str:
    """The message of a call that needs so many bytes beside those that the process holds.

    Examples
    --------
    >>> refusal(10**9, MemoryLimit(4 * 10**9, 35 * 10**8, "the limit"), "a forest", "")
    'a forest needs 4.5 GB in all, and the limit is 4 GB, of which 3.5 GB are taken; use a machine with more'
    """
    need = most.held + needed
    remedy = ", or ".join(filter(None, [most.more(need), remedy]))
    return f"{what} needs {in_words(need)} in all, and {most.in_words()}; {remedy}"


def held() -> int:
    """Bytes of memory that this process holds."""
    return _of_process()[1]


def _of_process() -> tuple[int, int]:
    """Bytes of the addresses of this process, and of the memory that it holds.

    On Linux a file has them; psutil, which reads the same, takes 0.03 seconds to import.
    """
    pages = text("/proc/self/statm").split()
    if not pages:
        import psutil

        found = psutil.Process().memory_info()
        return int(found.vms), int(found.rss)
    return int(pages[0]) * PAGESIZE, int(pages[1]) * PAGESIZE


def _left_on_machine() -> int:
    """Bytes that programs may still take without swapping."""
    left = re.search(r"^MemAvailable:\s*(\d+) kB$", text("/proc/meminfo"), re.MULTILINE)
    if left is None:
        import psutil

        return int(psutil.virtual_memory().available)
    return 1024 * int(left[1])


def _limits() -> Iterator[MemoryLimit]:
    """Yield all limits."""
    addresses_held, now = _of_process()
    if (own := given()) is not None:
        yield MemoryLimit(own, now, GIVEN)
    for most, used in container_limits():
        yield MemoryLimit(most, used, "the limit of the container")
    if (addresses := address_limit()) is not None:
        empty = addresses_held - now
        if "llvmlite" not in sys.modules:  # the largest of the packages, with which threads start
            empty = max(empty, ADDRESSES + OF_THREAD * (os.cpu_count() or 1))
        yield MemoryLimit(addresses, now + empty, OF_ADDRESSES)
    yield MemoryLimit(_left_on_machine() + now, now, "what this machine has")


def address_limit() -> int | None:
    """The limit of ``ulimit -v``, if there is one."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # on Windows
        return None
    limit, _ = getrlimit(RLIMIT_AS)
    return None if limit in (-1, RLIM_INFINITY) else limit


def use_few_addresses() -> None:
    """Under ``ulimit -v`` keep Arrow's allocator from reserving 1 GiB of addresses; before its import."""
    if address_limit() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "0")


def release_unused() -> None:
    """Give back what Arrow's allocator keeps of memory that is free, which takes less than a millisecond."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def container_limits(root: str | Path = "") -> list[tuple[int, int]]:
    """Bytes that each control group of this process may hold, if it has a limit, and those that it holds."""
    return list(control_groups.limits("memory", (_limit_1, _limit_2), root))


def _limit_2(folder):
    """The limit of a group by version 2: ``memory.max`` has it, or ``max``."""
    return _group(folder, "memory.max", "memory.current", "")


def _limit_1(folder):
    """The limit of a group by version 1, where a very large one is none."""
    return _group(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")


def _group(folder, most, used, prefix):
    most = text(f"{folder}/{most}").strip()
    if not most.isdecimal() or int(most) >= NONE_1:
        return None
    used = text(f"{folder}/{used}").strip()
    if not used.isdecimal():
        return None
    facts = dict(line.split(" ", 1) for line in text(f"{folder}/memory.stat").splitlines() if " " in line)
    files = (facts.get(f"{prefix}{kind}_file", "0").strip() for kind in ("inactive", "active"))
    return int(most), max(0, int(used) - sum(int(size) for size in files if size.isdecimal()))


def bytes_of(memory: Any) -> int:
    """Bytes of memory, given as a number or as text.

    Examples
    --------
    >>> bytes_of("2 GB"), bytes_of("512m"), bytes_of("1 GiB"), bytes_of(1e6)
    (2000000000, 512000000, 1073741824, 1000000)
    """
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory)
        number, unit = (float(found[1]), found[2].upper()) if found else (0.0, "")
    else:
        is_number = isinstance(memory, Real) and not isinstance(memory, bool)
        number, unit = (float(memory) if is_number else 0.0), ""
    if unit not in UNITS or not 0 < number * UNITS[unit] < float("inf"):
        raise OptionError(f"{argument('memory', memory)} must be a number of bytes, or such as '4GB'")
    return int(number * UNITS[unit])


def in_words(count: float) -> str:
    """Bytes in a unit of three digits at most.

    Examples
    --------
    >>> in_words(7.14e9), in_words(4e9), in_words(512_300_000), in_words(12_345)
    ('7.1 GB', '4 GB', '512 MB', '12 KB')
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if count >= UNITS[unit]:
            value = count / UNITS[unit]
            return f"{value:.1f}".removesuffix(".0") + f" {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{count:.0f} bytes"
