"""NetworkX's functions by NetworkX, by this backend and by other backends, in one run.

    python bench/networkx_backend.py --edges 20000 --name trial              compile first
    python bench/networkx_backend.py --peers rustnx rustworkx parallel       all functions
    python bench/networkx_backend.py --calls triangles clustering --add      some, beside earlier results

All have the same NetworkX graphs and are called by their ``backend=``.  Of a backend there are two times: of
a first call, which converts the graph, and of a call when the graph is in NetworkX's cache; answers of
earlier calls are dropped.  All times are of the processor, of all threads together: other programs that run
change them little, and those of this backend, which uses all cores, are the sum over the cores.  Each is the
least of ``--runs`` calls, or of one where it takes longer than ``--long`` seconds.  A call that takes longer
than ``--limit`` seconds is ended, and an iterator over the searches from all nodes is read up to the 20th.
Other backends run in a process of their own, which is ended after three times the limit.
"""

import json
import os
import random
import signal
import time
from collections import deque
from functools import cache
from importlib.metadata import entry_points
from itertools import islice

import networkx as nx
from harness import main, part
from networkx.algorithms.tree import mst

from edgewise.networkx.interface import function_named

SOURCE, TARGET, MANY = 0, 100, list(range(10))
#: Parts of a converted graph that are no answers.
KEPT = ("weights", "checked", "incoming", "two searches")
#: Calls are repeated up to this time, since the clock may count in hundredths of a second.
LEAST = 0.2
#: Number of items that are read of an iterator over the searches from all nodes.
FIRST = 20

#: Functions by the graph, in lines of the same arguments after it.
CALLS = {
    "random": [
        ((), "number_connected_components connected_components is_connected"),
        ((SOURCE,), "node_connected_component"),
        ((), "isolates number_of_isolates"),
        ((SOURCE, TARGET), "has_path bidirectional_shortest_path"),
        ((SOURCE,), "shortest_path shortest_path_length single_source_shortest_path_length"),
        ((SOURCE,), "single_source_shortest_path single_target_shortest_path_length"),
        ((SOURCE,), "single_target_shortest_path"),
        ((SOURCE, TARGET), "all_shortest_paths"),
        ((SOURCE,), "predecessor bfs_edges generic_bfs_edges bfs_predecessors bfs_successors bfs_tree"),
        ((SOURCE,), "bfs_layers"),
        ((SOURCE, 4), "descendants_at_distance"),
        ((SOURCE, TARGET), "dijkstra_path dijkstra_path_length bidirectional_dijkstra"),
        ((SOURCE,), "single_source_dijkstra single_source_dijkstra_path_length"),
        ((SOURCE,), "single_source_dijkstra_path"),
        ((MANY,), "multi_source_dijkstra multi_source_dijkstra_path_length multi_source_dijkstra_path"),
        ((SOURCE,), "dijkstra_predecessor_and_distance"),
        ((SOURCE, TARGET), "bellman_ford_path bellman_ford_path_length"),
        ((SOURCE,), "single_source_bellman_ford single_source_bellman_ford_path_length"),
        ((SOURCE,), "single_source_bellman_ford_path bellman_ford_predecessor_and_distance"),
        ((), "negative_edge_cycle minimum_spanning_edges maximum_spanning_edges"),
        ((), "minimum_spanning_tree maximum_spanning_tree"),
        ((True,), "boruvka_mst_edges kruskal_mst_edges prim_mst_edges"),
        ((), "triangles clustering average_clustering transitivity square_clustering"),
        ((), "generalized_degree core_number k_core k_shell k_crust"),
        ((5,), "k_corona"),
    ],
    "directed": [
        ((), "strongly_connected_components number_strongly_connected_components"),
        ((), "is_strongly_connected condensation weakly_connected_components"),
        ((), "number_weakly_connected_components is_weakly_connected"),
        ((SOURCE,), "descendants ancestors"),
    ],
    "dense": [
        ((), "all_pairs_shortest_path all_pairs_shortest_path_length all_pairs_dijkstra"),
        ((), "all_pairs_dijkstra_path all_pairs_dijkstra_path_length all_pairs_bellman_ford_path"),
        ((), "all_pairs_bellman_ford_path_length average_shortest_path_length eccentricity diameter"),
        ((), "radius center periphery floyd_warshall floyd_warshall_numpy"),
        ((), "floyd_warshall_predecessor_and_distance johnson"),
    ],
    "negative": [((SOURCE,), "find_negative_cycle")],
    "table": [((), "from_pandas_edgelist")],
    "matrix": [((), "from_scipy_sparse_array")],
}
#: Graph and arguments by function.
KINDS = {
    name: (kind, given) for kind, lines in CALLS.items() for given, names in lines for name in names.split()
}


