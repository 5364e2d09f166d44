"""The first partition, of the coarsest graph: recursive bisection with many tries, on the CPU.

A block of vertices is divided in two, each half again, until every block is a part.  Each bisection is
multilevel itself: the blocks are coarsened further, the sides grow on the smallest graph, and are improved on
every level (:mod:`~edgewise.partitions.initial.fiduccia_mattheyses`).  All blocks of a round are one graph
without the edges between them, so that they are coarsened together; the blocks, and several tries for each,
are bisected on all threads.  Of the tries for a block, the one with the smallest cut is taken.

H. D. Simon and S.-H. Teng, "How good is recursive bisection?" (SIAM Journal on Scientific Computing 18,
1997).
"""

import numpy as np

from edgewise.partitions.coarsen import coarsen
from edgewise.partitions.initial.fiduccia_mattheyses import Blocks, Memory, bisect
from edgewise.partitions.levels import Level, salt_of, sizes_of


def recursive_bisection(level, limits, targets, how):
    """Divide a level on the host into parts of at most ``limits``, near to ``targets``.

    ``limits`` and ``targets`` are (k,) int64 and float64 arrays, ``how`` are the settings.
    Returns the part of each vertex: (n,) int64.
    """
    n, k = len(level.offsets) - 1, len(limits)
    parts = np.zeros(n, np.int64)
    sizes = sizes_of(level, np.arange(n))
    sums = np.concatenate([[0], np.cumsum(limits)]), np.concatenate([[0.0], np.cumsum(targets)])
    spans, step = {0: k}, 0
    while any(span > 1 for span in spans.values()) and n:
        firsts = np.array([first for first, span in sorted(spans.items()) if span > 1], np.int64)
        blocks, vertices = _blocks_of(parts, firsts, level, sizes)
        wanted = np.array([spans[first] for first in firsts.tolist()], np.int64)
        blocks = _with_shares(blocks, firsts, wanted, sums)
        sides = _best_sides(blocks, how, step)
        halves = wanted // 2
        block = np.repeat(np.arange(len(firsts)), np.diff(blocks.starts))
        parts[vertices] += np.where(sides == 1, halves[block], 0)
        for first, span in zip(firsts.tolist(), wanted.tolist()):
            spans[first], spans[first + span // 2] = span // 2, span - span // 2
        step += 1
    return parts


def _blocks_of(parts, firsts, level, sizes):
    """The graph of the blocks that begin with the parts ``firsts``, and its vertices.

    The coarsest graph may be nearly complete: what there is for each entry counts in what a partition takes.
    """
    block = np.full(int(parts.max()) + 2, -1, np.int32)
    held = firsts[firsts < len(block)]
    block[held] = np.arange(len(held))
    mine = block[parts]
    vertices = np.argsort(mine, kind="stable")[int(np.count_nonzero(mine < 0)) :]
    place = np.empty(len(parts), np.uint32)
    place[vertices] = np.arange(len(vertices))
    of_row = np.repeat(mine, np.diff(level.offsets))
    kept = np.flatnonzero((of_row >= 0) & (of_row == mine[level.neighbours]))
    del of_row
    rows = np.searchsorted(kept, level.offsets)
    counts = np.diff(rows)[vertices]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.arange(len(kept))
    order += np.repeat(rows[vertices] - offsets[:-1], counts)
    kept = kept[order]
    del order
    weights = level.weights[kept] if len(level.weights) else np.ones(len(kept), level.weights.dtype)
    starts = np.concatenate([[0], np.cumsum(np.bincount(mine[vertices], minlength=len(firsts)))])
    none = np.empty(0, np.int64)
    graph = offsets, place[level.neighbours[kept]], weights, sizes[vertices]
    return Blocks(*graph, starts.astype(np.int64), none, none, none), vertices


def _with_shares(blocks, firsts, wanted, sums):
    """The blocks with the weights of their sides: a limit leaves equal slack to each later bisection."""
    limit_sums, target_sums = sums
    halves, ends = wanted // 2, firsts + wanted
    weights = np.add.reduceat(np.append(blocks.sizes, 0), blocks.starts[:-1]) * (np.diff(blocks.starts) > 0)
    shares = target_sums[firsts + halves] - target_sums[firsts], target_sums[ends] - target_sums[firsts]
    targets = weights * shares[0] / np.maximum(shares[1], 1e-300)
    allowed = limit_sums[firsts + halves] - limit_sums[firsts], limit_sums[ends] - limit_sums[firsts + halves]
    depth = np.ceil(np.log2(wanted))
    slack = np.maximum((allowed[0] + allowed[1]) / np.maximum(weights, 1), 1.0) ** (1 / depth)
    limits = np.empty(2 * len(firsts), np.int64)
    for side, target in enumerate((targets, weights - targets)):
        near = np.maximum(np.floor(target * slack), np.ceil(target)).astype(np.int64)
        limits[side::2] = np.where(wanted == 2, allowed[side], np.minimum(near, allowed[side]))
    least = np.stack([halves, wanted - halves], axis=1)
    least[np.diff(blocks.starts) < wanted] = 0
    rounded = np.floor(targets + 0.5).astype(np.int64)
    return blocks._replace(targets=rounded, limits=limits, least=least.reshape(-1).astype(np.int64))


def _best_sides(blocks, how, step):
    """Side of each vertex in the best try for its block, by multilevel bisection of all blocks at once."""
    hierarchy, improved = _coarsen(blocks, how, step), np.empty((0, 0), np.int8)
    tries = min(how.most_tries, max(how.tries, how.tries * 1000 // max(len(blocks.sizes), 1)))
    for number, (level, clusters) in enumerate(reversed(hierarchy)):
        n = len(level.sizes)
        memory = Memory(
            np.ones(tries * n, np.int8),
            np.empty(tries * n, np.int64),
            np.empty(tries * n, np.int32),
            np.empty(2 * tries * n, np.int32),
            np.empty(tries * n, np.int32),
            np.empty(2 * tries * len(blocks.targets), np.int64),
        )
        if clusters is not None:
            sides = memory.sides.reshape(tries, n)
            sides[:] = improved[:, clusters]
        salt = salt_of(how.seed, 1000 + 50 * step + number)
        bisect(len(blocks.targets) * tries, tries, level, salt, int(clusters is None), memory)
        improved = memory.sides.reshape(tries, n)
    scores = memory.scores.reshape(-1, tries, 2)
    best = np.lexsort((scores[:, :, 1], scores[:, :, 0]), axis=1)[:, 0]
    return improved[np.repeat(best, np.diff(blocks.starts)), np.arange(len(blocks.sizes))]


def _coarsen(blocks, how, step):
    """The hierarchy of the blocks: pairs of the blocks and the clusters of a level, the finest first."""
    n_blocks, kind = len(blocks.targets), blocks.neighbours.dtype
    block = np.repeat(np.arange(n_blocks), np.diff(blocks.starts))
    how = how._replace(coarsest=how.smallest * n_blocks, coarsest_for_each=0, growth=how.other_growth)
    how = how._replace(seed=how.seed + 100 * step)
    level, hierarchy = Level._make([*blocks[:4], np.empty(0, kind)]), []
    for one, clusters in coarsen(level, 0, int(blocks.sizes.sum()), how, block.astype(kind))[0]:
        starts = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=n_blocks))])
        hierarchy.append((Blocks._make([*one[:4], starts.astype(np.int64), *blocks[5:]]), clusters))
        if clusters is not None:
            owner = np.empty(int(clusters.max()) + 1, np.int64)
            owner[clusters] = block
            block = owner
    return hierarchy
