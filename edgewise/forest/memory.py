"""The memory of a forest, estimated before it is taken, since a host promises more than it has."""

from edgewise.device import arrays
from edgewise.errors import OutOfMemoryError
from edgewise.forest.renumbering import is_renumbered

#: Bytes of a word, or of a position.
WORD = 8
#: Bytes of the number of a round.
ROUND = 4
#: Bytes for which the free memory is not looked up.
UNCHECKED_BYTES = 1 << 24
#: Edges for each vertex that Kruskal's algorithm sorts at a time, where there are more.
SORTED = 3


def bytes_needed(n_vertices, entries, method) -> int:
    """Bytes that a method takes beside the graph.

    Boruvka's algorithm lists both ends and the word of every edge; Kruskal's the words, and again those of
    the lightest edges, sorted.  Words that hold no position have it beside them.  Where trees are renumbered,
    as many as there are vertices have a parent, an edge and a root once more.  With transactions, every
    edge is listed at both of its ends, once more while the lists are made, and every vertex has six words and
    the round that it was active in last.
    """
    count, width = len(entries.targets), entries.targets.dtype.itemsize
    word = WORD if entries.order.packed else 2 * WORD
    rows = width * count if len(entries.offsets) else 0
    if method == "transactional":
        return word * count + 4 * (width + WORD) * count + (3 * width + 6 * WORD + ROUND) * n_vertices + rows
    if method == "kruskal":
        return word * (count + min(count, SORTED * n_vertices)) + (width + WORD) * n_vertices + rows
    again = width + 2 * WORD if is_renumbered(n_vertices, arrays.device_of(entries.targets)) else 0
    return (2 * width + word) * count + (width + WORD + 2 * word + again) * n_vertices + rows


def check_memory(n_vertices, entries, method) -> None:
    """Raise :class:`~edgewise.errors.OutOfMemoryError` unless the bytes are free on the device."""
    device = arrays.device_of(entries.targets)
    needed = bytes_needed(n_vertices, entries, method)
    if needed > UNCHECKED_BYTES and needed > (free := arrays.free_memory(device)):
        problem = f"{device} has too little memory for a spanning forest of {n_vertices:,} vertices"
        sizes = f"{needed:,} bytes needed, {free:,} free"
        raise OutOfMemoryError(f"{problem}: {sizes}; leave out edges that are not needed, or stream them")
