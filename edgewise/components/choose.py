"""Which method ``auto`` takes: a rule read off measurements (``docs/components.md``)."""

#: Mean degree from which reading only some rows beats reading every edge.
DENSE = 8


def choose(graph):
    """Name of the method for this graph in its place."""
    if graph.has_rows and not graph.directed and len(graph.neighbours) >= DENSE * graph.n_vertices:
        return "afforest"
    return "rem"
