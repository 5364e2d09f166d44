"""Calls of the NetworkX backend on odd graphs: what NetworkX returns or raises, or declined.

``python tests/campaigns/networkx_backend.py --cases 10000 --seed 1 --processes 16``

These are 200,000 calls.

In each case a small random graph, whose nodes and weights are odd, is given to twenty functions of the
backend, with random arguments.  Values, types, the order of dicts and of nodes, and errors with their texts
must be NetworkX's.  A node is equal to another one if NetworkX takes them for the same, as 1 and 1.0; none is
NaN, with which NetworkX's union-find does not end.  Where the documentation names a difference (``NOTES`` of
``_edgewise_nx.py``), the rest must be equal.
The last line is one of JSON, with the counts for each function.
"""

import inspect
import itertools
import math
import random
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from _edgewise_nx import PAGES  # noqa: E402
from tests.campaigns import batches  # noqa: E402
from tests.networkx import conftest  # noqa: E402, F401  (NetworkX knows the backend)

#: Calls of a case, items of an iterator that are compared, and outcomes that are right.
CALLS, MOST_ITEMS = 20, 300
RIGHT = {"equal", "equal error", "equal as documented", "declined"}
PLACES = (nx, nx.algorithms.tree.mst)
KNOWN = {name: getattr(place, name) for place in PLACES for name in PAGES if hasattr(place, name)}
FUNCTIONS = list(KNOWN)
CONVERTERS = ("from_pandas_edgelist", "from_scipy_sparse_array")
SPANNING = [name for name in FUNCTIONS if "spanning" in name or "mst" in name]
#: Sums of floats may be rounded in another order, and distances are in the order of the nodes.
ROUNDED = (
    *("average_shortest_path_length", "floyd_warshall", "floyd_warshall_numpy"),
    *("betweenness_centrality", "closeness_centrality", "edge_betweenness_centrality", "harmonic_centrality"),
)
REORDERED = (
    *("condensation", "floyd_warshall", "floyd_warshall_predecessor_and_distance", "generalized_degree"),
)
NOT_A_NUMBER = float("nan")
MISSING = ("no such node", -99, (), 10**30, [], None, {})
NODES = {
    "positions": lambda draw, n: list(range(n)),
    "numbers": lambda draw, n: draw.sample((-5, -1, 0, 1, 7, 2**31, 2**63, 10**30, -(2**70), 12), n),
    "equal": lambda draw, n: draw.sample((0, 1.0, 2, True, False, 3.5, 4, 2.0, 0.0, np.int64(4)), n),
    "strings": lambda draw, n: draw.sample(("", "a", "b", "é", "1", "None", "nan", "a b", "\0", "λ"), n),
    "tuples": lambda draw, n: draw.sample([(), (1,), (1, 2), (1, (2,)), ("a",), (0, 0.5), (None,)] * 2, n),
    "odd": lambda draw, n: draw.sample(
        (frozenset(), frozenset((1,)), b"a", 1j, Ellipsis, int, math.inf, Fraction(1, 3), "x"),
        n,
    ),
    "mixed": lambda draw, n: draw.sample((0, "0", (0,), 1.5, -1, frozenset((2,)), "z", 2**64, True, b""), n),
}
USUAL = (1, 2, 3, 1, 2)
WEIGHTS = {
    "none": (),
    "usual": USUAL,
    "zeros": (0, 0, 1, 2),
    "floats": (0.1, 0.2, 0.3, 1.5, 0.1, 1e-300, 1e300),
    "mixed": (1, 0.5, 2, 2.0, True, False),
    "infinite": (1, 2.5, math.inf, math.inf, 0),
    "infinities": (1.0, math.inf, -math.inf, 2),
    "nan": (1, 2.0, NOT_A_NUMBER, 0.5),
    "nan and infinity": (1, NOT_A_NUMBER, math.inf, -1.5),
    "negative": (1, 4, 5, -1, 3, 6),
    "negative floats": (-0.5, 2.5, 1.0, 4.0),
    "huge": (2**62, 2**63, 10**30, 1),
    "large": (2**52, 2**53 + 1, 0.5, 2**60),
    "objects": (Fraction(1, 3), Fraction(2, 3), 1),
    "decimals": (Decimal("0.1"), Decimal(2)),
    "strings": ("1", "2", "a"),
    "null": (None, 1, 2.0),
    "numpy": (np.int32(1), np.float32(0.1), np.float64(2.5), np.int64(4), np.bool_(True)),
    "missing": ("left out", 1, 2, 0.25),
}


