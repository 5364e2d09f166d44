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
    """

    source: Any
    target: Any
    path: pyarrow.Table
    weakest: dict | None
    maximum: bool

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
        return printable(
            f"{self.source} and {self.target} are together by {count_of(self.path)}, the weakest between "
            f"{pair}; they part {side} {self.threshold}"
        )


def count_of(path) -> str:
    """The number of edges in words."""
    return "1 edge" if path.num_rows == 1 else f"{path.num_rows:,} edges"


@compiled
def walk(offsets, neighbours, edges, source, target, steps):
    """Find the only path in a forest: the vertices before ``target``, and the edges, from the target back.

    ``steps`` are three (n,) int64 arrays.  Returns the length of the path.
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
    length, vertex = 0, target
    while vertex != source:
        vertex, length = before[vertex], length + 1
    return length


def path_between(forest, source, target):
    """The table of the edges between two ids of a tree, and which row is the last in the order of the edges.

    The row is ``None`` if the two are equal.
    """
    import pyarrow as pa

    start, end = forest.graph.vertices_of([source, target]).tolist()
    host, rows = forest.rows
    if host.labels[start] != host.labels[end]:
        raise GraphError(f"no path joins {source!r} and {target!r}: they are in different components")
    before, by, queue = (np.empty(forest.graph.n_vertices, np.int64) for _ in range(3))
    length = walk(*rows, start, end, (before, by, queue))
    vertices, taken = [end], []
    for _ in range(length):
        taken.append(by[vertices[-1]])
        vertices.append(before[vertices[-1]])
    passed, edges = np.array(vertices[::-1]), np.array(taken[::-1], np.int64)
    ends = {"source": passed[:-1], "target": passed[1:]}
    columns = {name: arrow_array(host.graph.ids_of(column)) for name, column in ends.items()}
    weights = host.weights[edges]
    path = pa.table({**columns, "weight": arrow_array(weights)})
    if not length:
        return path, None
    words = words_of(order_of(weights, forest.maximum)._replace(packed=0))
    return path, int(np.lexsort((edges, words))[-1])


def explain(forest, source, target) -> Explanation:
    """See :meth:`~edgewise.forest.SpanningForest.explain`."""
    path, weakest = path_between(forest, source, target)
    row = None if weakest is None else path.slice(weakest, 1).to_pylist()[0]
    return Explanation(source, target, path, row, forest.maximum)
