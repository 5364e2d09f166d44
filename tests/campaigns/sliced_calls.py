"""Small graphs and slices of graphs in the public calls that `sliced_graphs.py` leaves out.

``python tests/campaigns/sliced_calls.py --cases 2000 --seed 1 --processes 16``

These are streams, updates, linkages, best links, partitions, meshes, files, generators, estimators, every
subcommand and the NetworkX backend.  What a stream or an update finds in the slices of an edge list is what
the whole list has; a file that is written is read as the same graph; cuts, linkages and links are those of a
few lines of Python, and the tables of subcommands have what NetworkX finds.
"""

import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from tests.campaigns import batches, sliced_commands, sliced_conversions, sliced_families, sliced_graphs  # noqa: E402
from tests.campaigns.sliced_cases import (  # noqa: E402
    THRESHOLD,
    Case,
    cut_of,
    edges_of,
    linkage,
    pairs_of,
    same_sets,
    union,
)

RIGHT = {"right", "refused"}
#: Larger slices take long in the bare interpreter.
LARGEST = 40
#: Names of ``edgewise.__all__`` that this campaign leaves out, with the reason; others are in CHECKS or in
#: the campaign of `sliced_graphs.py`.
LEFT_OUT = {
    "__version__": "no call",
    "errors": "no call",
    "tune": "takes no graph",
    "warmup": "takes no graph",
}
FORMATS = ("arrow", "csv", "dimacs", "el", "gap", "jsonl", "metis", "mtx", "npz", "parquet", "tsv")
#: Formats that keep vertices without edges.
WITH_ISOLATED = ("dimacs", "gap", "metis", "mtx", "npz")


def cluster_store(case):
    import edgewise as ew

    wanted, _ = union(case.graph.n_vertices, pairs_of(case))
    store = ew.ClusterStore()
    store.apply(records=list(range(case.graph.n_vertices)))
    for sources, targets, _ in case.slices():
        store.add(list(zip(sources.tolist(), targets.tolist(), strict=True)))
    found = store.to_frame().to_pydict()
    first = {}
    for one, cluster in zip(found["id"], found["cluster"], strict=True):
        first.setdefault(cluster, one)
    yield [first[cluster] for cluster in found["cluster"]] == wanted


def components_stream(case):
    import edgewise as ew

    wanted, _ = union(case.graph.n_vertices, pairs_of(case))
    stream = ew.ComponentsStream(case.graph.n_vertices)
    for sources, targets, _ in case.slices():
        stream.add(sources, targets)
        stream.save(case.folder / "stream.npz")
        stream = ew.ComponentsStream.load(case.folder / "stream.npz")
    yield stream.result().labels.tolist() == wanted


def forest_stream(case):
    import edgewise as ew

    stream = ew.ForestStream(case.graph.n_vertices)
    for sources, targets, weights in case.slices():
        stream.add(sources, targets, weights=weights)
        stream.save(case.folder / "stream.npz")
        stream = ew.ForestStream.load(case.folder / "stream.npz")
    whole, found = ew.minimum_spanning_forest(case.undirected()), stream.result()
    yield found.weight == whole.weight and found.labels.tolist() == whole.labels.tolist()
    yield sorted(found.edges.tolist()) == sorted(whole.edges.tolist())


def stream_components(case):
    import edgewise as ew

    scores, options = case.scores(), {"source": "from", "target": "to"}
    files = case.files_of_slices(scores)
    for kept, how in ((case, {}), (case.at_or_above(scores), {"threshold": THRESHOLD})):
        wanted, _ = union(case.graph.n_vertices, pairs_of(kept))
        found = ew.stream_components(files, n_vertices=case.graph.n_vertices, **options, **how)
        ids = list(found.graph)
        yield set(ids) == {end for pair in pairs_of(kept) for end in pair}
        yield same_sets(found.labels.tolist(), [wanted[vertex] for vertex in ids])


def stream_forest(case):
    import edgewise as ew

    scores, options = case.scores(), {"source": "from", "target": "to", "weight": "km"}
    files = case.files_of_slices(scores)
    for kept, how in ((case, {}), (case.at_or_above(scores), {"threshold": THRESHOLD, "score": "score"})):
        found = ew.stream_forest(files, n_vertices=case.graph.n_vertices, **options, **how)
        heights = [height for height in linkage(kept) if height < np.inf]
        yield float(found.weight) == sum(heights) and sorted(found.weights.tolist()) == heights


