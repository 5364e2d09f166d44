"""Building blocks with one contract on the CPU and on GPUs."""

from edgewise.primitives.array_operations import (
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

__all__ = ["copy_into", "count", "exclusive_scan", "filled", "histogram", "mean", "pack", "take", "unique"]
