"""The two gears of near-far, and how it shifts between them; see :mod:`edgewise.paths.sssp.near_far`."""

import numpy as np

from edgewise.device import device, fetch_min, load
from edgewise.device.warps import block_barrier, block_size, find_segment, inclusive_scan, shuffle, warp_size
from edgewise.device.wrapping import wrapping_add
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

#: Turns a team makes by itself, and vertices of a turn with which it rather meets the others.
TURNS, MOST = 32, 512
#: Rows longer than this are not for the narrow gear.
LONG = 2048
#: Queues in one array, and their counters; then, three times, in turn: near and far vertices, pieces, and
#: whether a row or a queue is too long for the narrow gear.
QUEUES = 3
NEAR, FAR, PIECES, LONG_ROW, TURNING = 0, 1, 2, 3, 4
COUNTED = QUEUES + 3 * TURNING
#: Vertices whose flags lie in one word.
TOGETHER = 4


@device
def relax(distances, other, distance, weight, cutoff):
    """Offer a path that is longer by an edge: whether it is the shortest so far, and its length."""
    longer = wrapping_add(distance, weight)
    taken = (  # and has not wrapped round
        distance <= longer <= cutoff
        and longer < load(distances, other)
        and fetch_min(distances, other, longer) > longer
    )
    return taken, longer


@device
def offer(distances, other, distance, weight, flags, following, limits):
    """Offer a longer path to a vertex, and flag it if it takes it: whether it is near next, and far."""
    threshold, cutoff = limits
    taken, longer = relax(distances, other, distance, weight, cutoff)
    if taken:
        flags[following + other] = 1
    near = longer < threshold
    return np.int64(taken and near), np.int64(taken and not near)


@device
def expand_wide(me, everyone, distances, expanded, rows, flags, words, turned, queue, counts, which, limits):
    """Expand the near vertices among those flagged; carry the others over; how many are near and far next."""
    offsets, neighbours, weights = rows
    lanes, half, threshold = warp_size(), len(words) // 2, limits[0]
    now, following = turned * half, (1 - turned) * half * TOGETHER
    lane, near, far = me % lanes, 0, 0
    for base in range(me - lane, half, everyone):
        word = np.int64(0)
        if base + lane < half:
            word = np.int64(words[now + base + lane])
            if word != 0:
                words[now + base + lane] = 0
        if shuffle(inclusive_scan(np.int64(word != 0), lane), lanes - 1) == 0:
            continue
        for part in range(TOGETHER):
            vertex = (base + lane) * TOGETHER + part
            first, degree = np.int64(0), np.int64(0)
            if (word >> (8 * part)) & 255:
                distance = load(distances, vertex)
                if distance >= threshold:
                    flags[following + vertex] = 1
                    far += 1
                elif distance < expanded[vertex]:
                    expanded[vertex] = distance
                    first = offsets[vertex]
                    degree = offsets[vertex + 1] - first
                    if degree > PIECE:
                        put_pieces(queue, counts, which + PIECES, vertex, degree)
                        degree = np.int64(0)
            ends = inclusive_scan(degree, lane)
            total, start = shuffle(ends, lanes - 1), first - ends + degree
            for share in range(0, total, lanes):
                owner = find_segment(share + lane, ends, lanes)
                entry = share + lane + shuffle(start, owner)
                if share + lane < total:
                    other = np.int64(neighbours[entry])
                    distance, weight = load(distances, (base + owner) * TOGETHER + part), weights[entry]
                    nearer, further = offer(distances, other, distance, weight, flags, following, limits)
                    near, far = near + nearer, far + further
    return near, far


