"""The search by levels on the CPU's threads: one region for all levels, one barrier a level.

Every worker lists what it finds in a list of its own, and begins the next level with what it found itself,
whose rows and marks are in its cache; only what the shares differ by is taken from the others.  Two such
lists take turns and stay small, so they stay in the cache too.  All workers read the same counts behind a
barrier and come to the same decisions:

* a frontier with few entries is followed by one worker alone, for as many levels as it stays small, while
  the others wait: thin graphs need no barriers,
* a larger one is shared, by equal counts; a large one by chunks from a counter, since rows are uneven,
* where the frontier's entries are a large part of those not looked at yet, the step goes bottom-up (see
  :mod:`~edgewise.paths.bfs.bottom_up`), and top-down again when few are found,
* lists have room for a part of the vertices only.  What does not fit has its distance all the same, and the
  next step goes bottom-up, or top-down from all vertices at that distance.
"""

import numpy as np

from edgewise.device import device, fetch_add, meet, together
from edgewise.device.together import workers
from edgewise.paths.bfs.bottom_up import BLOCK, step_up, survey
from edgewise.paths.bfs.expand import BATCH, BUFFER, CHUNK, LONG, MARGIN, NUMBERS, WIDTH, expand, unsigned
from edgewise.paths.distances import unreached

#: Entries up to which one worker goes on alone, and from which chunks of the frontier come from a counter.
FEW, MUCH = 512, 1 << 17
#: Bottom-up when the frontier has more than this part of the entries not looked at (Beamer et al.: 14) ...
ALPHA = 15
#: ... and enough of them to pay for the survey: this many vertices for each.
SURVEYED = 8
#: Vertices taken from the counter at once.
SHARE = 256
#: Lists have room for this part of the vertices each, and for so many at least.
LISTED, LEAST = 16, 4096
#: Words between what different workers write, and words of a turn that all share: the level, two counters,
#: vertices that wait.
APART, COMMON = 16, 64
LEVEL, COUNTER, SECOND, WAITING = 0, 16, 32, 48
FOUND, WORK, LOST = 0, 1, 2


@device
def totals(state, turn, everyone, which):
    """Sum of what the workers noted at the end of the last turn."""
    total = np.int64(0)
    for worker in range(everyone):
        total += state[(turn % 3 * everyone + worker) * APART + which]
    return total


@device
def note(state, turn, me, everyone, found, work, lost):
    """Leave for the next turn what this worker has done."""
    at = ((turn + 1) % 3 * everyone + me) * APART
    state[at + FOUND], state[at + WORK], state[at + LOST] = np.int64(found), np.int64(work), np.int64(lost)


@device
def common(turn, everyone):
    """Where the words lie that all workers share in a turn."""
    return 3 * everyone * APART + turn % 3 * COMMON


@device
def part_of(me, everyone, count):
    """An even part of a range: where it begins and ends."""
    return count * me // everyone, count * (me + 1) // everyone


