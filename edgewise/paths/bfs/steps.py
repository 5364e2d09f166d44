"""The steps that a search is made of, shared among workers: by lists, by blocks, or by one worker alone.

A step takes the frontier from the workers' lists, or where lists have overflowed from the distances.  Parts
come from a counter, or are even parts of the lists where rows are too few to be uneven.
"""

import numpy as np

from edgewise.device import device, fetch_add
from edgewise.paths.bfs.bottom_up import step_up, survey
from edgewise.paths.bfs.drawn import draw_rows, write_block
from edgewise.paths.bfs.expand import BATCH, CHUNK, LONG, WIDTH, expand, unsigned
from edgewise.paths.bfs.turns import APART, COUNTER, FOUND, WAITING, common, part_of, room_of

#: Entries up to which one worker goes on alone, and from which parts of the frontier come from a counter.
FEW, MUCH = 512, 1 << 17
#: Vertices taken from the counter at once.
SHARE = 256


@device
def stretch_of(worker, before, first, end, everyone, state, turn, level, found):
    """Where a worker's list holds the vertices ``first`` to ``end``, counted through all workers' lists.

    ``before`` are the vertices in the lists of the workers before; also returns it for the next.
    """
    count = state[(turn % 3 * everyone + worker) * APART + FOUND]
    low, high = max(first, before) - before, min(end, before + count) - before
    start = room_of(worker, everyone, level, found)[0]
    return start + unsigned(low), start + unsigned(max(low, high)), before + count


@device
def step_listed(
    first, end, everyone, state, turn, level, rows, marks, scratch, found, room, tail, lost, work
):  # fmt: skip
    """Expand the vertices ``first`` to ``end`` of the frontier, counted through all workers' lists."""
    before = np.int64(0)
    for worker in range(everyone):
        low, high, before = stretch_of(worker, before, first, end, everyone, state, turn, level, found)
        if low < high:
            tail, lost, work = expand(
                found, low, high, rows, marks, np.int32(level + 1), scratch, found, room, tail, lost, work
            )
    return tail, lost, work


@device
def go_alone(everyone, state, turn, level, cutoff, total, rows, marks, scratch, found):
    """Follow a small frontier for as many levels as it stays small.

    Returns the end of the own list, what was lost of it, the entries in its rows, and its level.
    """
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
    return tail, lost, work, level


@device
def those_at(level, distances, first, listed, start):
    """List those of a batch of vertices that are at ``level``, from ``start`` on; where the list ends."""
    end = start
    for vertex in range(unsigned(first), min(unsigned(first + BATCH), unsigned(len(distances)))):
        listed[end] = vertex
        end += unsigned(distances[vertex] == level)
    return end


@device
def step_from_all(counter, state, level, rows, marks, scratch, found, room):
    """Expand all vertices at ``level``, looking through the distances in blocks."""
    tail, lost, work = room[0], unsigned(0), unsigned(0)
    chosen, n = scratch[1] + unsigned(CHUNK * LONG + WIDTH), len(marks[1])
    first = fetch_add(state, counter, BATCH)
    while first < n:
        end = those_at(level, marks[1], first, scratch[0], chosen)
        tail, lost, work = expand(
            scratch[0], chosen, end, rows, marks, np.int32(level + 1), scratch, found, room, tail, lost, work
        )
        first = fetch_add(state, counter, BATCH)
    return tail, lost, work


@device
def draw_listed(first, end, everyone, state, turn, level, rows, scratch, found, drawn, sheet):
    """Draw what the vertices ``first`` to ``end`` of the frontier lead to, counted through all lists."""
    before = np.int64(0)
    for worker in range(everyone):
        low, high, before = stretch_of(worker, before, first, end, everyone, state, turn, level, found)
        if low < high:
            draw_rows(found, low, high, rows, scratch, drawn, sheet)


@device
def step_drawn(counter, everyone, state, turn, level, size, lost, rows, marks, scratch, found, drawn, sheet):
    """Take parts of the frontier from the counter and draw what they lead to."""
    if lost == 0:
        first = fetch_add(state, counter, SHARE)
        while first < size:
            end = min(first + SHARE, size)
            draw_listed(first, end, everyone, state, turn, level, rows, scratch, found, drawn, sheet)
            first = fetch_add(state, counter, SHARE)
        return
    chosen, n = scratch[1] + unsigned(CHUNK * LONG + WIDTH), len(marks[1])
    first = fetch_add(state, counter, BATCH)
    while first < n:
        end = those_at(level, marks[1], first, scratch[0], chosen)
        draw_rows(scratch[0], chosen, end, rows, scratch, drawn, sheet)
        first = fetch_add(state, counter, BATCH)


@device
def write_all(
    counter, state, at, everyone, drawn, marks, distance, offsets, front, waiting, counts, found, room
):  # fmt: skip
    """Take blocks from the counter and write what was drawn there."""
    tail, lost, work = room[0], unsigned(0), unsigned(0)
    still, block = np.int64(0), fetch_add(state, counter, 1)
    while block < len(counts):
        tail, lost, work = write_block(
            block, everyone, drawn, marks, distance, offsets, front, waiting, counts, found, room,
            tail, lost, work,
        )  # fmt: skip
        still += counts[block]
        block = fetch_add(state, counter, 1)
    fetch_add(state, at + WAITING, still)
    return tail, lost, work


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
    room,
):  # fmt: skip
    """Take blocks from the counter and let who waits there look for the frontier."""
    tail, lost, work = room[0], unsigned(0), unsigned(0)
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
    counter = common(turn, everyone) + COUNTER
    if lost > 0:
        return step_from_all(counter, state, level, rows, marks, scratch, found, room)
    tail, gone, more = room[0], unsigned(0), unsigned(0)
    first, end = part_of(me, everyone, size)
    shared = work > MUCH
    while True:
        if shared:
            first = fetch_add(state, counter, SHARE)
            end = min(first + SHARE, size)
        if first < end:
            tail, gone, more = step_listed(
                first, end, everyone, state, turn, level, rows, marks, scratch, found, room, tail, gone, more
            )
        if not shared or first >= size:
            return tail, gone, more
