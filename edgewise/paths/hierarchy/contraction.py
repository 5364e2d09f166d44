"""Building a contraction hierarchy, by rounds of vertices that are contracted at the same time.

A vertex has a *priority*: the level that it has by now, and its *cost*, the quotient of the shortcuts that
its contraction would add and the entries that it would remove, and the same quotient of the edges for which
these stand.  Low priorities come first.  In every round a vertex is *chosen* if its priority is less than
that of all its neighbours; ties are broken by a random number of each vertex.  Chosen vertices are searched
for the shortcuts that they need, in parallel (:mod:`~edgewise.paths.hierarchy.witnesses`).  Then each of the
others that has chosen neighbours writes a row of its own anew: it leaves them out, and takes over the
shortcuts.  So no two workers write to one row.

Priorities are *lazy*.  When a neighbour is contracted, the level of a vertex rises at once, but its cost is
only guessed: a part of what it was, since costs often fall.  It is computed when the vertex is chosen, by the
searches that its contraction needs anyway.  If its priority is not the least any more, the vertex waits for a
later round.  The order is nearly that of costs that are always up to date, for a third of the searches.

Which vertices are chosen, what their searches find, and the order of the entries of a row depend on nothing
but the graph, so the hierarchy is the same for any number of threads.

Rows are in one pool, in ascending order of the vertices at the other ends.  A row that gets shortcuts is
written to the end of the pool.  The row of a contracted vertex stays where it is: its entries all lead to
vertices of higher rank, so it is part of the hierarchy.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies" (WEA 2008); C. Vetter,
"Parallel time-dependent contraction hierarchies" (2009); "SPoCH" (arXiv 2412.18008); priorities are those of
RoutingKit (Dibbelt, Strasser and Wagner).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each, fetch_add, parallel_region, store
from edgewise.device.regions import workers
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import GraphError
from edgewise.front import reporter
from edgewise.paths.csr import CSR, Adjacency, adjacency_of, unreached
from edgewise.paths.hierarchy import Hierarchy, Upward
from edgewise.paths.hierarchy.witnesses import (
    EMPTY,
    Entries,
    Limits,
    Vertices,
    enter,
    find_nearest,
    forget,
    heap_of,
    new_memory,
    search_from,
    slot_of,
    table_of,
)
from edgewise.paths.sssp.weights import WIDER, edge_at, rows_in
from edgewise.primitives import exclusive_scan, pack
from edgewise.primitives.heap import push
from edgewise.primitives.mixing import mix

#: Vertices that a witness search settles at most.
SETTLED = 200
#: Parts of a priority that a level counts, and a quotient of one.
UNIT = 1000
#: The part of its cost, in percent, that a vertex is guessed to have after a neighbour was contracted.
GUESS = 60
#: Largest priority.
HIGHEST = 2**31 - 1
#: Pairs of neighbours that are searched for each vertex and entry of the graph, at most.
PAIRS = 128
#: Pairs that are searched before a graph is refused that :func:`_outgrows`; a second searches about as many.
FEW_PAIRS = 1 << 18
#: Pairs that are searched for each vertex and entry before half of the vertices are contracted, at most,
#: unless entries get fewer: refusing friendships took 1.7 s of the processor instead of 15 (UCSC68, two
#: cores, 5ad1867b, 2026-12-01).
EARLY_PAIRS = 2
#: Neighbours that a vertex may have when it is contracted; one with more waits until it has fewer.
MOST_NEIGHBOURS = 1024
#: Entries of a hierarchy for each vertex and entry of the graph, at most.
ROOM = 8
#: Entries of a pool for each entry that is held when it is made.
SPARE = 1.5
#: What a user is told whose graph has no hierarchy of use.
NO_USE = (
    "the shortcuts of this graph outgrow it, as those of social networks do, so it has no hierarchy of use; "
    "calls work without one"
)
#: Bits of the random part of a key.
HALF = 32
#: What is done with a vertex in a round.
LEFT, CHOSEN, CONTRACTED, WAITS = range(4)


class Places(NamedTuple):
    """Places of the counters of a round."""

    taken: int  # chosen vertices that a worker has taken
    overflowed: int  # whether a length does not fit its type


#: Places of counters, each in a cache line of its own.
AT = Places(0, 8)
#: Words of counters.
COUNTERS = 16


class Round(NamedTuple):
    """The vertices that are chosen in a round.

    ``chosen`` (k,) index array; ``firsts`` (k,) int64: the first pair of neighbours of each in ``needed``,
    uint8: whether the pair needs a shortcut; ``counts`` (COUNTERS,) int64, see :class:`Places`.
    """

    chosen: Any
    firsts: Any
    needed: Any
    counts: Any


@device
def copy_entry(pool, source, entries, target):
    """Copy an entry to another pool."""
    entries.others[target] = pool.others[source]
    entries.out[target] = pool.out[source]
    entries.into[target] = pool.into[source]
    entries.out_middles[target] = pool.out_middles[source]
    entries.into_middles[target] = pool.into_middles[source]
    entries.hops[target] = pool.hops[source]


@device
def move_entry(entries, source, target):
    """Copy an entry within the pool."""
    copy_entry(entries, source, entries, target)


@device
def sort_row(entries, first, end):
    """Sort a row by the vertices at the other ends (Shell's sort)."""
    gap = np.int64(1)
    while gap < (end - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(first + gap, end):
            other, out, into = entries.others[place], entries.out[place], entries.into[place]
            out_middle, into_middle = entries.out_middles[place], entries.into_middles[place]
            hops = entries.hops[place]
            at = np.int64(place)
            while at >= first + gap and entries.others[at - gap] > other:
                move_entry(entries, at - gap, at)
                at -= gap
            entries.others[at], entries.out[at], entries.into[at] = other, out, into
            entries.out_middles[at], entries.into_middles[at] = out_middle, into_middle
            entries.hops[at] = hops
        gap //= 3


@device
def merge_repeated(entries, first, end):
    """Keep the least length of several entries of a sorted row to one vertex; return the size of the row."""
    last = first - 1
    for place in range(first, end):
        if last < first or entries.others[last] != entries.others[place]:
            last += 1
            move_entry(entries, place, last)
            continue
        if entries.out[place] < entries.out[last]:
            entries.out[last] = entries.out[place]
            entries.out_middles[last] = entries.out_middles[place]
            entries.hops[last] = entries.hops[place]
        if entries.into[place] < entries.into[last]:
            entries.into[last] = entries.into[place]
            entries.into_middles[last] = entries.into_middles[place]
    return last + 1 - first


@device
def write_entry(entries, place, lengths, other, middle, hops):
    """Write an entry both of whose lengths are of an edge, or of one shortcut."""
    entries.others[place] = other
    entries.out[place], entries.into[place] = lengths
    entries.out_middles[place] = entries.into_middles[place] = middle
    entries.hops[place] = hops


@device
def key_of(vertex, priority, size):
    """A priority, and a random number where priorities are equal; the highest one for too many neighbours."""
    priority = min(np.int64(priority), HIGHEST) if size <= MOST_NEIGHBOURS else np.int64(HIGHEST)
    return (priority << HALF) | mix(vertex, 0)


@device
def quotient(added, removed):
    """What is added by a contraction, of that which is removed in each of two directions."""
    return UNIT * added // (2 * removed + 1)


@device
def priority_of(own, added, hops, graph):
    """The priority of a vertex whose contraction adds shortcuts, which stand for so many edges."""
    vertices, entries = graph
    first, size, removed = vertices.starts[own], np.int64(vertices.sizes[own]), np.int64(0)
    for entry in range(first, first + size):
        removed += entries.hops[entry]
    return UNIT * np.int64(vertices.levels[own]) + quotient(added, size) + quotient(hops, removed)


@each
def begin_row(vertex, outgoing, incoming, graph, none, edge):
    """Write the row of a vertex, of the edges that leave it and come in, and guess its priority."""
    vertices, entries = graph
    symmetric = len(incoming.offsets) == 0
    start = outgoing.offsets[vertex] + (0 if symmetric else incoming.offsets[vertex])
    end = start
    for entry in range(outgoing.offsets[vertex], outgoing.offsets[vertex + 1]):
        if np.int64(outgoing.neighbours[entry]) != vertex:
            length = outgoing.weights[entry] if len(outgoing.weights) else entries.out.dtype.type(1)
            lengths = length, length if symmetric else none
            write_entry(entries, end, lengths, outgoing.neighbours[entry], edge, 1)
            end += 1
    if not symmetric:
        for entry in range(incoming.offsets[vertex], incoming.offsets[vertex + 1]):
            if np.int64(incoming.neighbours[entry]) != vertex:
                length = incoming.weights[entry] if len(incoming.weights) else entries.out.dtype.type(1)
                write_entry(entries, end, (none, length), incoming.neighbours[entry], edge, 1)
                end += 1
    sort_row(entries, start, end)
    size = merge_repeated(entries, start, end)
    vertices.starts[vertex], vertices.sizes[vertex], vertices.levels[vertex] = start, size, 0
    vertices.states[vertex] = LEFT
    vertices.keys[vertex] = key_of(vertex, quotient(size * (size - 1), size), size)


@each
def choose(item, left, vertices, others, pairs):
    """Choose a vertex if its key is less than those of its neighbours; count the pairs of these."""
    vertex = np.int64(left[item])
    first, size = vertices.starts[vertex], np.int64(vertices.sizes[vertex])
    key, pairs[item] = vertices.keys[vertex], 0
    if size > MOST_NEIGHBOURS:
        return
    for entry in range(first, first + size):
        if vertices.keys[others[entry]] < key:
            return
    pairs[item] = max(size * size, 1)
    vertices.states[vertex] = CHOSEN


@device
def search_pairs(own, place, first_pair, graph, memory, limits, turn):
    """Mark the paths from one neighbour of ``own`` that need a shortcut; return how many, of how many edges.

    ``place`` is that of the neighbour in the row.  In an undirected graph only later neighbours are targets.
    """
    vertices, entries = graph
    table, heap = memory
    first, size = vertices.starts[own], np.int64(vertices.sizes[own])
    into = entries.into[first + place]
    source, longest, n_labels = np.int64(entries.others[first + place]), into, 1
    furthest = into - limits.none
    start = place + 1 if limits.symmetric else np.int64(0)
    slot = slot_of(table, source)
    enter(table, slot, source, 0, 0)
    for other in range(start, size):
        out = entries.out[first + other]
        if other != place and out != limits.none:
            length = wrapping_add(into, out)
            if length < into or length >= limits.none:
                store(turn.counts, AT.overflowed, 1)
                continue
            after = np.int64(entries.others[first + other])
            target = slot_of(table, after)
            enter(table, target, after, limits.none, n_labels)
            table.marks[target], table.lengths[target] = 1, length
            longest = max(longest, length)
            furthest = max(furthest, length - table.nearest[other])
            n_labels += 1
    n_needed = n_hops = np.int64(0)
    if n_labels > 1:
        push(heap, 0, table.labels[slot], source)
        n_labels = search_from(own, (longest, furthest), n_labels - 1, graph, memory, limits)
        for other in range(start, size):
            slot = slot_of(table, np.int64(entries.others[first + other]))
            if table.vertices[slot] != EMPTY and table.marks[slot]:
                turn.needed[first_pair + place * size + other] = 1
                if limits.symmetric:
                    turn.needed[first_pair + other * size + place] = 1
                n_needed += 1
                n_hops += np.int64(entries.hops[first + place]) + entries.hops[first + other]
    forget(table, n_labels)
    return n_needed, n_hops


@device
def search_all_pairs(own, first_pair, graph, memory, limits, turn):
    """Mark the pairs of neighbours of ``own`` that need a shortcut.

    Returns how many shortcuts they need in both directions, and for how many edges these stand.
    """
    vertices, entries = graph
    first, size = vertices.starts[own], np.int64(vertices.sizes[own])
    n_needed = n_hops = np.int64(0)
    find_nearest(own, graph, memory[0], limits.none)
    for pair in range(size * size):
        turn.needed[first_pair + pair] = 0
    for place in range(size):
        if entries.into[first + place] != limits.none:
            needed, hops = search_pairs(own, place, first_pair, graph, memory, limits, turn)
            n_needed += needed
            n_hops += hops
    return n_needed << limits.symmetric, n_hops << limits.symmetric


@device
def is_least(graph, vertex, key):
    """Whether a key is less than those of the neighbours of a vertex."""
    vertices, entries = graph
    first = vertices.starts[vertex]
    for entry in range(first, first + vertices.sizes[vertex]):
        if vertices.keys[entries.others[entry]] < key:
            return False
    return True


@parallel_region
def search(worker, graph, memory, limits, turn):
    """Search the chosen vertices for the shortcuts that they need; some of them then wait."""
    vertices = graph[0]
    tables, heaps = memory
    own = table_of(tables, worker.id), heap_of(heaps, worker.id)
    item = fetch_add(turn.counts, AT.taken, 1)
    while item < len(turn.chosen):
        vertex = np.int64(turn.chosen[item])
        added, hops = search_all_pairs(vertex, turn.firsts[item], graph, own, limits, turn)
        priority = priority_of(vertex, added, hops, graph)
        key = key_of(vertex, priority, vertices.sizes[vertex])
        waits = not is_least(graph, vertex, key)
        # race: others ask whether it is LEFT, which it is neither before nor after
        vertices.states[vertex] = WAITS if waits else CONTRACTED
        vertices.keys[vertex] = key if waits else turn.firsts[item]
        item = fetch_add(turn.counts, AT.taken, 1)


@device
def place_in_row(others, first, size, vertex):
    """The place of a vertex in a row that has it."""
    low, high = first, first + size - 1
    while low < high:
        middle = (low + high) // 2
        if np.int64(others[middle]) < vertex:
            low = middle + 1
        else:
            high = middle
    return low - first


@device
def row_beside(graph, middle, vertex):
    """The first entry of a contracted vertex, its size, and the place of a neighbour in its row."""
    vertices, entries = graph
    first, size = vertices.starts[middle], np.int64(vertices.sizes[middle])
    return first, size, place_in_row(entries.others, first, size, vertex)


@device
def take_out(vertices, entries, first, end):
    """Take the contracted vertices out of a row, and return its size."""
    kept = first
    for entry in range(first, end):
        if vertices.states[entries.others[entry]] != CONTRACTED:
            move_entry(entries, entry, kept)
            kept += 1
    return kept - first


@each
def count_room(item, left, graph, needed, room):
    """Count the entries of the new row of a vertex, if it gets shortcuts; else take out what is contracted.

    The level and the priority of a vertex rise with the levels of contracted neighbours.
    """
    vertices, entries = graph
    vertex, room[item] = np.int64(left[item]), 0
    if vertices.states[vertex] == CONTRACTED:
        return
    vertices.states[vertex] = LEFT
    first, end = vertices.starts[vertex], vertices.starts[vertex] + vertices.sizes[vertex]
    before, kept, added = np.int64(vertices.levels[vertex]), np.int64(0), np.int64(0)
    level = before
    for entry in range(first, end):
        middle = np.int64(entries.others[entry])
        if vertices.states[middle] != CONTRACTED:
            kept += 1
            continue
        level = max(level, np.int64(vertices.levels[middle]) + 1)
        _, size, place = row_beside(graph, middle, vertex)
        first_pair = vertices.keys[middle]
        for other in range(size):
            pair, back = first_pair + place * size + other, first_pair + other * size + place
            added += needed[pair] | needed[back]
    if kept < end - first:
        vertices.levels[vertex] = level
        cost = (vertices.keys[vertex] >> HALF) - UNIT * before
        vertices.keys[vertex] = key_of(vertex, UNIT * level + cost * GUESS // 100, kept + added)
    if added > 0:
        room[item] = kept + added
    elif kept < end - first:
        vertices.sizes[vertex] = take_out(vertices, entries, first, end)


@each
def write_row(item, left, graph, needed, starts, none):
    """Write the new row of a vertex that gets shortcuts."""
    vertices, entries = graph
    vertex, start, end = np.int64(left[item]), starts[item], starts[item]
    if starts[item + 1] == start:
        return
    first = vertices.starts[vertex]
    for entry in range(first, first + vertices.sizes[vertex]):
        middle = np.int64(entries.others[entry])
        if vertices.states[middle] != CONTRACTED:
            move_entry(entries, entry, end)
            end += 1
            continue
        begin, size, place = row_beside(graph, middle, vertex)
        first_pair = vertices.keys[middle]
        for other in range(size):
            out, into, target = none, none, begin + other
            if needed[first_pair + place * size + other]:
                out = wrapping_add(entries.out[entry], entries.out[target])
            if needed[first_pair + other * size + place]:
                into = wrapping_add(entries.into[entry], entries.into[target])
            if out != none or into != none:
                hops = entries.hops[entry] + entries.hops[target]
                write_entry(entries, end, (out, into), entries.others[target], middle, hops)
                end += 1
    sort_row(entries, start, end)
    vertices.starts[vertex] = start
    vertices.sizes[vertex] = merge_repeated(entries, start, end)


@each
def copy_row(vertex, graph, starts, entries):
    """Copy a row to another pool."""
    vertices, before = graph
    first, start = vertices.starts[vertex], starts[vertex]
    for place in range(vertices.sizes[vertex]):
        copy_entry(before, first + place, entries, start + place)
    vertices.starts[vertex] = start


@each
def count_lengths(rank, order, vertices, lengths, none, counts):
    """Count the entries of a row that have a length in one direction."""
    vertex, count = order[rank], 0
    first = vertices.starts[vertex]
    for entry in range(first, first + vertices.sizes[vertex]):
        count += lengths[entry] != none
    counts[rank] = count


@each
def write_upward(rank, order, ranks, graph, none, offsets, upward):
    """Write the row of a rank in the direction in which ``graph`` has lengths and middles twice."""
    vertices, entries = graph
    vertex, end = order[rank], offsets[rank]
    first = vertices.starts[vertex]
    for entry in range(first, first + vertices.sizes[vertex]):
        if entries.out[entry] != none:
            copy_entry(entries, entry, upward, end)
            upward.others[end] = ranks[entries.others[entry]]
            if entries.out_middles[entry] < len(ranks):
                upward.out_middles[end] = ranks[entries.out_middles[entry]]
            end += 1
    sort_row(upward, offsets[rank], end)


def prepare_routes(graph) -> None:
    """Prepare a graph for many searches between two vertices, and for tables: make its hierarchy on the host.

    Raises
    ------
    GraphError
        A negative weight, a shortcut that is too long for every type, or a hierarchy that outgrows the graph.
    """
    graph.cached("routes", lambda: _made(graph.to("cpu")))


def _made(graph):
    """The hierarchy of a graph on the host."""
    rows = rows_for_routes(graph)
    made = hierarchy_in_any_type(rows)
    if made is None:
        raise GraphError(f"a path passes the largest number of {rows.weights.dtype}; use smaller weights")
    return made


def rows_for_routes(graph):
    """The rows of a graph, along whose weights routes lead if it has any; negative weights are refused."""
    if not graph.is_weighted:
        return adjacency_of(graph)
    rows = rows_in(graph)
    if rows.spread.least < 0:
        edge = edge_at(graph, int(graph.csr_weights.argmin()))
        problem = f"the edge {edge} weighs {rows.spread.least}, and routes need weights of 0 or more"
        raise GraphError(f"{problem}; use edgewise.shortest_paths")
    return rows


def hierarchy_in_any_type(rows) -> Hierarchy | None:
    """The hierarchy of rows on the host, whose shortcuts may need a wider type than their edges; or None."""
    made, wider = hierarchy_of(rows), WIDER.get(rows.weights.dtype.name)
    if made is None and wider is not None:
        both = [one._replace(weights=one.weights.astype(wider)) for one in (rows.outgoing, rows.incoming)]
        made = hierarchy_of(Adjacency(both[0], both[0] if rows.symmetric else both[1]))
    return made


def hierarchy_of(rows) -> Hierarchy | None:
    """The hierarchy of an :class:`~edgewise.paths.csr.Adjacency` on the host, whose weights are 0 or more.

    Returns None if a length does not fit the type of the weights.

    Raises
    ------
    GraphError
        The hierarchy outgrows :data:`ROOM`, :data:`PAIRS` or :data:`MOST_NEIGHBOURS`.
    """
    dtype, index_type, n = rows.weights.dtype, rows.neighbours.dtype, rows.n_vertices
    none, edge = dtype.type(unreached(dtype)), index_type.type(np.iinfo(index_type).max)
    graph, end = _begin(rows, none, edge)
    size, n_pairs, n_entries = n + end, 0, int(graph[0].sizes.sum())
    memory, limits = new_memory(workers(), dtype), Limits(none, SETTLED, int(rows.symmetric))
    left, report = np.arange(n, dtype=index_type), reporter()
    counts = np.zeros(COUNTERS, np.int64)
    while len(left):
        turn = _chosen(left, graph, counts)
        if not len(turn.chosen):
            raise GraphError(NO_USE)
        search(graph, memory, limits, turn)
        if counts[AT.overflowed]:
            return None
        room = np.empty(len(left), np.int64)
        count_room(len(left), left, graph, turn.needed, room)
        starts = exclusive_scan(room)
        before, (graph, end) = graph, _with_room(graph, end, int(starts[-1]))
        n_pairs += len(turn.needed)
        if (graph is not before and end + starts[-1] > ROOM * size) or n_pairs > PAIRS * size:
            raise GraphError(NO_USE)
        starts += end
        write_row(len(left), left, graph, turn.needed, starts, none)
        end = int(starts[-1])
        left = left[graph[0].states[left] != CONTRACTED]
        is_early = n_pairs <= EARLY_PAIRS * (n + n_entries)
        if n_pairs > FEW_PAIRS and _outgrows(left, graph[0].sizes, n_entries, is_early):
            raise GraphError(NO_USE)
        if report is not None:
            report(n - len(left), n)
    return _ranked(graph, limits)


def _outgrows(left, sizes, n_entries, is_early):
    """Whether half of the vertices are contracted, and of the entries a quarter of their share is not gone.

    Of the entries of road networks and meshes a half to a third are left then, and of random graphs more than
    there were, so that contraction takes ever longer.  Where many pairs have been searched by then, as among
    friendships, whose vertices have many neighbours each, the share is that of fewer vertices.
    """
    contracted = 1 - len(left) / len(sizes)
    return (contracted > 1 / 2 or not is_early) and sizes[left].sum() > (1 - contracted / 4) * n_entries


def _begin(rows, none, edge):
    """The vertices and entries of a graph, and the end of the pool."""
    n, outgoing = rows.n_vertices, rows.outgoing
    incoming = CSR(outgoing.offsets[:0], *outgoing[1:]) if rows.symmetric else rows.incoming
    end = len(outgoing.neighbours) + (0 if rows.symmetric else len(incoming.neighbours))
    entries = _new_pool(rows.neighbours.dtype, rows.weights.dtype, rows.symmetric, int(SPARE * end))
    types = np.int64, np.int32, np.int32, np.int64, np.uint8
    graph = Vertices(*(np.empty(n, kind) for kind in types)), entries
    begin_row(n, outgoing, incoming, graph, none, edge)
    return graph, end


def _new_pool(index_type, dtype, symmetric, room):
    """A pool for so many entries."""
    others, out, middles = (np.empty(room, kind) for kind in (index_type, dtype, index_type))
    into, into_middles = (out, middles) if symmetric else (np.empty_like(out), np.empty_like(middles))
    return Entries(others, out, into, middles, into_middles, np.empty(room, np.int32))


def _chosen(left, graph, counts):
    """The vertices that are chosen in a round."""
    vertices, entries = graph
    pairs = np.empty(len(left), np.int64)
    choose(len(left), left, vertices, entries.others, pairs)
    chosen, pairs = pack(pairs > 0, left, pairs)
    firsts = exclusive_scan(pairs)
    counts[AT.taken] = 0
    return Round(chosen, firsts[:-1], np.empty(firsts[-1], np.uint8), counts)


def _with_room(graph, end, room):
    """The graph with room for so many entries behind the end of its pool, and that end."""
    vertices, entries = graph
    if end + room <= len(entries.others):
        return graph, end
    starts = exclusive_scan(vertices.sizes)
    end = int(starts[-1])
    symmetric = entries.into is entries.out
    larger = _new_pool(entries.others.dtype, entries.out.dtype, symmetric, int(SPARE * (end + room)))
    copy_row(len(vertices.sizes), graph, starts, larger)
    return (vertices, larger), end


def _ranked(graph, limits):
    """The hierarchy of a graph all of whose vertices are contracted."""
    vertices, entries = graph
    n, index_type = len(vertices.levels), entries.others.dtype
    order = np.argsort(vertices.levels, kind="stable").astype(index_type)
    ranks = np.empty(n, index_type)
    ranks[order] = np.arange(n, dtype=index_type)
    in_order = vertices.levels[order]
    levels = np.searchsorted(in_order, np.arange(in_order[-1] + 2 if n else 1)).astype(np.int64)
    out, into = (entries.out, entries.out_middles), (entries.into, entries.into_middles)
    outgoing = _upward(graph, out, (order, ranks), limits.none)
    incoming = outgoing if limits.symmetric else _upward(graph, into, (order, ranks), limits.none)
    return Hierarchy(ranks, order, outgoing, incoming, levels)


def _upward(graph, columns, order_and_ranks, none):
    """The rows of one direction by rank; ``columns`` are its lengths and middles."""
    (vertices, entries), (lengths, middles), (order, ranks) = graph, columns, order_and_ranks
    counts = np.empty(len(order), np.int64)
    count_lengths(len(order), order, vertices, lengths, none, counts)
    offsets = exclusive_scan(counts)
    upward = _new_pool(order.dtype, lengths.dtype, True, int(offsets[-1]))
    graph = vertices, Entries(entries.others, lengths, lengths, middles, middles, entries.hops)
    write_upward(len(order), order, ranks, graph, none, offsets, upward)
    return Upward(CSR(offsets, upward.others, upward.out), upward.out_middles)
