"""Parsing text on all cores: each thread of a pool parses a block of whole lines at a time.

Arrow's own parallel parser reads ahead on threads that go on after an error, and that free memory after the
last row.  Where such a thread meets a Python object while the interpreter shuts down, the process aborts.  So
no Python object ever reaches Arrow's threads: every block is copied to memory of Arrow, and the threads that
parse have ended when the last block is taken, or when the caller stops.
"""

import numpy as np

from edgewise.files.ahead import in_order
from edgewise.files.normalise_text import cut_rows
from edgewise.files.streams import has_byte_order_mark
from edgewise.ingest.numerals import has_foreign_numbers


def parse_text(stream, options, skip=0, *, quotes=None, change=None, watch=None):
    """Yield the table of each block of lines of a stream, in order.

    Parameters
    ----------
    stream : object with ``read(count)``
    options : tuple of pyarrow's read, parse and convert options
    skip : int
        Lines before the first row.
    quotes : Quotes, optional
        Where fields may be in quotes.
    change : function, optional
        Called with the bytes of each block, on several threads; what it returns is parsed.
    watch : ZeroWatch, optional
        Called with an array of the bytes of each block that is parsed, on several threads; it looks for
        hexadecimal numbers in its own columns.
    """
    import pyarrow as pa

    def table_of(pieces):
        return parse_block(pieces, options, change, watch)

    blocks = cut_rows(stream, skip, quotes)
    tables = in_order(table_of, blocks, pa.cpu_count(), "edgewise-parse")
    return (table for table in tables if table is not None)


def parse_block(pieces, options, change=None, watch=None):
    """Return the table of a block of lines in one or more pieces; ``None`` if all lines are empty."""
    import pyarrow as pa
    import pyarrow.csv as csv

    if change is not None:
        pieces = [change(b"".join(pieces))]
    if _is_blank(pieces):  # an error to Arrow
        return None
    memory = pa.allocate_buffer(sum(map(len, pieces)))
    letters = room = np.frombuffer(memory, np.uint8)
    for piece in pieces:
        room[: len(piece)] = np.frombuffer(piece, np.uint8)
        room = room[len(piece) :]
    exact = frozenset() if watch is None else watch.columns
    if watch is not None:
        watch(letters)
    text = letters.tobytes()
    if has_byte_order_mark(text):  # Arrow would take it away from the first line
        raise pa.ArrowInvalid("a byte order mark within the text")
    names, size = options[0].column_names, min(memory.size + 1, np.iinfo(np.int32).max)
    reading = csv.ReadOptions(use_threads=False, column_names=names, block_size=size)
    table = csv.read_csv(pa.BufferReader(memory), reading, *options[1:])

    def as_text(names):
        types = dict.fromkeys(names, pa.string())
        how = csv.ConvertOptions(include_columns=names, column_types=types, null_values=[])
        return csv.read_csv(pa.BufferReader(memory), reading, options[1], how)

    types = {name: kind for name, kind in options[2].column_types.items() if name not in exact}
    if has_foreign_numbers(text, table, types, as_text):
        raise pa.ArrowInvalid("a number that is not decimal")
    return table


def _is_blank(pieces):
    text = pieces[0]
    return not text or (text[0] in b"\r\n" and not b"".join(pieces).strip(b"\r\n"))
