"""Building blocks with one contract on the CPU and on GPUs."""

from edgewise.primitives.array_operations import (
    ascending,
    copy_into,
    count,
    exclusive_scan,
    filled,
    histogram,
    mean,
    pack,
    take,
    unique,
)

__all__ = [
    "ascending",
    "copy_into",
    "count",
    "exclusive_scan",
    "filled",
    "histogram",
    "mean",
    "pack",
    "take",
    "unique",
]
