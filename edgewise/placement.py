"""Where the edges of a graph of the host are while a GPU works: copied there, or left on the host.

They are copied if there is room for them and for what the method takes.  Otherwise the arrays of the vertices
are on the GPU, and the edges remain on the host: an edge list is sent in segments
(:mod:`~edgewise.components.segments`), and rows are read there
(:mod:`~edgewise.device.on_host`).  The memory of a GPU is what it has free, within the limit of CuPy's pool.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from edgewise import memory
from edgewise.device import arrays

#: Share of the free memory of a GPU that may be taken.
USABLE = 0.95
#: Bytes for each entry while a GPU makes rows of edges: a key and room to sort the keys; and with weights,
#: which are moved in the order of the keys.
MADE, MADE_WITH_WEIGHTS = 17, 44
#: What results add to the name of a method that has read rows on the host.
ON_HOST = ", rows on the host"


class Placement(NamedTuple):
    """Where the edges are.

    Attributes
    ----------
    left_on_host : bool
    bytes : int
        What is taken on the GPU in all.
    """

    left_on_host: bool
    bytes: int


def place(whole: float, left: float, device: str) -> Placement:
    """Where edges are that take ``whole`` bytes of a GPU with the method, or ``left`` ones on the host."""
    fits = whole <= USABLE * arrays.free_memory(device)
    return Placement(not fits, int(whole if fits else left))


def bytes_of(graph: Any) -> int:
    """Bytes of all arrays of a graph that are copied with it."""
    columns = [*(graph._edges or ()), *(graph._rows or ())]
    return sum(column.nbytes for column in columns if column is not None)


def place_rows(graph: Any, size: Any, needed: float, device: str) -> Placement:
    """Where the rows of a graph of the host are, for a method that needs so many bytes beside them."""
    offsets = 8 * (size.vertices + 1)
    rows = 0 if graph.has_rows else offsets + (size.width + size.weight) * size.entries
    making = 0 if graph.has_rows else (MADE_WITH_WEIGHTS if size.weight else MADE) * size.entries + offsets
    return place(bytes_of(graph) + max(making, rows + needed), offsets + needed, device)


def with_rows_on(graph: Any, size: Any, term: Any, device: str) -> Any:
    """The graph on a device, for a method that takes ``term(size)`` bytes beside its rows.

    If they do not fit, its rows are read on the host, without their weights.
    """
    if device == "cpu" or graph.device != "cpu":
        return graph.to(device)
    placement = place_rows(graph, size, term(size), device)
    if not placement.left_on_host:
        return graph.to(device)
    if placement.bytes > USABLE * arrays.free_memory(device):
        raise arrays.out_of_memory(placement.bytes, device)
    from edgewise.device import on_host
    from edgewise.ingest.row_buckets import bytes_to_make_rows
    from edgewise.primitives.uploads import upload

    if not graph.has_rows:
        what = f"a graph of {graph.n_vertices:,} vertices that does not fit {device}"
        memory.check(int(bytes_to_make_rows(size)), what)
    offsets, neighbours, _ = graph._csr()
    locked = graph.cached("page-locked neighbours", lambda: on_host.page_locked(neighbours))
    rows = *upload([offsets], device), on_host.readable(locked, device), None
    found = graph._copy(None, rows)
    found._of_host = graph
    return found
