"""Dense rounds of a search whose rows are on the host: entries are read in the order of memory.

What kernels read there crosses the link in requests of up to 128 bytes, from multiples of 32 on
(:mod:`~edgewise.device.on_host`).  The link does nearly its best if each line of 128 bytes is asked for once,
and lines that are asked for at the same time are near each other: requests for the parts of a line, for lines
that several warps share, and for places far apart take as long for fewer bytes.

So not the vertices but the entries are divided: into *tiles*, which begin at lines, and which the warps take
in turn.  A warp reads the distances of the rows that have entries in its tile, and of those at this level the
entries, each lane its own one of a line.  Long rows need no pieces, and no second step.

S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi and W. Hwu, "EMOGI: Efficient Memory-access for
Out-of-memory Graph-traversal in GPUs" (VLDB 2020), reads each row from a multiple of 128 bytes on.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.device.warps import ballot, find_segment, shuffle, warp_size
from edgewise.primitives.rows import row_of

#: Entries of a tile.
TILE = 1024
#: Bytes of a line, at a multiple of which tiles begin.
LINE = 128


class TiledRows(NamedTuple):
    """Rows on the host, and where their tiles are."""

    offsets: Any  # (n + 1,) int64 array
    neighbours: Any  # (entries,) index array on the host
    tiles: Any  # (tiles + 1,) index array: the row of the first entry of each tile, and the last row
    shift: int  # entries that the first tile lacks


class Tile(NamedTuple):
    """A tile."""

    last: Any  # row that has entries in it
    first: int  # entry, negative if the tile lacks entries
    length: int  # entries


@each
def find_row(tile, tiles, offsets, shift):
    """Find the row of the first entry of a tile, or of the last entry."""
    entry = min(max(tile * TILE - shift, 0), offsets[len(offsets) - 1] - 1)
    tiles[tile] = row_of(entry, offsets)


def tiled(rows) -> TiledRows:
    """Rows on the host with their tiles."""
    neighbours, kind = rows.neighbours, rows.neighbours.dtype
    shift = arrays.address(neighbours) % LINE // kind.itemsize
    n_tiles = -(-(len(neighbours) + shift) // TILE)
    tiles = arrays.empty(n_tiles + 1, kind, arrays.device_of(rows.offsets))
    find_row(len(tiles), tiles, rows.offsets, shift)
    return TiledRows(rows.offsets, neighbours, tiles, shift)


def bytes_of_tiles(size):
    """Bytes that tiles take on a GPU at most."""
    return size.width * ((size.entries + LINE) // TILE + 2)


@device
def reach(distances, vertex, distance):
    """Give a vertex that is not reached its distance; return the number of vertices reached."""
    if distances[vertex] > distance:
        # race: all that reach it in a round write the same, and it may be counted twice
        distances[vertex] = distance
        return 1
    return 0


@device
def expand_tiles(rows, worker, level, distances):
    """Expand all vertices at ``level``; return the number of vertices reached."""
    lanes, n_reached, offsets, n_entries = warp_size(), 0, rows.offsets, len(rows.neighbours)
    for number in range(worker.id // lanes, len(rows.tiles) - 1, worker.count // lanes):
        first = number * TILE - rows.shift
        tile = Tile(np.int64(rows.tiles[number + 1]), first, min(TILE, n_entries - first))
        vertex = np.int64(rows.tiles[number])
        while vertex <= tile.last:
            n_reached += expand_rows(rows, tile, vertex, worker.id % lanes, level, distances)
            vertex += lanes
            if vertex < tile.last and offsets[vertex] == offsets[vertex - lanes]:
                vertex = np.int64(row_of(offsets[vertex], offsets))  # behind rows without entries
    return n_reached


@device
def expand_rows(rows, tile, vertex, lane, level, distances):
    """Expand those of a warp's rows, from ``vertex`` on, that are at ``level``, within a tile."""
    lanes, n_reached, is_active = warp_size(), 0, False
    vertex += lane
    if vertex <= tile.last:
        is_active = distances[vertex] == level
    if ballot(is_active) == 0:
        return 0
    begin, end = np.int32(tile.length), np.int32(tile.length)
    if vertex <= tile.last:
        begin = np.int32(max(rows.offsets[vertex] - tile.first, 0))
        end = np.int32(min(rows.offsets[vertex + 1] - tile.first, tile.length))
    active, start, stop = ballot(is_active), shuffle(begin, 0), shuffle(end, lanes - 1)
    place = start - start % lanes + lane
    while place - lane < stop:
        owner = find_segment(place, end, lanes)
        if start <= place < stop and (active >> owner) & 1:
            n_reached += reach(distances, rows.neighbours[tile.first + place], level + 1)
        place += lanes
    return n_reached
