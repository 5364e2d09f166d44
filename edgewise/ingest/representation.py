"""How a graph is shown, and the origin of its vertices and weights that this names."""

from typing import TYPE_CHECKING

import numpy as np

from edgewise.device import arrays
from edgewise.errors import closest
from edgewise.printable import SHOWN_ROWS, html_of, in_html, printable

#: Attributes of a graph that say where its vertices and weights come from.
ATTRIBUTES = ("weight_name", "assumed_weights", "assumed_columns", "left_out", "records", "frame_kind")
#: Attributes of a graph that serve the package rather than its users, which ``dir`` leaves out.
INTERNAL = {"assumed_columns", "assumed_weights", "cached", "frame_kind", "has_cached"}
_FIXED = "a graph does not change; make another one with Graph.from_edges"
#: What to use instead of attributes that graphs of other libraries have.
ELSEWHERE = {
    "add": _FIXED,
    "remove": _FIXED,
    "nodes": "list(graph) has the ids, and graph.id_column() has them as an Arrow array",
    "vertices": "list(graph) has the ids, and graph.id_column() has them as an Arrow array",
    "edges": "graph.sources and graph.targets are vertex numbers, and graph.ids_of(...) their ids",
    "neighbors": "graph.neighbours and graph.offsets are the rows of all vertices; "
    "the neighbours of one are bfs(graph, id, cutoff=1)",
    "adj": "graph.neighbours and graph.offsets are the rows of all vertices",
    "number_of_nodes": "use graph.n_vertices",
    "number_of_edges": "use graph.n_edges",
    "vcount": "use graph.n_vertices",
    "ecount": "use graph.n_edges",
    "has_node": "use id in graph",
    "to_igraph": "use igraph.Graph(graph.n_vertices, numpy.stack([graph.sources, graph.targets], 1), "
    "directed=graph.directed, vertex_attrs={'name': list(graph)})",
    "is_directed": "use graph.directed",
}


class Representation:
    """Base of a graph: how it is shown, and what it says about attributes that it does not have."""

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return in_notebook(self)

    if not TYPE_CHECKING:  # which know the attributes

        def __getattr__(self, name):
            raise AttributeError(f"'Graph' object has no attribute {name!r}{what_instead(self, name)}")

    def __dir__(self):
        return [name for name in super().__dir__() if name not in INTERNAL]


def text_of(graph) -> str:
    """The representation of a graph in one line."""
    kind = "directed" if graph.directed else "undirected"
    nouns = (graph.n_vertices, "vertex", "vertices"), (graph.n_edges, "edge", "edges")
    counts = ", ".join(f"{count:,} {one if count == 1 else more}" for count, one, more in nouns)
    forms = " and ".join(name for name, form in (("edges", graph._edges), ("rows", graph._rows)) if form)
    weights = f", weights {weights_in_words(graph)}".removesuffix(" along the weights")
    held = f"held as {forms} on {graph.device}"
    if graph.prepared:
        held += f", prepared for {' and '.join(graph.prepared)}"
    return f"<Graph: {kind}, {counts}{weights if graph.is_weighted else ''}, {held}>"


def in_notebook(graph) -> str:
    """The line of a graph for a notebook, and its first edges if it holds a list of them."""
    import pyarrow as pa

    from edgewise.ingest.arrow import arrow_array

    line = f"<p>{in_html(repr(graph).strip('<>'))}</p>"
    if graph._edges is None:
        return line
    sources, targets, weights = graph._edges
    few = slice(SHOWN_ROWS + 1)
    columns = {"source": graph.ids_of(sources[few]), "target": graph.ids_of(targets[few])}
    if weights is not None:
        columns[graph.weight_name or "weight"] = np.asarray(arrays.move(weights[few], "cpu"))
    names = list(columns)
    return line + html_of(pa.table([arrow_array(values) for values in columns.values()], names=names))


def what_instead(graph, name: str) -> str:
    """The end of the error about an attribute that graphs do not have."""
    for word in (name, name.partition("_")[0]):
        if word in ELSEWHERE:
            return f"; {ELSEWHERE[word]}"
    near = None if name.startswith("_") else closest(name, [one for one in dir(graph) if one[0] != "_"])
    return f"; did you mean {near}?" if near else ""


def take_origin(graph, other) -> None:
    """Give a graph what ``other``, which has the same vertices, knows about its data, as far as it does."""
    for name in ATTRIBUTES:
        if hasattr(other, name) and hasattr(graph, name):
            setattr(graph, name, getattr(other, name))


def name_of_weights(graph) -> str | None:
    """What the weights of a graph are called: ``km``, ``the third column``; ``None`` if it has none."""
    return (graph.weight_name or graph.assumed_weights or "the weights") if graph.is_weighted else None


def weights_in_words(graph) -> str:
    """What the weights of a graph are: ``along 'km'``, ``along the third column``; empty if it has none."""
    name = name_of_weights(graph)
    return "" if name is None else printable(f"along {name!r}" if graph.weight_name else f"along {name}")
