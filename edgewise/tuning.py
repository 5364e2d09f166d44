"""Limits that choose a method: one record for each kind of device.

A limit separates two ways of doing the same thing, and ``method="auto"`` compares a fact of a graph with it.
It has a line of its own here because without it some call that users make takes 10 % longer.  Constants that
size a buffer or a block are on the page of their method.

A page reads ``tuning.CPU.NAME`` or ``tuning.GPU.NAME`` at each call, so that another record can take the
place of one: ``tuning.CPU = replace(tuning.CPU, NAME=value)``.  The name of a limit begins with its room.

The values here are defaults.  ``edgewise tune`` measures those limits that time decides, and keeps what it
finds in a file for each kind of device, beside the compiled kernels.  The file is read when a record is first
asked for.  Its name has a digest of the machine and of the record, so that what another machine or another
version has measured is not found.  No file is needed, and one that cannot be read changes nothing.

The machines: ``2 cores`` are virtual cores of an AMD EPYC or a Xeon, ``16 cores`` those of a Xeon beside a
GPU, ``H100`` and ``H200`` such a GPU.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.errors import EdgewiseError, FileError

#: Folder of the files of tuned limits, in that of the caches.
FOLDER = "tuned"
REMEDY = "the defaults are used; edgewise tune --reset removes it"
#: Limits are smaller than this; kernels take them as numbers of 64 bits.
MOST = 1 << 62


class Limit(NamedTuple):
    """What is said of a limit beside its value.

    Attributes
    ----------
    default : float
        Its value where it is not tuned.
    unit : str
        What is counted.
    separates : str
        What is taken below the limit, and from it on: ``"one | other"``.
    measured : str
        Machine and state (commit) that the value was measured on.
    date : str
        Day of that measurement.
    """

    default: float
    unit: str
    separates: str
    measured: str
    date: str


class Tuned(NamedTuple):
    """A limit that was measured on this machine.

    Attributes
    ----------
    value : float
        The limit.
    gain : float
        What it gains over the default: 0.25 if a call took 25 % longer with that.
    date : str
        Day of the measurement.
    """

    value: float
    gain: float
    date: str


def limit(value: float, unit: str, separates: str, measured: str, date: str) -> Any:
    """The field of a record for a limit: its value, and a :class:`Limit`."""
    return field(default=value, metadata={"limit": Limit(value, unit, separates, measured, date)})


@dataclass(frozen=True)
class CPULimits:
    """Limits on CPU cores."""

    command_streamed: int = limit(1 << 25, "bytes", "in memory | streamed", "2 cores, 568e989b", "2026-11-29")
    components_alone: int = limit(1 << 16, "n + m", "one thread | all", "16 cores, a5fcef96", "2026-11-27")
    components_many: int = limit(1 << 19, "vertices", "two as one | all", "16 cores, 53275e7", "2026-11-27")
    components_dense: int = limit(4, "edges per vertex", "all | sample", "16 cores, 53275e7", "2026-11-27")
    components_sparse: int = limit(2, "edges per vertex", "plain | halve", "2 cores, 53275e7", "2026-11-27")
    components_cached: int = limit(1 << 18, "vertices", "plain | fetch", "2 cores, add6734", "2026-11-23")
    components_close: float = limit(
        1 / 64, "apart / n", "close | far apart", "2 cores, no state", "2026-11-21"
    )
    components_counted: int = limit(1 << 18, "vertices", "NumPy | all", "2 cores, add6734", "2026-11-23")
    cycles_hubs: int = limit(8, "steps per entry", "by number | by rank", "not noted, 230b9d69", "2026-11-22")
    files_zeros: int = limit(1 << 22, "bytes", "NumPy | compiler", "2 cores, 0d1ac95d", "2026-11-29")
    forest_threads: int = limit(8, "threads", "kruskal | boruvka", "16 cores, 56083c9", "2026-11-23")
    forest_entries: int = limit(1 << 16, "entries", "kruskal | boruvka", "16 cores, a5fcef96", "2026-11-27")
    ingest_few: int = limit(1 << 12, "edges", "NumPy | kernel", "2 cores, 8383ece", "2026-11-25")
    ingest_first: int = limit(1 << 18, "edges", "NumPy | compiler", "2 cores, 8383ece", "2026-11-25")
    ingest_strings: int = limit(1 << 19, "strings", "Arrow | kernel", "not noted, 59d812b5", "2026-11-23")
    partitions_small: int = limit(
        20_000, "n + m + 64 parts", "fiduccia-mattheyses | jet", "2 cores, 7ef938c7", "2026-11-29"
    )
    partitions_few: int = limit(1 << 18, "entries", "NumPy | loop", "2 cores, 6f118f5f", "2026-12-01")
    partitions_short: int = limit(1 << 22, "vertices", "32 bits | 16 bits", "2 cores, a320f21c", "2026-12-01")
    paths_alone: int = limit(1 << 16, "n + m", "sequential | parallel", "2 cores, 70261b3", "2026-11-25")
    paths_nearby: int = limit(128, "m / entries read", "parallel | alone", "2 cores, db508eb", "2026-11-27")
    paths_narrow: int = limit(128, "waiting vertices", "alone | parallel", "2 cores, db508eb", "2026-11-27")
    paths_matrix: int = limit(129, "n", "floyd-warshall | by pairs", "1 core, 60baba7", "2026-11-21")
    paths_pairs: int = limit(40, "n * n / m", "floyd-warshall | sssp", "1 core, 60baba7", "2026-11-21")
    primitives_few: int = limit(1 << 16, "items", "NumPy | loop", "2 cores, 9ed9d79b", "2026-11-30")
    strong_sweeps: int = limit(
        3, "sweeps that would follow", "backwards | incoming rows", "16 cores, 930b90ca", "2026-12-01"
    )
    strong_threads: int = limit(8, "threads", "tarjan | forward-backward", "16 cores, 3fb48d9d", "2026-11-28")


@dataclass(frozen=True)
class GPULimits:
    """Limits on a GPU."""

    components_judged: int = limit(1 << 24, "edges", "rem | by order", "H100, 53275e7", "2026-11-27")
    components_dense: int = limit(4, "edges per vertex", "rem | by order", "H100, 53275e7", "2026-11-27")
    components_close: float = limit(1 / 64, "apart / n", "close | far apart", "H200, no state", "2026-11-21")
    components_skewed: int = limit(
        8, "equal / by chance", "edge-filter | edge-reach", "H200, no state", "2026-11-23"
    )
    cycles_share: float = limit(0.1, "of speed", "GPUs | CPU too", "not noted, 6d6c7e33", "2026-11-22")
    cycles_joined: float = limit(0.05, "seconds", "GPUs | CPU too", "not noted, 6d6c7e33", "2026-11-22")
    cycles_marked: int = limit(64, "entries of a row", "bisection | table", "H200, 2bcd8c7d", "2026-11-28")
    paths_core: float = limit(0.3, "core / n", "hierarchy | by levels", "H200, 01de572", "2026-11-26")
    paths_matrix: int = limit(129, "n", "floyd-warshall | by pairs", "as on 1 core, 60baba7", "2026-11-21")
    paths_pairs: int = limit(40, "n * n / m", "floyd-warshall | sssp", "as on 1 core, 60baba7", "2026-11-21")
    partitions_level: int = limit(50_000, "vertices", "on CPU | on GPU", "H200, no state", "2026-11-23")
    primitives_sent: int = limit(1 << 25, "bytes", "driver | threads", "H200, 1204eb08", "2026-12-01")


RECORDS: dict[str, type[CPULimits] | type[GPULimits]] = {"cpu": CPULimits, "cuda": GPULimits}
#: The limits in force; the names are there from the first access on.
CPU: CPULimits
GPU: GPULimits
NAMES = {"cpu": "CPU", "cuda": "GPU"}


def __getattr__(name):
    """Make the record of a kind of device when it is first asked for."""
    if name not in NAMES.values():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kind = "cpu" if name == "CPU" else "cuda"
    values: dict[str, Any] = {}
    with suppress(EdgewiseError, RuntimeError):  # a damaged file, or no GPU
        if is_used() and files(kind):
            values = {name: one.value for name, one in tuned(kind).items()}
    return globals().setdefault(name, replace(RECORDS[kind](), **values))


def described() -> list[tuple[str, str, float, Limit]]:
    """Every limit in force: the kind of device, the name, the value, and what is said of it."""
    return [
        (kind, name, getattr(in_force(kind), name), of)
        for kind in RECORDS
        for name, of in limits_of(kind).items()
    ]


def in_force(kind: str) -> CPULimits | GPULimits:
    """The record of a kind of device."""
    return globals().get(NAMES[kind]) or __getattr__(NAMES[kind])


def limits_of(kind: str) -> dict[str, Limit]:
    """What is said of the limits of a kind of device, by name."""
    return {one.name: one.metadata["limit"] for one in fields(RECORDS[kind])}


# -- the files of tuned limits -------------------------------------------------------------------------------


def is_used() -> bool:
    """Whether files of tuned limits are read: ``EDGEWISE_TUNED=0`` switches that off."""
    return os.environ.get("EDGEWISE_TUNED", "1") not in ("", "0")


def machine(kind: str) -> str:
    """What limits depend on: the processor and the number of threads, or the first GPU."""
    from edgewise.device import arrays, threads

    return arrays.gpu_name(0) if kind == "cuda" else f"{processor()}, {threads.most()} threads"


def processor() -> str:
    """Name of the processor."""
    with suppress(OSError), open("/proc/cpuinfo") as facts:
        for line in facts:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    import platform

    return os.environ.get("PROCESSOR_IDENTIFIER") or platform.machine()


def files(kind: str) -> list[str]:
    """Names of all files of tuned limits of a kind of device, also of other machines and versions."""
    with suppress(EdgewiseError, OSError):
        names = os.listdir(_folder())
        return [name for name in names if name.startswith(f"{kind}-") and name.endswith(".json")]
    return []


def _folder():
    from edgewise.device import cache

    try:
        return cache.root() / FOLDER
    except RuntimeError as error:
        raise FileError(FOLDER, "there is no home folder; set EDGEWISE_CACHE_DIR") from error


def tuned_file(kind: str) -> Path:
    """File of the limits of a kind of device for this machine and the present record."""
    named = [(name, of.unit, of.separates) for name, of in limits_of(kind).items()]
    digest = sha256(repr((machine(kind), named)).encode()).hexdigest()[:12]
    return _folder() / f"{kind}-{digest}.json"


def tuned(kind: str) -> dict[str, Tuned]:
    """The tuned limits of a kind of device by name.

    Raises
    ------
    FileError
        The file is damaged, or cannot be read.
    """
    file = tuned_file(kind)
    try:
        listed = json.loads(file.read_bytes())["limits"]
        return {name: _checked(kind, name, Tuned(**one)) for name, one in listed.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FileError(file, f"cannot be read ({error.strerror}); {REMEDY}") from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FileError(file, f"is no file of tuned limits; {REMEDY}") from error


def _checked(kind, name, one):
    """A tuned limit, if the record has it and its value is of the right type and size."""
    kinds = (int,) if isinstance(limits_of(kind)[name].default, int) else (int, float)
    if type(one.value) not in kinds or not 0 < one.value < MOST:
        raise ValueError(f"{name} cannot be {one.value}")
    if not isinstance(one.date, str) or type(one.gain) not in (int, float):
        raise ValueError(f"{name} has no date or gain")
    return one
