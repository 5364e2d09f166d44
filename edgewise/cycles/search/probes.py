"""How much work a search for all cycles will be, found out by a few random descents.

The search below a top is a tree, whose size a random descent estimates without bias: choose a child at every
vertex, and multiply the numbers of children on the way (Knuth 1975, "Estimating the efficiency of backtrack
programs").  A few tops are probed so, drawn by what a cheap guess says of them: with ``d`` lower neighbours
and ``w`` wedges below it, a top has about ``d (w / d)^(k - 2)`` paths to walk.  The guess of all tops is then
scaled to what was found.  Its order of magnitude is what matters: it tells seconds from days.

A guess may be far too high in one part of the graph, which would then draw all probes.  So tops are probed in
strata, each of tops with a guess of the same magnitude, and each stratum is scaled by its own probes
(Chen 1992, "Heuristic sampling").  Trees that hang on the graph are cut off first: their guesses are high,
and no cycle is there.  What probes miss must not get lost: every top that may have a cycle is a task, of its
wedges at least.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.apex import wedges_of
from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.planning.bounds import in_reach_of_cycles
from edgewise.cycles.planning.tasks import MOST
from edgewise.device import arrays, compiled, device

#: Steps so few that nobody needs to know better.
FEW = 1e8
#: Strata at most, the factor between guesses within one, tops probed in each, and descents from each top.
STRATA, FACTOR, TOPS, DESCENTS = 8, 32.0, 6, 16
#: Entries that may be read to find distances around the tops of a stratum, from the second top on.
READS = 1 << 20
#: Rounds in which vertices with fewer than two neighbours go.
ROUNDS = 48


def without_trees(ranked: Ranked) -> Ranked:
    """The graph without the vertices that are on no cycle, as they have fewer than two neighbours that stay.

    They keep their numbers, and are in no row.
    """
    with arrays.guard(ranked.device):
        stays = in_reach_of_cycles(ranked, ROUNDS)
        if bool(stays.all()):
            return ranked
        entries = stays[ranked.neighbours]
        ends = arrays.zeros(len(entries) + 1, np.int64, ranked.device)
        ends[1:] = entries.cumsum(dtype=np.int64)
        return ranked._replace(
            offsets=arrays.move(ends[ranked.offsets], ranked.device),
            neighbours=arrays.move(ranked.neighbours[entries != 0], ranked.device),
            split=arrays.move(ends[ranked.split], ranked.device),
        )


def work(ranked: Ranked, length: int):
    """Steps of the search below every top, about: (n,) float64 array in the place of ``ranked``.

    Zero where a top has fewer than two lower neighbours, trees left out, and nowhere else.
    """
    ranked = without_trees(ranked)
    xp = arrays.namespace(ranked.device)
    below = (ranked.split - ranked.offsets[:-1]).astype(np.float64)
    wedges = wedges_of(ranked)[1].astype(np.float64)
    with np.errstate(over="ignore"):
        guess = xp.minimum(below * (wedges / xp.maximum(below, 1)) ** (length - 2), MOST)
        guess[below < 2] = 0
        if float(guess.sum()) > FEW:
            guess = xp.minimum(guess * arrays.move(_scales(ranked, length, guess), ranked.device), MOST)
    return arrays.move(xp.where(below < 2, 0.0, xp.maximum(guess, xp.maximum(wedges, 1.0))), ranked.device)


def _scales(ranked, length, guess):
    """Ratio of the work that probes find to what was guessed, for every top."""
    guess = arrays.move(guess, "cpu")
    rows = arrays.move(ranked.offsets, "cpu"), arrays.move(ranked.neighbours, "cpu")
    draw, scales = np.random.default_rng(0), np.ones(len(guess))
    for tops in _strata(guess):
        share = guess[tops] / guess[tops].max()
        if guess[tops].sum() >= FEW / STRATA:
            drawn, times = np.unique(draw.choice(tops, TOPS, p=share / share.sum()), return_counts=True)
            scales[tops] = _ratio(rows, length, guess, drawn, times, draw)
    return scales


def _strata(guess):
    """Tops of about the same guess each, the highest first; the last has all that are left."""
    tops = np.flatnonzero(guess)
    magnitude = np.floor((np.log2(guess[tops].max()) - np.log2(guess[tops])) / np.log2(FACTOR))
    stratum = np.minimum(np.unique(magnitude, return_inverse=True)[1], STRATA - 1)
    return [tops[stratum == number] for number in range(stratum.max() + 1)]


def _ratio(rows, length, guess, drawn, times, draw):
    """Mean ratio of what probes of these tops find to what was guessed."""
    distance, reached = np.zeros(len(guess), np.int32), np.empty(len(guess), np.int64)
    path, found, weight, read = np.empty(length, np.int64), 0.0, 0.0, 0
    for top, descents in zip(drawn.tolist(), times.tolist()):
        if weight and read > READS:
            break
        filled, entries = _around(top, length // 2, *rows, distance, reached)
        chances = draw.random(descents * DESCENTS * length)
        steps = _descend(top, length, *rows, distance, chances, path, MOST)
        distance[reached[:filled]] = 0
        found, weight, read = found + descents * (steps / guess[top]), weight + descents, read + entries
    return found / weight


@compiled
def _around(top, half, offsets, neighbours, distance, reached):
    """Find how far lower vertices are from ``top``, up to ``half``; how many they are, and entries read."""
    begin, filled, read = 0, 0, 0
    for far in range(1, half + 1):
        end = filled
        for position in range(begin - (far == 1), end):  # the top stands before all others
            vertex = top if far == 1 else reached[position]
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if other >= top:
                    break
                read += 1
                if distance[other] == 0:
                    distance[other] = far
                    reached[filled] = other
                    filled += 1
        begin = end
    return filled, read


@compiled
def _descend(top, length, offsets, neighbours, distance, chances, path, most):
    """Steps of the search below ``top``: the mean over random paths down its tree."""
    total, paths = 0.0, len(chances) // length
    for number in range(paths):
        path[0], alike, steps, depth = top, 1.0, 0.0, 0
        while depth < length - 1:
            below, able, chosen = 0, 0, np.int64(-1)
            for entry in range(offsets[path[depth]], offsets[path[depth] + 1]):
                if neighbours[entry] >= top:
                    break
                below += 1
            if depth > 0:
                steps = min(steps + alike * below, most)
            left = length - depth - 1
            for turn in range(2):  # count those that can go on, then take one of them
                pick = np.int64(chances[number * length + depth] * able) if turn else np.int64(-1)
                seen = 0
                for entry in range(offsets[path[depth]], offsets[path[depth]] + below):
                    other = np.int64(neighbours[entry])
                    if _goes_on(other, top, left, depth, offsets, neighbours, distance, path):
                        if seen == pick:
                            chosen = other
                        seen += 1
                able = seen
            depth += 1
            if chosen < 0:
                depth = length
            else:
                alike, path[depth] = min(alike * able, most), chosen
        total += steps / paths
    return total


@device
def _goes_on(vertex, top, left, depth, offsets, neighbours, distance, path):
    """Whether a path may come to a vertex, close within the edges that are ``left``, and have a way on."""
    far, second = distance[vertex], offsets[vertex] + (depth > 0)
    if far == 0 or far > left or second >= offsets[vertex + 1] or neighbours[second] >= top:
        return False
    while depth > 0 and path[depth] != vertex:
        depth -= 1
    return depth == 0
