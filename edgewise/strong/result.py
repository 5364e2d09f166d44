"""The result of strongly connected components."""

from __future__ import annotations

from dataclasses import dataclass

from edgewise.components.result import Components
from edgewise.errors import GraphError


@dataclass(frozen=True, eq=False, repr=False)
class StrongComponents(Components):
    """Strongly connected components of a directed graph: labels, sizes and tables as of components.

    ``cohesion`` and ``review`` raise GraphError: they count pairs without a direction.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges([0, 1, 1], [1, 0, 2], n_vertices=3, directed=True)
    >>> ew.strongly_connected_components(graph).verify().sizes().tolist()
    [2, 1]
    """

    def _verify(self, graph):
        from edgewise.strong.certificate import verify

        verify(graph, self._labels)

    def _certificate(self):
        from edgewise.strong.certificate import prove

        return prove(self.graph, self.labels)

    def _counting_pairs(self):
        problem = "cohesion() and review() count pairs, which have no direction"
        raise GraphError(f"{problem}; ask connected_components(graph.undirected()) for them")
