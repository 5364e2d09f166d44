"""Label propagation by a thread, a warp or a block a row, on the three graphs of Baltzakis.

    python bench/propagate.py gpu                    stand-ins of the published sizes, made on the GPU
    python bench/propagate.py cpu --size small       the same graphs, smaller; the CPU has one width

Milliseconds by device events, the graph resident as rows, after a warm run, median of nine; where a run takes
longer than a second there are three, where it takes longer than five the first is the only one.  A run goes
to the end: until a whole round has changed nothing.  Every labelling is compared with that of ``auto``
components, whose time stands beside, and distinct labels are counted by sorting.
"""

import argparse
import sys
import time
from functools import partial

import record

import edgewise as ew
from edgewise.components.propagate import propagate_and_count
from edgewise.components.symmetric_csr import symmetric_csr
from edgewise.device import arrays
from edgewise.experiments.graphs import BALTZAKIS
from edgewise.primitives import unique

#: Widths, the dearest last.
WIDTHS = ("thread", "warp", "auto", "block")
RUNS, LONG, VERY_LONG = 9, 1e3, 5e3


def measure(names, device, size):
    rows = [row for name in names or BALTZAKIS for row in graph_rows(name, device, size)]
    if not all(row["right"] for row in rows):
        sys.exit("some labels are WRONG")
    record.write(f"propagate-{'gpu' if device != 'cpu' else 'cpu'}", rows, size=size)


def graph_rows(name, device, size):
    start = time.perf_counter()
    graph = BALTZAKIS[name].generate(size, device)
    rows = symmetric_csr(graph)
    by_length = {width: len(chosen) or graph.n_vertices for width, chosen in rows.by_length}
    arrays.synchronize(device)
    facts = {
        "graph": name,
        "vertices": graph.n_vertices,
        "entries": len(graph.neighbours),
        "degree": len(graph.neighbours) / graph.n_vertices,
        "make_s": time.perf_counter() - start,
        "bins": by_length,
    }
    print(f"{name}: {graph}, mean degree {facts['degree']:.1f}, bins {by_length}", flush=True)
    expected = ew.connected_components(graph)
    facts |= {"components": expected.count, "distinct": len(unique(expected.labels)[0])}
    yield auto_components(graph, device, facts)
    for width in WIDTHS:
        yield way(graph, rows, width, expected.labels, device, facts)


def auto_components(graph, device, facts):
    method = ew.connected_components(graph).method
    run = partial(ew.connected_components, graph, method=method)
    row = facts | {"rows": "components", "method": method, "right": True, "ms": spread(run, device)}
    return told(row)


def way(graph, rows, width, expected, device, facts):
    found = {}

    def run():
        found["labels"], found["rounds"] = propagate_and_count(graph.n_vertices, rows, width)

    ms = spread(run, device)
    row = {
        **facts,
        "rows": width,
        "rounds": found["rounds"],
        "right": bool((found["labels"] == expected.view(found["labels"].dtype)).all()),
        "ms": ms,
        "ms_a_round": ms["median"] / found["rounds"],
    }
    return told(row)


def told(row):
    rounds = (
        f"{row['rounds']:5d} rounds, {row['ms_a_round']:8.3f} ms each" if "rounds" in row else row["method"]
    )
    ms = row["ms"]
    print(
        f"  {row['rows']:10s} {ms['median']:10.3f} ms ({ms['least']:.3f} to "
        f"{ms['largest']:.3f}, {ms['runs']} runs)  {rounds}  {'right' if row['right'] else 'WRONG'}",
        flush=True,
    )
    return row


def spread(run, device):
    """Spread of the milliseconds.  The first run is a warm-up, unless it takes very long: then it is it."""
    clock = events if device != "cpu" else wall
    first = clock(run)
    if first > VERY_LONG:
        return record.spread([first])
    return record.spread([clock(run) for _ in range(3 if first > LONG else RUNS)])


def events(run):
    import cupy

    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.runtime.deviceSynchronize()
    begin.record()
    run()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end)


def wall(run):
    start = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where", choices=["cpu", "gpu"])
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--size", default="paper")
    options = parser.parse_args()
    device = "cuda:0" if options.where == "gpu" else "cpu"
    for width in WIDTHS:  # every kernel compiled and loaded before a clock starts
        tiny = BALTZAKIS["Queen_4147"].generate("tiny", device)
        propagate_and_count(tiny.n_vertices, symmetric_csr(tiny), width)
    measure(options.graphs, device, options.size)


if __name__ == "__main__":
    sys.exit(main())
