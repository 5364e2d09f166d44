"""Betweenness on every core, or on a GPU, beside networkit and igraph.

    python bench/betweenness.py --threads 16
    python bench/betweenness.py --device cuda --named rmat-18 rmat-20 --without igraph networkit

Times are divided by the number of sources, since igraph, which has one core, gets fewer of them.  ``rate``
is the number of edges times that of sources in a second.  networkit's samples are its own
(``EstimateBetweenness``); from all sources it is ``Betweenness``.  Each runs on the structure that it keeps.
Scores from the same few sources are compared with igraph's, or with those of Brandes' algorithm from source
to source where igraph is left out.
"""

import os
from functools import partial
from importlib.util import find_spec

import families
import numpy as np
from harness import compared, free, in_turn, main, median_of, ms_of, part

import edgewise as ew
from edgewise.device import threads
from edgewise.paths.betweenness import Wanted, between

#: Graphs by default; names with a dot are files of the folder with real graphs.
NAMED = ("grid-13", "rmat-14", "rmat-15", "rmat-16", "grid-15")
#: Vertices up to which all are sources.
ALL = 10_000
#: Sources of igraph, and of the comparison.
FEW = 32


def graph_named(name, device):
    """A graph of a family, or a file of real graphs, without self-loops and repeated edges."""
    if "." in name:
        made = ew.read(os.path.join(os.environ.get("EDGEWISE_TEST_DATA", ""), name)).to(device)
    else:
        made = families.graph(name, device)
    return made.without_weights().simplified()


def by_edgewise(graph, sources):
    """Scores of the public call without its checks."""
    return between(graph, Wanted(sources, False, False, False)).scores


def by_igraph(graph):
    """A function of sources that returns igraph's scores."""
    import igraph

    ends = np.stack([graph.sources, graph.targets], 1).astype(np.int64)
    made = igraph.Graph(graph.n_vertices, ends, directed=False)
    return lambda sources: np.array(
        made.betweenness() if sources is None else made.betweenness(sources=sources.tolist())
    )


def by_networkit(graph, n_threads):
    """A function of sources that runs networkit, from as many of its own."""
    import networkit
    import scipy.sparse

    networkit.setNumberOfThreads(n_threads)
    matrix = scipy.sparse.coo_matrix(
        (np.ones(graph.n_edges), (graph.sources, graph.targets)), (graph.n_vertices, graph.n_vertices)
    )
    made = networkit.GraphFromCoo(matrix, weighted=False, directed=False)

    def run(sources):
        kinds = networkit.centrality
        if sources is None:
            return kinds.Betweenness(made).run().scores()
        return kinds.EstimateBetweenness(made, len(sources), False, True).run().scores()

    return run


def are_right(here, host, few, igraph):
    """Whether the scores from a few sources are igraph's, or those of another method."""
    wanted = Wanted(few, False, False, False)
    found = between(here, wanted).scores
    if igraph is None:
        return bool(np.allclose(found, between(host, wanted, "brandes").scores, rtol=1e-9, atol=1e-9))
    # both count pairs once; ours is an estimate from a sample
    n, k = host.n_vertices, len(few)
    sums = found * k / (n - 1)
    sums[few] = found[few] * (k - 1) / (n - 1)
    return bool(np.allclose(2 * sums, igraph(few) * 2, rtol=1e-9, atol=1e-9))


def rows_of(given):
    """A row for each graph."""
    if given.threads:
        threads.use(given.threads)
    n_threads = given.threads or threads.most()
    given.facts |= {"threads": n_threads}
    there = [name for name in ("networkit", "igraph") if find_spec(name) and name not in given.without]
    for name in given.named:
        here = graph_named(name, given.device)
        host, n = here.to("cpu"), here.n_vertices
        draw = np.random.default_rng(1)
        few = np.sort(draw.choice(n, min(FEW, n - 1), replace=False))
        sources = None if n <= ALL else np.sort(draw.choice(n, min(given.samples, n), replace=False))
        peers = {one: by_igraph(host) if one == "igraph" else by_networkit(host, n_threads) for one in there}
        row = {"graph": name, "vertices": n, "edges": host.n_edges}
        row["sources"] = n if sources is None else len(sources)
        row["right"] = are_right(here, host, few, peers.get("igraph"))
        counts = dict.fromkeys(("edgewise", *peers), row["sources"])
        ways = {"edgewise": (partial(by_edgewise, here, sources), None)}
        for one, run in peers.items():
            its = few if one == "igraph" and sources is not None else sources
            counts[one] = row["sources"] if its is None else len(its)
            ways[one] = (partial(run, its), None)
        times = in_turn(ways, given.rounds, once=("networkit", "igraph"), long=given.longest)
        for one, spent in times.items():
            row.setdefault("ms", {})[one] = ms_of([seconds / counts[one] for seconds in spent])
        row["rate"] = host.n_edges / (row["ms"]["edgewise"]["median"] / 1e3)
        free()
        yield row


def summary(rows):
    """Ratios to the other programs."""
    for peer in ("networkit", "igraph"):
        pairs = [(row["graph"], median_of(row["ms"], "edgewise"), median_of(row["ms"], peer)) for row in rows]
        yield from compared(f"edgewise over {peer}", pairs)


PART = part(
    "betweenness-{place}",
    rows_of,
    key=("graph",),
    summary=summary,
    device="cpu",
    longest=5.0,
    named=list(NAMED),
    rounds=3,
    samples=1024,
    threads=0,
    without=str,
)

if __name__ == "__main__":
    main(__doc__, PART)
