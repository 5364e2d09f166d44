"""Decisions of people as they come: pairs of ids in a file, a table or a list."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from edgewise.errors import GraphError, argument
from edgewise.files import read
from edgewise.forest.constraints import Decisions
from edgewise.graph import Graph
from edgewise.ingest.arrow import is_text


def decisions_of(graph, must, cannot) -> Decisions | None:
    """The decisions about the vertices of a graph, or ``None`` if there are none.

    Each side is a path, a table, a graph whose edges are the pairs, a list of pairs, or ``None``.
    """
    sides = [_vertex_pairs(graph, name, given) for name, given in (("must", must), ("cannot", cannot))]
    return Decisions(*sides) if any(len(side[0]) for side in sides) else None


def _vertex_pairs(graph, name, given):
    """Vertex numbers of the two ids of each pair."""
    pairs = given if given is None or isinstance(given, Graph) else _graph_of(graph, name, given)
    if pairs is None or not pairs.n_edges:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    try:
        return tuple(graph.vertices_of(pairs.ids_of(ends)) for ends in (pairs.sources, pairs.targets))
    except GraphError as error:
        remedy = "withdraw it, or read the pairs with the records of all vertices"
        raise GraphError(f"a decision of {argument(name)}: {error.message}; {remedy}") from None


def _graph_of(graph, name, given: Any):
    """The graph of the pairs of a file, a table or a list."""
    if isinstance(given, str | os.PathLike):
        texts = graph.ids is not None and is_text(getattr(graph.ids, "type", None))
        return read(given, weight=False, ids="string" if texts and _is_text_file(given) else None)
    if isinstance(given, dict) or hasattr(given, "__arrow_c_stream__"):
        return Graph.from_frame(given, weight=False)
    pairs = list(given)
    for pair in pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            problem = f"{argument(name)} holds {pair!r}, which is no pair of ids"
            raise GraphError(f"{problem}; give a list such as [('a', 'b')], a table or a file")
    return Graph.from_edges(*map(list, zip(*pairs))) if pairs else None


def _is_text_file(path):
    """Whether the decisions are text, whose ids may look like numbers."""
    return os.fspath(path).lower().endswith((".csv", ".tsv", ".txt"))
