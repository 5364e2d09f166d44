"""Small graphs and slices of graphs in the public calls that `sliced_graphs.py` leaves out.

``python tests/campaigns/sliced_calls.py --cases 2000 --seed 1 --processes 16``

These are streams, updates, linkages, best links, partitions, meshes, files, generators, estimators, the
command line and the NetworkX backend.  What a stream or an update finds in the slices of an edge list is what
the whole list has; a file that is written is read as the same graph; cuts, linkages and links are those of a
few lines of Python.
"""

import io
import random
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

from tests.campaigns import batches, sliced_graphs  # noqa: E402

RIGHT = {"right", "refused"}
#: Larger slices take long in the bare interpreter.
LARGEST = 40
#: Names of ``edgewise.__all__`` that this campaign leaves out, with the reason; others are in CHECKS or in
#: the campaign of `sliced_graphs.py`.
LEFT_OUT = {
    "__version__": "no call",
    "errors": "no call",
    "warmup": "takes no graph",
    "Graph": "makes the graph of each case",
}
FORMATS = ("arrow", "csv", "dimacs", "el", "gap", "jsonl", "metis", "mtx", "npz", "parquet", "tsv")
#: Formats that keep vertices without edges.
WITH_ISOLATED = ("dimacs", "gap", "metis", "mtx", "npz")


class Case(NamedTuple):
    """A graph, its edges as positions with weights of 1 if it has none, and where files may be."""

    draw: Any
    graph: Any
    sources: Any
    targets: Any
    weights: Any
    folder: Path

    def slices(self):
        """The edges in up to four slices, some of which may be empty."""
        cuts = sorted(self.draw.randint(0, len(self.sources)) for _ in range(self.draw.randint(0, 3)))
        ends = [*cuts, len(self.sources)]
        for first, end in zip([0, *cuts], ends, strict=True):
            part = slice(first, end)
            yield self.sources[part], self.targets[part], self.weights[part]

    def undirected(self):
        """The graph of the same edges, undirected and weighted, whose ids are positions."""
        import edgewise as ew

        n = self.graph.n_vertices
        return ew.Graph.from_edges(self.sources, self.targets, weights=self.weights, n_vertices=n)


def union(n, pairs):
    """Labels by union-find, and the positions of the pairs that join two sets."""
    labels, joining = list(range(n)), []
    for at, (u, v) in enumerate(pairs):
        if labels[u] != labels[v]:
            joining.append(at)
            low, high = sorted((labels[u], labels[v]))
            labels = [low if label == high else label for label in labels]
    return labels, joining


def pairs_of(case):
    return list(zip(case.sources.tolist(), case.targets.tolist(), strict=True))


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


def files_of_slices(case, named=str):
    paths = []
    for number, (sources, targets, weights) in enumerate(case.slices()):
        paths.append(case.folder / f"{number}.csv")
        rows = zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
        lines = [f"{named(u)},{named(v)},{weight}" for u, v, weight in rows]
        paths[-1].write_text("\n".join(["from,to,km", *lines, ""]))
    return paths


def stream_components(case):
    import edgewise as ew

    wanted, _ = union(case.graph.n_vertices, pairs_of(case))
    options = {"n_vertices": case.graph.n_vertices, "source": "from", "target": "to"}
    found = ew.stream_components(files_of_slices(case), **options)
    ids = np.asarray(found.graph.ids) if found.graph.ids is not None else np.arange(found.graph.n_vertices)
    yield set(ids.tolist()) == {end for pair in pairs_of(case) for end in pair}
    yield same_sets(found.labels.tolist(), [wanted[vertex] for vertex in ids.tolist()])


def stream_forest(case):
    import edgewise as ew

    options = {"n_vertices": case.graph.n_vertices, "source": "from", "target": "to", "weight": "km"}
    found, whole = (
        ew.stream_forest(files_of_slices(case), **options),
        ew.minimum_spanning_forest(case.undirected()),
    )
    yield float(found.weight) == float(whole.weight) and len(found.edges) == len(whole.edges)


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


def linkage(case):
    """The heights of the linkage of the graph."""
    order = np.argsort(case.weights, kind="stable")
    pairs = pairs_of(case)
    _, joining = union(case.graph.n_vertices, [pairs[at] for at in order])
    heights = [float(case.weights[order[at]]) for at in joining]
    return heights + [np.inf] * (case.graph.n_vertices - 1 - len(heights))


def single_linkage(case):
    from scipy.cluster.hierarchy import fcluster

    import edgewise as ew

    found = ew.single_linkage(ew.minimum_spanning_forest(case.undirected()))
    yield found[:, 2].tolist() == linkage(case)
    if len(found):
        height = case.draw.randint(0, 4)
        near = [pair for pair, km in zip(pairs_of(case), case.weights, strict=True) if km <= height]
        yield same_sets(fcluster(found, height, "distance"), union(case.graph.n_vertices, near)[0])


