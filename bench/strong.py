"""Strong components of directed graphs on every core, or on a GPU, beside PASGAL and ECL-SCC.

    PASGAL=folder python bench/strong.py --size 20 --threads 16
    ECL=program python bench/strong.py --device cuda --size 22

``PASGAL`` names the folder of PASGAL's programs, and ``ECL`` the program of ECL-SCC.  Both read a file of
rows; PASGAL makes the incoming rows before its time begins, and ECL-SCC has the rows on the GPU.  A program
``scc_new`` beside PASGAL's, which makes the incoming rows by PASGAL's ``Transpose`` and then solves, and says
the seconds of both, gives ``PASGAL, new``.

Ours is the public call with each method: on a new graph over the same rows, and again on the same graph.
``both_ms`` of a CPU is with the incoming rows made before, too, as PASGAL has them.  So ``fresh_ms`` is to be
compared with ``PASGAL, new``, and ``both_ms`` with ``PASGAL``; ``fresh_ms`` over ``PASGAL`` is our call with
rows in one direction over their solving with both.
``two ways`` is a graph whose edges all lead both ways, and ``streets`` one where six of ten lead one way
only.  A grid has four times as many vertices as the others.  Labels of all methods must be equal.
"""

import os
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import families
import numpy as np
import peer_programs
from harness import compared, free, main, median_of, ms_of, part, seconds

import edgewise as ew
from edgewise.device import threads
from edgewise.paths.csr import adjacency_of
from edgewise.strong import METHODS

SHAPES = ("rmat", "uniform", "rgg", "grid", "sparse")
#: Parts of the edges that lead forth, and back, where some lead one way only.
FORTH, BACK = 0.7, 0.7
#: Trials of PASGAL (its ``scc`` makes five, and runs twice), and runs of ECL-SCC, whose process solves once.
STARTS = 7


def two_ways(graph):
    """The rows of a directed graph with both directions of each edge."""
    return graph.offsets, graph.neighbours


def streets(graph):
    """The rows of a directed graph with one direction of most edges, and both of the others."""
    draw = np.random.default_rng(1).random(graph.n_edges)
    forth, back = draw < FORTH, draw > 1 - BACK
    ends = (graph.sources, graph.targets)
    sources, targets = (np.append(one[forth], other[back]) for one, other in (ends, ends[::-1]))
    made = ew.Graph.from_edges(sources, targets, n_vertices=graph.n_vertices, directed=True)
    return made.offsets, made.neighbours


def one_way(family, size):
    """The rows of a directed graph at random, or None if the family has none."""
    if family == "rmat":
        made = ew.generate.rmat(size, edge_factor=16, directed=True).simplified()
    elif family == "uniform":
        made = ew.generate.uniform(1 << size, 16 << size, directed=True)
    else:
        return None
    return made.offsets, made.neighbours


def sparse(size):
    """Names and rows of random graphs of low degree, and of one without cycles."""
    n, make = 1 << size, partial(ew.generate.uniform, directed=True)
    for degree in (1.1, 2.0):
        made = make(n, int(degree * n))
        yield f"degree {degree}", (made.offsets, made.neighbours)
    made = make(n, 4 * n)
    ends = np.minimum(made.sources, made.targets), np.maximum(made.sources, made.targets)
    made = ew.Graph.from_edges(*ends, n_vertices=n, directed=True)
    yield "no cycles", (made.offsets, made.neighbours)


def graphs(given):
    """Names and rows of the graphs."""
    for family in given.families:
        if family == "sparse":
            yield from sparse(given.size)
            continue
        size = given.size + 2 if family == "grid" else given.size
        made = one_way(family, size)
        if made:
            yield f"{family}, one way", made
        mesh = families.graph(f"{family}-{size}")
        yield f"{family}, two ways", two_ways(mesh)
        if not made:
            yield f"{family}, streets", streets(mesh)


def pasgal(place, rows, n_threads):
    """Seconds of PASGAL's trials by name: of the solving, and of the incoming rows and the solving."""
    offsets, neighbours = rows
    file = place / "graph.bin"
    n, m = len(offsets) - 1, len(neighbours)
    with file.open("wb") as out:
        out.write(np.array([n, m, (n + 1) * 8 + m * 4 + 24], np.uint64).tobytes())
        out.write(offsets.astype(np.uint64).tobytes())
        out.write(neighbours.astype(np.uint32).tobytes())
    trials = partial(peer_programs.parlay, file=file, threads=n_threads, trials=STARTS)
    found = {"PASGAL": trials("strong") + trials("strong")}
    if (Path(os.environ["PASGAL"]) / peer_programs.NEW).exists():
        found["PASGAL, new"] = trials("strong, new")
    return found


