"""Estimates of the work of an enumeration by a few random descents.

The search below an apex is a tree, whose size a random descent estimates without bias: choose a child at
every vertex, and multiply the numbers of children on the way (Knuth 1975, "Estimating the efficiency of
backtrack programs").  The probed vertices are drawn in proportion to a cheap guess: with ``d`` lower
neighbours and ``w`` wedges below it, an apex has about ``d (w / d)^(k - 2)`` paths.  The guesses for all
vertices are then scaled by what the probes find, of which only the order of magnitude matters.

A guess may be far too high in one part of the graph, which would then draw all probes.  Therefore the
vertices are divided into strata of similar guesses, and each stratum is scaled by its own probes (Chen 1992,
"Heuristic sampling").  Trees that hang on the graph are removed first: their guesses are high, and they have
no cycles.  Every apex that may have a cycle is a task, with a work of its number of wedges at least.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.counting.wedges import wedges_of
from edgewise.cycles.planning import MAX_WORK
from edgewise.cycles.search.two_core import Rows, without_trees
from edgewise.device import arrays, compiled, device

#: Steps up to which a guess is good enough.
FEW = 1e8
#: Strata at most, the factor between guesses within one, vertices probed in each, and descents from each.
STRATA, FACTOR, PROBED, DESCENTS = 8, 32.0, 6, 16
#: Entries that may be read for distances in a stratum before the second and later probes are left out.
READS = 1 << 20


def work(ranked: Ranked, length: int):
    """Steps of the search below every vertex, about: (n,) float64 array on the device of ``ranked``.

    Zero where a vertex has fewer than two lower neighbours after the removal of trees, and nowhere else.
    """
    ranked = without_trees(ranked)
    xp = arrays.namespace(ranked.device)
    below = (ranked.split - ranked.offsets[:-1]).astype(np.float64)
    wedges = wedges_of(ranked)[1].astype(np.float64)
    with np.errstate(over="ignore"):
        guess = xp.minimum(below * (wedges / xp.maximum(below, 1)) ** (length - 2), MAX_WORK)
        guess[below < 2] = 0
        if float(guess.sum()) > FEW:
            guess = xp.minimum(guess * arrays.move(_scales(ranked, length, guess), ranked.device), MAX_WORK)
    return arrays.move(xp.where(below < 2, 0.0, xp.maximum(guess, xp.maximum(wedges, 1.0))), ranked.device)


def _scales(ranked, length, guess):
    """Ratio of the work that probes find to the guess, for every vertex."""
    guess = arrays.move(guess, "cpu")
    rows = Rows(arrays.move(ranked.offsets, "cpu"), arrays.move(ranked.neighbours, "cpu"))
    random, scales = np.random.default_rng(0), np.ones(len(guess))
    for stratum in _strata(guess):
        chance = guess[stratum] / guess[stratum].max()
        if guess[stratum].sum() >= FEW / STRATA:
            drawn = random.choice(stratum, PROBED, p=chance / chance.sum())
            scales[stratum] = _ratio(rows, length, guess, drawn, random)
    return scales


def _strata(guess):
    """Vertices of about the same guess each, the highest first; the last stratum has all that remain."""
    tasks = np.flatnonzero(guess)
    magnitude = np.floor((np.log2(guess[tasks].max()) - np.log2(guess[tasks])) / np.log2(FACTOR))
    stratum = np.minimum(np.unique(magnitude, return_inverse=True)[1], STRATA - 1)
    return [tasks[stratum == number] for number in range(stratum.max() + 1)]


def _ratio(rows, length, guess, drawn, random):
    """Mean ratio of what probes below the ``drawn`` vertices find to the guess."""
    distance, reached = np.zeros(len(guess), np.int32), np.empty(len(guess), np.int64)
    path, total, n_probes, n_read = np.empty(length, np.int64), 0.0, 0, 0
    for apex, times in zip(*map(np.ndarray.tolist, np.unique(drawn, return_counts=True))):
        if n_probes and n_read > READS:
            break
        n_reached, entries = _find_distances(apex, length // 2, rows, distance, reached)
        chances = random.random(times * DESCENTS * length)
        steps = _descend(apex, length, rows, distance, chances, path)
        distance[reached[:n_reached]] = 0
        total, n_probes, n_read = total + times * (steps / guess[apex]), n_probes + times, n_read + entries
    return total / n_probes


@compiled
def _find_distances(apex, half, rows, distance, reached):
    """Find the distances of lower vertices up to ``half``; return their number, and that of entries read."""
    begin, n_reached, n_read = 0, 0, 0
    for level in range(1, half + 1):
        end = n_reached
        for position in range(begin - (level == 1), end):  # position -1 of the first level is the apex
            vertex = apex if level == 1 else reached[position]
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = np.int64(rows.neighbours[entry])
                if other >= apex:
                    break
                n_read += 1
                if distance[other] == 0:
                    distance[other] = level
                    reached[n_reached] = other
                    n_reached += 1
        begin = end
    return n_reached, n_read


@compiled
def _descend(apex, length, rows, distance, chances, path):
    """Steps of the search below ``apex``: the mean over random paths down its tree."""
    offsets, neighbours = rows.offsets, rows.neighbours
    total, paths = 0.0, len(chances) // length
    for number in range(paths):
        path[0], n_alike, steps, depth = apex, 1.0, 0.0, 0
        while depth < length - 1:
            below, able, chosen = 0, 0, np.int64(-1)
            for entry in range(offsets[path[depth]], offsets[path[depth] + 1]):
                if neighbours[entry] >= apex:
                    break
                below += 1
            if depth > 0:
                steps = min(steps + n_alike * below, MAX_WORK)
            left = length - depth - 1
            for turn in range(2):  # count the neighbours that can be next, then take one of them
                pick = np.int64(chances[number * length + depth] * able) if turn else np.int64(-1)
                seen = 0
                for entry in range(offsets[path[depth]], offsets[path[depth]] + below):
                    other = np.int64(neighbours[entry])
                    if _can_be_next(other, apex, left, depth, rows, distance, path):
                        if seen == pick:
                            chosen = other
                        seen += 1
                able = seen
            depth += 1
            if chosen < 0:
                depth = length
            else:
                n_alike, path[depth] = min(n_alike * able, MAX_WORK), chosen
        total += steps / paths
    return total


@device
def _can_be_next(vertex, apex, left, depth, rows, distance, path):
    """Whether a path can be extended by a vertex, leave it again, and close with ``left`` edges."""
    far, second = distance[vertex], rows.offsets[vertex] + (depth > 0)
    if far == 0 or far > left or second >= rows.offsets[vertex + 1] or rows.neighbours[second] >= apex:
        return False
    while depth > 0 and path[depth] != vertex:
        depth -= 1
    return depth == 0
