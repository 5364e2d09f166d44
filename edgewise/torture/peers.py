"""How other libraries are asked, and what they document that differs from edgewise.

A convention is no fault: where a library documents that it counts repeated edges, say, it is asked about the
graph without them.  Each row names what is needed of the graph, and why.
"""

from typing import NamedTuple


class Call(NamedTuple):
    """How a library is asked a question.

    Attributes
    ----------
    problem : str
        Name of the problem.
    asked : str
        Expression over ``graph`` and the fields of the case.
    needs : tuple of str
        What the graph must be: names of :data:`edgewise.torture.cases.NEEDS`.
    convention : str
        What is documented, or was found to be intended, that the call takes into account.
    edgewise : str
        Expression that asks edgewise, if it is another one than that of the problem.
    made : str
        Statements that make ``graph``, if they are others than those of the library.
    kinds : tuple of bool
        Whether graphs are directed, if not as in the problem.
    """

    problem: str
    asked: str
    needs: tuple = ()
    convention: str = ""
    edgewise: str = ""
    made: str = ""
    kinds: tuple = (False, True)


class Peer(NamedTuple):
    """A library.

    Attributes
    ----------
    package : str
        Its name in Python, which is that for pip, too.
    imports : str
        Import statements.
    made : str
        Statements that make ``graph`` of a case.
    calls : tuple of Call
        The questions that it can answer.
    """

    package: str
    imports: str
    made: str
    calls: tuple


SIMPLE = ("no loops", "no repeated edges")


def _counted(cycles):
    """The expression that counts how many of some cycles pass through each vertex."""
    return f"(lambda found: [found[v] for v in range(n)])(Counter(v for cycle in {cycles} for v in cycle))"


_NX_MULTI = """graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
graph.add_nodes_from(range(n))
graph.add_weighted_edges_from((u, v, weight) for (u, v), weight in zip(pairs, weights))"""
_NX_SIMPLE = _NX_MULTI.replace("Multi", "")
_MERGED = "a graph of this class keeps the last of repeated edges"
_NX_CONNECTED = "raises an error if a vertex is not reached; edgewise says infinity"

NETWORKX = Peer(
    "networkx",
    "from collections import Counter\nimport networkx as nx",
    _NX_MULTI,
    (
        Call(
            "components",
            "list((nx.weakly_connected_components if directed else nx.connected_components)(graph))",
        ),
        Call("strong", "list(nx.strongly_connected_components(graph))"),
        Call("strong", "list(nx.kosaraju_strongly_connected_components(graph))"),
        Call("bfs", "dict(nx.single_source_shortest_path_length(graph, start))", ("vertices",)),
        Call("shortest-paths", "nx.single_source_dijkstra_path_length(graph, start)", ("vertices",)),
        Call(
            "shortest-paths", "dict(nx.single_source_bellman_ford_path_length(graph, start))", ("vertices",)
        ),
        Call("shortest-paths", "nx.goldberg_radzik(graph, start)[1]", ("vertices",)),
        Call("all-pairs", "dict(nx.all_pairs_dijkstra_path_length(graph))"),
        Call("all-pairs", "nx.floyd_warshall(graph)"),
        Call("all-pairs", "nx.floyd_warshall_numpy(graph, nodelist=range(n)).tolist()", ("vertices",)),
        Call("forest", "nx.minimum_spanning_tree(graph, algorithm='kruskal').size('weight')"),
        Call("forest", "nx.minimum_spanning_tree(graph, algorithm='prim').size('weight')"),
        Call(
            "forest",
            "nx.minimum_spanning_tree(graph, algorithm='boruvka').size('weight')",
            ("no repeated edges",),
            _MERGED,
            made=_NX_SIMPLE,
        ),
        Call(
            "cores",
            "nx.core_number(graph)",
            SIMPLE,
            "refuses multigraphs and self-loops; edgewise ignores both",
            made=_NX_SIMPLE,
        ),
        Call("triangles", "nx.triangles(graph)", SIMPLE[1:], _MERGED, made=_NX_SIMPLE),
        *(
            Call(
                problem,
                _counted(f"(c for c in nx.simple_cycles(graph, length_bound={k}) if len(c) == {k})"),
                SIMPLE[1:],
                _MERGED,
                made=_NX_SIMPLE,
            )
            for problem, k in (("squares", 4), ("pentagons", 5))
        ),
        Call("closeness", "nx.closeness_centrality(graph)"),
        Call("weighted-closeness", "nx.closeness_centrality(graph, distance='weight')"),
        Call("harmonic", "nx.harmonic_centrality(graph)"),
        Call("eccentricity", "nx.eccentricity(graph)", ("connected",), _NX_CONNECTED),
        Call("diameter", "nx.diameter(graph)", ("connected",), _NX_CONNECTED),
        Call("diameter", "nx.diameter(graph, usebounds=True)", ("connected",), _NX_CONNECTED),
        Call("betweenness", "nx.betweenness_centrality(graph, normalized=False)"),
        Call(
            "weighted-betweenness",
            "nx.betweenness_centrality(graph, normalized=False, weight='weight')",
        ),
        Call(
            "edge-betweenness",
            "(lambda found: [found[e if e in found else e[::-1]] for e in pairs])("
            "nx.edge_betweenness_centrality(graph, normalized=False))",
            SIMPLE,
            "repeated edges share their paths in edgewise; NetworkX has one value for each key",
            made=_NX_SIMPLE,
        ),
        Call("clustering", "nx.clustering(graph)", SIMPLE[1:], _MERGED, made=_NX_SIMPLE),
        Call("transitivity", "nx.transitivity(graph)", SIMPLE[1:], _MERGED, made=_NX_SIMPLE),
        Call("cut", "nx.cut_size(graph, [v for v in range(n) if parts[v] == 0], weight='weight')"),
    ),
)

