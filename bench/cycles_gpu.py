"""Cycles through every vertex on GPUs.

    python bench/cycles_gpu.py [GRAPH ...] [--file com-dblp.ungraph.txt.gz]     one GPU: k = 3, 4, 5
    python bench/cycles_gpu.py several [--graph rmat20] [--length 5]     one GPU, two, ..., and the CPU beside

Counting only is timed with device events, warm, median of nine, from scratch memory to the sums; ranking the
graph, making ready (tasks in order, tables), the first call (compiling), and whole public calls on the same
graph and on a new one of the same rows are columns of their own.  Every
result is verified, or its total is the published one.
"""

import argparse
import sys
import time
from functools import partial

import cupy
import record
from components import event_times, wall

import edgewise as ew
from edgewise.cycles import METHODS
from edgewise.cycles.counting.apex import wedges_of
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.planning import heaviest_first
from edgewise.cycles.selection import select_method

GRAPHS = ("rmat20", "uniform22", "rgg21")
LENGTHS = (3, 4, 5)
#: Cycles of com-DBLP, and milliseconds that G2Miner takes on an H200 for each total.
DBLP = {3: 2_224_385, 4: 55_107_655, 5: 3_449_276_253}
G2MINER = {int(length): ms for length, ms in record.peers("gpu-cycles")[0]["ms"].items()}
BARS = {3: 0.3, 4: 1.3, 5: 84}
#: Bytes a millisecond, and wedges a millisecond (an entry read and one more in a counter).
BANDWIDTH, WEDGES = 4.3e9, 1.07e9
#: Timed runs, and seconds from which on one is enough.
RUNS_OF_SEVERAL, LONG = 3, 8
#: Timed public calls.
RUNS_OF_CALLS = 7


def measure(name, graph):
    ranked, _ = wall(lambda: ranked_of(graph), cupy)
    graph._cache.clear()
    ranked, ranking = wall(lambda: ranked_of(graph), cupy)
    wedges = int(wedges_of(ranked)[1].sum())
    print(f"{name}: {graph}, ranked in {1e3 * ranking:.1f} ms, {wedges:,} wedges", flush=True)
    return [timed(name, graph, ranked, ranking, wedges, length) for length in LENGTHS]


def timed(name, graph, ranked, ranking, wedges, length):
    method = select_method(length)
    found = METHODS[method]

    def ready():
        order = heaviest_first(found.work(ranked, length))
        return order, found.run(ranked, order, length)

    (order, solver), _ = wall(ready, cupy)
    _, first = wall(lambda: solver.count(0, len(order)), cupy)
    (order, solver), making_ready = wall(ready, cupy)

    def act():
        solver.begin()
        solver.count(0, len(order))
        return solver.counts

    ms = record.spread(event_times(act, cupy))
    result, whole = wall(lambda: ew.cycle_counts(graph, length), cupy)
    warm, fresh = (median_call(make, length) for make in (lambda: graph, lambda: of_same_rows(graph)))
    right = result.total == DBLP[length] if name == "com-DBLP" else bool(result.verify())
    moved = 4 * len(ranked.neighbours) + 16 * ranked.n_vertices
    floor = max(moved / BANDWIDTH, 0 if length == 3 else wedges / WEDGES)
    published = name == "com-DBLP"
    row = {
        "graph": name, "vertices": graph.n_vertices, "edges": len(ranked.neighbours) // 2, "wedges": wedges,
        "length": length, "method": method, "total": result.total, "right": right, "ms": ms,
        "ranking_ms": 1e3 * ranking, "ready_ms": 1e3 * making_ready, "first_s": first,
        "call_ms": 1e3 * whole, "warm_call_ms": warm, "fresh_call_ms": fresh, "floor_ms": floor,
        "bar_ms": BARS[length] if published else None,
        "g2miner_ms": G2MINER[length] if published else None,
    }  # fmt: skip
    print(
        f"  k = {length} {method:17s} {ms['median']:9.3f} ms ({ms['least']:.3f} to {ms['largest']:.3f}), "
        f"{ms['median'] / floor:.0f} x floor, ready in {1e3 * making_ready:.2f}, call {warm:.2f}, "
        f"fresh {fresh:.2f}, "
        f"total {result.total:,} {'right' if right else 'WRONG'}",
        flush=True,
    )
    return row


def of_same_rows(graph):
    """A new graph of the rows that are on the GPU."""
    return ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))


def median_call(make, length):
    """Milliseconds of the whole public call on a graph that ``make()`` returns, median."""
    runs = [wall(partial(ew.cycle_counts, make(), length), cupy)[1] for _ in range(RUNS_OF_CALLS)]
    return 1e3 * record.spread(runs)["median"]


def several(name, length):
    """One GPU, two, and so on, and with the CPU beside them; wall time of counting."""
    graph, rows, alone, counts = ew.generate.named(name).to("cuda:0"), [], None, None
    gpus = cupy.cuda.runtime.getDeviceCount()
    ew.cycle_counts(ew.generate.rmat(13, seed=1).to("cuda:0"), length, devices="cpu+cuda", schedule="static")
    teams = [",".join(f"cuda:{i}" for i in range(count)) for count in range(1, gpus + 1)]
    for devices in (*teams, "cpu+cuda"):
        seconds = []
        for _ in range(1 + RUNS_OF_SEVERAL):
            start = time.perf_counter()
            found = ew.cycle_counts(graph, length, devices=devices, force=True)
            seconds.append(found.seconds)
            print(f"    {devices}: {found.seconds:.3f} s of {time.perf_counter() - start:.3f}", flush=True)
            if found.seconds > LONG:
                break
        counts = found.counts if counts is None else counts
        right = bool((counts == found.counts).all())
        least = min(seconds[1:] or seconds)
        alone = alone or least
        rows.append(
            {
                "graph": name,
                "length": length,
                "devices": devices,
                "taking_part": list(found.devices),
                "total": found.total,
                "right": right,
                "seconds": record.spread(seconds[1:] or seconds),
                "speedup": alone / least,
            }
        )
        print(
            f"  {name} k = {length} {devices}: {least:.3f} s, {alone / least:.2f} x one GPU, {right=}",
            flush=True,
        )
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="*", help="'several', or graphs of edgewise.generate.named")
    parser.add_argument("--file", help="com-DBLP as SNAP has it")
    parser.add_argument("--graph", default="rmat20")
    parser.add_argument("--length", type=int, default=5)
    options = parser.parse_args()
    if options.graphs == ["several"]:
        rows = several(options.graph, options.length)
        print(record.write("cycles-several-gpu", rows))
    else:
        rows = measure("com-DBLP", ew.read(options.file).to("cuda")) if options.file else []
        for name in options.graphs or GRAPHS:
            rows += measure(name, ew.generate.named(name, device="cuda"))
        print(record.write("cycles-gpu", rows))
    if not all(row["right"] for row in rows):
        sys.exit("WRONG counts")


if __name__ == "__main__":
    main()
