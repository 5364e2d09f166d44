"""Vertex-labelled graphs of the subgraph-matching literature.

A line ``t n m``, then ``v id label degree`` for every vertex and ``e source target`` for every edge.
Vertices count from zero; labels are read over.  See Sun and Luo, "In-memory subgraph matching: an in-depth
study", SIGMOD 2020.
"""

from edgewise.errors import FileError
from edgewise.files.columns import read_columns
from edgewise.files.header_counts import check_count
from edgewise.files.layout import Layout
from edgewise.files.record import Edges


def read(source, options) -> Edges:
    """Read a vertex-labelled graph."""
    options.only("a vertex-labelled graph")
    lines = source.lines()
    words = lines[0].decode("latin-1").split() if lines else []
    if len(words) != 3 or words[0] != "t" or not (words[1] + words[2]).isdecimal():
        raise FileError(source.path, "the first line must be 't n m'", 1)
    vertices, edges = int(words[1]), int(words[2])
    layout = Layout(
        columns=_columns(source, vertices),
        ends=(1, 2),
        letter="e",
        skip=1,
        comments=b"v#",
        clean=True,
        least=0,
        most=vertices - 1,
    )
    sources, targets, _ = read_columns(source, layout)
    check_count(source, edges, len(sources), 1)
    return Edges(sources, targets, None, vertices)


def _columns(source, vertices):
    """Fields of an edge line: three, or four if edges have labels."""
    from edgewise.files.normalise_text import whole_lines

    with source.open() as stream:
        for _, block in whole_lines(stream, vertices + 1):
            return max(len(block.split(b"\n", 1)[0].split()), 3)
    return 3