_DISTANCES = (
    "numbers of edges to vertices that are not reached are infinite; edgewise has the largest integer"
)
IGRAPH = Peer(
    "igraph",
    "from collections import Counter\nimport igraph",
    "graph = igraph.Graph(n, pairs, directed=directed)",
    (
        Call("components", "graph.connected_components(mode='weak').membership"),
        Call("strong", "graph.connected_components(mode='strong').membership"),
        Call("bfs", "graph.distances(start)[0]", ("vertices",), _DISTANCES),
        *(
            Call(
                "shortest-paths",
                f"graph.distances(start, weights=weights, algorithm='{name}')[0]",
                ("vertices",),
            )
            for name in ("dijkstra", "bellman_ford", "johnson")
        ),
        *(
            Call("all-pairs", f"graph.distances(weights=weights, algorithm='{name}')")
            for name in ("dijkstra", "bellman_ford", "johnson")
        ),
        *(
            Call(
                "forest",
                f"sum(weights[e] for e in graph.spanning_tree(weights, return_tree=False, method='{name}'))",
            )
            for name in ("prim", "kruskal")
        ),
        Call(
            "cores",
            "graph.coreness()",
            SIMPLE,
            "loops and repeated edges count in degrees; edgewise ignores them",
        ),
        Call("triangles", _counted("graph.list_triangles()")),
        *(
            Call(
                problem,
                _counted(f"graph.simple_cycles(min={k}, max={k})"),
                SIMPLE,
                "each of repeated edges makes a cycle of its own",
            )
            for problem, k in (("squares", 4), ("pentagons", 5))
        ),
        Call(
            "closeness",
            "[0.0 if x != x else x for x in graph.closeness(mode='in')]",
            (),
            "of what is reached only, as wf_improved=False in edgewise; NaN where nothing is",
            "ew.distance_measures(graph, weight=False, wf_improved=False).closeness.tolist()",
        ),
        Call(
            "weighted-closeness",
            "[0.0 if x != x else x for x in graph.closeness(mode='in', weights=weights)]",
            (),
            "as for closeness",
            "ew.distance_measures(graph, wf_improved=False).closeness.tolist()",
        ),
        Call(
            "harmonic",
            "[(n - 1) * x if x == x else 0.0 for x in graph.harmonic_centrality(mode='in')]",
            (),
            "the mean of the inverses, not their sum; NaN for a single vertex",
        ),
        Call(
            "eccentricity",
            "graph.eccentricity(mode='out')",
            ("connected",),
            "of the vertices that are reached only",
        ),
        Call(
            "diameter", "graph.diameter()", ("connected",), "the largest one of the components; NaN if empty"
        ),
        Call(
            "betweenness",
            "graph.betweenness()",
            ("no repeated edges",),
            "each of repeated edges makes a shortest path of its own",
        ),
        Call(
            "weighted-betweenness",
            "graph.betweenness(weights=weights)",
            ("no repeated edges",),
            "each of repeated edges makes a shortest path of its own",
        ),
        Call(
            "edge-betweenness",
            "graph.edge_betweenness()",
            ("no repeated edges",),
            "each of repeated edges makes a shortest path of its own",
        ),
        Call(
            "clustering",
            "graph.transitivity_local_undirected(mode='zero')",
            (),
            "NaN below two neighbours unless mode='zero'",
        ),
        Call(
            "transitivity",
            "graph.transitivity_undirected(mode='zero')",
            (),
            "NaN without paths of two edges unless mode='zero'",
        ),
        Call(
            "cut",
            "sum(w for w, cut in zip(weights, igraph.VertexClustering(graph, parts).crossing()) if cut)",
        ),
    ),
)

