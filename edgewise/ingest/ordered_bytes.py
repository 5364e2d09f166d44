"""Plain ids as bytes whose order is that of the ids."""

import numpy as np

from edgewise.ingest.arrow import is_text, numpy_array

#: What an int64 is combined with, so that the order of its bytes is that of the numbers.
SIGN = 1 << 63


def as_ordered_bytes(column):
    """Plain ids of Arrow as bytes of the same order."""
    import pyarrow as pa

    if is_text(column.type):
        return column
    numbers = numpy_array(column)
    turned = numbers.astype(np.uint64) ^ np.uint64(SIGN if numbers.dtype.kind == "i" else 0)
    buffers = [None, pa.py_buffer(turned.astype(">u8"))]
    return pa.Array.from_buffers(pa.binary(8), len(turned), buffers).cast(pa.binary())
