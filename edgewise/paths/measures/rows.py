"""Sums of distances from rows of them: block by block, by a method of all pairs.

Rows are not kept.  Those of sweeps over a hierarchy are reduced where they are
(:mod:`edgewise.paths.hierarchy.reductions`).  Columns are added up in the order of the sources, so that sums
of floats do not depend on blocks, threads and devices.  Sums of whole distances without weights are those of
:mod:`~edgewise.paths.measures.sums`.
"""

from functools import partial
from typing import Any

import numpy as np

from edgewise.device import arrays, each
from edgewise.paths.apsp.search import TooLarge, rows_of_a_block
from edgewise.paths.csr import unreached
from edgewise.paths.measures.sums import (
    DISTANCE,
    HIGH,
    LOW,
    PARTS,
    REACHED,
    Added,
    halves_of_inverse,
    until_last,
)
from edgewise.primitives import histogram


@each
def row_maximum(row, block, vertices, none, farthest):
    """Store the largest distance of a row, or ``none`` if a vertex is not reached."""
    largest = block[row * vertices]
    for vertex in range(vertices):
        value = block[row * vertices + vertex]
        if value == none or largest == none:
            largest = none
        else:
            largest = max(largest, value)
    farthest[row] = largest


@each
def add_column(vertex, block, rows, vertices, none, reached, total, inverse):
    """Add the distances of a block's sources to ``vertex`` to the sums of the blocks before."""
    count, distance, harmonic = reached[vertex], total[vertex], inverse[vertex]
    for row in range(rows):
        value = block[row * vertices + vertex]
        if value != none:
            count += 1
            distance += value
            if value != 0:
                harmonic += 1.0 / value
    reached[vertex], total[vertex], inverse[vertex] = count, distance, harmonic


@each
def add_hops(vertex, block, rows, vertices, none, of_vertices):
    """Add the whole distances of a block's sources to ``vertex`` to its sums."""
    at = vertex * PARTS
    for row in range(rows):
        value = block[row * vertices + vertex]
        if value != none:
            high, low = halves_of_inverse(np.int64(value))
            of_vertices[at + REACHED] += 1
            of_vertices[at + DISTANCE] += np.int64(value)
            of_vertices[at + HIGH] += high
            of_vertices[at + LOW] += low


def by_rows(search, progress, workers=None):
    """Add up the distances from all vertices, which ``search`` or ``workers`` find.

    Returns the largest distance from each vertex (the type's value for "no path" where one is not reached),
    and for each vertex the number of sources that reach it, and the sums of their distances and of
    1 / distance.  The type of the search is wide enough afterwards.
    """
    while True:
        try:
            if search.method.by_routes:
                return _swept(search, progress)
            return _added_up(search, _found_in(search, workers), progress)
        except TooLarge:
            search.widen()


def _swept(search, progress):
    """The same by a hierarchy, batch by batch."""
    from edgewise.paths.hierarchy.phast import sweeps_of
    from edgewise.paths.hierarchy.reductions import reduced

    sweeps = sweeps_of(search.adjacency, search.dtype)
    found = sweeps and reduced(sweeps, np.arange(search.graph.n_vertices), progress)
    if found is None:
        raise TooLarge
    return found


def _found_in(search, workers) -> Any:
    """What yields the distances of blocks of sources."""
    return partial(_searched, search) if workers is None else workers.blocks_in_order


def _searched(search, blocks):
    """Yield the distances from the sources of each block, which those of the next one replace."""
    n = search.graph.n_vertices
    whole = arrays.empty(max(map(len, blocks), default=0) * n, search.dtype, search.graph.device)
    for sources in blocks:
        some = whole[: len(sources) * n]
        search.into(sources, some)
        yield some


def hops_by_rows(search, progress, workers=None) -> Added:
    """Add up the distances from all vertices of a graph without weights."""
    n, device, kind = search.graph.n_vertices, search.graph.device, search.dtype.type
    of_vertices, hops = arrays.zeros(n * PARTS, np.int64, device), np.zeros(n, np.int64)
    farthest, none = arrays.empty(n, search.dtype, device), kind(unreached(search.dtype))
    for first, height, block in _blocks(search, _found_in(search, workers), progress):
        row_maximum(height, block, n, none, farthest[first:])
        add_hops(n, block, height, n, none, of_vertices)
        hops += arrays.move(histogram(block[block != none].astype(np.int64), n), "cpu")
    farthest, of_vertices = arrays.move(farthest, "cpu"), arrays.move(of_vertices, "cpu")
    farthest = np.where(farthest == none, -1, farthest).astype(np.int32)
    return Added(of_vertices.reshape(n, PARTS), until_last(hops), farthest)


def _blocks(search, found_in, progress):
    """Yield the first source, the number of sources, and the distances of each block."""
    n = search.graph.n_vertices
    rows = rows_of_a_block(n, n, search.dtype)
    vertices = np.arange(n)
    blocks = [vertices[first : first + rows] for first in range(0, n, rows)]
    for number, some in enumerate(found_in(blocks)):
        yield number * rows, len(blocks[number]), some
        progress(number + 1, len(blocks))


def _added_up(search, found_in, progress):
    """Row maxima, and for each column: sources with a path, sums of distances and of 1 / distances."""
    n, device, dtype = search.graph.n_vertices, search.graph.device, search.dtype
    farthest = arrays.empty(n, dtype, device)
    reached = arrays.zeros(n, np.int64, device)
    # n distances of 31 bits have a sum of less than 63; those of 63 bits may not, so their sum is rounded.
    total = arrays.zeros(n, np.int64 if dtype == np.int32 else np.float64, device)
    inverse = arrays.zeros(n, np.float64, device)
    none = dtype.type(unreached(dtype))
    for first, height, some in _blocks(search, found_in, progress):
        row_maximum(height, some, n, none, farthest[first:])
        add_column(n, some, height, n, none, reached, total, inverse)
    return (arrays.move(array, "cpu") for array in (farthest, reached, total, inverse))
