"""Distances from the nearest of some sources, proved by a tree of tight edges.

The answer has ``distances`` (n,), with the largest integer or infinity where no path leads, and ``sources``
(k,).  The facts are ``weighted``, and where the search ended early a ``cutoff``, or ``partial``.  The proof
has ``edges`` (n,), the edge that leads to each vertex, -1 at the start of a path and where none leads, and
``places`` (n,), numbers that grow along these edges.

``+`` is the addition of the type of the distances, which is rounded for floats and is monotone: if a <= b,
then a + w <= b + w.  The conditions are

1. an edge of the proof is tight, d(u) + w = d(v), and comes from a vertex u of a smaller place; a vertex that
   is reached without one is a source at distance 0;
2. no edge from a vertex u that is reached is short: d(v) <= d(u) + w; no source is at more than 0;
3. no edge leads from a vertex that is reached to one that is not.

Places cannot fall for ever, so by 1 the edges lead back from each vertex to a source at distance 0: there is
a path as long as its distance.  By 2, and induction along any walk from a source, no walk to a vertex is
shorter than its distance: this holds at the source, and remains with each edge.  By 3, no walk leaves the
vertices that are reached.  None of this needs weights of 0 or more.  If a cycle were negative, 2 could not
hold along it, since the distances cancel out and leave its weight to be 0 or more.  Cycles of weight 0, and
weights that are lost in rounding, are no gap either, since the places grow.

A search with a cutoff may leave out what is further away: then no weight is negative, so that walks never
become shorter, no distance is beyond the cutoff, and an edge of 3 may be there if it leads beyond it.  One
that is partial may leave out what is at the distance of the furthest vertex that is reached, or further.
"""

import math

import numpy as np

from edgewise.certificates.record import at as take
from edgewise.certificates.record import expect, first, first_in_chunks, in_chunks, refuse

TYPES = ("int32", "int64", "float32", "float64")


def check(graph, certificate):
    """Raise VerificationError unless the distances are right."""
    n, facts = graph.n_vertices, certificate.facts
    distances = certificate.array("answer", "distances", n, "if")
    sources = certificate.numbers("answer", "sources", None, below=n)
    weighted, partial = facts.get("weighted"), facts.get("partial", False)
    expect(distances.dtype.name in TYPES, f"distances of type {distances.dtype}; use one of {TYPES}")
    expect(type(weighted) is type(partial) is bool, "the facts 'weighted' and 'partial' are true or false")
    expect(not weighted or graph.weights is not None, "the distances count weights, and the graph has none")
    none, least = bounds(distances.dtype)
    if (at := first_in_chunks(lambda some: ~(distances[some] > least), n)) is not None:  # also no number
        refuse(f"the distance of vertex {at} is {distances[at]}")
    if (at := first(~(distances[sources] <= 0))) is not None:
        refuse(f"the source {sources[at]} has the distance {distances[sources[at]]}, not 0")
    reached, limit = distances != none, limit_of(facts.get("cutoff"), none)
    if (at := first(reached & (distances > limit))) is not None:
        refuse(f"the distance {distances[at]} of vertex {at} is beyond the cutoff {limit}")
    if partial and reached.any():
        furthest = distances[reached].max()
        limit = min(limit, np.nextafter(furthest, least) if least.dtype.kind == "f" else furthest - 1)
    check_tree(graph, certificate, (distances, reached, weighted), sources)

    def check_edges(some):
        for _, (source, start), (target, held), weights in arcs(graph, weighted, distances, some):
            expect(limit == none or (weights >= 0).all(), "a cutoff where a weight is negative; leave it out")
            offered = plus(start, weights)
            short = (start != none) & np.where(held != none, offered < held, offered <= limit)
            if (at := first(short)) is not None:
                ends = f"the edge from vertex {source[at]} to {target[at]}"
                has = held[at] if held[at] != none else "none"
                refuse(f"{ends} offers the distance {offered[at]}, but the vertex has {has}")

    in_chunks(check_edges, len(graph.sources))


