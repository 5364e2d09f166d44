"""METIS (pymetis), KaMinPar and Mt-KaHyPar on one graph.

``partitions.py`` runs this script in an interpreter that has them, with a file of rows and with options:

    python bench/partition_peers.py ROWS.npz '{"parts": [2], "seeds": [1], "imbalance": 0.03, ...}'

It prints one row of JSON for each run, after a row with the versions.  The seconds are those of the partition
alone, from the program's own form of the graph.
"""

import json
import sys
import time
from functools import partial
from importlib.metadata import version

import numpy as np


def metis(rows, how):
    """METIS's k-way partitions; one thread."""
    import pymetis

    # METIS of the wheels has indices of 64 bits; others are converted one by one during the call
    adjacency = pymetis.CSRAdjacency(*(rows[name].astype(np.int64) for name in ("offsets", "neighbours")))

    def run(k, seed):
        options = pymetis.Options(seed=seed, ufactor=round(1000 * how["imbalance"]))
        return lambda: pymetis.part_graph(k, adjacency=adjacency, recursive=False, options=options)[0]

    return run, version("pymetis")


def kaminpar(rows, how, context="default"):
    """KaMinPar's default, from a binary file in the format of ParHIP, since it takes no arrays."""
    import kaminpar

    offsets, neighbours, path = rows["offsets"], rows["neighbours"], how["folder"] + "/rows.parhip"
    header = np.array([63, len(offsets) - 1, len(neighbours)], np.uint64)  # 63: 32 bits and no weights
    with open(path, "wb") as file:
        header.tofile(file)
        (header.nbytes + 4 * (offsets + len(offsets))).astype(np.uint32).tofile(file)
        neighbours.astype(np.uint32).tofile(file)
    graph = kaminpar.load_graph(path, kaminpar.GraphFileFormat.PARHIP)

    def run(k, seed):
        kaminpar.reseed(seed)
        solver = kaminpar.KaMinPar(how["threads"], kaminpar.context_by_name(context))
        found = []

        def partition():
            found[:] = solver.compute_partition(graph, k, how["imbalance"])
            return lambda: kaminpar.edge_cut(graph, found)

        return partition

    return run, version("kaminpar")


def mtkahypar(rows, how):
    """Mt-KaHyPar's preset that gives one result for any number of threads."""
    import mtkahypar

    program = mtkahypar.initialize(how["threads"])
    sources = np.repeat(np.arange(len(rows["offsets"]) - 1), np.diff(rows["offsets"]))
    once = sources < rows["neighbours"]
    edges = list(zip(sources[once].tolist(), rows["neighbours"][once].tolist()))
    preset = mtkahypar.PresetType.DETERMINISTIC

    def run(k, seed):
        context = program.context_from_preset(preset)
        context.set_partitioning_parameters(k, how["imbalance"], mtkahypar.Objective.CUT)
        mtkahypar.set_seed(seed)
        graph = program.create_graph(context, len(rows["offsets"]) - 1, len(edges), edges)

        def partition():
            found = graph.partition(context)
            return found.cut

        return partition

    return run, version("mtkahypar")


PEERS = {
    "METIS k-way": metis,
    "KaMinPar": kaminpar,
    "KaMinPar fast": partial(kaminpar, context="fast"),
    "Mt-KaHyPar deterministic": mtkahypar,
}


def main():
    rows, how = dict(np.load(sys.argv[1])), json.loads(sys.argv[2])
    for name in how["peers"]:
        try:
            run, number = PEERS[name](rows, how)
        except ImportError:
            continue
        print(json.dumps({"peer": name, "version": number}), flush=True)
        for k in how["parts"]:
            for seed in how["seeds"]:
                partition = run(k, seed)
                start = time.perf_counter()
                cut = partition()
                seconds = time.perf_counter() - start
                cut = cut() if callable(cut) else cut
                print(
                    json.dumps({"method": name, "k": k, "seed": seed, "cut": cut, "seconds": seconds}),
                    flush=True,
                )


if __name__ == "__main__":
    main()
