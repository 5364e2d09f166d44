"""Searches between two vertices in a contraction hierarchy, and the paths that they find.

Two searches ascend by rank, from the source along outgoing entries and from the target along incoming ones,
each in the order of distances.  Where both have been, they meet, and the least sum is the distance.  Neither
goes on beyond it.  A vertex is *stalled*, which means that the search does not go on from it, if a higher
vertex offers it a shorter distance: then its own is not that of a shortest path.

If the entries lead both ways, one pass over a row both finds out whether its vertex is stalled and goes on,
the highest neighbours first.  It ends as soon as the vertex is stalled.  What it has labelled until then are
lengths of paths, too.  A pass for each would take 40 % more of the time.

Each pair is searched by one worker, so that all cores search different pairs.  A worker keeps what its
searches meet in two hash tables of a few thousand slots, in place of arrays of all vertices.  The ranks that
most searches meet are the highest, which follow one another, so the slot is the end of the rank.  Pairs whose
searches need more slots are searched again in larger tables.

On a large graph most of the time goes by waiting for memory, so the offset of a row is prefetched when its
vertex is labelled, and the row when its vertex is the next one in the heap.

Entries that are shortcuts are replaced by the two that they stand for, again and again, until all are edges.
A stack has the vertices of the path that are still to come, the next one on top.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies: faster and simpler
hierarchical routing in road networks" (WEA 2008), sections 4 and 5.
"""

from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.target import inlined
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy import Upward
from edgewise.primitives.heap import Heap, pop, push

_thread = local()
#: Slots of a table at first, a power of two.
SLOTS = 8192
#: By how much tables grow for pairs that need more of them.
GROWTH = 8
#: Pairs that a worker takes at a time.
CHUNK = 8
#: What a slot without a rank holds.
EMPTY = -1
#: One, for places that are not negative.
ONE = np.uint64(1)
#: What is known of a pair after its search.
FOUND, GIVEN_UP, TOO_LONG = range(3)
#: Places of a side's counts.
LABELS, WAITING = range(2)


class Side(NamedTuple):
    """One of the two searches of a worker.

    In (slots,) slots: ``ranks`` int64, ``labels``: the least distances that are known, and ``parents`` int64:
    the ranks before.  ``used`` (slots / 2,) int64: the slots that are not empty; ``keys``, ``items``
    (slots,): a heap; ``counts`` (2,) int64: how many labels there are, and how many items wait in the heap.
    """

    ranks: Any
    labels: Any
    parents: Any
    used: Any
    keys: Any
    items: Any
    counts: Any


class Directions(NamedTuple):
    """The :class:`~edgewise.paths.hierarchy.Upward` entries out of each rank, and into it.

    ``symmetric``: 1 if both are the same, else 0.
    """

    outgoing: Upward
    incoming: Upward
    symmetric: int


def directions_of(hierarchy):
    """The :class:`Directions` of a hierarchy."""
    outgoing, incoming = hierarchy.outgoing, hierarchy.incoming
    return Directions(outgoing, incoming, int(outgoing is incoming))


class Pairs(NamedTuple):
    """Pairs to search.

    ``sources``, ``targets`` (k,) int64 ranks; ``order`` (pairs,) int64: those that are searched now.
    ``distances`` (k,) and ``states`` (k,) uint8 are found.  ``none``: the distance where no path leads;
    ``stacks``: a part for each worker, on which paths are unpacked, if distances are sums along paths, or
    empty; ``taken`` (1,) int64 counts the pairs that a worker has taken.
    """

    sources: Any
    targets: Any
    order: Any
    distances: Any
    states: Any
    none: Any
    stacks: Any
    taken: Any


@inlined
def slot_of(side, rank):
    """The slot of a rank, or the empty one where it belongs."""
    mask = np.uint64(len(side.ranks) - 1)
    slot = np.uint64(rank) & mask
    while side.ranks[slot] != rank and side.ranks[slot] != EMPTY:
        slot = (slot + ONE) & mask
    return slot