def update_components(case):
    import edgewise as ew

    labels, _ = union(case.graph.n_vertices, pairs_of(case))
    wanted = {f"v{u:03}": f"v{labels[u]:03}" for pair in pairs_of(case) for u in pair}
    clusters = {"id": np.array([], str), "cluster": np.array([], str)}
    for sources, targets, _ in case.slices():
        ends = [[f"v{vertex:03}" for vertex in column.tolist()] for column in (sources, targets)]
        pairs = {"left_id": np.array(ends[0], str), "right_id": np.array(ends[1], str)}
        clusters = ew.update_components(clusters, pairs).to_frame()
    found = clusters.to_pydict()
    yield dict(zip(found["id"], found["cluster"], strict=True)) == wanted


def single_linkage(case):
    from scipy.cluster.hierarchy import fcluster

    import edgewise as ew

    found = ew.single_linkage(ew.minimum_spanning_forest(case.undirected()))
    yield found[:, 2].tolist() == linkage(case)
    if len(found):
        height = case.draw.randint(0, 4)
        near = [pair for pair, km in zip(pairs_of(case), case.weights, strict=True) if km <= height]
        yield same_sets(fcluster(found, height, "distance"), union(case.graph.n_vertices, near)[0])


def clustering_of(name):
    """A check of an estimator: points by distances, and similarities of the edges as a matrix of SciPy."""

    def check(case):
        import scipy.sparse

        import edgewise as ew

        n, make = case.graph.n_vertices, getattr(ew, name)
        points, near = np.array([case.draw.randint(0, 9) for _ in range(n)], float), case.draw.randint(1, 3)
        close = [(u, v) for u in range(n) for v in range(u) if abs(points[u] - points[v]) <= near]
        similar = {tuple(pair): case.draw.randint(-2, 4) / 4 for pair in pairs_of(case)}
        ends = np.array(list(similar), np.int64).reshape(-1, 2).T
        matrix = scipy.sparse.coo_array((np.array(list(similar.values()), float), ends), shape=(n, n))
        matrix = matrix.toarray() if case.draw.random() < 0.3 else matrix
        threshold = case.draw.choice((-0.25, 0, 0.25, 0.5))
        alike = [pair for pair, similarity in similar.items() if similarity >= threshold]
        if isinstance(matrix, np.ndarray) and threshold <= 0:  # what a dense matrix has no edge for is 0
            alike += [(u, v) for u in range(n) for v in range(n) if (u, v) not in similar]
        for given, pairs, how in (
            (points.reshape(-1, 1), close, {"distance_threshold": near}),
            (matrix, alike, {"similarity_threshold": threshold}),
        ):
            try:
                labels = make(**how).fit_predict(given)
            except ValueError as error:  # that of scikit-learn
                if n > 1 or "minimum of" not in str(error):
                    raise
                continue
            yield same_sets(labels.tolist(), union(n, pairs)[0])

    return check


def best_links(case):
    import edgewise as ew

    n, pairs = case.graph.n_vertices, pairs_of(case)
    scores = np.array(case.draw.sample(range(1, len(pairs) + 1), len(pairs)), float) / 1024
    datasets = [case.draw.choice("abc") for _ in range(n)]
    threshold = case.draw.choice((None, 2 / 1024))
    members = {vertex: {vertex} for vertex in range(n)}
    for at in np.argsort(-scores):
        one, other = (members[end] for end in pairs[at])
        together = [datasets[vertex] for vertex in one | other]
        if (threshold is None or scores[at] >= threshold) and len(set(together)) == len(together):
            members.update(dict.fromkeys(one | other, one | other))
    graph = ew.Graph.from_edges(case.sources, case.targets, weights=scores, n_vertices=n)
    found = ew.best_links(graph, datasets=np.array(datasets, str), threshold=threshold)
    yield found.labels.tolist() == [min(members[vertex]) for vertex in range(n)]


def estimate_cycles(case):
    import edgewise as ew

    length = case.draw.choice((3, 4, 5))
    exact = int(ew.cycle_counts(case.graph, length).total)
    found = ew.estimate_cycles(case.graph, length, samples=500)
    yield np.isfinite(found.total) and 0 <= found.low <= found.total <= found.high
    yield exact > 0 or found.total == 0


