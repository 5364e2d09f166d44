"""Connected components on several GPUs of one machine.

    python bench/several.py                  everything: speed-up, weak scaling, all merges
    python bench/several.py speedup rmat24   one part, one graph

The graph is resident: its edges lie on the GPUs as ``graph.split`` spreads them, and the labels end up on the
first.  Times are of the host, all GPUs synchronised before and after, median of nine.  ``local`` is the time
until every GPU has labelled its share; the rest is the merge.  One GPU runs the same method on all edges.
Labels of every run are compared with those of one GPU.
"""

import argparse
import sys
import time
from functools import partial

import cupy
import record

import edgewise as ew
from edgewise.components import MERGES, METHODS
from edgewise.components.merge import choose_merge
from edgewise.components.merge import label_parts as label_each
from edgewise.components.selection import select_method

RUNS = 9
#: Graphs of the speed-up table: more than a billion edges each, and the five of the one-GPU table.
LARGE = {
    "rmat24": lambda: ew.generate.rmat(24, edge_factor=64, seed=1, device="cuda"),
    "rmat26": lambda: ew.generate.rmat(26, edge_factor=16, seed=1, device="cuda"),
    "rgg24 x 10": lambda: expanded(24, 10),
}
SMALL = ("rmat22", "uniform22", "road4096", "road4096-shuffled", "rgg21")
#: Weak scaling: the graph for so many GPUs.
WEAK = {
    "rgg22 x GPUs": lambda gpus: expanded(22, gpus),
    "rgg24 x GPUs": lambda gpus: expanded(24, gpus),
    "rmat24, 2^28 edges a GPU": lambda gpus: ew.generate.rmat(24, edge_factor=16 * gpus, device="cuda"),
}


def expanded(scale, copies):
    """The thesis' expanded graphs: copies of one random geometric graph (Hellås 2018, Table 6.2)."""
    graph = ew.generate.rgg(1 << scale, mean_degree=15.8, seed=1, device="cuda")
    return ew.generate.replicate(graph, copies)


def teams():
    """1, 2, 4 ... GPUs."""
    count = cupy.cuda.runtime.getDeviceCount()
    sizes = [size for size in (1, 2, 3, 4, 8) if size <= count]
    return [[f"cuda:{number}" for number in range(size)] for size in sizes]


def settle():
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.cuda.runtime.deviceSynchronize()


def timed(action, runs=RUNS):
    """Milliseconds of the action, after two warm runs."""
    times = []
    for run in range(runs + 2):
        settle()
        start = time.perf_counter()
        action()
        settle()
        if run > 1:
            times.append(1e3 * (time.perf_counter() - start))
    return record.spread(times)


def empty():
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.get_default_memory_pool().free_all_blocks()


def one_gpu(name, graph):
    """Time and labels of one GPU."""
    result = ew.connected_components(graph)
    row = {
        "graph": name,
        "form": "rows" if "rows" in graph.made_of else "edges",
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "components": result.count,
        "gpus": 1,
        "merge": None,
        "method": result.method,
        "ms": timed(lambda: ew.connected_components(graph)),
    }
    tell(row)
    return row, result._labels


def on_team(name, graph, team, expected, base, ways=("edges", "range")):
    """Rows of every merge for one team."""
    rows = []
    for by in ways:
        settle()
        start = time.perf_counter()
        split = graph.split(team, by=by)
        settle()
        facts = {"graph": name, "gpus": len(team), "split_s": time.perf_counter() - start}
        merges = [name for name, merge in MERGES.items() if merge.by == by]
        for merge in merges:
            row = {**facts, **measured(split, merge, expected, base)}
            row["auto"] = several_auto(graph, team) == (by, merge)
            tell(row)
            rows.append(row)
        del split
    return rows


