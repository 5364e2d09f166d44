"""Building blocks with one contract on the CPU and on GPUs."""

from edgewise.primitives.array_operations import exclusive_scan, histogram, pack, unique

__all__ = ["exclusive_scan", "histogram", "pack", "unique"]
