"""Small graphs and slices of graphs, held against the whole, over the public calls on graphs.

``python tests/campaigns/sliced_graphs.py --cases 2000 --seed 1 --processes 16``

A case is a graph of at most three vertices (every one of them is met, with loops, repeated edges, directions
and weights), or a slice of a graph of ``edgewise.torture.zoo``: some of its vertices, one of its components,
or the first of its edges.  Every method of every problem must verify on it.  A component must have in the
whole graph what it has alone: its distances, core numbers, cycles, and part of the forest.
"""

import random
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from edgewise.torture.cases import SMALL, slice_of, small  # noqa: E402
from edgewise.torture.zoo import ZOO  # noqa: E402
from tests.campaigns import batches  # noqa: E402

RIGHT = {"right", "refused"}


#: Calls that begin at a vertex.
NEED_VERTICES = ("bfs", "shortest_paths", "has_path", "isochrones", "nearest", "routes")


def graph_of(draw, number):
    """A graph of edgewise, small or a slice."""
    import edgewise as ew

    if number % 2:
        n, pairs, directed = small(draw, SMALL, number // 2)
    else:
        n, sources, targets = ZOO[draw.choice(list(ZOO))]
        pairs, directed = list(zip(sources.tolist(), targets.tolist(), strict=True)), draw.random() < 0.3
    weights = draw.choice((None, np.int32, np.int64, np.float32, np.float64))
    if weights is not None:
        weights = np.array([draw.randint(0, 4) for _ in pairs], weights)
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    graph = ew.Graph.from_edges(ends[:, 0], ends[:, 1], weights=weights, n_vertices=n, directed=directed)
    if number % 2:
        return graph
    kind, what = slice_of(draw, n, len(pairs))
    if kind == "vertices":
        return graph.subgraph(what)
    if kind == "component":
        return component_of(graph, what)
    if kind == "edges":
        some = None if weights is None else weights[:what]
        kept = ends[:what, 0], ends[:what, 1]
        return ew.Graph.from_edges(*kept, weights=some, n_vertices=n, directed=directed)
    return graph


def component_of(graph, position):
    """The component of a vertex as a graph."""
    import edgewise as ew

    labels = ew.connected_components(graph).labels
    return graph.subgraph(graph.ids_of(np.flatnonzero(labels == labels[position])))


def problems():
    """The public calls with their methods: name, method, and the call."""
    import edgewise as ew
    from edgewise import components, forest, strong
    from edgewise.cycles import methods as cycles
    from edgewise.paths import apsp, bfs, sssp

    def on(front, call):
        for method, made in front.METHODS.items():
            if "cpu" in made.devices:
                yield (
                    call.__name__,
                    method,
                    lambda graph, method=method: call(graph, method=method),
                )

    def from_first(front, call):
        for method, made in front.METHODS.items():
            if "cpu" in made.devices:
                yield (
                    call.__name__,
                    method,
                    lambda graph, method=method: call(graph, next(iter(graph)), method=method),
                )

    yield from on(components, ew.connected_components)
    yield from on(forest, ew.minimum_spanning_forest)
    yield from on(strong, ew.strongly_connected_components)
    yield from on(apsp, ew.all_pairs_shortest_paths)
    yield from from_first(bfs, ew.bfs)
    yield from from_first(sssp, ew.shortest_paths)
    for length in (3, 4, 5, 6):
        for method, made in cycles.METHODS.items():
            if "cpu" in made.devices:
                yield "cycle_counts", f"{method}, {length}", cycles_by(method, length)
    for name in ("distance_measures", "betweenness", "core_numbers", "clustering", "degree_distribution"):
        if hasattr(ew, name):
            yield name, "auto", getattr(ew, name)
    yield "partition", "auto", lambda graph: ew.partition(graph.without_weights(), 2, seed=1)
    yield "isochrones", "auto", lambda graph: ew.isochrones(graph, two_of(graph), [1, 3])
    yield "nearest", "auto", lambda graph: ew.nearest(graph, two_of(graph), 2)
    yield "routes", "auto", lambda graph: ew.routes(graph, two_of(graph), two_of(graph)[::-1])
    yield "distance_table", "auto", lambda graph: ew.distance_table(graph, list(graph), list(graph)[::2])
    yield "has_path", "auto", lambda graph: ew.has_path(graph, *two_of(graph))
    yield "largest_component", "auto", ew.largest_component
    for method in ("undirected", "simplified", "reverse", "degrees", "to_scipy", "without_weights"):
        yield f"Graph.{method}", "", lambda graph, method=method: getattr(graph, method)()


def cycles_by(method, length):
    import edgewise as ew

    return lambda graph: ew.cycle_counts(graph, length, method=method)


def two_of(graph):
    ids = list(graph)
    return ids[0], ids[-1]


def outcomes_of(graph):
    """Every call is right, as its own check says, or refuses the graph by an error of edgewise."""
    from edgewise.errors import EdgewiseError, VerificationError

    for name, method, call in problems():
        if not graph.n_vertices and name in NEED_VERTICES:
            continue
        try:
            result = call(graph)
            if hasattr(result, "verify") and name != "partition":
                result.verify()
            if hasattr(result, "to_frame"):
                result.to_frame()
            repr(result)
            yield ["right", name, ""]
        except VerificationError as error:
            yield ["wrong", name, f"{method}: {error}"]
        except EdgewiseError as error:
            yield ["refused", name, str(error)]
        except Exception as error:
            yield ["error", name, f"{method}: {type(error).__name__}: {error}"]


def against_the_whole(graph, draw):
    """Whether a component has alone what it has in the graph."""
    import edgewise as ew

    if not graph.n_vertices:
        return
    part = component_of(graph, draw.randrange(graph.n_vertices))
    ids = list(part)
    start, at = ids[0], graph.vertices_of(ids)
    yield "bfs", same(ew.bfs(graph, start).distances[at], ew.bfs(part, start).distances)
    yield "bfs", ew.bfs(graph, start).n_reached == ew.bfs(part, start).n_reached
    if graph.is_weighted:
        whole, alone = (ew.shortest_paths(one, start) for one in (graph, part))
        yield "shortest_paths", same(whole.distances[at], alone.distances)
    whole, alone = (ew.all_pairs_shortest_paths(one) for one in (graph, part))
    rows = whole.distances[np.ix_(at, at)]
    yield "all_pairs_shortest_paths", same(rows, alone.distances)
    if graph.directed:
        whole, alone = (ew.strongly_connected_components(one).sizes() for one in (graph, part))
        yield "strongly_connected_components", whole.sum() - alone.sum() == graph.n_vertices - len(ids)
        return
    if graph.is_weighted:
        labels = ew.connected_components(graph).labels
        parts = [graph.subgraph(graph.ids_of(np.flatnonzero(labels == one))) for one in np.unique(labels)]
        total = sum(float(ew.minimum_spanning_forest(one).weight) for one in parts)
        yield "minimum_spanning_forest", total == float(ew.minimum_spanning_forest(graph).weight)
    yield "core_numbers", same(ew.core_numbers(graph).cores[at], ew.core_numbers(part).cores)
    for length in (3, 4, 5):
        whole, alone = (ew.cycle_counts(one, length).counts for one in (graph, part))
        yield "cycle_counts", same(whole[at], alone)


def same(one, other):
    return bool((np.asarray(one) == np.asarray(other)).all())


def run(number, seed):
    """The outcomes of the calls of a case."""
    draw = random.Random(f"{seed} {number}")
    graph = graph_of(draw, number)
    shown = f"{graph!r} {graph.sources.tolist()} {graph.targets.tolist()} {graph.weights!r}"
    outcomes = [[outcome, name, what and f"{shown} {what}"] for outcome, name, what in outcomes_of(graph)]
    for name, is_same in against_the_whole(graph, draw):
        outcomes.append(
            ["right", name, ""] if is_same else ["wrong", name, f"{shown} a part against the whole"]
        )
    return outcomes


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    return batches.main(__file__, run, RIGHT, arguments)


if __name__ == "__main__":
    sys.exit(not set(main()) <= RIGHT)
