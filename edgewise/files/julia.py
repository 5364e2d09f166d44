"""Graphs.jl ``.jlg``, ``.lg``: ``n,m,u|d,name,...``, then ``source,target``, counted from one."""

import numpy as np

from edgewise.errors import FileError
from edgewise.files.columns import read_columns
from edgewise.files.header_counts import check_count
from edgewise.files.layout import Layout
from edgewise.files.record import Edges, numbered_from_one


def read(source, options) -> Edges:
    """Read a graph that Graphs.jl wrote."""
    options.only("Graphs.jl")
    words = (source.lines() or [b""])[0].decode("latin-1").split(",")
    if len(words) < 3 or not (words[0] + words[1]).isdecimal() or words[2] not in ("u", "d"):
        raise FileError(source.path, "the first line must be 'n,m,u' or 'n,m,d'", 1)
    vertices, edges = int(words[0]), int(words[1])
    sources, targets, _ = read_columns(
        source, Layout(delimiter=",", skip=1, comments=b"", least=1, most=vertices)
    )
    check_count(source, edges, len(sources), 1)
    one = np.int64(1)
    return Edges(sources - one, targets - one, None, vertices, words[2] == "d", numbered_from_one(vertices))
