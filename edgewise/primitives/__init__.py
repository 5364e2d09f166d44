"""Building blocks with one contract on the CPU and on GPUs: scan, pack, histogram, sort, unique.

Each takes arrays on one device and returns arrays on that device.  Where NumPy and CuPy provide the
operation, it is used.
"""

from edgewise.primitives.histogram import histogram
from edgewise.primitives.pack import pack
from edgewise.primitives.scan import exclusive_scan
from edgewise.primitives.sort import sort_pairs, unique

__all__ = ["exclusive_scan", "histogram", "pack", "sort_pairs", "unique"]