@device
def room_of(worker, everyone, level, found):
    """Where a worker's list of the vertices at ``level`` begins and ends."""
    size = unsigned(len(found) // (2 * everyone))
    first = (unsigned(level & 1) * unsigned(everyone) + unsigned(worker)) * size
    return first, first + size


@device
def begin(me, everyone, barrier, offsets, marks, known, values, level, found, state):
    """Nothing is reached but what is known, of which those at ``level`` are the frontier."""
    seen, distances, none = marks
    first, end = part_of(me, everyone, len(distances))
    for vertex in range(unsigned(first), unsigned(end)):
        distances[vertex] = none
    first, end = part_of(me, everyone, len(seen))
    for byte in range(unsigned(first), unsigned(end)):
        seen[byte] = 0
    meet(barrier, everyone)
    first, end = room_of(me, everyone, level, found)
    tail, lost, work = first, unsigned(0), unsigned(0)
    if me == 0:
        for item in range(len(known)):
            vertex = known[item]
            distances[vertex] = values[item]
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            if values[item] == level:
                if tail == end:
                    tail, lost = first, lost + tail - first
                found[tail] = vertex
                tail += unsigned(1)
                work += unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
        state[common(0, everyone) + LEVEL] = level
    note(state, 2, me, everyone, tail - first, work, lost)
    meet(barrier, everyone)


@device
def step_listed(
    first, end, everyone, state, turn, level, rows, marks, scratch, found, room, tail, lost, work
):  # fmt: skip
    """Expand the vertices ``first`` to ``end`` of the frontier, counted through all workers' lists."""
    before = np.int64(0)
    for worker in range(everyone):
        count = state[(turn % 3 * everyone + worker) * APART + FOUND]
        low, high = max(first, before) - before, min(end, before + count) - before
        if low < high:
            start = room_of(worker, everyone, level, found)[0]
            tail, lost, work = expand(
                found, start + unsigned(low), start + unsigned(high), rows, marks, np.int32(level + 1),
                scratch, found, room, tail, lost, work,
            )  # fmt: skip
        before += count
    return tail, lost, work


@device
def go_alone(everyone, state, turn, level, cutoff, total, rows, marks, scratch, found):
    """Follow a small frontier for as many levels as it stays small; (found, work, lost, level) then."""
    room = room_of(0, everyone, level + 1, found)
    tail, lost, work = step_listed(
        0, total, everyone, state, turn, level, rows, marks, scratch, found, room,
        room[0], unsigned(0), unsigned(0),
    )  # fmt: skip
    level += 1
    while room[0] < tail and work <= unsigned(FEW) and level < cutoff:
        first, end = room[0], tail
        room = room_of(0, everyone, level + 1, found)
        tail, lost, work = expand(
            found, first, end, rows, marks, np.int32(level + 1), scratch, found, room,
            room[0], unsigned(0), unsigned(0),
        )  # fmt: skip
        level += 1
    return tail - room[0], work, lost, level


@device
def step_from_all(counter, state, level, rows, marks, scratch, chosen, found, room, tail, lost, work):
    """Expand all vertices at ``level``, looking through the distances in blocks."""
    distances = marks[1]
    n = unsigned(len(distances))
    first = unsigned(fetch_add(state, counter, BATCH))
    while first < n:
        end = chosen
        for vertex in range(first, min(first + unsigned(BATCH), n)):
            scratch[0][end] = vertex
            end += unsigned(distances[vertex] == level)
        tail, lost, work = expand(
            scratch[0], chosen, end, rows, marks, np.int32(level + 1), scratch, found, room, tail, lost, work
        )
        first = unsigned(fetch_add(state, counter, BATCH))
    return tail, lost, work


@device
def goes_up(was_up, size, work, lost, left, waiting, incoming, n):
    """Whether the next step is bottom-up."""
    if len(incoming[0]) == 0:
        return False
    if was_up:
        return lost > 0 or work > waiting
    return lost > 0 or (work > left // ALPHA and work * SURVEYED > n)


@device
def survey_all(counter, state, level, marks, front, waiting, counts):
    """Take blocks from the counter and survey them."""
    block = fetch_add(state, counter, 1)
    while block < len(counts):
        survey(block, marks[1], level, marks[2], front, waiting, counts)
        block = fetch_add(state, counter, 1)


@device
def step_up_all(
    counter, state, at, incoming, front, after, waiting, counts, marks, distance, offsets, scratch, found,
    room, tail, lost, work,
):  # fmt: skip
    """Take blocks from the counter and let who waits there look for the frontier."""
    still, block = np.int64(0), fetch_add(state, counter, 1)
    while block < len(counts):
        tail, lost, work = step_up(
            block, incoming, front, after, waiting, counts, marks, distance, offsets, scratch, found, room,
            tail, lost, work,
        )  # fmt: skip
        still += counts[block]
        block = fetch_add(state, counter, 1)
    fetch_add(state, at + WAITING, still)
    return tail, lost, work


@device
def step_down(me, everyone, state, turn, level, size, work, lost, rows, marks, scratch, found, room):
    """A top-down step: from all vertices, by chunks of the lists, or by even parts of them."""
    tail, gone, more = room[0], unsigned(0), unsigned(0)
    counter = common(turn, everyone) + COUNTER
    if lost > 0:
        chosen = scratch[1] + unsigned(CHUNK * LONG + WIDTH)
        return step_from_all(
            counter, state, level, rows, marks, scratch, chosen, found, room, tail, gone, more
        )
    if work <= MUCH:
        first, end = part_of(me, everyone, size)
        return step_listed(
            first, end, everyone, state, turn, level, rows, marks, scratch, found, room, tail, gone, more
        )
    first = fetch_add(state, counter, SHARE)
    while first < size:
        tail, gone, more = step_listed(
            first, min(first + SHARE, size), everyone, state, turn, level, rows, marks, scratch, found, room,
            tail, gone, more,
        )  # fmt: skip
        first = fetch_add(state, counter, SHARE)
    return tail, gone, more


@together
def search(
    me, everyone, barrier, offsets, neighbours, into, out_of, distances, seen, front, after, waiting, counts,
    found, buffer, numbers, state, known, values, level, cutoff, none,
):  # fmt: skip
    """Run a whole search; see :func:`distances_by_levels`."""
    rows, incoming, marks = (offsets, neighbours), (into, out_of), (seen, distances, np.int32(none))
    scratch = (buffer, unsigned(me * BUFFER), numbers, unsigned(me * NUMBERS))
    begin(me, everyone, barrier, offsets, marks, known, values, level, found, state)
    turn, left, up = 0, len(neighbours), False
    while True:
        at, behind = common(turn, everyone), common(turn + 1, everyone)
        level = state[at + LEVEL]
        size, work = totals(state, turn, everyone, FOUND), totals(state, turn, everyone, WORK)
        lost = totals(state, turn, everyone, LOST)
        if size + lost == 0 or level >= cutoff:
            break
        was_up, reached = up, level + 1
        up = goes_up(was_up, size, work, lost, left, state[at + WAITING], incoming, len(distances))
        left -= work
        if me == 0:
            state[behind + COUNTER] = state[behind + SECOND] = state[behind + WAITING] = 0
        if up and not was_up:
            survey_all(at + SECOND, state, level, marks, front, waiting, counts)
            meet(barrier, everyone)
        room = room_of(me, everyone, reached, found)
        if up:
            tail, gone, more = step_up_all(
                at + COUNTER, state, behind, incoming, front, after, waiting, counts, marks,
                np.int32(reached), offsets, scratch, found, room, room[0], unsigned(0), unsigned(0),
            )  # fmt: skip
            front, after = after, front
            note(state, turn, me, everyone, tail - room[0], more, gone)
        elif work <= FEW and lost == 0:
            if me == 0:
                count, more, gone, reached = go_alone(
                    everyone, state, turn, level, cutoff, size, rows, marks, scratch, found
                )
                note(state, turn, me, everyone, count, more, gone)
            else:
                note(state, turn, me, everyone, 0, 0, 0)
        else:
            tail, gone, more = step_down(
                me, everyone, state, turn, level, size, work, lost, rows, marks, scratch, found, room
            )
            note(state, turn, me, everyone, tail - room[0], more, gone)
        if me == 0:
            state[behind + LEVEL] = reached
        meet(barrier, everyone)
        turn += 1


def distances_by_levels(rows, known, values, level, cutoff, incoming=None):
    """Distances from the sources that all ``known`` distances come from.

    Parameters
    ----------
    rows : edgewise.paths.rows.Rows
        On the host.
    known : (k,) index array
        All vertices up to ``level`` steps away; distinct.
    values : (k,) int32 array
        Their distances.
    level : int
        The largest of these.
    cutoff : int
        Vertices further away are not reached.
    incoming : edgewise.paths.rows.Rows, optional
        Given: steps may go bottom-up.

    Returns
    -------
    (n,) int32 array
    """
    n, everyone, dtype = rows.n_vertices, workers(), rows.neighbours.dtype
    distances, seen = np.empty(n, np.int32), np.empty((n >> 3) + 1, np.uint8)
    words, waits = (n + 63) // 64, n if incoming is not None else 0
    back = rows.offsets[:0], rows.neighbours[:0]
    if incoming is not None:
        back = incoming.offsets, incoming.neighbours
    room = max(n // LISTED, LEAST) + MARGIN
    search(
        rows.offsets, rows.neighbours, *back, distances, seen,
        np.empty(words, np.uint64), np.empty(words, np.uint64), np.empty(waits, dtype),
        np.empty(-(-waits // BLOCK), np.int64), np.empty(2 * everyone * room, dtype),
        np.empty(everyone * BUFFER, dtype), np.empty(everyone * NUMBERS, np.uint64),
        np.zeros(3 * (everyone * APART + COMMON), np.int64),
        known.astype(dtype, copy=False), values, int(level), int(cutoff), int(unreached(np.int32)),
    )  # fmt: skip
    return distances
