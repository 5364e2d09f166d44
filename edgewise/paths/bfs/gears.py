"""The two gears of the search in one region, narrow and wide; see :mod:`edgewise.paths.bfs.cooperative`."""

import numpy as np

from edgewise.device import device, fetch_max, fetch_min, load
from edgewise.device.warps import block_barrier, block_size, find_segment, inclusive_scan, shuffle, warp_size
from edgewise.paths.block_queues import (
    APART,
    PIECE,
    begin_to_keep,
    count_kept,
    keep,
    kept,
    make_room,
    piece_at,
    put,
    put_pieces,
)

#: Rows longer than this times a group's threads are not for the narrow gear.
LONG = 64
#: Queues in one array.
QUEUES = 5


@device
def pass_on(words, turn, distances, vertex, distance, last, queue, counts, roles):
    """Offer a distance; a vertex that takes it is listed here, for the next round, or behind the window."""
    _, spill, far, capacity = roles
    if fetch_min(distances, vertex, distance) <= distance:
        return
    if distance >= last:
        put(queue, counts, far, capacity, vertex)
    elif not keep(words, turn, vertex):
        put(queue, counts, spill, capacity, vertex)


@device
def narrow(me, everyone, words, distances, rows, group, queue, counts, roles, size, last):
    """Follow a stretch of the queue through the levels up to ``last``, within the team."""
    offsets, neighbours = rows
    near, spill, _, capacity = roles
    team = block_size()
    mine, number, teams = me % team, me // team, everyone // team
    width = min(group, team)
    first, end = number * size // teams, (number + 1) * size // teams
    begin_to_keep(words, mine)
    block_barrier()
    turn, count, step = 0, end - first, team // width
    while count > 0:
        make_room(words, mine, turn)
        item = mine // width
        while item < count:
            if turn == 0:
                vertex = np.int64(queue[near * capacity + first + item])
            else:
                vertex = kept(words, turn, item)
            entry, beyond = offsets[vertex], offsets[vertex + 1]
            distance = np.int64(load(distances, vertex))
            if beyond - entry > LONG * group:
                fetch_max(counts, spill * APART, capacity + 1)  # for the other gear
                entry = beyond
            entry += mine % width
            while entry < beyond:
                other = np.int64(neighbours[entry])
                pass_on(words, turn, distances, other, distance + 1, last, queue, counts, roles)
                entry += width
            item += step
        block_barrier()
        count = count_kept(words, turn)
        turn += 1


@device
def expand_piece(distances, neighbours, first, end, lane, lanes, level):
    """Reach what a stretch of entries leads to; how many were reached."""
    found = 0
    for entry in range(first + lane, end, lanes):
        other = neighbours[entry]
        if distances[other] > level + 1:
            distances[other] = level + 1
            found += 1
    return found


@device
def top_down(me, everyone, distances, rows, queue, counts, hubs, level):
    """Expand all vertices at ``level``, a warp's rows at a time; long rows are put off."""
    offsets, neighbours = rows
    lanes, n = warp_size(), len(distances)
    lane, found = me % lanes, 0
    for base in range(me - lane, n, everyone):
        vertex = base + lane
        first, degree = np.int64(0), np.int64(0)
        if vertex < n and distances[vertex] == level:
            first = offsets[vertex]
            degree = offsets[vertex + 1] - first
            if degree > PIECE:
                put_pieces(queue, counts, hubs, vertex, degree)
                degree = np.int64(0)
        ends = inclusive_scan(degree, lane)
        total, start = shuffle(ends, lanes - 1), first - ends + degree
        for share in range(0, total, lanes):
            entry = share + lane
            owner = find_segment(entry, ends, lanes)
            entry += shuffle(start, owner)
            if share + lane < total:
                other = neighbours[entry]
                if distances[other] > level + 1:
                    distances[other] = level + 1
                    found += 1
    return found


@device
def top_down_pieces(me, everyone, distances, rows, queue, pieces, level):
    """Expand the rows that were put off, a piece a warp."""
    offsets, neighbours = rows
    lanes = warp_size()
    lane, found = me % lanes, 0
    for item in range(me // lanes, pieces, everyone // lanes):
        _, first, end = piece_at(queue, item, offsets)
        found += expand_piece(distances, neighbours, first, end, lane, lanes, level)
    return found


@device
def bottom_up(me, everyone, distances, incoming, level):
    """Let every vertex that is not reached look for a neighbour at ``level``."""
    offsets, neighbours = incoming
    found = 0
    for vertex in range(me, len(distances), everyone):
        if distances[vertex] > level + 1:
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                if distances[neighbours[entry]] == level:
                    distances[vertex] = level + 1
                    found += 1
                    break
    return found


@device
def gather(me, everyone, distances, queue, counts, which, level):
    """List the vertices at ``level``."""
    capacity = len(queue) // QUEUES
    for vertex in range(me, len(distances), everyone):
        if distances[vertex] == level:
            put(queue, counts, which, capacity, vertex)
