"""The subcommands on slices of graphs: what each writes or prints is what NetworkX finds, or is refused."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import numpy as np

from tests.campaigns.sliced_cases import THRESHOLD, cut_of, edges_of, linkage, pairs_of, union


def said(case, *words):
    """What a subcommand prints; an error of edgewise if it refuses the graph and writes nothing."""
    from edgewise import command
    from edgewise.errors import EdgewiseError

    output, complaints = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(complaints):
        status = command.run([str(word) for word in words])
    lines = complaints.getvalue().splitlines()
    if status == 2 and lines and not (case.folder / "out.parquet").exists():
        raise EdgewiseError(lines[-1])
    if status:
        raise AssertionError(f"{words}: status {status}, {lines}")
    return output.getvalue()


def facts(case, *words):
    """The JSON object that a subcommand prints."""
    return json.loads(said(case, *words, "--json"))


def table(case, *words):
    """The columns of the table that a subcommand writes."""
    import pyarrow.parquet

    said(case, *words, "-o", case.folder / "out.parquet")
    return pyarrow.parquet.read_table(case.folder / "out.parquet").to_pydict()


def stored(case):
    """The graph as a file."""
    import edgewise as ew

    ew.write(case.graph, case.folder / "in.npz")
    return case.folder / "in.npz"


def undirected(case):
    """The graph as a file, and the option to take directed edges in both directions."""
    return (stored(case), "--undirected") if case.graph.directed else (stored(case),)


def in_networkx(case):
    """The graph of NetworkX, whose nodes are positions."""
    import networkx as nx

    graph = nx.MultiDiGraph() if case.graph.directed else nx.MultiGraph()
    graph.add_nodes_from(range(case.graph.n_vertices))
    for (u, v), weight in zip(pairs_of(case), case.weights.tolist(), strict=True):
        graph.add_edge(u, v, weight=weight)
    return graph


def simple(case):
    """The undirected graph of NetworkX without self-loops and repeated edges."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(case.graph.n_vertices))
    graph.add_edges_from((u, v) for u, v in pairs_of(case) if u != v)
    return graph


def components(case):
    labels, _ = union(case.graph.n_vertices, pairs_of(case))
    yield table(case, "components", stored(case)) == {"id": list(case.graph), "component": labels}


def components_at_or_above(case):
    scores = case.scores()
    files, kept = case.files_of_slices(scores), case.at_or_above(scores)
    labels, _ = union(case.graph.n_vertices, pairs_of(kept))
    for how in ((), ("--stream",)):
        columns = ("--source", "from", "--target", "to", "--threshold", THRESHOLD)
        found = table(case, "components", *files, *columns, *how)
        yield found["id"] == sorted({end for pair in pairs_of(kept) for end in pair})
        first_of = {labels[one]: one for one in reversed(found["id"])}
        pairs = zip(found["id"], found["component"], strict=True)
        yield all(found["id"][label] == first_of[labels[one]] for one, label in pairs)
        (case.folder / "out.parquet").unlink()


def strong(case):
    import networkx as nx

    labels, graph = {}, nx.MultiDiGraph()
    graph.add_nodes_from(range(case.graph.n_vertices))
    graph.add_edges_from(pairs_of(case))  # of an undirected graph, too: the subcommand gives them directions
    for part in nx.strongly_connected_components(graph):
        labels.update(dict.fromkeys(part, min(part)))
    wanted = [labels[vertex] for vertex in range(case.graph.n_vertices)]
    yield table(case, "strong", stored(case)) == {"id": list(case.graph), "component": wanted}


def cores(case):
    import networkx as nx

    found = table(case, "cores", *undirected(case))
    wanted = nx.core_number(simple(case))
    yield found == {"id": list(case.graph), "core": [wanted[at] for at in range(case.graph.n_vertices)]}


def cycles(case):
    import networkx as nx

    found = table(case, "cycles", *undirected(case), "--length", "3")
    wanted = nx.triangles(simple(case))
    yield found == {"id": list(case.graph), "cycles": [wanted[at] for at in range(case.graph.n_vertices)]}


def forest(case):
    found = table(case, "forest", *undirected(case))
    heights = [height for height in linkage(case) if height < np.inf]
    yield sorted(found["weight"]) == heights
    ids = list(case.graph)
    at = {one: position for position, one in enumerate(ids)}
    pairs = [(at[u], at[v]) for u, v in zip(found["source"], found["target"], strict=True)]
    yield union(len(ids), pairs)[0] == union(len(ids), pairs_of(case))[0]
    edges = edges_of(case.graph)
    rows = zip(found["source"], found["target"], found["weight"], strict=True)
    yield all(edges[u, v, float(km)] or edges[v, u, float(km)] for u, v, km in rows)


def paths(case):
    """The distances from one vertex: those that are reached, along the weights and by steps."""
    import networkx as nx

    ids, graph = list(case.graph), in_networkx(case)
    first = case.draw.randrange(len(ids)) if ids else 0
    calls = [(("--bfs",), lambda *_: 1), ((), "weight")]
    for how, weight in calls if case.graph.is_weighted else calls[:1]:
        found = table(case, "paths", stored(case), "--source", ids[first] if ids else 0, *how)
        reached = sorted(nx.single_source_dijkstra_path_length(graph, first, weight=weight).items())
        yield found["id"] == [ids[at] for at, _ in reached] and found["distance"] == [
            far for _, far in reached
        ]
        (case.folder / "out.parquet").unlink()