def same_sets(one, other):
    pairs = set(zip(list(one), list(other), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


def clustering_of(name):
    def check(case):
        import edgewise as ew

        points = np.array([[case.draw.randint(0, 9)] for _ in range(case.graph.n_vertices)], float)
        points, near = points.reshape(-1, 1), case.draw.randint(1, 3)
        close = [
            (u, v) for u in range(len(points)) for v in range(u) if abs(points[u] - points[v])[0] <= near
        ]
        try:
            labels = getattr(ew, name)(distance_threshold=near).fit_predict(points)
        except ValueError as error:  # that of scikit-learn
            if len(points) > 1 or "a minimum of 2 is required" not in str(error):
                raise
            return
        yield same_sets(labels.tolist(), union(len(points), close)[0])

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


def partition_of(case):
    """Random parts, their number, and the weight between them."""
    k = case.draw.randint(1, 4)
    parts = np.array([case.draw.randrange(k) for _ in range(case.graph.n_vertices)], np.int64)
    return k, parts, cut_of(case, parts)


def cut_of(case, parts):
    parts = np.asarray(parts)
    return float(case.weights[parts[case.sources] != parts[case.targets]].sum())


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
    import edgewise as ew

    n, k = case.graph.n_vertices, case.draw.randint(1, 4)
    edges = {(u, v) for pair in pairs_of(case) if pair[0] != pair[1] for u, v in (pair, pair[::-1])}
    rows = [sorted(v for u, v in edges if u == vertex) for vertex in range(n)]
    cut, parts = ew.part_graph(k, rows)
    between = sum(parts[u] != parts[v] for u, v in edges) // 2
    yield cut == between and len(parts) == n and set(parts) <= set(range(k))


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


def edges_of(graph, with_ids=True):
    """The edges with their weights, as often as each is there."""
    ids = list(graph) if with_ids else list(range(graph.n_vertices))
    weights = [1] * graph.n_edges if graph.weights is None else graph.weights.tolist()
    pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    ends = [(ids[u], ids[v]) for u, v in pairs]
    ends = ends if graph.directed else [tuple(sorted(pair)) for pair in ends]
    return Counter((*pair, float(weight)) for pair, weight in zip(ends, weights, strict=True))


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


def generate(case):
    import edgewise as ew

    size, edges = case.draw.randint(0, 3), case.draw.randint(0, 3)
    calls = {
        "components": (lambda: ew.generate.components(size, mean_size=1 + edges), size),
        "delaunay": (lambda: ew.generate.delaunay(size), size),
        "grid": (lambda: ew.generate.grid(size, edges), size * edges),
        "paths": (lambda: ew.generate.paths(size), size),
        "rgg": (lambda: ew.generate.rgg(size, mean_degree=edges), size),
        "rmat": (lambda: ew.generate.rmat(size, edge_factor=edges), 2**size),
        "stencil3d": (lambda: ew.generate.stencil3d(size), size**3),
        "uniform": (lambda: ew.generate.uniform(size, edges), size),
    }
    make, n = calls[case.draw.choice(list(calls))]
    graph = make()
    yield graph.n_vertices == n and edges_of(graph) == edges_of(make())
    ew.connected_components(graph).verify()


def command_line(case):
    """Every subcommand ends with a table of the whole graph, or with one line that says why not."""
    import edgewise as ew
    from edgewise import command

    path, out = case.folder / "in.npz", case.folder / "out.parquet"
    ew.write(case.graph, path)
    ids = [str(one) for one in case.graph] or ["0"]
    (case.folder / "parts").write_text("0\n" * case.graph.n_vertices)
    calls = (
        ["components", path, "-o", out],
        ["strong", path, "-o", out],
        ["cores", path, "-o", out],
        ["cycles", path, "--length", "3", "-o", out],
        ["forest", path, "-o", out],
        ["paths", path, "--source", ids[0], "-o", out],
        ["why", path, ids[0], ids[-1]],
        ["partition", path, "2", "-o", out],
        ["partition-eval", path, case.folder / "parts"],
        ["convert", path, case.folder / "out.mtx"],
        ["info", path],
    )
    call = [str(word) for word in case.draw.choice(calls)]
    said, complaints = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(complaints):
        status = command.run(call)
    lines = complaints.getvalue().splitlines()
    if status not in (0, 2) or (status == 2 and (not lines or out.exists())):
        raise AssertionError(f"{call[0]}: status {status}, {lines}")
    if status == 0 and call[0] in ("components", "strong", "cores", "cycles", "partition"):
        import pyarrow.parquet

        yield pyarrow.parquet.read_table(out).num_rows == case.graph.n_vertices
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
    "ComponentsStream": components_stream,
    "ForestStream": forest_stream,
    "SingleLinkage": clustering_of("SingleLinkage"),
    "best_links": best_links,
    "estimate_cycles": estimate_cycles,
    "evaluate_partition": evaluate_partition,
    "generate": generate,
    "part_graph": part_graph,
    "part_mesh": part_mesh,
    "read": files,
    "read_mesh": read_mesh,
    "single_linkage": single_linkage,
    "stream_components": stream_components,
    "stream_forest": stream_forest,
    "update_components": update_components,
    "write": files,
    "the command": command_line,
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
