"""What a method of a search is, and the checks of arguments that only searches have."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgewise.errors import OptionError, argument
from edgewise.ingest.ids import has_tuples
from edgewise.method import Method, is_number


@dataclass(frozen=True)
class PathMethod(Method):
    """One way to search; each front documents how its methods are called.

    ``weights`` that it takes: 'none' (every edge counts one), 'whole, not negative', 'not negative' or 'any'.
    ``directed``: whether it takes directed graphs.  ``needs_incoming``: whether it reads the rows of the
    edges that come in.  ``stops_at_targets``: whether it takes ``targets`` and ends once their distances are
    known.  ``full_matrix``: whether it keeps the distances of all pairs.  ``by_routes``: whether it searches
    by the hierarchy of a graph that is prepared for routes, so that ``auto`` takes it for such a graph; a
    search from one source then takes as long as one from a batch.
    """

    weights: str = field(default="none", kw_only=True)
    directed: bool = field(default=True, kw_only=True)
    needs_incoming: bool = field(default=False, kw_only=True)
    stops_at_targets: bool = field(default=False, kw_only=True)
    full_matrix: bool = field(default=False, kw_only=True)
    by_routes: bool = field(default=False, kw_only=True)

    def takes_weights(self, dtype) -> bool:
        """Whether it takes weights of a type, as far as that tells."""
        return np.dtype(dtype).kind != "f" or not self.weights.startswith("whole")


def check_kind(name, methods, rows):
    """Refuse directed graphs and weights that are not whole numbers for a method that does not take them."""
    if name == "auto":
        return
    if not methods[name].directed and not rows.symmetric:
        raise OptionError(f"method {name} is for undirected graphs; use another method")
    if not methods[name].takes_weights(rows.weights.dtype):
        remedy = f"use another method, or {argument('dtype', 'int64')} if all are whole"
        raise OptionError(f"method {name} needs weights that are whole numbers; {remedy}")


def flat(ids, name, graph):
    """Return ``ids``, which must be an id of a graph, or a flat collection of ids."""
    first = ids[0] if isinstance(ids, (list, tuple)) and ids else None
    table = len(getattr(ids, "shape", ())) > 1 or isinstance(ids, dict)
    nested = list if has_tuples(graph) else (list, tuple)
    if table or len(getattr(first, "shape", ())) or isinstance(first, nested):
        raise OptionError(f"{name} is a table of ids; give one id, or a flat list of them")
    return ids


def vertices_in(graph, ids, name, remedy):
    """Distinct vertex numbers, ascending, of an id or of a flat collection that is not empty."""
    if type(ids) is int and graph.ids is None and 0 <= ids < graph.n_vertices:
        return np.array([ids], np.int64)  # 10 us less for a search that takes 20
    vertices = graph.vertices_of(flat(ids, name, graph))
    if not len(vertices):
        raise OptionError(f"{name} is empty; {remedy}")
    return vertices if len(vertices) == 1 else np.unique(vertices)


def sources_in(graph, source):
    """Vertex numbers of the sources of a search, distinct and ascending."""
    return vertices_in(graph, source, "source", "give the id of a vertex, or several")


def check_cutoff(cutoff, whole):
    """Return the largest distance that counts; ``None`` if all distances do."""
    if cutoff is None or (isinstance(cutoff, (float, np.floating)) and cutoff == np.inf):
        return None
    if not is_number(cutoff, whole) or not cutoff >= 0:
        kind = "whole number of edges" if whole else "number"
        raise OptionError(f"{argument('cutoff', cutoff)} must be a {kind}, 0 or more")
    return cutoff


def check_hops(graph, name):
    """Refuse weights, which would not count."""
    if graph.csr_weights is not None:
        instead = argument("weight", False)
        raise OptionError(f"{name} counts every edge as one, but the graph has weights; use {instead}")