def check_tree(graph, certificate, search, sources):
    """Check that tight edges, along which the places grow, lead to all that is reached but sources at 0."""
    n, (distances, reached, weighted) = graph.n_vertices, search
    edges = certificate.numbers("proof", "edges", n, below=len(graph.sources), least=-1)
    places = certificate.numbers("proof", "places", n, below=2**62)
    starts = np.zeros(n, bool)
    starts[sources] = distances[sources] == 0
    if (at := first(reached & (edges < 0) & ~starts)) is not None:
        refuse(f"no path has the distance {distances[at]} of vertex {at}: no tight edge leads to it")

    def check_vertices(some):
        vertices = some.start + np.flatnonzero(reached[some] & (edges[some] >= 0))
        edge = edges[vertices]
        source, target = take(graph.sources, edge), take(graph.targets, edge)
        turned = (source == vertices) & (not graph.directed)
        source, target = np.where(turned, target, source), np.where(turned, source, target)
        weights, passable = weights_in(graph, weighted, distances.dtype, edge)
        tight = passable & (target == vertices) & (take(places, source) < places[vertices])
        tight &= take(reached, source) & (plus(take(distances, source), weights) == distances[vertices])
        if (at := first(~tight)) is not None:
            refuse(f"edge {edge[at]} of the proof ends no path with the distance of vertex {vertices[at]}")

    in_chunks(check_vertices, n)


def limit_of(cutoff, none):
    """The largest distance that counts, in the type of the distances; that of no path if all count."""
    if cutoff is None:
        return none
    expect(type(cutoff) in (int, float) and cutoff >= 0, f"the cutoff is {cutoff!r:.40}; use 0 or more")
    is_float = none.dtype.kind == "f"
    if cutoff >= (float(np.finfo(none.dtype).max) if is_float else int(none) - 1):
        return none
    return none.dtype.type(cutoff if is_float else math.floor(cutoff))


def bounds(dtype):
    """The distance where no path leads, and a number that is less than all distances."""
    ends = (np.inf, -np.inf) if dtype.kind == "f" else (np.iinfo(dtype).max, np.iinfo(dtype).min)
    return tuple(map(dtype.type, ends))


def arcs(graph, weighted, distances, some):
    """Numbers, ends and weights of a slice of the edges, in each direction; the ends with their distances."""
    weights, passable = weights_in(graph, weighted, distances.dtype, some)
    numbers, weights = some.start + np.flatnonzero(passable), weights[passable]
    ends = graph.sources[some][passable], graph.targets[some][passable]
    ones, others = ((vertices, take(distances, vertices)) for vertices in ends)
    yield numbers, ones, others, weights
    if not graph.directed:
        yield numbers, others, ones, weights


def weights_in(graph, weighted, dtype, edges):
    """Weights in the type of the distances, exactly or as a float, and whether they are not infinite."""
    if not weighted:
        return (np.ones(len(graph.sources[edges]), kind) for kind in (dtype, bool))
    given = graph.weights[edges]
    passable = given != np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        weights = given.astype(dtype)
        right = (weights.astype(given.dtype) == given) & (np.abs(given.astype(np.float64)) < 2.0**63)
    if given.dtype.kind == dtype.kind == "f":
        right = given > -np.inf
    if (at := first(passable & ~right)) is not None:
        refuse(f"the weight {given[at]} is no number of the type {dtype} of the distances")
    return weights, passable


def plus(distances, weights):
    """Sums in the type of the distances; integers beyond its ends become the last numbers of the type."""
    with np.errstate(over="ignore"):
        sums = distances + weights
    if sums.dtype.kind == "f":
        return sums
    wrapped = ((distances ^ sums) & (weights ^ sums)) < 0
    return np.where(wrapped, np.where(weights > 0, *bounds(sums.dtype)), sums)
