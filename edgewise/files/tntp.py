"""TNTP: road networks of the Transportation Networks repository (github.com/bstabler/TransportationNetworks).

A few lines ``<NAME> value``, then one link a row under a row of column names that begins with ``~``; fields
are separated by tabs and rows end with ``;``.  Nodes count from one; links are directed.
"""

import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError
from edgewise.files.columns import read_columns
from edgewise.files.header_counts import check_count
from edgewise.files.layout import Layout, fields_of
from edgewise.files.record import Edges, numbered_from_one

BLANKS = b" \t\r;"
WEIGHT = "length"


def read(source, options) -> Edges:
    """Read a network; the weight is ``length`` unless another column is named."""
    options.only("TNTP", "weight")
    lines = source.lines()
    end = next((i for i, line in enumerate(lines) if line.startswith(b"<END OF METADATA>")), None)
    if end is None:
        raise FileError(source.path, "the line '<END OF METADATA>' is missing; is this TNTP?")
    nodes, links = (_number(source, lines[:end], name) for name in (b"NODES", b"LINKS"))
    skip = next((i + 1 for i, line in enumerate(lines) if i > end and line.startswith(b"~")), end + 1)
    rows = (line for line in lines[skip:] if line.strip() and line[:1] != b"~")
    layout = _layout(next(rows, b"1 1"), lines[skip - 1], options, source, skip)
    sources, targets, weights = read_columns(source, replace(layout, skip=skip, most=nodes))
    check_count(source, links, len(sources), skip)
    one = np.int64(1)
    return Edges(sources - one, targets - one, weights, nodes, True, numbered_from_one(nodes))


def _number(source, lines, name):
    found = re.search(rb"<NUMBER OF " + name + rb">\s*(\d+)", b"\n".join(lines))
    if not found:
        raise FileError(source.path, f"the line '<NUMBER OF {name.decode()}>' is missing; is this TNTP?")
    return int(found[1])


def _layout(row, header, options, source, line):
    names = [name.strip() for name in re.split(rb"[\t;]", header.lstrip(b"~ \t"))]
    count = len(fields_of(row, " ", BLANKS))
    if count < 2:
        raise FileError(source.path, "a link needs its two nodes at least; correct the row below", line)
    weight = _weight([name.decode("latin-1") for name in names if name][:count], options.weight, source, line)
    return Layout(
        columns=count, weight=weight, weights="float64", clean=True, blanks=BLANKS, comments=b"~", least=1
    )


def _weight(names, wanted, source, line):
    """Position of the weight."""
    if wanted is False or (wanted is None and WEIGHT not in names):
        return None
    name = wanted or WEIGHT
    if isinstance(name, int) or name not in names:
        raise FileError(source.path, f"no column {name!r}; there are {', '.join(names)}", line)
    return names.index(name)
