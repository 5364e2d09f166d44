"""Preparing a graph for many calls: what pays from the second call on is derived when it is asked for."""

from importlib import import_module

from edgewise.errors import OptionError, argument, one_of

#: Functions that prepare a graph, by purpose; those of rooms above are imported when they are needed.
PURPOSES = {
    "components": "edgewise.ingest.preparation:prepare_components",
    "cycles": "edgewise.cycles.counting.ranking:prepare_cycles",
    "routes": "edgewise.paths.hierarchy.contraction:prepare_routes",
    "searches": "edgewise.paths.sssp.contraction_hierarchy:prepare_searches",
}


def prepare(graph, purposes) -> None:
    """Prepare a graph for some purposes, which it then names."""
    if not purposes:
        raise OptionError(f"prepare needs a purpose; use one of {', '.join(PURPOSES)}")
    for purpose in purposes:
        if purpose not in PURPOSES:
            raise OptionError(f"{argument('purpose', purpose)} is unknown; {one_of(purpose, PURPOSES)}")
    for purpose in purposes:
        page, _, name = PURPOSES[purpose].partition(":")
        getattr(import_module(page), name)(graph)
        if purpose not in graph.prepared:
            graph.prepared += (purpose,)


def prepare_components(graph):
    """Let a graph that was made of edges be one that was made of edges and rows."""
    if graph.made_of == ("edges",) and len(graph.offsets):
        graph.made_of = ("edges", "rows")
