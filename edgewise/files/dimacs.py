"""DIMACS: ``.gr`` of the 9th challenge (shortest paths), ``.max`` (maximum flow), ``.col`` (colouring).

Lines that begin with ``c`` are comments, ``p kind n m`` announces ``n`` vertices and ``m`` edges, and an edge
is a line ``a source target weight`` (arcs) or ``e source target`` (edges), counted from one.  See
http://www.diag.uniroma1.it/challenge9/format.shtml.
"""

from dataclasses import replace

import numpy as np

from edgewise.files.contents import Edges, check_count, counted_from_one, matrix_edges
from edgewise.files.layout import Layout, count_in
from edgewise.files.text import read_columns
from edgewise.files.write_text import edges_with_integers, numbers_from_one, write_columns

#: Letter and number of fields of the edge lines of each kind of problem.
KINDS = {"sp": ("a", 4), "max": ("a", 4), "edge": ("e", 3), "col": ("e", 3)}


def read(source, options) -> Edges:
    """Read a DIMACS graph; arcs are directed unless all are there in both directions, edges are not."""
    options.only("DIMACS")
    number, kind, vertices, edges = problem_of(source)
    letter, columns = KINDS[kind]
    weight, normalised = 3 if columns == 4 else None, kind != "sp"
    given: dict = {"first_field": letter, "comments": b"cn", "min_id": 1, "max_id": vertices}
    layout = Layout(columns, (1, 2), weight, skip=number, normalised=normalised, **given)
    sources, targets, weights = read_columns(source, layout)
    check_count(source, edges, len(sources), number)
    if options.weight is False:
        weights = None
    edges = counted_from_one((sources, targets, weights), vertices)
    if letter == "e":
        return replace(edges, is_stated=True)
    return matrix_edges((edges.sources, edges.targets, weights), vertices, edges.ids, options.directed)


def problem_of(source):
    """Number, kind and counts of the ``p`` line."""
    for number, line in enumerate(source.lines(), 1):
        words = line.decode("latin-1").split()
        if not words or words[0].startswith("c"):
            continue
        if len(words) == 4 and words[0] == "p" and words[1] in KINDS and (words[2] + words[3]).isdecimal():
            return number, words[1], *(count_in(source, word, number) for word in words[2:])
        known = ", ".join(KINDS)
        raise source.error(f"the first row must be 'p kind n m' with a kind of {known}", number)
    raise source.error("the line 'p sp n m' is missing; is this DIMACS?")


def write(graph, stream) -> None:
    """Write a shortest-path problem; of an undirected graph both arcs, without weights all 1."""
    import pyarrow as pa

    weights = edges_with_integers(graph, stream, "DIMACS .gr")

    def make(part):
        sources, targets = numbers_from_one(graph.sources[part]), numbers_from_one(graph.targets[part])
        values = np.ones(len(sources), np.int64) if weights is None else weights[part]
        if not graph.directed:
            back = sources != targets
            sources, targets = np.append(sources, targets[back]), np.append(targets, sources[back])
            values = np.append(values, values[back])
        return [pa.repeat("a", len(sources)), sources, targets, values]

    loops = int((graph.sources == graph.targets).sum())
    arcs = graph.n_edges if graph.directed else 2 * graph.n_edges - loops
    stream.write(f"p sp {graph.n_vertices} {arcs}\n".encode())
    write_columns(stream, graph.n_edges, make, " ")
