"""Spanning forests of billions of edges: on one GPU, from host memory, and on several GPUs.

    python bench/forest_large.py resident          2.5 G edges, and more than 2**32, on one GPU
    python bench/forest_large.py host              1 G edges in page-locked memory, sent to a GPU in segments
    python bench/forest_large.py several           1 G edges on one GPU, and shared with others

Edges are drawn uniformly on the GPU, with weights 1 to 1000 (int32); an edge is 12 bytes.  The forest of the
first case is verified on the GPU: every edge comes after the path between its ends (see
:mod:`edgewise.forest.verification`), and there are as many trees as components.  The others find the same
edges twice, in different ways.
"""

import argparse
import json
import time

import numpy as np
import record

BLOCK = 1 << 26
SEED = 1


def draw(n_vertices, n_edges, room=None):
    """Columns of edges on the GPU, or copied into the arrays of ``room``."""
    import cupy

    from edgewise.device import streams

    generator, kinds = cupy.random.default_rng(SEED), (np.uint32, np.uint32, np.int32)
    columns = room or [cupy.empty(n_edges, kind) for kind in kinds]
    for start in range(0, n_edges, BLOCK):
        stop = min(start + BLOCK, n_edges)
        for column, (low, high), kind in zip(columns, ((0, n_vertices),) * 2 + ((1, 1001),), kinds):
            made = generator.integers(low, high, stop - start, dtype=kind)
            streams.copy(column[start:stop], made)
            cupy.cuda.get_current_stream().synchronize()
    return columns


def free():
    import cupy

    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.get_default_memory_pool().free_all_blocks()


def timed(runs, call, *arguments, **named):
    """The last result, and the seconds of each run but the first, after which everything is compiled."""
    times, result = [], None
    for _ in range(runs + 1):
        result = None
        start = time.perf_counter()
        result = call(*arguments, **named)
        times.append(time.perf_counter() - start)
    return result, times[1:] or times


def graph_of(n_vertices, columns):
    import edgewise as ew

    return ew.Graph(n_vertices, edges=tuple(columns))


def row_of(case, found, times, **more):
    spread = record.spread(times)
    graph = found.graph
    row = {"case": case, "vertices": graph.n_vertices, "edges": graph.n_edges, "method": found.method}
    row |= {"devices": list(found.devices), "seconds": spread, "trees": found.count, "weight": found.weight}
    row |= {"edges_per_s": graph.n_edges / spread["median"], **more}
    print(json.dumps(row), flush=True)
    return row


def verify_on_gpu(graph, forest):
    """Check on the GPU that every edge comes after all edges of the path between its ends."""
    import cupy

    import edgewise as ew
    from edgewise.device import arrays
    from edgewise.forest.verification import NEVER, UnionTree, find_joining_merges, union_tree

    edges, weights = forest.edges, forest.weights
    ranked = edges[cupy.lexsort(cupy.stack([edges, weights.astype(np.int64)]))]
    ends = (arrays.move(column[ranked], "cpu") for column in (graph.sources, graph.targets))
    tree = union_tree(graph.n_vertices, *ends)
    assert int((tree.merges != NEVER).sum()) == len(edges), "a cycle"
    tree = UnionTree(*(arrays.move(column, graph.device) for column in tree))
    for start in range(0, graph.n_edges, BLOCK * 4):
        part = slice(start, min(start + BLOCK * 4, graph.n_edges))
        merges = cupy.empty(part.stop - start, np.int64)
        find_joining_merges(len(merges), graph.sources[part], graph.targets[part], tree, merges)
        assert not bool((merges == NEVER).any()), "an edge joins two trees"
        inside = cupy.flatnonzero(merges >= 0)
        last, here, positions = ranked[merges[inside]], graph.weights[part][inside], inside + start
        theirs = graph.weights[last]
        assert not bool(((here < theirs) | ((here == theirs) & (positions < last))).any()), "not the lightest"
    del tree, merges, inside, last, here, theirs, positions
    free()
    assert forest.count == ew.connected_components(graph, method="rem").count


def resident(arguments):
    sizes = arguments.edges or (2_500_000_000, 4_500_000_000)
    return [resident_case(arguments.vertices, n_edges, number) for number, n_edges in enumerate(sizes)]


def resident_case(n_vertices, n_edges, number):
    import edgewise as ew

    graph = graph_of(n_vertices, draw(n_vertices, n_edges))
    free()
    found, times = timed(1 if number else 3, ew.minimum_spanning_forest, graph)
    row = row_of("resident", found, times, place="cuda:0", gb=used())
    free()
    if number:
        assert found.count == ew.connected_components(graph, method="rem").count
        return row
    start = time.perf_counter()
    assert bool((by_segments(graph).positions == found.edges).all())
    print(f"the same edges by segments in {time.perf_counter() - start:.2f} s", flush=True)
    free()
    start = time.perf_counter()
    verify_on_gpu(graph, found)
    print(f"verified in {time.perf_counter() - start:.1f} s", flush=True)
    return row