@device
def expand_pieces(me, everyone, distances, rows, flags, following, queue, counts, pieces, limits):
    """Expand the long rows, a piece a warp.  How many vertices are near and far next."""
    offsets, neighbours, weights = rows
    lanes, near, far = warp_size(), 0, 0
    for item in range(me // lanes, pieces, everyone // lanes):
        vertex, first, end = piece_at(queue, item, offsets)
        distance = load(distances, vertex)
        for entry in range(first + me % lanes, end, lanes):
            other, weight = np.int64(neighbours[entry]), weights[entry]
            nearer, further = offer(distances, other, distance, weight, flags, following, limits)
            near, far = near + nearer, far + further
    return near, far


@device
def list_near(me, everyone, distances, expanded, flags, words, turned, queue, counts, which, threshold):
    """List the flagged vertices that are near, whose flags stay; how many are far."""
    capacity, far, half = len(queue) // QUEUES, 0, len(words) // 2
    now = turned * half
    for position in range(me, half, everyone):
        word = np.int64(words[now + position])
        if word != 0:
            for part in range(TOGETHER):
                if (word >> (8 * part)) & 255:
                    vertex = position * TOGETHER + part
                    distance = distances[vertex]
                    if distance >= threshold:
                        far += 1
                    elif expanded[vertex] <= distance:
                        flags[now * TOGETHER + vertex] = 0
                    else:
                        put(queue, counts, which, capacity, vertex)
    return far


@device
def put_off(vertex, flags, queue, counts, lists):
    """List a near vertex for the next round; without room there, flag it for the other gear."""
    _, spill, which, now = lists
    if not put(queue, counts, spill, len(queue) // QUEUES, vertex):
        flags[now + vertex] = 1
        counts[(which + LONG_ROW) * APART] = 1


@device
def follow(words, turn, distances, other, distance, weight, flags, queue, counts, lists, limits):
    """Offer a longer path; a vertex that takes it is listed here or for the next round, or flagged if far."""
    threshold, cutoff = limits
    taken, longer = relax(distances, other, distance, weight, cutoff)
    if not taken:
        return
    if longer >= threshold:
        flags[lists[3] + other] = 1
    elif not keep(words, turn, other):
        put_off(other, flags, queue, counts, lists)


@device
def expand_narrow(me, everyone, words, distances, expanded, rows, flags, queue, counts, lists, size, limits):
    """Follow a stretch of the queue for some turns within the team, its warps' items dealt out in turn."""
    offsets, neighbours, weights = rows
    near, _, which, now = lists
    capacity, lanes, team = len(queue) // QUEUES, warp_size(), block_size()
    mine, number, teams = me % team, me // team, everyone // team
    lane, warp, warps = mine % lanes, mine // lanes, team // lanes
    first_item, last_item = number * size // teams, (number + 1) * size // teams
    begin_to_keep(words, mine)
    block_barrier()
    turn, count = 0, last_item - first_item
    while count > 0 and (turn == 0 or (count <= MOST and turn < TURNS)):
        make_room(words, mine, turn)
        base = 0
        while base < count:
            item, first, degree, distance = base + warp + warps * lane, np.int64(0), np.int64(0), distances[0]
            if item < count:
                if turn == 0:
                    vertex = np.int64(queue[near * capacity + first_item + item])
                else:
                    vertex = kept(words, turn, item)
                first, end, before = offsets[vertex], offsets[vertex + 1], expanded[vertex]
                distance = load(distances, vertex)
                if end - first > LONG:
                    flags[now + vertex] = 1
                    counts[(which + LONG_ROW) * APART] = 1
                elif distance < before:
                    expanded[vertex] = distance
                    degree = end - first
            ends = inclusive_scan(degree, lane)
            total, start = shuffle(ends, lanes - 1), first - ends + degree
            share = lane
            while share - lane < total:
                owner = find_segment(share, ends, lanes)
                entry, far = share + shuffle(start, owner), shuffle(distance, owner)
                if share < total:
                    other, weight = np.int64(neighbours[entry]), weights[entry]
                    follow(words, turn, distances, other, far, weight, flags, queue, counts, lists, limits)
                share += lanes
            base += team
        block_barrier()
        count = count_kept(words, turn)
        turn += 1
    for item in range(mine, count, team):
        put_off(kept(words, turn, item), flags, queue, counts, lists)
