"""Certificates of partitions: the parts and their totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.certificates.record import certify
from edgewise.device import arrays
from edgewise.partitions.check import evaluate_partition
from edgewise.partitions.input import vertex_weights_of
from edgewise.result import edge_arrays

if TYPE_CHECKING:
    from edgewise.certificates import Certificate
    from edgewise.graph import Graph


def prove(graph: Graph, parts: Any, *, k: int | None = None, vertex_weights: Any = None) -> Certificate:
    """Return the certificate of parts that any program has made, with the totals that they have.

    Parameters
    ----------
    graph : Graph
        Undirected.
    parts, k, vertex_weights
        As for :func:`edgewise.evaluate_partition`.

    Raises
    ------
    GraphError
        The parts are none of the graph.
    """
    found = evaluate_partition(graph, parts, k=k, vertex_weights=vertex_weights)
    facts = {"edge_cut": found.edge_cut, "communication_volume": found.communication_volume}
    facts["imbalance"] = float(found.imbalance)
    answer = _answer(graph, parts, found.weights, vertex_weights)
    return certify("partition", edge_arrays(graph), answer, {}, **facts)


def certificate_of(partition: Any) -> Certificate:
    """Return the certificate of a result, with all that it says."""
    cut, given = partition.edge_cut, partition._vertex_weights
    facts = {"edge_cut": cut.item() if isinstance(cut, np.generic) else cut}
    facts |= {"communication_volume": partition.measures.communication_volume}
    facts |= {"imbalance": float(partition.imbalance), "balanced": partition.is_balanced}
    answer = _answer(partition.graph, partition.parts, partition.weights, given)
    answer["limits"] = partition.limits
    return certify("partition", edge_arrays(partition.graph), answer, {}, **facts)


def _answer(graph, parts, weights, vertex_weights):
    """The arrays of the answer; with the weights of the vertices if the graph does not have them."""
    parts = arrays.move(parts, "cpu") if hasattr(parts, "dtype") else np.asarray(parts)
    answer = {"parts": parts, "weights": weights}
    if vertex_weights is not None:
        answer["vertex_weights"] = vertex_weights_of(graph.to("cpu"), vertex_weights)
    return answer
