"""Numbering strings by Arrow's dictionary of them, on one core.

It needs no compiled loop, and up to some hundred thousand strings it takes no longer than the loops of
:mod:`~edgewise.ingest.strings`.  It knows nothing of batches before, so the strings known so far go first.
"""

import numpy as np

from edgewise.ingest.string_order import Strings, strings_of


def number_by_dictionary(known, columns):
    """Number the strings of one column, or of two of one length in turn, after those ``known``.

    Returns a list of numbers for each column, int32 arrays, and the new strings in the order of their first
    appearance.  All are :class:`~edgewise.ingest.string_order.Strings`; those known are distinct.

    >>> from edgewise.ingest.string_order import Strings
    >>> text = np.frombuffer(b"cab", np.uint8)
    >>> known, column = Strings(np.array([0, 1, 2]), text), Strings(np.array([0, 1, 2, 3]), text)
    >>> numbers, new = number_by_dictionary(known, [column])
    >>> numbers[0].tolist(), bytes(new.text[new.starts[0] : new.starts[-1]])
    ([0, 1, 2], b'b')
    """
    import pyarrow as pa

    n_known = len(known.starts) - 1
    batch = pa.concat_arrays([_array_of(column) for column in columns])
    if len(columns) == 2:
        order = np.arange(len(batch)).reshape(2, -1).T.ravel()
        batch = batch.take(pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)]))
    coded = pa.concat_arrays([_array_of(known), batch]).dictionary_encode()
    codes = np.from_dlpack(coded.indices)[n_known:]  # np.asarray would import pandas
    numbers = [codes[side :: len(columns)] for side in range(len(columns))]
    return numbers, strings_of(coded.dictionary[n_known:])


def _array_of(strings: Strings):
    """The strings as an Arrow array of bytes, over the same text."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(strings.starts.astype(np.int64)), pa.py_buffer(strings.text)]
    return pa.Array.from_buffers(pa.large_binary(), len(strings.starts) - 1, buffers)
