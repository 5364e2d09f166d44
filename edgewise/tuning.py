"""Limits that choose a method: one record for each kind of device.

A limit separates two ways of doing the same thing, and ``method="auto"`` compares a fact of a graph with it.
It has a line of its own here because without it some call that users make takes 10 % longer.  Constants that
size a buffer or a block are on the page of their method.

A page reads ``tuning.CPU.NAME`` or ``tuning.GPU.NAME`` at each call, so that another record can take the
place of one: ``tuning.CPU = replace(tuning.CPU, NAME=value)``.  The name of a limit begins with its room.

The machines: ``2 cores`` are virtual cores of an AMD EPYC or a Xeon, ``16 cores`` those of a Xeon beside a
GPU, ``H100`` and ``H200`` such a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple


class Limit(NamedTuple):
    """What is said of a limit beside its value.

    Attributes
    ----------
    unit : str
        What is counted.
    separates : str
        What is taken below the limit, and from it on: ``"one | other"``.
    measured : str
        Machine and state (commit) that the value was measured on.
    date : str
        Day of that measurement.
    """

    unit: str
    separates: str
    measured: str
    date: str


def limit(value: float, unit: str, separates: str, measured: str, date: str) -> Any:
    """The field of a record for a limit: its value, and a :class:`Limit`."""
    return field(default=value, metadata={"limit": Limit(unit, separates, measured, date)})


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


#: The limits in force.
CPU = CPULimits()
GPU = GPULimits()


def described() -> list[tuple[str, str, float, Limit]]:
    """Every limit in force: the kind of device, the name, the value, and what is said of it."""
    return [
        (kind, one.name, getattr(record, one.name), one.metadata["limit"])
        for kind, record in (("cpu", CPU), ("cuda", GPU))
        for one in fields(record)
    ]
