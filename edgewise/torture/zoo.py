"""Small graphs that methods have stumbled over, as (vertices, sources, targets)."""

import numpy as np


def _path(n):
    return n, np.arange(n - 1), np.arange(1, n)


def _grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    return rows * columns, sources, np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])


def _clique(members):
    pairs = np.array([(u, v) for u in members for v in members if u < v])
    return pairs[:, 0], pairs[:, 1]


def _two_cliques(bridge):
    left, right = _clique(range(5)), _clique(range(5, 10))
    joined = ([[4], [5]],) if bridge else ()
    parts = (left, right, *joined)
    return 10, np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _random(n, m, seed):
    draw = np.random.default_rng(seed)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


NONE = np.empty(0, np.int64)
ZOO = {
    "empty": (0, NONE, NONE),
    "one vertex": (1, NONE, NONE),
    "isolated": (7, NONE, NONE),
    "self-loops": (4, np.arange(4), np.arange(4)),
    "one edge": (2, np.array([1]), np.array([0])),
    "repeated edges": (3, np.array([0, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 1])),
    "path": _path(33),
    "path, reversed ids": (33, 32 - _path(33)[1], 32 - _path(33)[2]),
    "star from its last": (20, np.full(19, 19), np.arange(19)),
    "cycle": (9, np.arange(9), (np.arange(9) + 1) % 9),
    "grid": _grid(5, 7),
    "clique": (8, *_clique(range(8))),
    "two cliques": _two_cliques(bridge=False),
    "two cliques and a bridge": _two_cliques(bridge=True),
    "isolated at both ends": (9, np.array([3, 4]), np.array([4, 5])),
    "sparse": _random(40, 25, 1),
    "dense": _random(25, 120, 2),
}
