"""LDBC Graphalytics: vertices in ``name.v`` (an id each), edges in ``name.e``, facts in ``name.properties``.

Either of the first two names the graph.  The properties, if they are there, tell whether it is directed.  See
Iosup et al., "The LDBC Graphalytics benchmark", arXiv:2011.15028, section 2.
"""

import os
import re

import numpy as np

from edgewise.errors import FileError
from edgewise.files import edgelist
from edgewise.files.columns import read_columns
from edgewise.files.layout import Layout
from edgewise.files.record import Edges
from edgewise.files.streams import SUFFIXES, Source


def sibling(source, suffix: str) -> str | None:
    """Path of the file of the same graph with another suffix, compressed or not."""
    return next((path for end in ("", *SUFFIXES) if os.path.isfile(path := source.stem + suffix + end)), None)


def read(source, options) -> Edges:
    """Read a graph from its two files; vertices without edges are kept."""
    options.only("LDBC", "weight")
    vertices, edges = (_part(source, suffix) for suffix in (".v", ".e"))
    layout = Layout(columns=1, ends=(0, 0), clean=True)
    ids = np.unique(read_columns(vertices, layout)[0])
    sample = edgelist.look(edges)
    if not sample.rows:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), None, len(ids), _directed(source), ids)
    sources, targets, weights = read_columns(edges, edgelist.lay_out(edges, sample, options))
    ends = (_number(edges, ids, column) for column in (sources, targets))
    return Edges(*ends, weights, len(ids), _directed(source), ids)


def _part(source, suffix):
    if source.suffix == suffix:
        return source
    path = sibling(source, suffix)
    if path is None:
        raise FileError(
            source.path, f"{source.stem}{suffix} is missing; LDBC graphs come in two files, .v and .e"
        )
    return Source(path)


def _directed(source):
    path = sibling(source, ".properties")
    if path is None:
        return False
    return bool(re.search(rb"\.directed\s*=\s*true", Source(path).head, re.IGNORECASE))


def _number(edges, ids, column):
    """Vertex numbers of ids."""
    numbers = np.minimum(np.searchsorted(ids, column), max(len(ids) - 1, 0))
    known = ids[numbers] == column if len(ids) else np.zeros(len(column), bool)
    if not known.all():
        stranger = column[int((~known).argmax())]
        raise FileError(edges.path, f"vertex {stranger} is not in the .v file; add it there")
    return numbers
