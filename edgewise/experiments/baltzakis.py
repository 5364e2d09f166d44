"""Baltzakis, label propagation on GPU: a thread, a warp or a block of 128 threads for each row.

Three graphs, of mean degree 2, 16 and 77.  The document counts the distinct labels by sorting them, as a
check; so does the table.  Beside the three widths, it shows rows sorted by length (``auto``) and the method
that edgewise selects by itself.
"""

from functools import partial

from edgewise.components import ROWS, connected_components
from edgewise.components.propagate import propagate_and_count
from edgewise.components.symmetric_csr import symmetric_csr
from edgewise.experiments.graphs import BALTZAKIS
from edgewise.experiments.published import WIDER_FASTER
from edgewise.experiments.report import Figure, Table, curves, headings
from edgewise.primitives import unique

#: In the order of the table.
WIDTHS = ("thread", "warp", "block", "auto")
#: The method that the library selects by itself, in the column of widths.
SELECTED = "not by labels"

assert set(WIDTHS) == set(ROWS)


def widths(watch):
    """The diagrams of the document: time by width on each graph."""
    rows = [row for name in watch.wanted(*BALTZAKIS) for row in _widths(watch, name)]
    series = curves(rows, "graph", "ms", lambda row: row["rows"])
    return Table(
        "widths",
        "Label propagation by a thread, a warp or a block a row",
        "Baltzakis, the three diagrams",
        headings(
            "graph: stand-in for | degree: mean degree | rows: rows by | rounds | ms | "
            "ms_a_round: ms a round | runs | speedup: over a thread, x | published: published, x | "
            "distinct: distinct labels"
        ),
        rows,
        [
            "kmer_A2a: a thread a row is by far the fastest",
            "rgg_n_2_24_s0: warp and block about 2.5 times as fast as a thread",
            "Queen_4147: warp and block about 50 times as fast as a thread",
        ],
        [Figure("widths", "Label propagation", "graph", "milliseconds", series, steep=True)],
    )


def _widths(watch, name):
    graph = watch.stand_in(name, BALTZAKIS)
    degree = len(graph.neighbours) / graph.n_vertices
    result = connected_components(graph)
    distinct = len(unique(result.labels)[0])
    selected = watch.components(name, graph, method="auto")
    thread = None
    for width in WIDTHS:
        counted: dict = {}
        solve = watch.clocked(partial(_solve, graph, width, counted))
        timing = watch.time(name, f"propagate, rows={width}", solve)
        thread = thread or timing["ms"]
        yield {
            "graph": name,
            "degree": degree,
            "rows": width,
            **counted,
            **timing,
            "ms_a_round": timing["ms"] / counted["rounds"],
            "speedup": thread / timing["ms"],
            "published": WIDER_FASTER.get(name) if width in ("warp", "block") else None,
            "distinct": distinct,
        }
    yield {
        "graph": name,
        "degree": degree,
        "rows": SELECTED,
        "method": result.method,
        **selected,
        "speedup": thread / selected["ms"],
        "distinct": distinct,
    }


def _solve(graph, width, counted):
    labels, counted["rounds"] = propagate_and_count(graph.n_vertices, symmetric_csr(graph), width)
    return labels