_SUMMED = ("no repeated edges",)
_SUMS = "a matrix holds the sum of repeated edges, so the lightest of them is kept"
SCIPY = Peer(
    "scipy",
    "import numpy as np\nfrom scipy import sparse\nfrom scipy.sparse import csgraph",
    """ends = np.array(pairs, np.int32).reshape(-1, 2).T
graph = sparse.csr_array((np.array(weights), (ends[0], ends[1])), shape=(n, n))""",
    (
        Call("components", "csgraph.connected_components(graph, connection='weak')[1].tolist()"),
        Call("strong", "csgraph.connected_components(graph, connection='strong')[1].tolist()"),
        *(
            Call(
                "bfs",
                f"csgraph.{name}(graph, directed=directed, unweighted=True, indices=start{more}).tolist()",
                ("vertices",),
            )
            for name, more in (("dijkstra", ""), ("dijkstra", ", min_only=True"), ("bellman_ford", ""))
        ),
        *(
            Call(
                "shortest-paths",
                f"csgraph.{name}(graph, directed=directed, indices=start).tolist()",
                ("vertices", *_SUMMED),
                _SUMS,
            )
            for name in ("dijkstra", "bellman_ford", "johnson")
        ),
        *(
            Call(
                "all-pairs",
                f"csgraph.{name}(graph, directed=directed).tolist()",
                _SUMMED,
                _SUMS,
            )
            for name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall")
        ),
        Call(
            "forest",
            "csgraph.minimum_spanning_tree(graph).sum()",
            _SUMMED,
            _SUMS,
        ),
    ),
)


def _scores(words):
    return f"nk.centrality.{words}.run().scores()"


_NK_NO_LOOPS = "refuses self-loops, and counts repeated edges; edgewise ignores both"
NETWORKIT = Peer(
    "networkit",
    "import networkit as nk",
    """graph = nk.Graph(n, weighted=True, directed=directed)
for (u, v), weight in zip(pairs, weights):
    graph.addEdge(u, v, weight)""",
    (
        Call("components", "nk.components.ConnectedComponents(graph).run().getComponents()", kinds=(False,)),
        Call(
            "components",
            "nk.components.ParallelConnectedComponents(graph).run().getComponents()",
            kinds=(False,),
        ),
        Call(
            "components",
            "nk.components.WeaklyConnectedComponents(graph).run().getComponents()",
            kinds=(True,),
        ),
        Call("strong", "nk.components.StronglyConnectedComponents(graph).run().getComponents()"),
        Call("bfs", "nk.distance.BFS(graph, start, False).run().getDistances()", ("vertices",)),
        Call(
            "shortest-paths", "nk.distance.Dijkstra(graph, start, False).run().getDistances()", ("vertices",)
        ),
        Call("all-pairs", "nk.distance.APSP(graph).run().getDistances()"),
        Call("all-pairs", "nk.distance.FloydWarshall(graph).run().getDistances()"),
        Call("all-pairs", "nk.distance.FloydWarshall(graph).run().getDistances()", SIMPLE[:1]),
        Call("all-pairs", "nk.distance.FloydWarshall(graph).run().getDistances()", SIMPLE),
        Call("forest", "nk.graph.KruskalMSF(graph).run().getTotalWeight()"),
        Call("forest", "nk.graph.PrimMSF(graph).run().getTotalWeight()"),
        Call("cores", _scores("CoreDecomposition(graph)"), SIMPLE, _NK_NO_LOOPS),
        Call("cores", _scores("CoreDecomposition(graph, False, True)"), SIMPLE, _NK_NO_LOOPS),
        Call(
            "closeness",
            _scores(
                "Closeness(nk.graphtools.toUnweighted(graph), True, "
                "nk.centrality.ClosenessVariant.GENERALIZED)"
            ),
            (),
            "the generalised variant, along outgoing edges; directed graphs are reversed for it",
            kinds=(False,),
        ),
        Call(
            "harmonic", _scores("HarmonicCloseness(graph, False)"), (), "along outgoing edges", kinds=(False,)
        ),
        Call(
            "eccentricity",
            "[nk.distance.Eccentricity.getValue(graph, v)[1] for v in range(n)]",
            ("connected",),
            "of the vertices that are reached only",
            kinds=(False,),
        ),
        Call(
            "diameter",
            "nk.distance.Diameter(graph, nk.distance.DiameterAlgo.EXACT).run().getDiameter()[0]",
            ("connected",),
            "of the vertices that are reached only",
        ),
        *(
            Call(
                problem,
                f"[x / (1 if directed else 2) for x in {_scores('Betweenness(graph)')}]",
                ("vertices", *SIMPLE),
                "both directions of a pair count, and repeated edges make paths of their own; a graph "
                "without vertices ends the process",
            )
            for problem in ("betweenness", "weighted-betweenness")
        ),
        Call(
            "betweenness",
            _scores("Betweenness(graph, normalized=True)"),
            ("vertices", *SIMPLE),
            "as above",
            "ew.betweenness(graph, weight=False).scores.tolist()",
        ),
        Call("clustering", _scores("LocalClusteringCoefficient(graph)"), SIMPLE, _NK_NO_LOOPS),
        Call("clustering", _scores("LocalClusteringCoefficient(graph, True)"), SIMPLE, _NK_NO_LOOPS),
        Call("transitivity", "nk.globals.ClusteringCoefficient.exactGlobal(graph)"),
        Call("transitivity", "nk.globals.ClusteringCoefficient.exactGlobal(graph)", SIMPLE),
        Call("cut", "nk.community.EdgeCut().getQuality(nk.Partition(n, parts), graph)"),
    ),
)

PEERS = {peer.package: peer for peer in (NETWORKX, IGRAPH, SCIPY, NETWORKIT)}