def used():
    """Bytes of the GPU that the library holds, in GB."""
    import cupy

    return cupy.get_default_memory_pool().total_bytes() / 1e9


def by_segments(graph):
    """The forest's edges by reductions on the first GPU."""
    from edgewise.forest import METHODS, several
    from edgewise.forest.reduction import Goal
    from edgewise.workers import WorkQueue

    goal = Goal(graph.n_vertices, False, METHODS["boruvka"].run)
    columns = graph.sources, graph.targets, graph.weights
    queue = WorkQueue(graph.n_edges, several.SEGMENT_EDGES)
    return several.forest_by_segments(goal, columns, 0, queue, "cuda:0").forest


def host(arguments):
    import cupy

    import edgewise as ew
    from edgewise.device import streams

    rows = []
    rate = link_rate(cupy, streams)
    print(f"page-locked memory to the GPU: {rate / 1e9:.1f} GB/s", flush=True)
    n_edges = (arguments.edges or [1 << 30])[0]
    room = [streams.pinned(n_edges, kind, "cuda:0") for kind in (np.uint32, np.uint32, np.int32)]
    for n_vertices in (arguments.vertices >> 3, arguments.vertices):
        draw(n_vertices, n_edges, room)
        graph = graph_of(n_vertices, room)
        forest, times = timed(arguments.runs, by_segments, graph)
        seconds = record.spread(times)
        row = {"case": "host", "vertices": n_vertices, "edges": n_edges, "seconds": seconds}
        row |= {"method": "boruvka, in segments", "devices": ["cuda:0"], "place": "cpu"}
        row |= {"share_of_link": 12 * n_edges / seconds["median"] / rate, "gb": used()}
        rows.append(row)
        print(json.dumps(row), flush=True)
        free()
        start = time.perf_counter()
        found = ew.minimum_spanning_forest(graph, device="cuda")
        print(f"copied, then solved: {time.perf_counter() - start:.2f} s ({found.seconds:.3f} s)", flush=True)
        assert bool((found.edges == forest.positions).all())
        del found, forest
        free()
    return rows


def link_rate(cupy, streams):
    """Bytes per second of copies from page-locked memory, the median."""
    there = cupy.empty(1 << 28, np.uint32)
    here = streams.pinned(len(there), np.uint32, "cuda:0")
    here.fill(1)
    rates = []
    for _ in range(5):
        cupy.cuda.get_current_stream().synchronize()
        start = time.perf_counter()
        streams.copy(there, here)
        cupy.cuda.get_current_stream().synchronize()
        rates.append(here.nbytes / (time.perf_counter() - start))
    return sorted(rates)[len(rates) // 2]


def several(arguments):
    from edgewise.device import streams

    n_edges, rows = (arguments.edges or [1 << 30])[0], []
    room = [streams.pinned(n_edges, kind, "cuda:0") for kind in (np.uint32, np.uint32, np.int32)]
    for n_vertices in (arguments.vertices >> 3, arguments.vertices):
        rows += several_cases(graph_of(n_vertices, draw(n_vertices, n_edges)), "cuda:0", arguments.runs)
        free()
        rows += several_cases(graph_of(n_vertices, draw(n_vertices, n_edges, room)), "cpu", arguments.runs)
        free()
    return rows


def several_cases(graph, place, runs):
    """One GPU, and several, on a graph that is on the first one or in page-locked memory."""
    import edgewise as ew
    from edgewise.device import arrays

    found, times = timed(runs, ew.minimum_spanning_forest, graph, device="cuda:0")
    rows, edges = [row_of("one GPU", found, times, place=place)], arrays.move(found.edges, "cpu")
    for count in range(2, 1 + arrays.gpu_count()):
        team = [f"cuda:{number}" for number in range(count)]
        found, times = timed(runs, ew.minimum_spanning_forest, graph, devices=team)
        assert np.array_equal(arrays.move(found.edges, "cpu"), edges)
        speedup = rows[0]["seconds"]["median"] / record.spread(times)["median"]
        rows.append(row_of(f"{count} GPUs", found, times, place=place, speedup=speedup))
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=("resident", "host", "several"))
    parser.add_argument("--vertices", type=int, default=1 << 26)
    parser.add_argument("--edges", type=int, nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    rows = {"resident": resident, "host": host, "several": several}[arguments.case](arguments)
    print(record.write(f"forest-large-{arguments.case}", rows))


if __name__ == "__main__":
    main()