@cache
def input_of(kind, edges):
    """A graph with weights from 1 to 100, a table or a matrix.

    ``random`` has ten entries for each node, and a cycle through all; ``directed`` two edges for each node,
    so there are a large strong component and many small ones; ``dense`` has nearly all edges; ``negative`` is
    the directed one with a cycle of negative weight at the source.
    """
    draw = random.Random(1)
    if kind in ("table", "matrix"):
        graph = input_of("random", edges)
        return nx.to_pandas_edgelist(graph) if kind == "table" else nx.to_scipy_sparse_array(graph)
    if kind == "random":
        n = edges // 5
        graph = nx.gnm_random_graph(n, edges - n, seed=1)
        nx.add_cycle(graph, range(n))
    elif kind == "dense":
        graph = nx.gnm_random_graph(int((2.25 * edges) ** 0.5), edges, seed=1)
    else:
        graph = nx.gnm_random_graph(edges // 2, edges, seed=1, directed=True)
    for _, _, data in graph.edges(data=True):
        data["weight"] = draw.randint(1, 100)
    if kind == "negative":
        nx.add_cycle(graph, [SOURCE, 1, 2], weight=-1)
    return graph


class Late(Exception):
    """The time of a call is over."""


def _stop(signal_number, frame):
    raise Late


def finished(call, name):
    """Call, and read what is returned if it is an iterator."""
    result = call()
    if hasattr(result, "__next__"):
        deque(islice(result, FIRST) if name.startswith("all_pairs") else result, maxlen=0)


def seconds(call, name, limit):
    """Processor time of a call, or ``None`` if it takes longer than the limit."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    start = time.process_time()
    try:
        count = 0
        while not count or time.process_time() - start < LEAST:
            finished(call, name)
            count += 1
        return (time.process_time() - start) / count
    except Late:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def least(call, name, options):
    """The least of several times."""
    times = [seconds(call, name, options.limit)]
    while times[0] is not None and times[0] < options.long and len(times) < options.runs:
        times.append(seconds(call, name, options.limit) or options.limit)
    return times[0] and min(times)


def without_answers(graph):
    """Drop what the converted graph has kept of earlier calls."""
    cached = getattr(graph, "__networkx_cache__", None) or {}
    for converted in cached.get("backends", {}).get("edgewise", {}).values():
        for key in list(converted._cache):
            if (key if isinstance(key, str) else key[0]) not in KEPT:
                del converted._cache[key]


def function_of(name):
    """NetworkX's function."""
    return getattr(nx, name, None) or getattr(mst, name)


def times_of(name, graph, backend, options):
    """Times of a backend: of a first call, and with the converted graph; or why there are none."""

    def call():
        without_answers(graph)
        return function_of(name)(graph, *KINDS[name][1], backend=backend)

    def first_call():
        getattr(graph, "__networkx_cache__", {}).clear()
        return call()

    try:
        if backend == "networkx":
            return {"cached": least(call, name, options)}
        if backend == "edgewise":
            seconds(call, name, options.limit)  # compiles
        first = least(first_call, name, options)
        is_over = first is None or (backend in options.peers and first > 1)
        return {"first": first, "cached": None if is_over else least(call, name, options)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}


def times_of_peer(name, graph, backend, options):
    """The same of another backend, in a process that can be ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(int(3 * options.limit))
        os.write(writer, json.dumps(times_of(name, graph, backend, options)).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"first": None, "cached": None}


def peer_versions(names):
    """Versions of the packages of other backends."""
    entries = {entry.name: entry.dist for entry in entry_points(group="networkx.backends")}
    return {name: f"{entries[name].name} {entries[name].version}" for name in names}


def rows(given):
    """A row for each function, with the times of all backends."""
    nx.config.warnings_to_ignore.add("cache")
    given.facts |= {"networkx": nx.__version__, "limit": given.limit, "edges": given.edges}
    given.facts["peers"] = peer_versions(given.peers)
    for name in given.calls:
        graph = input_of(KINDS[name][0], given.edges)
        row = {"call": name, "graph": KINDS[name][0], "cost": function_named(name).cost}
        for backend in ("networkx", "edgewise", *given.peers):
            if backend not in given.peers:
                row[backend] = times_of(name, graph, backend, given)
            elif backend in function_of(name).backends:
                row[backend] = times_of_peer(name, graph, backend, given)
        yield row


PART = part(
    "networkx-backend",
    rows,
    key=("call",),
    calls=[*KINDS],
    edges=1_000_000,
    peers=str,
    runs=3,
    long=1.0,
    limit=60.0,
)

if __name__ == "__main__":
    main(__doc__, PART)
