"""A case of the campaign of `sliced_calls.py`, its slices, and what a few lines of Python find in it."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Scores of the rows of a file, and a threshold that some of them reach; rows without a score do not.
SCORES, THRESHOLD = ("", "nan", "0.25", "0.5", "0.75"), 0.5


class Case(NamedTuple):
    """A graph, its edges as positions with weights of 1 if it has none, and where files may be."""

    draw: Any
    graph: Any
    sources: Any
    targets: Any
    weights: Any
    folder: Path

    def slices(self):
        """The edges in up to four slices, some of which may be empty."""
        cuts = sorted(self.draw.randint(0, len(self.sources)) for _ in range(self.draw.randint(0, 3)))
        ends = [*cuts, len(self.sources)]
        for first, end in zip([0, *cuts], ends, strict=True):
            part = slice(first, end)
            yield self.sources[part], self.targets[part], self.weights[part]

    def undirected(self):
        """The graph of the same edges, undirected and weighted, whose ids are positions."""
        import edgewise as ew

        n = self.graph.n_vertices
        return ew.Graph.from_edges(self.sources, self.targets, weights=self.weights, n_vertices=n)

    def at_or_above(self, scores):
        """The case of the edges whose scores, as they are in a file, reach the threshold."""
        kept = np.array([score not in ("", "nan") and float(score) >= THRESHOLD for score in scores], bool)
        edges = self.sources[kept], self.targets[kept], self.weights[kept]
        return self._replace(sources=edges[0], targets=edges[1], weights=edges[2])

    def files_of_slices(self, scores):
        """Tables of the slices: columns ``from``, ``to``, ``km`` and ``score``."""
        paths, scores = [], iter(scores)
        for number, (sources, targets, weights) in enumerate(self.slices()):
            paths.append(self.folder / f"{number}.csv")
            rows = zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
            lines = [f"{u},{v},{weight},{next(scores)}" for u, v, weight in rows]
            paths[-1].write_text("\n".join(["from,to,km,score", *lines, ""]))
        return paths

    def scores(self):
        """A score for every edge, as a file has it."""
        return [self.draw.choice(SCORES) for _ in self.sources]


def union(n, pairs):
    """Labels by union-find, and the positions of the pairs that join two sets."""
    labels, joining = list(range(n)), []
    for at, (u, v) in enumerate(pairs):
        if labels[u] != labels[v]:
            joining.append(at)
            low, high = sorted((labels[u], labels[v]))
            labels = [low if label == high else label for label in labels]
    return labels, joining


def pairs_of(case):
    return list(zip(case.sources.tolist(), case.targets.tolist(), strict=True))


def linkage(case):
    """The heights of the linkage of the graph."""
    order = np.argsort(case.weights, kind="stable")
    pairs = pairs_of(case)
    _, joining = union(case.graph.n_vertices, [pairs[at] for at in order])
    heights = [float(case.weights[order[at]]) for at in joining]
    return heights + [np.inf] * (case.graph.n_vertices - 1 - len(heights))


def same_sets(one, other):
    pairs = set(zip(list(one), list(other), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


def cut_of(case, parts):
    parts = np.asarray(parts)
    return float(case.weights[parts[case.sources] != parts[case.targets]].sum())


def edges_of(graph, with_ids=True):
    """The edges with their weights, as often as each is there."""
    ids = list(graph) if with_ids else list(range(graph.n_vertices))
    weights = [1] * graph.n_edges if graph.weights is None else graph.weights.tolist()
    pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    ends = [(ids[u], ids[v]) for u, v in pairs]
    ends = ends if graph.directed else [tuple(sorted(pair)) for pair in ends]
    return Counter((*pair, float(weight)) for pair, weight in zip(ends, weights, strict=True))
