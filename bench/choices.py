"""What ``auto`` takes for connected components, beside every method that it could take, each on a new graph.

    python bench/choices.py --threads 2 16                          edge lists and rows on CPU cores
    python bench/choices.py --device cuda                           the same on a GPU
    python bench/choices.py --show bench/results/choices-cpu.json   the ratios of a result, without measuring

A size is a binary logarithm of the number of vertices.  Vertices are numbered as the generator does, or at
random (``permuted``), and the edges of a list come as they are made, or at random (``mixed``).  All methods
run in turn.  A time is that of the public call on a graph that nothing has been derived of, and ``judging``
that of the choice alone.  ``--limit`` ends the sweep after so many seconds, and what was done is kept.
"""

import math
import os
import statistics
import time
from functools import partial
from typing import NamedTuple

import families
from harness import compared, main, ms_of, part, seconds

#: Graphs of a fixed size that are measured on a GPU beside the families: R-MAT by scale and edge factor, and
#: named ones.
RMAT = {"rmat20 x 64": (20, 64), "rmat24 x 8": (24, 8)}
FIXED = ("road4096", *RMAT)
SIZES = {"cpu": (10, 14, 16, 18, 20), "cuda": (12, 16, 18, 20, 21, 22)}
#: Methods that are left out: those for the other kind of device, which every device can run.
OTHERS = {
    "cpu": ("edge-filter", "edge-reach", "hang-rem", "hook-sample"),
    "cuda": ("rem-sequential", "rem-ranges", "rem-edge-sample", "ecl-pairs"),
}
FORMS = {"edges": ("natural", "permuted", "natural mixed", "permuted mixed"), "rows": families.ORDERS}
#: Runs of a method, at least and at most, and seconds that it may take in all after the least number.
LEAST, MOST, ENOUGH = 5, 25, 0.06
#: Bars: a new graph against the plain method and against the best, and judging against the call; all of them
#: beyond so many milliseconds.
PLAIN, SLOWER, FAR, JUDGING, BEYOND_MS = "rem", 1.05, 1.10, 0.03, 0.005


class Point(NamedTuple):
    """A graph: its name, the binary logarithm of its size (0 for one of a fixed size), and its order."""

    name: str
    size: int
    order: str


def generated(name, size, device):
    """A graph by its name."""
    import edgewise as ew

    if name in families.FAMILIES:
        return families.FAMILIES[name](size, device)
    if name in RMAT:
        scale, factor = RMAT[name]
        return ew.generate.rmat(scale, edge_factor=factor, simple=True, device=device)
    return ew.generate.named(name, device=device)


def mixed(ends, module):
    """The edges of a list in random order."""
    module.random.seed(1)
    turn = module.random.permutation(len(ends[0]))
    return tuple(module.ascontiguousarray(end[turn]) for end in ends)


def makers(point, device):
    """Pairs of a form and order, and of what makes new graphs of it."""
    import numpy

    import edgewise as ew

    module = numpy
    if device != "cpu":
        import cupy as module
    made = generated(point.name, point.size, device)
    for order in families.ORDERS:
        graph = families.permuted(made) if order == "permuted" else made
        n, ends, rows = graph.n_vertices, (graph.sources, graph.targets), (graph.offsets, graph.neighbours)
        yield ("rows", order), partial(ew.Graph, n, rows=(*rows, None))
        yield ("edges", order), partial(ew.Graph, n, edges=(*ends, None))
        yield ("edges", f"{order} mixed"), partial(ew.Graph, n, edges=(*mixed(ends, module), None))


def candidates(form, device):
    """The methods that read a form, and the plain one."""
    from edgewise.components import METHODS

    found = [name for name, one in METHODS.items() if form in one.reads and not one.baseline]
    return list(dict.fromkeys([PLAIN, *(name for name in found if name not in OTHERS[device])]))


def call_seconds(make, method):
    """Seconds of a call on a new graph."""
    import edgewise as ew

    return seconds(partial(ew.connected_components, make(), method=method))


def measured(make, methods):
    """Times of all methods in turn by name, each on new graphs, in seconds; slow ones run less often."""
    times = {method: [] for method in methods}
    for method in methods:
        call_seconds(make, method)  # compiles, if it is the first
    for turn in range(MOST):
        first = turn % len(methods)  # what runs before changes what is in the caches
        for method in (*methods[first:], *methods[:first]):
            spent = times[method]
            if turn < LEAST or sum(spent) < ENOUGH:
                spent.append(call_seconds(make, method))
    return times