def graph_of(draw):
    """A random graph of NetworkX, or a view of one."""
    n, kind = (
        draw.choice((0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7, 7, 7)),
        draw.choice([*NODES, "positions", "mixed"]),
    )
    nodes = NODES[kind](draw, n)
    graph = draw.choice((nx.Graph, nx.Graph, nx.DiGraph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
    graph.graph["name"] = "odd"
    graph.add_nodes_from(nodes[: draw.randint(0, n)], colour="red")
    pool = WEIGHTS[draw.choice([*WEIGHTS, "usual", "floats", "infinite", "nan"])]
    loops = draw.random() < 0.4
    for _ in range(draw.choice((0, 1, n, n, 2 * n, 3 * n)) if n else 0):
        ends = draw.choice(nodes), draw.choice(nodes)
        if ends[0] is not ends[1] or loops:
            graph.add_edge(*ends, **attributes_of(draw, pool))
    if kind == "equal" and n:
        graph.add_edges_from((draw.choice(nodes), draw.choice((0, 1, 2.0, True))) for _ in range(2))
    return view_of(draw, graph)


def attributes_of(draw, pool):
    """Attributes of an edge: a weight of the pool, and perhaps a length."""
    given = {"weight": draw.choice(pool)} if pool else {}
    if given and isinstance(given["weight"], str) and given["weight"] == "left out":
        given = {}
    if draw.random() < 0.7:
        given["length"] = draw.choice((1, 2, 0.5, math.inf))
    return given


def view_of(draw, graph):
    """The graph, or a view of it."""
    kind, nodes = (
        draw.choice(("itself",) * 6 + ("subgraph", "edges", "filter", "other way", "frozen")),
        list(graph),
    )
    if kind == "subgraph":
        return graph.subgraph(draw.sample(nodes, draw.randint(0, len(nodes))))
    if kind == "edges":
        edges = list(graph.edges)
        return graph.edge_subgraph(draw.sample(edges, draw.randint(0, len(edges))))
    if kind == "filter":
        hidden = draw.sample(nodes, min(1, len(nodes)))
        return nx.subgraph_view(graph, filter_node=lambda node: node not in hidden)
    if kind == "other way":
        return graph.reverse(copy=False) if graph.is_directed() else graph.to_directed(as_view=True)
    return nx.freeze(graph) if kind == "frozen" else graph


def argument(draw, name, default, graph):
    """A random argument for a parameter of this name."""
    nodes = list(graph)
    # NetworkX compares the target with nodes by ==, which makes an array of a list and a NumPy number.
    is_numpy = any(isinstance(one, np.number) for one in nodes)
    missing = [one for one in MISSING if not (is_numpy and isinstance(one, (tuple, list)))]

    def node():
        return draw.choice(nodes) if nodes and draw.random() < 0.96 else draw.choice(missing)

    def some():
        return [node() for _ in range(draw.randint(0, 4))]

    numbers = (None, 0, 1, 1.5, 2, 3, -1, math.inf, math.nan, True, 0.3, 10**30)
    choices = {
        "weight": ("weight", "weight", "weight", "length", None, "no such attribute", 5),
        "cutoff": numbers,
        "depth_limit": numbers,
        "distance": (0, 1, 2, 1.0, 1.5, -1, True, math.inf),
        "k": (None, 0, 1, 2, 3, 1.5, -1),
        "algorithm": ("kruskal", "kruskal", "kruskal", "prim", "boruvka", "borůvka", "no such algorithm"),
        "method": (default, "dijkstra", "bellman-ford", "unweighted", "floyd-warshall", "no such method"),
    }
    if name in choices:
        return draw.choice(choices[name])
    if isinstance(default, bool) or name in ("minimum", "return_seen"):
        return draw.choice((True, False))
    if name in ("source", "target", "n", "u", "v"):
        return node()
    if name == "sources":
        return draw.choice((some, lambda: set(nodes[:3]), node, lambda: tuple(nodes[1:3])))()
    if name in ("nodes", "nbunch", "nodelist"):
        return draw.choice((node, some, lambda: nodes[::-1], lambda: set(nodes[:2]), lambda: None))()
    if name == "core_number":
        given = {node: draw.randint(0, 3) for node in nodes}
        return draw.choice((None, None, given, dict(list(given.items())[1:])))
    if name == "e":
        return draw.choice((None, None, {node: draw.randint(1, 4) for node in nodes}))
    return default


def arguments_of(draw, name, graph):
    """Random arguments of a function."""
    given = {}
    parameters = inspect.signature(KNOWN[name]).parameters
    for parameter in list(parameters.values())[1:]:
        if parameter.name in ("backend", "backend_kwargs"):
            continue
        is_needed = parameter.default is parameter.empty
        if is_needed or draw.random() < 0.5:
            given[parameter.name] = argument(draw, parameter.name, parameter.default, graph)
    if "seed" in parameters:
        given["seed"] = draw.randint(0, 99)  # without one, samples differ from call to call
    return given


def table_of(draw):
    """A table or matrix of edges, and what the function is given with it."""
    import pandas as pd
    import scipy.sparse

    if draw.random() < 0.5:
        n, kind = draw.randint(0, 5), draw.choice((np.int64, np.float64, bool))
        rows = [[draw.choice((0, 0, 1, 2)) for _ in range(n)] for _ in range(n)]
        table = scipy.sparse.csr_array(np.array(rows, kind).reshape(n, n))
        return CONVERTERS[1], table, {"create_using": draw.choice((None, nx.DiGraph, nx.MultiGraph))}
    ends = [[draw.choice((1, 2, 3)) for _ in range(4)] for _ in range(2)]
    ends = [list(map(draw.choice((str, int)), column)) for column in ends]
    table = pd.DataFrame({"source": ends[0], "target": ends[1], "w": [1, 2, 3, 4]})
    options = {"edge_attr": draw.choice((None, "w", True)), "create_using": draw.choice((None, nx.DiGraph))}
    return CONVERTERS[0], table, options


class Shown:
    """Results as lists and words that are equal where the results are."""

    def __init__(self, graph, function):
        self.nodes = {node: f"node {at}" for at, node in enumerate(graph)}
        self.is_rounded, self.is_reordered = function in ROUNDED, function in REORDERED
        self.is_of_squares = function == "square_clustering"
        self.is_of_pairs = function == "floyd_warshall_predecessor_and_distance"

    def __call__(self, value):
        try:
            if value in self.nodes and not isinstance(value, (bool, float, int, np.number)):
                return self.nodes[value]
        except (TypeError, ValueError):
            pass
        if isinstance(value, nx.Graph):
            return [type(value).__name__, self.of_graph(value)]
        if isinstance(value, np.number):
            value = value.item()  # as documented
        if self.is_of_squares and type(value) is float:
            value = value or 0
        if self.is_of_pairs and isinstance(value, tuple):
            before = {source: {node: [one] for node, one in row.items()} for source, row in value[0].items()}
            return [self(before), self(value[1])]
        if isinstance(value, Mapping):
            items = [[self.key(key), self(item)] for key, item in value.items()]
            return ["dict", sorted(items) if self.is_reordered else items]
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *(self.key(item) for item in value)]
        if isinstance(value, (set, frozenset)):
            return ["set", *sorted(str(self.key(item)) for item in value)]
        if isinstance(value, Iterator):
            return ["iterator", *self.of_items(value)]
        if isinstance(value, np.ndarray):
            return ["array", str(value.dtype), self(value.tolist())]
        if self.is_rounded and isinstance(value, float):
            return f"{value:.11g}"
        return f"{type(value).__name__} {value!r}"

    def key(self, value):
        """A node, or else a value."""
        try:
            return self.nodes[value]
        except (KeyError, TypeError):
            return self(value)

    def of_items(self, items):
        """The first items of an iterator, and the error that ends it."""
        shown = []
        try:
            shown = [self.key(item) for item in itertools.islice(items, MOST_ITEMS)]
        except Exception as error:
            return self.of_error(error)
        return shown

    def of_error(self, error):
        return ["raises", type(error).__name__, str(error)]

    def of_graph(self, graph):
        names = [[self.key(node), self(data)] for node, data in graph.nodes(data=True)]
        rows = [[self.key(node), self(dict(row))] for node, row in graph.adj.items()]
        return [names, rows, self(graph.graph)]


def outcome_of(shown, call, graph, given, backend):
    """What a call returns or raises; ``None`` if it is declined."""
    try:
        with np.errstate(all="ignore"):
            result = call(graph, **given, backend=backend)
        if getattr(result, "__networkx_backend__", "") == "edgewise":
            result = result.to_networkx()
        found = shown(result)
    except NotImplementedError as error:
        if backend == "edgewise" and not isinstance(error, nx.NetworkXException):
            return None
        found = shown.of_error(error)
    except Exception as error:
        found = shown.of_error(error)
    while isinstance(found, list) and found[:1] == ["iterator"] and found[1:2] == ["raises"]:
        found = found[1:]  # NetworkX raises when the first item is taken, or before
    return found


def as_documented(name, given):
    """The function and arguments of NetworkX that the documentation promises the results of."""
    if name in ("boruvka_mst_edges", "prim_mst_edges"):
        return "kruskal_mst_edges", {"minimum": True, **given}
    if given.get("algorithm") in ("prim", "boruvka", "borůvka"):
        return name, {**given, "algorithm": "kruskal"}
    return name, given


def compared(name, graph, given):
    """The outcome of a call, and what tells more of it."""
    shown = Shown(graph if isinstance(graph, nx.Graph) else (), name)
    found = outcome_of(shown, KNOWN[name], graph, given, "edgewise")
    if found is None:
        return "declined", ""
    wanted = outcome_of(shown, KNOWN[name], graph, given, "networkx")
    if found == wanted:
        return ("equal error" if found[:1] == ["raises"] else "equal"), ""
    theirs, other = as_documented(name, given)
    if (theirs, other) != (name, given):
        promised = outcome_of(shown, KNOWN[theirs], graph, other, "networkx")
        if found == promised and "raises" not in (found[:1] + wanted[:1]):
            return "equal as documented", ""
    return "different", f"{given}: {str(found)[:700]} for {str(wanted)[:700]}"


def run(number, seed):
    """The outcomes of the calls of a case."""
    draw = random.Random(f"{seed} {number}")
    graph, outcomes = graph_of(draw), []
    with nx.config(warnings_to_ignore={"cache"}):
        for _ in range(CALLS):
            name = draw.choice(FUNCTIONS)
            if name in CONVERTERS:
                name, table, given = table_of(draw)
                outcomes.append([name, table, given])
            else:
                outcomes.append([name, graph, arguments_of(draw, name, graph)])
        shown = f"{type(graph).__name__} {list(graph)} {list(graph.edges(data=True))}"
        for at, (name, one, given) in enumerate(outcomes):
            outcome, what = compared(name, one, given)
            outcomes[at] = [outcome, name, f"{shown} {what}" if what else ""]
    return outcomes


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    return batches.main(__file__, run, RIGHT, arguments)


if __name__ == "__main__":
    sys.exit(not set(main()) <= RIGHT)
