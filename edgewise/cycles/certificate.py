"""Certificates of counts of cycles, which anybody may have counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.certificates.record import certify
from edgewise.device import arrays
from edgewise.result import edge_arrays

if TYPE_CHECKING:
    from edgewise.certificates import Certificate
    from edgewise.graph import Graph


def prove(graph: Graph, counts: Any, length: int, *, count_directions: bool = False) -> Certificate:
    """Return the certificate of counts; the checker needs no proof of them.

    Parameters
    ----------
    graph : Graph
        Undirected.
    counts : (n_vertices,) integer array
        Cycles through each vertex.
    length : int
        Vertices of a cycle.
    count_directions : bool
        Whether each cycle counts once in each direction.
    """
    counts = arrays.move(counts, "cpu") if hasattr(counts, "dtype") else np.asarray(counts)
    facts = {"length": int(length), "count_directions": bool(count_directions)}
    return certify("cycles", edge_arrays(graph), {"counts": counts}, {}, **facts)