def estimate_closeness(case):
    import edgewise as ew

    exact = ew.distance_measures(case.graph, weight=False)
    found = ew.estimate_closeness(case.graph, samples=case.graph.n_vertices + 1, weight=False)
    yield np.allclose(found.closeness_estimates, exact.closeness, rtol=1e-12)
    yield np.allclose(found.harmonic_estimates, exact.harmonic, rtol=1e-12)


def diameter(case):
    import edgewise as ew

    graph = case.undirected()
    yield ew.diameter(graph, weight=False) == ew.distance_measures(graph, weight=False).diameter


def partition_of(case):
    """Random parts, their number, and the weight between them."""
    k = case.draw.randint(1, 4)
    parts = np.array([case.draw.randrange(k) for _ in range(case.graph.n_vertices)], np.int64)
    return k, parts, cut_of(case, parts)


def evaluate_partition(case):
    import edgewise as ew

    k, parts, cut = partition_of(case)
    found = ew.evaluate_partition(case.undirected(), parts, k=k)
    yield float(found.edge_cut) == cut and found.weights.tolist() == np.bincount(parts, minlength=k).tolist()
    inside = [(u, v) for u, v in pairs_of(case) if parts[u] == parts[v]]
    labels, _ = union(case.graph.n_vertices, inside)
    yield found.components.tolist() == [
        len({labels[u] for u in np.flatnonzero(parts == p)}) for p in range(k)
    ]


def part_graph(case):
    """The same parts for lists, for offsets and neighbours, and for an object that has these."""
    import edgewise as ew

    n, k = case.graph.n_vertices, case.draw.randint(1, 4)
    edges = {(u, v) for pair in pairs_of(case) if pair[0] != pair[1] for u, v in (pair, pair[::-1])}
    rows = [sorted(v for u, v in edges if u == vertex) for vertex in range(n)]
    cut, parts = ew.part_graph(k, rows)
    between = sum(parts[u] != parts[v] for u, v in edges) // 2
    yield cut == between and len(parts) == n and set(parts) <= set(range(k))
    dtype = case.draw.choice((np.int32, np.int64, np.uint32))
    xadj = np.cumsum([0, *map(len, rows)]).astype(dtype)
    adjncy = np.array([other for row in rows for other in row], dtype)
    given = xadj.copy(), adjncy.copy()
    yield ew.part_graph(k, xadj=xadj, adjncy=adjncy) == (cut, parts)
    yield ew.part_graph(k, SimpleNamespace(adj_starts=xadj, adjacent=adjncy)) == (cut, parts)
    yield np.array_equal(xadj, given[0]) and np.array_equal(adjncy, given[1])


def meshes(case):
    """Elements of one kind: the nodes of each, of a slice of the triangles over a few nodes."""
    return [case.draw.sample(range(6), 3) for _ in range(case.draw.randint(0, 5))]


def part_mesh(case):
    import edgewise as ew

    elements, k, common = meshes(case), case.draw.randint(1, 3), case.draw.randint(1, 3)
    found = ew.part_mesh(k, elements, gtype="dual", ncommon=common)
    parts = list(found.element_part)
    near = [(i, j) for i in range(len(elements)) for j in range(i)]
    near = [(i, j) for i, j in near if len({*elements[i]} & {*elements[j]}) >= min(common, 2)]
    yield found.edge_cuts == sum(parts[i] != parts[j] for i, j in near)
    for gtype in ("dual", "nodal"):
        found = ew.part_mesh(k, elements, gtype=gtype, ncommon=common)
        yield len(found.element_part) == len(elements) and len(found.vertex_part) == 1 + max(
            map(max, elements)
        )
        yield {*found.element_part, *found.vertex_part} <= set(range(k))


def read_mesh(case):
    import edgewise as ew

    elements, path = meshes(case), case.folder / "some.mesh"
    lines = [" ".join(str(node + 1) for node in element) for element in elements]
    path.write_text("\n".join([f"{len(elements)} 1", *lines, ""]))
    found = ew.read_mesh(path, metis_version=4)
    yield found.n_elements == len(elements) and found.nodes.tolist() == [
        one for row in elements for one in row
    ]