def ecl(place, rows):
    """Seconds of ECL-SCC, by events of the GPU, each of a process of its own."""
    offsets, neighbours = rows
    file = place / "graph.egr"
    with file.open("wb") as out:
        out.write(np.array([len(offsets) - 1, len(neighbours)], np.int32).tobytes())
        out.write(offsets.astype(np.int32).tobytes())
        out.write(neighbours.astype(np.int32).tobytes())
    said = partial(peer_programs.said, [Path(os.environ["ECL"]), file], 1, r"compute time: ([\d.]+)")
    return [one for _ in range(STARTS) for one in said()]


def peers(rows, given):
    """Spreads of the milliseconds of the programs that are there."""
    found = {}
    with TemporaryDirectory(dir=given.folder) as folder:
        if given.device == "cpu" and peer_programs.is_there("PASGAL"):
            found |= pasgal(Path(folder), rows, given.threads or threads.most())
        if given.device != "cpu" and peer_programs.is_there("ECL"):
            found["ECL-SCC"] = ecl(Path(folder), rows)
    return {name: ms_of(times) for name, times in found.items() if times}


def labels_of(graph, method):
    """Labels of the public call."""
    return ew.strongly_connected_components(graph, method=method).labels


def new(rows):
    """A new graph over rows."""
    return ew.Graph(len(rows[0]) - 1, rows=(*rows, None), directed=True)


def ours(rows, method, given):
    """Seconds on new graphs, and of further calls on each of them, and the labels."""
    began, fresh, warm = time.perf_counter(), [], []
    labels_of(new(rows), method)  # compiles
    longest = time.perf_counter() - began
    for _ in range(given.runs if longest < given.longest else 1):
        graph = new(rows)
        fresh.append(seconds(partial(labels_of, graph, method)))
        warm.append(seconds(partial(labels_of, graph, method)))
    both = []
    if given.device == "cpu" and METHODS[method].reads == "adjacency":
        adjacency_of(graph).build_incoming()
        both = [seconds(partial(labels_of, graph, method)) for _ in fresh]
    labels = labels_of(graph, method)
    return (fresh, warm, both), labels if isinstance(labels, np.ndarray) else labels.get()


def rows_of(given):
    """A row for each graph."""
    on_cpu = given.device == "cpu"
    if on_cpu and given.threads:
        threads.use(given.threads)
    given.facts |= {"threads": given.threads or threads.most()} if on_cpu else {}
    usual = [name for name, method in METHODS.items() if given.device in method.devices]
    for name, host in graphs(given):
        n, rows, first = len(host[0]) - 1, host, None
        row = {"graph": name, "vertices": n, "entries": len(host[1]), "right": True}
        if not on_cpu:
            import cupy

            rows = tuple(map(cupy.asarray, host))
        for method in given.methods or usual:
            times, labels = ours(rows, method, given)
            first = labels if first is None else first
            row["right"] = row["right"] and np.array_equal(first, labels)
            for column, spent in zip(("fresh_ms", "ms", "both_ms"), times, strict=True):
                if spent:
                    row.setdefault(column, {})[method] = ms_of(spent)
        row["components"] = int((first == np.arange(n)).sum())
        free()
        yield row | {"peers": peers(host, given)}


#: What is compared: titles, programs and our columns.
COMPARED = (
    ("rows in one direction, both over {peer}", "PASGAL, new", "fresh_ms"),
    ("rows in both directions, both over {peer}", "PASGAL", "both_ms"),
    ("rows in one direction over {peer}, which has both", "PASGAL", "fresh_ms"),
    ("over {peer}", "ECL-SCC", "ms"),
)


def summary(rows):
    """Ratios to the programs, and to Tarjan's algorithm."""
    for method in METHODS:
        of = [row for row in rows if method in row["ms"]]
        for title, peer, column in COMPARED:
            mine = [row for row in of if method in row.get(column, ())]
            pairs = [
                (row["graph"], row[column][method]["median"], median_of(row["peers"], peer)) for row in mine
            ]
            yield from compared(f"{method}, {title.format(peer=peer)}", pairs)
        if method != "tarjan":
            times = [(row["graph"], row["fresh_ms"]) for row in of]
            pairs = [(name, ms[method]["median"], median_of(ms, "tarjan")) for name, ms in times]
            yield from compared(f"{method} over tarjan, new graphs", pairs)


PART = part(
    "strong-every-{place}",
    rows_of,
    key=("graph",),
    summary=summary,
    device="cpu",
    families=list(SHAPES),
    folder="/tmp",
    longest=5.0,
    methods=str,
    runs=7,
    size=20,
    threads=0,
)

if __name__ == "__main__":
    main(__doc__, PART)