def all_pairs(case):
    """The matrix of distances, which has infinity or the largest number where there is no path."""
    import networkx as nx

    n, graph = case.graph.n_vertices, in_networkx(case)
    said(case, "paths", stored(case), "--all-pairs", "-o", case.folder / "out.npy")
    found = np.load(case.folder / "out.npy")
    far = np.inf if found.dtype.kind == "f" else np.iinfo(found.dtype).max
    wanted = np.full((n, n), far, found.dtype)
    for source, row in nx.all_pairs_dijkstra_path_length(graph, weight="weight"):
        wanted[source, list(row)] = list(row.values())
    yield np.array_equal(found, wanted)


def measures(case):
    """Eccentricities: the largest distances; NaN or infinity where NetworkX refuses."""
    import networkx as nx

    n, found = case.graph.n_vertices, table(case, "paths", stored(case), "--measures")
    lengths = dict(nx.all_pairs_dijkstra_path_length(in_networkx(case), weight="weight"))
    wanted = [max(lengths[u].values()) if len(lengths[u]) == n else np.inf for u in range(n)]
    yield found["id"] == list(case.graph) and found["eccentricity"] == wanted
    harmonic = [sum(1 / far for far in lengths[u].values() if far) for u in range(n)]
    has_zero = any(not far for u in range(n) for v, far in lengths[u].items() if u != v)
    yield has_zero or case.graph.directed or np.allclose(found["harmonic"], harmonic)


def why(case):
    """A path of edges between two vertices, whose weakest edge is as strong as can be."""
    ids = list(case.graph) or [0]
    one, other = (case.draw.choice(ids) for _ in range(2))
    sign, how = case.draw.choice(((1, "--maximum"), (-1, "--minimum")))
    found = table(case, "why", *undirected(case), one, other, how)
    rows = list(zip(found["source"], found["target"], found["weight"], strict=True))
    edges, ends = edges_of(case.graph), [one]
    for u, v, km in rows:
        ends.append(v if ends[-1] == u else u)
        yield ends[-2] in (u, v) and (edges[u, v, float(km)] or edges[v, u, float(km)]) > 0
    yield ends[-1] == other and len(set(ends)) == len(ends)
    weakest = min((sign * km for _, _, km in rows), default=np.inf)
    stronger = [pair for pair, km in zip(pairs_of(case), case.weights, strict=True) if sign * km > weakest]
    labels, _ = union(len(ids), stronger)
    yield one == other or labels[ids.index(one)] != labels[ids.index(other)]


def partition(case):
    k, (path, *how) = case.draw.randint(1, 3), undirected(case)
    if case.weights.dtype.kind == "f":
        how += ["--scale", "1"]
    found = table(case, "partition", path, k, *how)
    parts = np.array(found["part"], np.int64)
    yield found["id"] == list(case.graph) and set(found["part"]) <= set(range(k))
    yield facts(case, "partition", path, k, *how)["edge_cut"] == cut_of(case, parts)


def partition_eval(case):
    k = case.draw.randint(1, 3)
    parts = np.array([case.draw.randrange(k) for _ in range(case.graph.n_vertices)], np.int64)
    (case.folder / "parts").write_text("".join(f"{part}\n" for part in parts))
    found = facts(case, "partition-eval", *undirected(case), case.folder / "parts")
    sizes = np.bincount(parts)
    yield found["edge_cut"] == cut_of(case, parts)
    yield found["max_part_weight"] == sizes.max(initial=0) and found["parts"] == len(sizes)


def convert(case):
    import edgewise as ew

    form = case.draw.choice(("mtx", "parquet", "csv", "npz", "el"))
    said(case, "convert", stored(case), case.folder / f"out.{form}")
    if form == "mtx":
        found = ew.read(case.folder / "out.mtx", directed=case.graph.directed)
        yield edges_of(found, with_ids=False) == edges_of(case.graph, with_ids=False)
    else:
        found = ew.read(case.folder / f"out.{form}", directed=case.graph.directed)
        yield edges_of(found) == edges_of(case.graph)


def info(case):
    import networkx as nx

    found, graph = facts(case, "info", stored(case)), in_networkx(case)
    wanted = {
        "vertices": len(graph),
        "edges": graph.number_of_edges(),
        "directed": case.graph.directed,
        "self_loops": nx.number_of_selfloops(graph),
        "isolated_vertices": nx.number_of_isolates(graph),
    }
    yield found == found | wanted


#: The subcommands, by what a report calls them.
CHECKS = {
    f"edgewise {name}": check
    for name, check in {
        "components": components,
        "components --threshold": components_at_or_above,
        "convert": convert,
        "cores": cores,
        "cycles": cycles,
        "forest": forest,
        "info": info,
        "partition": partition,
        "partition-eval": partition_eval,
        "paths": paths,
        "paths --all-pairs": all_pairs,
        "paths --measures": measures,
        "strong": strong,
        "why": why,
    }.items()
}