def files(case):
    """Every format gives back the edges, and those that keep them the vertices without edges."""
    import edgewise as ew
    from edgewise.errors import EdgewiseError

    graph = case.graph
    form = case.draw.choice(FORMATS)
    path = case.folder / "graph"
    ew.write(graph, path, format=form)
    if form == "jsonl" and not graph.n_edges:  # no line, and so no column
        return
    try:
        found = ew.read(path, format=form, directed=graph.directed)
    except EdgewiseError as error:
        raise AssertionError(f"{form} is written, but not read: {error}") from None
    has_ids = form not in WITH_ISOLATED or form == "npz"
    same = edges_of(found, has_ids) == edges_of(graph, has_ids)
    if form in WITH_ISOLATED:
        same = same and found.n_vertices == graph.n_vertices
    if not same:
        raise AssertionError(f"{form}: {found!r} {dict(edges_of(found, has_ids))}")
    yield True


def backend(case):
    """A view of the graph in NetworkX has the results of NetworkX, or is declined."""
    import networkx as nx

    from tests.campaigns import networkx_backend

    graph = case.draw.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
    graph.add_nodes_from(range(case.graph.n_vertices))
    edges = zip(case.sources.tolist(), case.targets.tolist(), case.weights.tolist(), strict=True)
    graph.add_weighted_edges_from(edges)
    view = graph.subgraph(case.draw.sample(list(graph), case.draw.randint(0, min(8, len(graph)))))
    names = [name for name in networkx_backend.FUNCTIONS if name not in networkx_backend.CONVERTERS]
    with nx.config(warnings_to_ignore={"cache"}):
        for name in case.draw.sample(names, 5):
            given = networkx_backend.arguments_of(case.draw, name, view)
            outcome, what = networkx_backend.compared(name, view, given)
            if outcome not in networkx_backend.RIGHT:
                raise AssertionError(f"{name} of nodes {list(view)}: {what}")
            yield True


#: The calls, each by its name in ``edgewise`` or by its place.
CHECKS = {
    "ComponentsClustering": clustering_of("ComponentsClustering"),
    "ClusterStore": cluster_store,
    "ComponentsStream": components_stream,
    "ForestStream": forest_stream,
    "Graph": sliced_conversions.methods,
    "SingleLinkage": clustering_of("SingleLinkage"),
    "best_links": best_links,
    "diameter": diameter,
    "estimate_closeness": estimate_closeness,
    "estimate_cycles": estimate_cycles,
    "evaluate_partition": evaluate_partition,
    "generate": sliced_families.generate,
    "part_graph": part_graph,
    "part_mesh": part_mesh,
    "read": files,
    "read_mesh": read_mesh,
    "single_linkage": single_linkage,
    "stream_components": stream_components,
    "stream_forest": stream_forest,
    "update_components": update_components,
    "write": files,
    **sliced_commands.CHECKS,
    "the backend": backend,
}


def run(number, seed):
    """The outcomes of the calls of a case."""
    from edgewise.errors import EdgewiseError

    draw = random.Random(f"{seed} {number}")
    graph = sliced_graphs.graph_of(draw, number)
    if graph.n_vertices > LARGEST:
        graph = graph.subgraph(list(graph)[:LARGEST])
    weights = np.ones(graph.n_edges, np.int64) if graph.weights is None else np.asarray(graph.weights)
    ends = (np.asarray(one, np.int64) for one in (graph.sources, graph.targets))
    shown = f"{graph!r} {graph.sources.tolist()} {graph.targets.tolist()} {weights!r}"
    edges, outcomes = (*ends, weights), []
    for name, check in CHECKS.items():
        with tempfile.TemporaryDirectory() as folder:
            case = Case(random.Random(f"{seed} {number} {name}"), graph, *edges, Path(folder))
            try:
                is_right, what = all(check(case)), ""
                outcome = "right" if is_right else "wrong"
            except EdgewiseError as error:
                outcome, what = "refused", str(error)
            except Exception as error:
                outcome, what = "error", f"{type(error).__name__}: {error}"
        outcomes.append([outcome, name, "" if outcome == "right" else f"{shown} {what}"])
    return outcomes


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    return batches.main(__file__, run, RIGHT, arguments)


if __name__ == "__main__":
    sys.exit(not set(main()) <= RIGHT)
