"""How much work a search for all cycles will be, found out by a few random descents.

The search below a top is a tree, whose size a random descent estimates without bias: choose a child at every
vertex, and multiply the numbers of children on the way (Knuth 1975, "Estimating the efficiency of backtrack
programs").  A few tops are probed so, drawn by what a cheap guess says of them: with ``d`` lower neighbours
and ``w`` wedges below it, a top has about ``d (w / d)^(k - 2)`` paths to walk.  The guess of all tops is then
scaled to what was found.  Its order of magnitude is what matters: it tells seconds from days.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.ranked import Ranked
from edgewise.cycles.tops import wedges_of
from edgewise.device import arrays

#: Steps so few that nobody needs to know better.
FEW = 1e8
#: Tops that are probed, and descents from each.
TOPS, DESCENTS = 24, 32


def work(ranked: Ranked, length: int):
    """Steps of the search below every top, about: (n,) float64 array in the place of ``ranked``."""
    xp = arrays.namespace(ranked.place)
    below = (ranked.split - ranked.offsets[:-1]).astype(np.float64)
    wedges = wedges_of(ranked)[1].astype(np.float64)
    with np.errstate(over="ignore"):
        guess = below * (wedges / xp.maximum(below, 1)) ** (length - 2)
    guess[below < 2] = 0
    total = float(guess.sum())
    return guess if total < FEW else guess * _scale(ranked, length, guess)


def _scale(ranked, length, guess):
    """Ratio of the work that probes find to what was guessed."""
    guess = arrays.move(guess, "cpu")
    guess = np.where(np.isfinite(guess), guess, np.finfo(np.float64).max / len(guess) / 4)
    share = guess / guess.sum()
    rows = arrays.move(ranked.offsets, "cpu"), arrays.move(ranked.neighbours, "cpu")
    draw = np.random.default_rng(0)
    tops = draw.choice(len(share), TOPS, p=share)
    return float(np.mean([probe(*rows, int(top), length, draw) / guess[top] for top in tops]))


def probe(offsets, neighbours, top, length, draw):
    """Steps of the search below one top, by the average of some descents."""
    distance = _around(offsets, neighbours, top, length // 2)
    return float(
        np.mean([_descend(offsets, neighbours, top, length, distance, draw) for _ in range(DESCENTS)])
    )


def _lower(offsets, neighbours, vertex, top):
    row = neighbours[offsets[vertex] : offsets[vertex + 1]]
    return row[: np.searchsorted(row, top)]


def _around(offsets, neighbours, top, half):
    """Distance from ``top`` of vertices below it, up to ``half``; zero for others."""
    distance = np.zeros(len(offsets) - 1, np.int32)
    level = _lower(offsets, neighbours, top, top)
    for far in range(1, half + 1):
        distance[level] = far
        if far < half:
            lengths = offsets[level.astype(np.int64) + 1] - offsets[level]
            ends = np.cumsum(lengths)
            entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
                offsets[level] - ends + lengths, lengths
            )
            near = neighbours[entries]
            level = np.unique(near[(near < top) & (distance[near] == 0)])
    return distance


def _descend(offsets, neighbours, top, length, distance, draw):
    """Steps of the search, estimated by one path down its tree."""
    children, alike, steps, path = _lower(offsets, neighbours, top, top), 1.0, 0.0, []
    for away in range(1, length - 1):
        if not len(children):
            break
        alike *= len(children)
        path.append(children[draw.integers(len(children))])
        children = _lower(offsets, neighbours, path[-1], top)
        steps += alike * len(children)
        near = (distance[children] != 0) & (distance[children] <= length - away - 1)
        children = children[near & ~np.isin(children, path)]
    return steps
