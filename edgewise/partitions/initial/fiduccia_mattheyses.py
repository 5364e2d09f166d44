"""Bisection of the blocks of a graph: greedy growing and the moves of Fiduccia and Mattheyses.

One side grows from a vertex drawn at random, always by the vertex that lowers the cut most, until it has its
share of the weight.  Then single vertices change sides, the best first and each once in a pass, also where
the cut grows, and the moves after the best state are undone.

The order of the moves is one of the gains and, among equal ones, of random numbers that are all different,
so that it does not depend on the order of the entries in a row.

C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network partitions" (DAC 1982);
G. Karypis and V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs" (SIAM
Journal on Scientific Computing 20, 1998).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each
from edgewise.device.target import called
from edgewise.primitives.mixing import mix

#: Place of a vertex that is in no heap, and of one that has been moved in this pass.
OUTSIDE, LOCKED = -1, -2
#: Moves without a better state after which a pass ends.
FRUITLESS = 200
#: Passes, at most.
PASSES = 8


class Blocks(NamedTuple):
    """The graph without the edges between blocks, whose vertices have consecutive numbers.

    Attributes
    ----------
    offsets, neighbours, weights, sizes
        As in :class:`~edgewise.partitions.levels.Level`, with the weights of all edges.
    starts : (blocks + 1,) int64 array
    targets : (blocks,) int64 array
        Weight of the first side.
    limits, least : (2 * blocks,) int64 arrays
        Largest weight and smallest number of vertices of each side.
    """

    offsets: Any
    neighbours: Any
    weights: Any
    sizes: Any
    starts: Any
    targets: Any
    limits: Any
    least: Any


class Memory(NamedTuple):
    """What the tries write: n items for each try, 2 * n for its heaps.

    Attributes
    ----------
    sides : (tries * n,) int8 array
    gains : (tries * n,) int64 array
        By how much the cut falls if the vertex changes sides.
    places : (tries * n,) int32 array
        Position in the heap of its side, ``OUTSIDE`` or ``LOCKED``.
    heaps : (2 * tries * n,) int32 array
    moved : (tries * n,) int32 array
        Vertices in the order of their moves.
    scores : (2 * tries * blocks,) int64 array
        Weight above the limits, and the sum of the gains: twice the cut of both directions less all weights.
    """

    sides: Any
    gains: Any
    places: Any
    heaps: Any
    moved: Any
    scores: Any


class Half(NamedTuple):
    """One try for a block: its vertices, where its memory is, and the salt of its random numbers."""

    first: int
    end: int
    block: int
    base: int
    salt: int


@device
def is_before(one, other, half, memory):
    """Whether a vertex is moved before another one of the same heap."""
    gain, other_gain = memory.gains[half.base + one], memory.gains[half.base + other]
    if gain != other_gain:
        return gain > other_gain
    return mix(np.int64(one), half.salt) > mix(np.int64(other), half.salt)


@called
def sift_up(at, start, half, memory):
    """Move the vertex at a position of a heap towards the top."""
    heaps, places = memory.heaps, memory.places
    vertex = heaps[start + at]
    while at > 0 and is_before(vertex, heaps[start + (at - 1) // 2], half, memory):
        heaps[start + at] = heaps[start + (at - 1) // 2]
        places[half.base + heaps[start + at]] = at
        at = (at - 1) // 2
    heaps[start + at] = vertex
    places[half.base + vertex] = at


@called
def sift_down(at, size, start, half, memory):
    """Move the vertex at a position of a heap towards the bottom."""
    heaps, places = memory.heaps, memory.places
    vertex = heaps[start + at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and is_before(heaps[start + child + 1], heaps[start + child], half, memory):
            child += 1
        if not is_before(heaps[start + child], vertex, half, memory):
            break
        heaps[start + at] = heaps[start + child]
        places[half.base + heaps[start + at]] = at
        at = child
    heaps[start + at] = vertex
    places[half.base + vertex] = at


@device
def start_of(side, half):
    """Where the heap of a side is: the two of a block take the place of two for each of its vertices."""
    return 2 * half.base + 2 * half.first + side * (half.end - half.first)


@device
def enter(vertex, size, half, blocks, memory):
    """Add a vertex to the heap of its side, which has ``size`` vertices."""
    start = start_of(np.int64(memory.sides[half.base + vertex]), half)
    memory.heaps[start + size] = vertex
    sift_up(size, start, half, memory)


@device
def take_top(side, size, half, blocks, memory):
    """Remove and lock the first vertex of a heap; return it."""
    start = start_of(side, half)
    top, last = memory.heaps[start], memory.heaps[start + size - 1]
    memory.places[half.base + top] = LOCKED
    if size > 1:
        memory.heaps[start] = last
        sift_down(0, size - 1, start, half, memory)
    return np.int64(top)


@called
def change_side(vertex, sizes, half, blocks, memory):
    """Move a vertex to the other side, and its neighbours within or into the heaps; return the heap sizes."""
    base, old = half.base, memory.sides[half.base + vertex]
    size_0, size_1 = sizes
    memory.sides[base + vertex] = 1 - old
    memory.gains[base + vertex] = -memory.gains[base + vertex]
    for entry in range(blocks.offsets[vertex], blocks.offsets[vertex + 1]):
        other = np.int64(blocks.neighbours[entry])
        side, place = np.int64(memory.sides[base + other]), np.int64(memory.places[base + other])
        rises = side == old
        growth = 2 * blocks.weights[entry]
        memory.gains[base + other] += growth if rises else -growth
        if place == LOCKED:
            continue
        start = start_of(side, half)
        if place == OUTSIDE:
            if rises:
                enter(other, size_0 if side == 0 else size_1, half, blocks, memory)
                size_0, size_1 = size_0 + 1 - side, size_1 + side
        elif rises:
            sift_up(place, start, half, memory)
        else:
            sift_down(place, size_0 if side == 0 else size_1, start, half, memory)
    return size_0, size_1


@device
def grow(half, blocks, memory):
    """Grow the first side, which is empty, from random vertices; return its weight and its size."""
    base, n = half.base, half.end - half.first
    weight, count, sizes = np.int64(0), np.int64(0), (np.int64(0), np.int64(0))
    target, least = blocks.targets[half.block], blocks.least[2 * half.block]
    step, begin = np.int64(0), mix(half.block, half.salt) % n
    while (weight < target or count < least) and n - count > blocks.least[2 * half.block + 1]:
        if sizes[1] == 0:
            while step < n and memory.places[base + half.first + (begin + step) % n] != OUTSIDE:
                step += 1
            if step == n:
                break
            vertex = half.first + (begin + step) % n
            memory.places[base + vertex] = LOCKED
        else:
            vertex = take_top(1, sizes[1], half, blocks, memory)
            sizes = (sizes[0], sizes[1] - 1)
        after = weight + blocks.sizes[vertex]
        if count >= least and after - target > target - weight:
            continue
        weight, count = after, count + 1
        sizes = change_side(vertex, sizes, half, blocks, memory)
    return weight, count


@device
def excess_of(weight, total, half, blocks):
    """Weight of the two sides above their limits."""
    above = max(np.int64(0), weight - blocks.limits[2 * half.block])
    return above + max(np.int64(0), total - weight - blocks.limits[2 * half.block + 1])


@device
def fill_heaps(half, blocks, memory):
    """Enter the vertices beside the other side; return the sizes of the heaps."""
    base, size_0, size_1 = half.base, np.int64(0), np.int64(0)
    for vertex in range(half.first, half.end):
        side = memory.sides[base + vertex]
        memory.places[base + vertex] = OUTSIDE
        for entry in range(blocks.offsets[vertex], blocks.offsets[vertex + 1]):
            if memory.sides[base + blocks.neighbours[entry]] != side:
                enter(vertex, size_0 if side == 0 else size_1, half, blocks, memory)
                size_0, size_1 = size_0 + 1 - side, size_1 + side
                break
    return size_0, size_1


@device
def side_to_leave(weight, total, sizes, half, blocks, memory):
    """Side of the next move: one above its limit, else that of the larger gain; -1 if there is none."""
    if weight > blocks.limits[2 * half.block]:
        return 0 if sizes[0] > 0 else -1
    if total - weight > blocks.limits[2 * half.block + 1]:
        return 1 if sizes[1] > 0 else -1
    if sizes[0] == 0 or sizes[1] == 0:
        return 0 if sizes[0] > 0 else (1 if sizes[1] > 0 else -1)
    one = memory.heaps[start_of(0, half)]
    other = memory.heaps[start_of(1, half)]
    return 0 if is_before(one, other, half, memory) else 1


@device
def run_pass(half, state, total, blocks, memory):
    """Move vertices, and undo the moves after the best state; return whether it is better, and its state."""
    weight, count = state
    sizes, n = fill_heaps(half, blocks, memory), half.end - half.first
    moves, best_moves, fruitless, change = np.int64(0), np.int64(0), 0, np.int64(0)
    best, best_excess = np.int64(0), excess_of(weight, total, half, blocks)
    before, best_state = best_excess, (weight, count)
    while fruitless < FRUITLESS:
        side = side_to_leave(weight, total, sizes, half, blocks, memory)
        if side < 0:
            break
        vertex = take_top(side, sizes[side], half, blocks, memory)
        sizes = (sizes[0] - (1 - side), sizes[1] - side)
        size, sign = blocks.sizes[vertex], 2 * side - 1
        left = count if side == 0 else n - count
        moved_to = weight + sign * size
        excess = excess_of(moved_to, total, half, blocks)
        if left <= blocks.least[2 * half.block + side] or (
            excess > 0 and excess >= excess_of(weight, total, half, blocks)
        ):
            continue
        change -= memory.gains[half.base + vertex]
        sizes = change_side(vertex, sizes, half, blocks, memory)
        memory.moved[half.base + half.first + moves] = vertex
        moves, weight, count, fruitless = moves + 1, moved_to, count + sign, fruitless + 1
        if excess < best_excess or (excess == best_excess and change < best):
            best, best_excess, best_moves, fruitless = change, excess, moves, 0
            best_state = (weight, count)
    for move in range(moves - 1, best_moves - 1, -1):
        vertex = np.int64(memory.moved[half.base + half.first + move])
        memory.places[half.base + vertex] = LOCKED
        undo(vertex, half, blocks, memory)
    return best < 0 or best_excess < before, best_state


@device
def undo(vertex, half, blocks, memory):
    """Move a vertex back, without the heaps."""
    base, old = half.base, memory.sides[half.base + vertex]
    memory.sides[base + vertex] = 1 - old
    memory.gains[base + vertex] = -memory.gains[base + vertex]
    for entry in range(blocks.offsets[vertex], blocks.offsets[vertex + 1]):
        other, growth = blocks.neighbours[entry], 2 * blocks.weights[entry]
        memory.gains[base + other] += growth if memory.sides[base + other] == old else -growth


@device
def weigh(half, blocks, memory):
    """Compute all gains; return the weight and size of the first side, and the weight of both."""
    base, weight, count, total = half.base, np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(half.first, half.end):
        side, gain = memory.sides[base + vertex], np.int64(0)
        total += blocks.sizes[vertex]
        if side == 0:
            weight, count = weight + blocks.sizes[vertex], count + 1
        for entry in range(blocks.offsets[vertex], blocks.offsets[vertex + 1]):
            is_cut = memory.sides[base + blocks.neighbours[entry]] != side
            gain += blocks.weights[entry] if is_cut else -blocks.weights[entry]
        memory.gains[base + vertex], memory.places[base + vertex] = gain, OUTSIDE
    return (weight, count), total


@partial(each, least_chunk=1)
def bisect(task, tries, blocks, salt, grows, memory):
    """Bisect a block in one try: from the start if ``grows`` is 1, else by improving the sides there are."""
    block, one_try = task // tries, task % tries
    first, end = blocks.starts[block], blocks.starts[block + 1]
    half = Half(first, end, block, one_try * len(blocks.sizes), mix(task, salt))
    memory.scores[2 * task] = memory.scores[2 * task + 1] = 0
    if first == end:
        return
    state, total = weigh(half, blocks, memory)
    if grows != 0:
        state = grow(half, blocks, memory)
    for _ in range(PASSES):
        better, state = run_pass(half, state, total, blocks, memory)
        if not better:
            break
    memory.scores[2 * task] = excess_of(state[0], total, half, blocks)
    for vertex in range(first, end):
        memory.scores[2 * task + 1] += memory.gains[half.base + vertex]