def rows_of(point, options):
    """The rows of a point, one for each form, order and number of threads."""
    from edgewise.components.selection import select_method
    from edgewise.device import threads

    for (form, order), make in makers(point, options.device):
        if form not in options.forms or order not in options.orders:
            continue
        methods = ["auto", *candidates(form, options.device)]
        for count in options.threads if options.device == "cpu" else (0,):
            threads.use(count or None)
            times = measured(make, methods)
            judging = [seconds(partial(select_method, make())) for _ in range(9)]
            graph = make()
            row = {
                **point._replace(order=order)._asdict(),
                "form": form,
                "threads": count,
                "vertices": graph.n_vertices,
                "edges": graph.n_edges,
                "taken": select_method(graph),
                "judging_ms": 1e3 * statistics.median(judging),
                "fresh_ms": {name: ms_of(spent) for name, spent in times.items()},
            }
            yield row


def ms(row, method):
    """Milliseconds of a method on new graphs."""
    return row["fresh_ms"][method]["median"]


def name_of(row):
    size = f"2^{row['size']}" if row["size"] else ""
    return f"{row['name']:12s} {size:5s}{row['order']:15s} {row['form']:6s}"


def report(rows):
    """Lines about the bars, and about what each method gains over all others."""
    for form, count in dict.fromkeys((row["form"], row["threads"]) for row in rows):
        found = [row for row in rows if (row["form"], row["threads"]) == (form, count)]
        yield f"--- {form}{f', {count} threads' if count else ''}: {len(found)} graphs"
        pairs = [(f"{name_of(row)} {row['taken']}; {best_of(row)}", ms(row, "auto"), row) for row in found]
        plain = [(name, spent, ms(row, PLAIN)) for name, spent, row in pairs]
        yield from compared(f"auto / {PLAIN}", plain, SLOWER, BEYOND_MS)
        best = [(name, spent, ms(row, best_of(row))) for name, spent, row in pairs]
        yield from compared("auto / the best", best, FAR, BEYOND_MS)
        late = [row for row in found if row["judging_ms"] > max(JUDGING * ms(row, "auto"), BEYOND_MS)]
        yield f"judging takes more than {100 * JUDGING:.0f} %: {len(late)}"
        for row in late:
            share = 100 * row["judging_ms"] / ms(row, "auto")
            yield f"    {share:4.0f} % of {ms(row, 'auto'):.3f} ms  {name_of(row)}"
        yield from without_each(found)


def best_of(row, without=()):
    """The fastest method of a row, apart from some."""
    return min((name for name in row["fresh_ms"] if name not in ("auto", *without)), key=partial(ms, row))


def without_each(rows):
    """Lines about every method: where it is the best, and how much longer the next best takes."""
    for method in dict.fromkeys(name for row in rows for name in row["fresh_ms"] if name != "auto"):
        gains = [
            (ms(row, best_of(row, {method})) / ms(row, method), row) for row in rows if best_of(row) == method
        ]
        most = max(gains, key=lambda pair: pair[0], default=None)
        text = f"; the next best takes up to {most[0]:.2f} ({name_of(most[1]).strip()})" if most else ""
        far = sum(ratio > FAR for ratio, _ in gains)
        yield f"{method}: the best of {len(gains)} graphs, of {far} by more than 10 %{text}"


def points(options):
    """The graphs, the smaller ones first."""
    names = options.names or (*families.FAMILIES, *(FIXED if options.device == "cuda" else ()))
    sizes = options.sizes or SIZES[options.device]
    yield from (Point(name, size, "") for size in sizes for name in names if name in families.FAMILIES)
    yield from (Point(name, 0, "") for name in names if name not in families.FAMILIES)


def rows(given):
    """A row for every graph, form, order and number of threads."""
    given.facts["device"] = given.device
    if given.device == "cpu":
        os.environ.setdefault("NUMBA_NUM_THREADS", str(max(given.threads)))
    end, wanted = time.monotonic() + given.limit, list(points(given))
    for done, point in enumerate(wanted):
        if time.monotonic() > end:
            print(f"out of time: {done} of {len(wanted)} graphs are done")
            break
        yield from rows_of(point, given)


PART = part(
    "choices-{kind}",
    rows,
    key=("name", "size", "order", "form", "threads"),
    summary=report,
    device="cpu",
    threads=[2],
    names=str,
    sizes=int,
    forms=[*FORMS],
    orders=[*FORMS["edges"]],
    limit=math.inf,
)

if __name__ == "__main__":
    main(__doc__, PART)
