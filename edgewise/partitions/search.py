"""The state of a refinement, and the lists of vertices that its iterations keep."""

from typing import Any, NamedTuple

from edgewise.device import device, each
from edgewise.device.regions import workers

#: Bits of the lists that a vertex is in: the border, the active ones, the candidates.
BORDER, ACTIVE, CANDIDATE = 1, 2, 4
#: Room of every part while the balance does not count.
AMPLE = 2**62
#: Counters of an iteration.
LISTED, MOVED, N_DIRTY, EXCESS, CANDIDATES, STALE, JOINED, GROWN, WANTED, OPEN, SHORT = range(11)
#: Counters of the items of a step that workers of the CPU have taken, of the candidates and the moves whose
#: rows are long, and the number of all counters.
RECONSIDERED, SPREAD, RATED, LONG_LISTED, LONG_MOVED, COUNTERS = 11, 12, 13, 14, 15, 16
#: Items that a thread of the CPU looks at before it claims places in a list; on a GPU it is one item.
SPAN = 512
#: Fewest items of a step for each worker of the CPU.
LEAST_FOR_EACH = 512


class Search(NamedTuple):
    """The state of a refinement.

    Attributes
    ----------
    part : (n,) index array
    loads, limits, least : (k,) int64 arrays
        Weight of each part, its largest weight, and the weight below which it gives no vertices in a free
        iteration.
    listed : (n,) int64 array
        The candidates.
    net : (n,) int64 array
        By how much the cut falls by the move of each listed candidate after those before it.
    moves, left : (n,) int64 arrays
        The vertices that have moved, and the parts that they have left.
    dirty : (n,) int64 array
        The vertices to be rated again.
    border : (n,) int64 array
        The vertices beside another part or without edges to their own, and some that have been.
    active, spare : (n,) int64 arrays
        The vertices that are candidates or would be if they were not locked, and some that have been; and
        memory for those of the next free iteration.
    counters : (COUNTERS,) int64 array
        Numbers of listed, moved and dirty vertices; the largest weight of a part above its limit, plus
        ``AMPLE``; the number of vertices that might leave such parts, of those whose part of choice is full,
        and of those that have joined the border; by how much the totals of vertices to their own parts have
        grown; the number of vertices that have become active or, in a free iteration, are active; the numbers
        of parts with room, and of parts that the listed vertices do not make light enough; and the numbers of
        items that have been reconsidered, spread and rated, or are being so.
    """

    part: Any
    loads: Any
    limits: Any
    least: Any
    listed: Any
    net: Any
    moves: Any
    left: Any
    dirty: Any
    border: Any
    active: Any
    spare: Any
    counters: Any


@device
def with_lists_exchanged(search):
    """The search with the active vertices of the next free iteration."""
    return Search(
        search.part,
        search.loads,
        search.limits,
        search.least,
        search.listed,
        search.net,
        search.moves,
        search.left,
        search.dirty,
        search.border,
        search.spare,
        search.active,
        search.counters,
    )


class Turn(NamedTuple):
    """An iteration.

    Attributes
    ----------
    is_free : int
        1 if vertices move without regard to the balance, 0 if the moves are listed already.
    number : int
        Of free iterations so far.
    share : int
        Thousandths of a vertex's own edges by which the cut may grow for a candidate.
    border, active : int
        Number of vertices in these lists.
    items : int
        Items that a worker looks at before it claims places in a list.
    base : int
        Where its moves are listed.
    """

    is_free: int
    number: int
    share: int
    border: int
    active: int
    items: int
    base: int


def items_of(where):
    """Items that a worker looks at before it claims places in a list."""
    return SPAN if where == "cpu" else 1


def in_spans(body):
    """The loop ``run(where, count, *arguments)`` of a body ``body(span, items, count, *arguments)``.

    A span claims its places in another list at once, since a counter that all threads increment for each item
    takes longer than the items.
    """
    loop = each(body, least_chunk=1)

    def run(where, count, *arguments):
        items = items_of(where)
        loop(-(-count // items), items, count, *arguments)

    return run


def workers_for(items):
    """Number of workers of the CPU for a step of so many items."""
    return min(workers(), items // LEAST_FOR_EACH + 1)


@device
def transfer(slot, vertex, target, search):
    """Move a vertex to another part and list it."""
    search.left[slot] = search.part[vertex]
    search.part[vertex] = target
    search.moves[slot] = vertex
