"""Edge lists that end in rows of a single id: isolated vertices, or a file that was cut off.

One such row may be what is left of an edge, so it is an error.  Several cannot come from a cut: if all of
them stand at the end, and none of their ids occurs in an edge, they are isolated vertices.
"""

from dataclasses import replace

import numpy as np

from edgewise.errors import FileError
from edgewise.files.columns import read_columns
from edgewise.files.layout import Layout, fields_of
from edgewise.files.normalise_text import whole_lines
from edgewise.files.record import Edges


def read_with_lone(source, layout: Layout, error: FileError) -> Edges:
    """Read a list that failed at ``error.line`` as one that ends in isolated vertices.

    Raises
    ------
    FileError
        The error given, if the list does not end so.
    """
    lone = None if error.line is None or layout.ids == "string" else _lone_ids(source, layout, error.line)
    if lone is None or len(lone) < 2:
        raise error
    sources, targets, weights = read_columns(source, replace(layout.patient(), null="drop"))
    ends = np.unique(np.concatenate([sources, targets]))
    if np.isin(lone, ends).any() or len(np.unique(lone)) < len(lone):
        raise error
    ids = np.sort(np.concatenate([ends, lone]))
    numbers = (np.searchsorted(ids, column) for column in (sources, targets))
    return Edges(*numbers, weights, len(ids), ids=ids)


def _lone_ids(source, layout, first):
    """Ids of the rows from line ``first`` on, if each is one integer, else ``None``."""
    lone = []
    with source.open() as stream:
        for _, block in whole_lines(stream, first - 1):
            for line in block.split(b"\n"):
                fields = fields_of(line, layout.delimiter if layout.delimiter != "\t" else " ")
                if len(fields) > 1 or not all(
                    field.removeprefix("-").isdecimal() for field in fields if field
                ):
                    return None
                lone += [int(field) for field in fields if field]
    return np.array(lone, np.int64) if all(abs(number) < 2**63 for number in lone) else None
