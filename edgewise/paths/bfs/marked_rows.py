"""Dense rounds of a search whose rows are on the host: entries are read in the order of memory.

What kernels read there crosses the link in requests of up to 128 bytes, from multiples of 32 on
(:mod:`~edgewise.device.on_host`).  The link does nearly its best if each line of 128 bytes is asked for once,
and lines that are asked for at the same time are near each other: requests for the parts of a line, for lines
that several warps share, and for places far apart take as long for fewer bytes.

So rows are read in *groups*, as many as a warp has lanes, that follow each other in memory.  Who reaches a
vertex marks its group with the level.  A round lists the groups that are marked with its own level, in the
order of memory and cut into *tiles* that begin at lines, and the warps take the tiles in turn.  Of a tile a
warp reads the entries of the rows at this level, each lane its own one of a line, and several lines before it
waits for the first.  A level costs one pass over the marks, which are few, and two barriers.

S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi and W. Hwu, "EMOGI: Efficient Memory-access for
Out-of-memory Graph-traversal in GPUs" (VLDB 2020), reads each row from a multiple of 128 bytes on.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.device.atomics import fetch_min
from edgewise.device.launch import WARP
from edgewise.device.target import device
from edgewise.device.warps import ballot, find_segment, first_lane, last_lane, shuffle, warp_size
from edgewise.paths.block_queues import append_pieces_of_lanes

#: Entries of a tile.
TILE = 1024
#: Bytes of a line, at a multiple of which tiles begin.
LINE = 128


class MarkedRows(NamedTuple):
    """Rows on the host in groups."""

    offsets: Any  # (n + 1,) int64 array
    neighbours: Any  # (entries,) index array on the host
    marks: Any  # (groups,) int32 array: one more than the last level that was reached or marked in the group
    shift: int  # entries from the line in which they begin to the first


class Tile(NamedTuple):
    """What a warp reads of a tile: of each lane's row the part in it, by places in the tile."""

    first: int  # entry at which the tile begins, negative if it begins before all
    start: Any  # first place of a row at this level
    stop: Any  # place behind the last of these rows
    end: Any  # place behind the lane's row
    active: Any  # lanes whose rows are at this level


def groups_of(n_vertices):
    """Number of groups."""
    return -(-n_vertices // WARP)


def tiles_of(n_vertices, n_entries):
    """Number of tiles at most: each group begins one, and the lines before the first may need another."""
    return n_entries // TILE + 2 * min(groups_of(n_vertices), n_entries)


def marked(rows) -> MarkedRows:
    """Rows on the host in groups that are not marked."""
    neighbours, n_groups = rows.neighbours, groups_of(len(rows.offsets) - 1)
    shift = arrays.address(neighbours) % LINE // neighbours.dtype.itemsize
    marks = arrays.zeros(n_groups, np.int32, arrays.device_of(rows.offsets))
    return MarkedRows(rows.offsets, neighbours, marks, shift)


@device
def mark(rows, vertex, level):
    """Mark the group of a vertex at ``level``."""
    # race: all marks of a round are the same, and nobody reads them in it
    rows.marks[vertex // warp_size()] = level + 1


@device
def mark_level(rows, worker, level, distances):
    """Mark the groups of all vertices at ``level``."""
    for vertex in range(worker.id, len(distances), worker.count):
        if distances[vertex] == level:
            mark(rows, vertex, level)


@device
def line_before(rows, group):
    """The entry at which the line of a group's first entry begins."""
    first = rows.offsets[group * warp_size()]
    return first - (first + rows.shift) % warp_size()


@device
def list_tiles(rows, worker, level, queue, counts, counter):
    """List the tiles of the groups that are marked with ``level``: of each the group and a number."""
    lanes, n_vertices = warp_size(), len(rows.offsets) - 1
    for base in range(worker.id - worker.id % lanes, len(rows.marks), worker.count):
        group, n_tiles = base + worker.id % lanes, np.int64(0)
        if group < len(rows.marks) and rows.marks[group] == level + 1:
            end = rows.offsets[min((group + 1) * lanes, n_vertices)]
            if end > rows.offsets[group * lanes]:
                n_tiles = (end - line_before(rows, group) + TILE - 1) // TILE
        if ballot(n_tiles > 0) != 0:
            append_pieces_of_lanes(worker, queue, counts, counter, group, n_tiles)


@device
def expand_tiles(rows, worker, level, search, n_tiles):
    """Expand the rows at ``level`` of all listed tiles; return the number of vertices reached."""
    lanes, n_reached, queue = warp_size(), 0, search.queue
    for item in range(worker.id // lanes, n_tiles, worker.count // lanes):
        group, number = np.int64(queue[2 * item]), np.int64(queue[2 * item + 1])
        first = line_before(rows, group) + number * TILE
        tile = tile_at(rows, first, group * lanes + worker.id % lanes, level, search.distances)
        place = tile.start - tile.start % lanes + worker.id % lanes
        while place - worker.id % lanes < tile.stop:
            one, two = neighbour_at(rows, tile, place), neighbour_at(rows, tile, place + lanes)
            three = neighbour_at(rows, tile, place + 2 * lanes)
            four = neighbour_at(rows, tile, place + 3 * lanes)
            is_one, is_two = is_new(search.distances, one, level), is_new(search.distances, two, level)
            is_three, is_four = is_new(search.distances, three, level), is_new(search.distances, four, level)
            n_reached += reach_marked(rows, search.distances, one, level, is_one)
            n_reached += reach_marked(rows, search.distances, two, level, is_two)
            n_reached += reach_marked(rows, search.distances, three, level, is_three)
            n_reached += reach_marked(rows, search.distances, four, level, is_four)
            place += 4 * lanes
    return n_reached


@device
def tile_at(rows, first, vertex, level, distances):
    """The tile that begins at entry ``first``, for a warp whose lanes have one ``vertex`` each."""
    n_vertices, is_active = len(distances), False
    if vertex < n_vertices:
        is_active = distances[vertex] == level
    begin = np.int32(min(max(rows.offsets[min(vertex, n_vertices)] - first, 0), TILE))
    end = np.int32(min(max(rows.offsets[min(vertex + 1, n_vertices)] - first, 0), TILE))
    active = ballot(is_active and begin < end)
    if active == 0:
        return Tile(first, np.int32(0), np.int32(0), end, active)
    start, stop = shuffle(begin, first_lane(active)), shuffle(end, last_lane(active))
    return Tile(first, start, stop, end, active)


@device
def neighbour_at(rows, tile, place):
    """The neighbour at a place of a tile, or -1 if its row is not at this level."""
    owner = find_segment(place, tile.end, warp_size())
    if tile.start <= place < tile.stop and (tile.active >> owner) & 1:
        return np.int64(rows.neighbours[tile.first + place])
    return np.int64(-1)


@device
def is_new(distances, vertex, level):
    """Whether there is a vertex, and it is not reached."""
    return vertex >= 0 and distances[vertex] > level + 1


@device
def reach_marked(rows, distances, vertex, level, is_new):
    """Reach a vertex from ``level`` if it is new, and mark its group; return how many are reached.

    Each vertex is counted once: in a grid nine neighbours reach it at the same time, and by the sum of those
    the search would believe that nothing is left, and turn.
    """
    if not is_new or fetch_min(distances, vertex, level + 1) <= level + 1:
        return 0
    mark(rows, vertex, level + 1)
    return 1