@inlined
def enter(side, slot, rank):
    """Let an empty slot be that of a rank."""
    side.ranks[slot] = rank
    side.used[side.counts[LABELS]] = slot
    side.counts[LABELS] += 1


@inlined
def improve(side, slot, rank, distance, parent):
    """Label a rank, and let it wait in the heap."""
    side.labels[slot], side.parents[slot] = distance, parent
    side.counts[WAITING] = push(Heap(side.keys, side.items), side.counts[WAITING], distance, rank)


@device
def begin(side, rank):
    """Begin a search from a rank."""
    slot = slot_of(side, rank)
    enter(side, slot, rank)
    improve(side, slot, rank, side.labels.dtype.type(0), np.int64(-1))


@device
def forget(side):
    """Empty the table and the heap."""
    for place in range(side.counts[LABELS]):
        side.ranks[side.used[place]] = EMPTY
    side.counts[LABELS] = side.counts[WAITING] = 0


@inlined
def is_stalled(side, rank, distance, rows):
    """Whether a higher vertex offers a shorter distance, by the entries of the other direction."""
    for entry in range(np.uint64(rows.offsets[rank]), np.uint64(rows.offsets[rank + 1])):
        higher = np.int64(rows.neighbours[entry])
        slot = slot_of(side, higher)
        if side.ranks[slot] == higher:
            offered = wrapping_add(side.labels[slot], rows.weights[entry])
            if side.labels[slot] <= offered < distance:
                return True
    return False


@inlined
def ascend(side, rows, back, symmetric, best):
    """Go on from the next vertex of a side; return its rank or -1, its distance, and the state of the pair.

    ``back`` are the rows of the other direction, which are the same ones in a ``symmetric`` hierarchy, and
    ``best`` the distance that is known.  The highest neighbours come first, since they offer shorter
    distances most often.
    """
    distance, rank = side.keys[0], np.int64(side.items[0])
    side.counts[WAITING] = pop(Heap(side.keys, side.items), side.counts[WAITING])
    state = FOUND
    if side.counts[WAITING] > 0:
        entry = rows.offsets[side.items[0]]
        prefetch(rows.neighbours, entry)
        prefetch(rows.weights, entry)
    if distance > side.labels[slot_of(side, rank)]:
        return np.int64(-1), distance, state
    first, end = rows.offsets[rank], np.uint64(rows.offsets[rank + 1])
    size = np.int64(end - np.uint64(first))
    if size > min(len(side.used) - side.counts[LABELS], len(side.keys) - side.counts[WAITING]):
        return rank, distance, GIVEN_UP
    if not symmetric and is_stalled(side, rank, distance, back):
        return rank, distance, state
    for step in range(size):
        entry = end - ONE - np.uint64(step)
        higher, weight = np.int64(rows.neighbours[entry]), rows.weights[entry]
        slot = slot_of(side, higher)
        longer = wrapping_add(distance, weight)
        if side.ranks[slot] == EMPTY:
            if distance <= longer < best:
                enter(side, slot, higher)
                improve(side, slot, higher, longer, rank)
                prefetch(rows.offsets, higher)
        elif longer < side.labels[slot]:
            if distance <= longer < best:
                improve(side, slot, higher, longer, rank)
        elif symmetric and side.labels[slot] <= wrapping_add(side.labels[slot], weight) < distance:
            break
        if longer < distance:
            state = TOO_LONG
    return rank, distance, state


@device
def search(hierarchy, source, target, sides, none):
    """Search a pair of ranks; return the distance, the rank where both searches meet, and the state."""
    (up, back, symmetric), (forth, to) = hierarchy, sides
    best, middle, state = none, np.int64(-1), FOUND
    begin(forth, source)
    begin(to, target)
    while forth.counts[WAITING] > 0 or to.counts[WAITING] > 0:
        next_forth = forth.keys[0] if forth.counts[WAITING] > 0 else none
        next_to = to.keys[0] if to.counts[WAITING] > 0 else none
        if min(next_forth, next_to) >= best:
            break
        if next_forth <= next_to:
            rank, distance, now = ascend(forth, up.rows, back.rows, symmetric, best)
            side = to
        else:
            rank, distance, now = ascend(to, back.rows, up.rows, symmetric, best)
            side = forth
        if now == GIVEN_UP:
            return best, middle, GIVEN_UP
        state = max(state, now)
        if rank >= 0:
            slot = slot_of(side, rank)
            if side.ranks[slot] == rank:
                total = wrapping_add(distance, side.labels[slot])
                if total < distance:
                    state = TOO_LONG
                elif total < best:
                    best, middle = total, rank
    return best, middle, state if middle < 0 else FOUND