def on_team_with_rows(name, graph, team, expected):
    """The same with rows built everywhere, which lets sampling methods skip most of them."""
    graph = graph.prepare("components")
    base, labels = one_gpu(name, graph)
    base["right"] = bool((labels == expected).all())
    split = graph.split(team)
    split.parts = [part._replace(graph=part.graph.prepare("components")) for part in split.parts]
    rows = [base]
    for merge in ("ranges",) if split.by == "range" else ("peer",):
        rows.append({"graph": name, "gpus": len(team), **measured(split, merge, expected, base)})
        tell(rows[-1])
    return rows


def measured(split, merge, expected, base):
    method, labels = solve(split, merge)
    ms = timed(lambda: solve(split, merge))
    return {
        "form": "rows" if "rows" in split.parts[0].graph.made_of else "edges",
        "merge": merge,
        "method": method,
        "ms": ms,
        "local_ms": timed(lambda: label_parts(split), 3)["median"],
        "speedup": base["ms"]["median"] / ms["median"],
        "right": bool((labels == expected).all()),
    }


def solve(split, merge):
    """Method and labels."""
    result = ew.connected_components(split, merge=merge)
    return result.method, result._labels


def several_auto(graph, team):
    """The split and the merge that ``auto`` would take."""
    split = graph.split(team)
    return split.by, choose_merge(split)


def label_parts(split):
    """Only the workers' own shares."""
    label_each(split, [partial(local, part.graph) for part in split.parts])


def local(graph):
    """Label one share without waiting for the device."""
    method = METHODS[select_method(graph)]
    return method.run(graph.n_vertices, *method.form_of(graph))


def tell(row):
    star = "*" if row.get("auto") else " "
    extra = ""
    if row["gpus"] > 1:
        extra = (
            f"local {row['local_ms']:8.3f}  speed-up {row['speedup']:.2f}  "
            f"{'right' if row['right'] else 'WRONG'}"
        )
    ms = row["ms"]
    print(
        f"{row['graph']:26s} {row['form']:5s} {row['gpus']} GPUs {star}{row['merge'] or '-':14s} "
        f"{ms['median']:9.3f} ms ({row['ms']['least']:.3f} to {row['ms']['largest']:.3f})  {extra}",
        flush=True,
    )


def speedup(names):
    rows = []
    for name in names or [*LARGE, *SMALL]:
        graph = LARGE[name]() if name in LARGE else ew.generate.named(name, device="cuda")
        settle()
        base, expected = one_gpu(name, graph)
        rows.append(base)
        for team in teams()[1:]:
            rows += on_team(name, graph, team, expected, base)
        if name in LARGE:
            rows += on_team_with_rows(name, graph, teams()[-1], expected)
        del graph, expected
        empty()
    return rows


def weak(names):
    """The same share of work for every GPU: time on one over time on many."""
    rows = []
    for name in names or WEAK:
        for team in teams():
            graph = WEAK[name](len(team))
            row, expected = one_gpu(name, graph)
            if len(team) == 1:
                base = row
                row["efficiency"] = 1.0
                rows.append(row)
            else:
                merges = on_team(name, graph, team, expected, row, [several_auto(graph, team)[0]])
                for found in merges:
                    found["efficiency"] = base["ms"]["median"] / found["ms"]["median"]
                    print(f"    {found['merge']}: weak scaling {found['efficiency']:.0%}")
                rows += merges
            del graph, expected
            empty()
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=["all", "speedup", "weak"], default="all")
    parser.add_argument("graphs", nargs="*")
    options = parser.parse_args()
    rows = {}
    if options.part in ("all", "speedup"):
        rows["speedup"] = speedup(options.graphs)
    if options.part in ("all", "weak"):
        rows["weak"] = weak(options.graphs)
    gpus = cupy.cuda.runtime.getDeviceCount()
    record.write(
        "several-gpu", [{"part": part, **row} for part, many in rows.items() for row in many], gpus=gpus
    )
    if not all(row.get("right", True) for many in rows.values() for row in many):
        sys.exit("some labels are WRONG")


if __name__ == "__main__":
    main()
