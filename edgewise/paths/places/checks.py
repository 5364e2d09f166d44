"""The arguments that questions about places share, and the rows that they are answered with."""

from typing import Any, Literal, NamedTuple

import numpy as np

from edgewise import memory
from edgewise.device import arrays
from edgewise.errors import (
    GraphError,
    OptionError,
    OutOfMemoryError,
    VerificationError,
    argument,
    one_of,
)
from edgewise.paths.csr import CSR, Adjacency, adjacency_of
from edgewise.paths.method import check_cutoff, flat
from edgewise.paths.sssp.weights import edge_at, limit_in, rows_in

Direction = Literal["from", "to"]


class Rows(NamedTuple):
    """The rows of one direction, and those of both."""

    csr: CSR
    adjacency: Adjacency


def rows_between(graph, direction, name=None) -> Rows:
    """The rows by which a search from places goes along edges, or against them where it goes to places.

    ``name`` is the type of the distances, by default that of the weights.  GraphError for negative weights.
    """
    if graph.is_weighted:
        adjacency = rows_in(graph, name)
        if adjacency.spread.least < 0:
            edge = edge_at(graph, int(graph.csr_weights.argmin()))
            problem = f"the edge {edge} weighs {adjacency.spread.least}"
            remedy = "weights of 0 or more are needed; shortest_paths takes others"
            raise GraphError(f"{problem}, and {remedy}")
    else:
        adjacency = adjacency_of(graph)
    return Rows(adjacency.outgoing if direction == "from" else adjacency.incoming, adjacency)


def may_overflow(rows, cutoff) -> bool:
    """Whether a sum that a search up to a cutoff computes might pass the end of its type."""
    csr, adjacency = rows
    heaviest = adjacency.spread.largest if len(csr.weights) else 1
    end = limit_in(None, csr.weights.dtype).item()
    return min(cutoff + heaviest, 2 * heaviest * csr.n_vertices) > end


def check_direction(direction):
    """Refuse what is no direction."""
    if direction not in ("from", "to"):
        raise OptionError(
            f"{argument('direction', direction)} is unknown; {one_of(direction, ('from', 'to'))}"
        )


def check_weighted(graph, weighted):
    """Refuse to verify distances along weights in a graph without any, and the other way round."""
    if graph.is_weighted != weighted:
        raise VerificationError("the distances count weights, and the graph has none, or the other way round")


def places_in(graph, ids, name):
    """Vertex numbers of an id, or of several, in their order."""
    vertices = graph.vertices_of(flat(ids, name, graph))
    if not len(vertices):
        raise OptionError(f"{name} is empty; give the id of a vertex, or several")
    return np.asarray(vertices, np.int64)


def cutoffs_in(cutoffs) -> np.ndarray:
    """The cutoffs, distinct and ascending."""
    given = [cutoffs] if np.ndim(cutoffs) == 0 else list(cutoffs)
    if not given:
        raise OptionError("cutoffs is empty; give a distance, or several")
    known = [np.inf if (held := check_cutoff(one, whole=False)) is None else held for one in given]
    return np.unique([float(one) if one >= 2**63 else one for one in known])


def check_room(needed, what, remedy):
    """Refuse to take so many bytes of the host if there are less."""
    if needed > memory.UNCHECKED_BYTES and needed > (free := arrays.free_memory("cpu")):
        problem = f"cpu has too little memory for {what}: {int(needed):,} bytes needed, {free:,} free"
        raise OutOfMemoryError(f"{problem}; {remedy}")


def coordinates_of(graph, coordinates) -> tuple[Any, Any]:
    """Coordinates of the vertices, (n, 2), and the edges, (m, 2), for a map."""
    points = np.asarray(coordinates, float)
    if points.shape != (graph.n_vertices, 2):
        given = argument("coordinates")
        raise OptionError(f"{given} have shape {points.shape}; ({graph.n_vertices}, 2) is needed")
    host = graph.to("cpu")
    return points, np.stack([host.sources, host.targets], axis=1)
