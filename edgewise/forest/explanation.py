"""Why two vertices are in one cluster: the path in the forest, which has the best weakest edge of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.device import compiled
from edgewise.errors import GraphError
from edgewise.forest.order import order_of, words_of
from edgewise.ingest.arrow import arrow_array
from edgewise.printable import printable

if TYPE_CHECKING:
    import pyarrow


class Explanation(NamedTuple):
    """The strongest path between two vertices.

    Attributes
    ----------
    source, target : id
        As in the input.
    path : pyarrow.Table
        Columns ``source``, ``target`` and ``weight``: one row per edge, in the order of the path; no row if
        the two are equal.
    weakest : dict or None
        The row of the weakest edge: the one whose removal parts the two.  ``None`` if they are equal.
    maximum : bool
        Whether large weights are strong.
    reason : str or None
        Why the two are apart although the path joins them: what has become of ``weakest``.
    """

    source: Any
    target: Any
    path: pyarrow.Table
    weakest: dict | None
    maximum: bool
    reason: str | None = None

    @property
    def threshold(self):
        """The last threshold at which the two are together: the weight of the weakest edge, or ``None``."""
        return None if self.weakest is None else self.weakest["weight"]

    def __repr__(self):
        return f"<Explanation: {self}>"

    def __str__(self):
        if self.weakest is None:
            return printable(f"{self.source} is one vertex, which no threshold parts")
        side = "above" if self.maximum else "below"
        pair = f"{self.weakest['source']} and {self.weakest['target']}"
        if self.reason is not None:
            where = f"on their path of {count_of(self.path)}, {pair} ({self.threshold})"
            return printable(f"{self.source} and {self.target} are apart: {where} {self.reason}")
        return printable(
            f"{self.source} and {self.target} are together by {count_of(self.path)}, the weakest between "
            f"{pair}; they part {side} {self.threshold}"
        )


def count_of(path) -> str:
    """The number of edges in words."""
    return "1 edge" if path.num_rows == 1 else f"{path.num_rows:,} edges"


class Tree(NamedTuple):
    """Edges between any two ends of which there is one path: arrays on the host.

    Attributes
    ----------
    graph : Graph
    weights : (m,) array
    maximum : bool
        Whether large weights are strong.
    ranks : (m,) int64 array or None
        The order of the edges, the weakest last; by default by weight and position.
    rows : tuple
        Offsets, neighbours, and the edge of each of these.
    """

    graph: Any
    weights: Any
    maximum: bool
    ranks: Any
    rows: Any


def tree_of(graph, sources, targets, weights, maximum, ranks=None) -> Tree:
    """Some edges, by the rows of their ends."""
    from edgewise.ingest.csr import rows_from_edges

    return Tree(
        graph, weights, maximum, ranks, rows_from_edges(graph.n_vertices, sources, targets, True, True)
    )


@compiled
def walk(offsets, neighbours, edges, source, target, steps):
    """Find a path of fewest edges: the vertices before ``target``, and the edges, from the target back.

    ``steps`` are three (n,) int64 arrays.  Returns the length of the path, or -1 if there is none.
    """
    before, by, queue = steps
    before[:] = -1
    before[source], queue[0], first, last = source, source, 0, 1
    while first < last and before[target] < 0:
        vertex = queue[first]
        first += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if before[other] < 0:
                before[other], by[other], queue[last] = vertex, edges[entry], other
                last += 1
    if before[target] < 0:
        return -1
    length, vertex = 0, target
    while vertex != source:
        vertex, length = before[vertex], length + 1
    return length


def path_between(tree, source, target):
    """The table of the edges between two ids; and the row of the weakest, and which edge that is.

    The row and the edge are ``None`` if the two are equal.
    """
    import pyarrow as pa

    graph = tree.graph
    start, end = graph.vertices_of([source, target]).tolist()
    before, by, queue = (np.empty(graph.n_vertices, np.int64) for _ in range(3))
    n_steps = graph.n_vertices + len(tree.rows[1])
    length = walk.with_steps(n_steps, *tree.rows, start, end, (before, by, queue))
    if length < 0:
        raise GraphError(f"no path joins {source!r} and {target!r}: they are in different components")
    vertices, taken = [end], []
    for _ in range(length):
        taken.append(by[vertices[-1]])
        vertices.append(before[vertices[-1]])
    passed, edges = np.array(vertices[::-1]), np.array(taken[::-1], np.int64)
    ends = {"source": passed[:-1], "target": passed[1:]}
    columns = {name: arrow_array(graph.ids_of(column)) for name, column in ends.items()}
    weights = tree.weights[edges]
    path = pa.table({**columns, "weight": arrow_array(weights)})
    if not length:
        return path, None, None
    words = words_of(order_of(weights, tree.maximum)._replace(packed=0))
    ranks = np.lexsort((edges, words)) if tree.ranks is None else np.argsort(tree.ranks[edges])
    return path, int(ranks[-1]), int(edges[ranks[-1]])


def explained(tree, source, target):
    """The explanation of two ids, and the weakest edge of the path."""
    path, weakest, edge = path_between(tree, source, target)
    row = None if weakest is None else path.slice(weakest, 1).to_pylist()[0]
    return Explanation(source, target, path, row, tree.maximum), edge