@device
def stack_up(source, middle, sides, stack):
    """Put the vertices of a path after its source on a stack, the next one on top; return how many."""
    forth, to = sides
    size, rank = 0, to.parents[slot_of(to, middle)]
    while rank >= 0:
        stack[size] = rank
        size, rank = size + 1, to.parents[slot_of(to, rank)]
    for place in range(size // 2):
        stack[place], stack[size - 1 - place] = stack[size - 1 - place], stack[place]
    rank = middle
    while rank != source:
        stack[size] = rank
        size, rank = size + 1, forth.parents[slot_of(forth, rank)]
    return size


@device
def entry_to(rows, rank, higher):
    """The entry of a row that leads to a higher rank."""
    low, high = rows.offsets[rank], rows.offsets[rank + 1] - 1
    while low < high:
        half = (low + high) // 2
        if np.int64(rows.neighbours[half]) < higher:
            low = half + 1
        else:
            high = half
    return low


@device
def unpack(hierarchy, source, size, stack, path, total):
    """Replace shortcuts by edges; return the sum of their lengths, from a zero on, and how many there are.

    The ranks of the path are written to ``path`` as far as it has room.
    """
    outgoing, incoming, _ = hierarchy
    rank, count = source, np.int64(0)
    while size > 0:
        after = np.int64(stack[size - 1])
        upward = outgoing if after > rank else incoming
        entry = entry_to(upward.rows, min(rank, after), max(rank, after))
        middle = np.int64(upward.middles[entry])
        if middle < rank:
            stack[size] = middle
            size += 1
            continue
        total = wrapping_add(total, upward.rows.weights[entry])
        if count < len(path):
            path[count] = after
        count, rank, size = count + 1, after, size - 1
    return total, count


@device
def side_of(sides, number):
    """The part of a worker, or of one of its two sides, of the memory of several."""
    slots = len(sides.ranks) // (len(sides.counts) // 2)
    first, end, half = number * slots, (number + 1) * slots, slots // 2
    return Side(
        sides.ranks[first:end],
        sides.labels[first:end],
        sides.parents[first:end],
        sides.used[number * half : (number + 1) * half],
        sides.keys[first:end],
        sides.items[first:end],
        sides.counts[2 * number : 2 * number + 2],
    )


@parallel_region
def search_pairs(worker, hierarchy, pairs, all_sides, path):
    """Search pairs for their distances."""
    sides = side_of(all_sides, 2 * worker.id), side_of(all_sides, 2 * worker.id + 1)
    room = len(pairs.stacks) // worker.count
    stack = pairs.stacks[worker.id * room : (worker.id + 1) * room]
    first = fetch_add(pairs.taken, 0, CHUNK)
    while first < len(pairs.order):
        for item in range(first, min(first + CHUNK, len(pairs.order))):
            pair = pairs.order[item]
            source, target = pairs.sources[pair], pairs.targets[pair]
            distance, middle, state = search(hierarchy, source, target, sides, pairs.none)
            if state == FOUND and middle >= 0 and len(stack) > 0:
                size, total = stack_up(source, middle, sides, stack), pairs.distances.dtype.type(0)
                total, _ = unpack(hierarchy, source, size, stack, path, total)
                pairs.distances[pair] = total
                if total == pairs.none:
                    state = TOO_LONG
            else:
                pairs.distances[pair] = distance
            pairs.states[pair] = state
            forget(sides[0])
            forget(sides[1])
        first = fetch_add(pairs.taken, 0, CHUNK)


@compiled
def search_path(hierarchy, ends, all_sides, none, stack, path):
    """Search one pair, and write the ranks of its path after the source; return how many, and the state."""
    sides = side_of(all_sides, 0), side_of(all_sides, 1)
    source, target = ends
    _, middle, state = search(hierarchy, source, target, sides, none)
    count = np.int64(0)
    if state == FOUND and middle >= 0:
        size = stack_up(source, middle, sides, stack)
        _, count = unpack(hierarchy, source, size, stack, path, none)
    forget(sides[0])
    forget(sides[1])
    return count, state


def _new_sides(number, slots, dtype):
    """Empty tables and heaps for so many sides."""
    room = number * slots
    return Side(
        np.full(room, EMPTY, np.int64),
        np.empty(room, dtype),
        np.empty(room, np.int64),
        np.empty(room // 2, np.int64),
        np.empty(room, dtype),
        np.empty(room, np.int64),
        np.zeros(2 * number, np.int64),
    )


def _wide(dtype):
    """The type in which lengths are added up."""
    return np.dtype(np.float64 if dtype.kind == "f" else np.int64)


def distances_of(hierarchy, sources, targets, dtype):
    """Distances (k,) between vertices ``sources`` and ``targets``, (k,) int64, in a type.

    Returns None if a distance does not fit the type.  Sums of floats are those along the paths, from the
    source on.
    """
    weights, n_levels = hierarchy.outgoing.rows.weights, len(hierarchy.levels)
    wide, is_float = _wide(weights.dtype), weights.dtype.kind == "f"
    sources, targets = (hierarchy.ranks[ends].astype(np.int64) for ends in (sources, targets))
    none = wide.type(unreached(wide))
    distances, states = np.empty(len(sources), dtype if is_float else wide), np.empty(len(sources), np.uint8)
    order, slots, directions = np.arange(len(sources)), SLOTS, directions_of(hierarchy)
    while len(order):
        n_workers = min(workers(), -(-len(order) // CHUNK))
        stacks = np.empty(n_workers * (slots + n_levels) if is_float else 0, np.int64)
        pairs = Pairs(sources, targets, order, distances, states, none, stacks, np.zeros(1, np.int64))
        sides = _new_sides(2 * n_workers, slots, wide)
        search_pairs.with_workers(n_workers, directions, pairs, sides, np.empty(0, np.int64))
        order, slots = order[states[order] == GIVEN_UP], slots * GROWTH
    return narrowed(distances, states, dtype)


def narrowed(distances, states, dtype):
    """Distances in their own type or a narrower one, or None if one does not fit it."""
    if np.any(states == TOO_LONG):
        return None
    if distances.dtype == dtype:
        return distances
    there = distances != unreached(distances.dtype)
    if distances.max(initial=0, where=there) >= unreached(dtype):
        return None
    return np.where(there, distances, unreached(dtype)).astype(dtype)


def _own_sides(slots, dtype):
    """Two empty sides: those of the last path of this thread, since new ones take as long as a path."""
    kept = _thread.__dict__.setdefault("sides", {})
    return kept.pop((slots, dtype), None) or _new_sides(2, slots, dtype)


def path_between(hierarchy, source, target):
    """Vertices of a shortest path from one vertex to another, both included; none if there is none."""
    wide = _wide(hierarchy.outgoing.rows.weights.dtype)
    ends = np.int64(hierarchy.ranks[source]), np.int64(hierarchy.ranks[target])
    directions, none = directions_of(hierarchy), wide.type(unreached(wide))
    slots, path, state, count = SLOTS, np.empty(SLOTS, np.int64), GIVEN_UP, 0
    while state == GIVEN_UP:
        sides, stack = _own_sides(slots, wide), np.empty(slots + len(hierarchy.levels), np.int64)
        count, state = search_path(directions, ends, sides, none, stack, path)
        if slots == SLOTS:
            _thread.sides[slots, wide] = sides
        if state == GIVEN_UP:
            slots *= GROWTH
        elif count > len(path):
            path, state = np.empty(count, np.int64), GIVEN_UP
    found = hierarchy.vertices[path[:count]].astype(np.int64)
    return np.concatenate([[source], found]) if count or source == target else found
