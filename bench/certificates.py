"""Certificates of components: how long a check takes beside reading the edges, the call and the proof.

python bench/certificates.py [--edges 20000000] [--repeat 5]

Edges are written to a Parquet file of two columns of int32, which pyarrow reads by all threads; the median of
a few runs in turn is printed for reading and checking, and one run of the others, after one to compile.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import edgewise as ew
from edgewise.certificates import check
from edgewise.result import edge_arrays


def graphs(n_edges):
    """Name, number of vertices, and ends of edges."""
    rng = np.random.default_rng(1)
    for name, degree in (("random", 20), ("random", 4)):
        n = max(2 * n_edges // degree, 1)
        yield f"{name}, {degree} neighbours", n, rng.integers(0, n, (2, n_edges))
    n = max(n_edges // 4, 100)
    sources = rng.integers(0, n, n_edges)
    yield "close ids, 8 neighbours", n, (sources, np.clip(sources + rng.integers(-50, 50, n_edges), 0, n - 1))


def seconds(call):
    """Seconds of one call, and what it returns."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main():
    """Print a line for each graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.parquet")
        for name, n, ends in graphs(given.edges):
            sources, targets = (np.asarray(one, np.int32) for one in ends)
            pq.write_table(pa.table({"source": sources, "target": targets}), path)
            for _ in range(2):
                graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
                call, result = seconds(lambda graph=graph: ew.connected_components(graph))
                proof, certificate = seconds(result.certificate)
            edges, read, checked = edge_arrays(graph), [], []
            for _ in range(given.repeat):
                read.append(seconds(lambda: pq.read_table(path))[0])
                checked.append(seconds(lambda edges=edges, of=certificate: check(edges, of))[0])
            read, checked = np.median(read), np.median(checked)
            print(
                f"{name}: read {read:.3f} s, check {checked:.3f} s: {read / checked:.2f} of its speed;",
                end=" ",
            )
            print(
                f"call {call:.3f} s, proof {proof:.3f} s, {certificate.nbytes / n:.1f} bytes a vertex",
                flush=True,
            )


if __name__ == "__main__":
    main()
