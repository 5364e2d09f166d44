"""Public calls over families, sizes, orders of ids, sources and threads, beside a state before and programs.

    GAPBS=folder python bench/surface.py sizes --sizes 16 19            two cores, GAP's programs in turn
    python bench/surface.py sizes --device cuda --sizes 16 17 18 19     one GPU
    python bench/surface.py sizes --against OLD                         a state before in turn
    python bench/surface.py sizes --against OLD --named rmat20 road1500 --processes 3 --name two-states
    GAPBS=folder WASP=program python bench/surface.py threads           1, 2, 4, ... threads, GAP and Wasp
    python bench/surface.py threads --named rmat20 urand20 --threads 2 --name named-cpu

Ours is the whole public call, on a warm graph and on a new one over the same arrays, on the device of the
graph; ``kernel`` is what ``result.seconds`` says.  Times are medians.  The folder ``OLD`` holds the package
of a state before, whose process has the same graphs and is asked in turn with ours; answers must be equal.
Programs get the best delta of several.  ``--limit`` ends a sweep after so many seconds, and what was done is
kept.  ``--processes`` repeats it with new processes, whose memory is laid out anew.

``sizes``: a size is a binary logarithm of the number of vertices.  The bars are evaluated at the end: against
GAP, or along the sizes and between the sources.  Points above a bar, and those that they are compared with,
are measured ``--again`` so many times, and the medians are those of all runs: a host that pauses makes other
points slow each time, a cliff the same.

``threads``: graphs of families, and road networks of ``--roads`` (files that :func:`edgewise.read` reads),
alone and as copies that are joined, held as rows.  The largest number of threads comes first, and a number on
which a call would take longer than ``--longest`` seconds is left out.  ``pictures.py`` draws both.
"""

import math
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import families
import peer_programs
from harness import ROOT, main, ms_of, part
from served import CALLS, Served

import edgewise as ew

SIZES = {"cpu": (16, 19, 21), "cuda": tuple(range(16, 24))}
#: Calls that depend on the source.
SEARCHES = ("bfs", "sssp")
#: Bars on the CPU: geometric mean of the ratio to GAP by call; largest ratio, beyond so many milliseconds.
MEANS = {"components rows": 0.60, "bfs": 0.65, "sssp": 0.80}
WORST, BEYOND_MS = 1.15, 0.02
#: Bars on a GPU: rise of the time per entry when the graph doubles, ratio of two sources, floor of a call.
RISE, SOURCES, FLOOR_MS = 1.3, 2.0, 0.15
#: Bars on threads: a call over GAP's, their geometric mean, over Wasp's on roads, and over fewer threads.
EACH, MEAN, WASP, SLOWER = 1.0, 0.8, 1.15, 1.05
ROADS = ("grid", "road")


class Point(NamedTuple):
    """A graph of the surface: family or name, binary logarithm of the size, and order of the ids."""

    family: str
    size: int
    order: str


class Sweep:
    """What measures one call after the other: a process for each state, and other programs."""

    def __init__(self, given, folder):
        self.given, self.folder = given, Path(given.folder or folder)
        self.end = time.perf_counter() + given.limit
        self.most = max(given.threads) if isinstance(given.threads, list) else given.threads
        states = {"new": ROOT} | ({"old": Path(given.against).resolve()} if given.against else {})
        caches = {name: given.cache and Path(given.cache) / name for name in states}
        self.states = {name: Served(at, self.most, caches[name]) for name, at in states.items()}
        self.ask(act="hold", device=given.device)
        self.place = None

    def is_over(self):
        """Whether the time is up."""
        return time.perf_counter() > self.end

    def ask(self, **request):
        """The answers of all states."""
        return [state.ask(**request) for state in self.states.values()]

    def close(self):
        """End the processes."""
        for state in self.states.values():
            state.close()

    def load(self, point, make=None):
        """Let all states hold a graph; return its facts."""
        if self.given.device != "cpu":
            return self.ask(act="make", family=point.family, k=point.size, order=point.order)[0]
        name = "-".join(map(str, point if point.size else (point.family, point.order)))
        make = make or partial(families.generate, *point)
        self.place = families.kept(self.folder, name, make)
        return self.ask(act="load", place=str(self.place))[0]

    def sides(self, call, source):
        """What gives the seconds of a side by kind, on a number of threads, after those that it has taken."""
        sides = {name: partial(self.ours, state, call, source) for name, state in self.states.items()}
        if self.given.device != "cpu" or call not in peer_programs.PROGRAMS:
            return sides, None
        file, delta = partial(families.file_of, self.place, peer_programs.PROGRAMS[call][1]), None
        if peer_programs.gapbs_is_there():
            run = partial(peer_programs.gapbs, call, file(), source=source)
            sides["gapbs"], delta = self.program(run, call == "sssp")
        if peer_programs.wasp_is_there() and call == "sssp":
            sides["wasp"], _ = self.program(partial(peer_programs.wasp, file(), source=source), True)
        return sides, delta

    def ours(self, state, call, source, threads, taken):
        """Seconds of our call on one state, and a digest of its answer."""
        request = {"call": call, "source": source, "runs": self.given.runs, "threads": threads}
        prepared = self.given.prepared and call in SEARCHES
        return state.ask(act="time", prepared=prepared, **request)

    def program(self, run, has_delta):
        """A side from what runs a program, with its best delta."""
        delta = None
        if has_delta:
            delta = peer_programs.best_delta(lambda one: run(threads=self.most, trials=2, delta=one))
            run = partial(run, delta=delta)

        def side(threads, taken):
            trials = max(1, min(self.given.runs, int(1 / statistics.median(taken)))) if taken else 1
            return {"warm": run(threads=threads, trials=trials)}

        return side, delta

    def measure(self, sides, threads, times):
        """Add the seconds of all sides in turn, by side and kind."""
        for turn in range(self.given.rounds):
            digests = set()
            for side in list(sides) if turn % 2 == 0 else reversed(sides):
                taken = times.get((side, "warm"), [])
                if len(taken) >= 3 and sum(taken) > self.given.longest:
                    continue
                found = sides[side](threads, taken)
                digests |= {found.pop("digest")} if "digest" in found else set()
                for kind, spent in found.items():
                    times.setdefault((side, kind), []).extend(spent)
            if len(digests) > 1:
                sys.exit("the states give different answers")
        return times


def median(row, column="ms"):
    """Milliseconds of a column, or None."""
    return row[column]["median"] if column in row else None


# -- Sizes ---------------------------------------------------------------------------------------------------


def points(given):
    """The points in the order in which they are measured: the smaller graphs of all families first."""
    if given.named:
        return [Point(name, 0, "natural") for name in given.named]
    return [
        Point(family, size, order)
        for size in given.sizes or SIZES[given.device.partition(":")[0]]
        for family in given.families
        for order in given.orders
    ]


def sizes(given):
    """Calls over families, sizes, orders of ids and sources."""
    given.facts |= {"device": given.device.partition(":")[0], "threads": given.threads}
    found, times, wanted = {}, {}, points(given)
    for number in range(given.processes):
        with tempfile.TemporaryDirectory() as folder:
            sweep, done = Sweep(given, folder), 0
            for point in wanted:
                for row in () if sweep.is_over() else point_rows(sweep, point, times):
                    found[key_of(row)] = row
                    yield row
                done += not sweep.is_over()
            for _ in range(given.again if number + 1 == given.processes else 0):
                over = above_bars(list(found.values()))
                for point in dict.fromkeys(key[0] for key in over):
                    yield from point_rows(sweep, point, times, over)
            sweep.close()
    print(f"{done} of {len(wanted)} graphs were measured")


def point_rows(sweep, point, times, wanted=None):
    """Yield a row for every call and source of a point, or for those wanted, until the time is up."""
    facts = sweep.load(point)
    counts = {key: facts[key] for key in ("vertices", "entries")}
    for call in sweep.given.calls:
        for name in facts["sources"] if call in SEARCHES else ("",):
            key = point, call, name
            if sweep.is_over() or (wanted and key not in wanted):
                continue
            sides, delta = sweep.sides(call, facts["sources"].get(name, 0))
            spent = sweep.measure(sides, sweep.given.threads, times.setdefault(key, {}))
            row = {**point._asdict(), "call": call, "source": name, **counts, "gapbs_delta": delta}
            yield row | {label(*one): ms_of(taken) for one, taken in spent.items() if taken}


def label(side, kind):
    """Name of a column of times, such as ``ms``, ``fresh_ms``, ``old_fresh_ms`` or ``gapbs_ms``."""
    return ("" if side == "new" else f"{side}_") + ("" if kind == "warm" else f"{kind}_") + "ms"


def bars_cpu(rows):
    """Lines about the bars against GAP, by call."""
    for call in dict.fromkeys(row["call"] for row in rows):
        found = [row for row in rows if row["call"] == call and "gapbs_ms" in row]
        if not found:
            continue
        ratios = [median(row) / median(row, "gapbs_ms") for row in found]
        mean, bar = statistics.geometric_mean(ratios), MEANS.get(call)
        over = over_cpu(rows, call)
        wanted = f", bar {bar:.2f} {'holds' if mean <= bar else 'MISSED'}" if bar else ""
        text = f"{call}: {len(found)} points, ours / gapbs geometric mean {mean:.2f}{wanted}"
        yield f"{text}; above {WORST}: {len(over)}"
        yield from (
            f"    {ratio:.2f}  {name_of(row)}"
            for ratio, row in sorted(over, key=lambda pair: pair[0], reverse=True)
        )


def over_cpu(rows, call):
    """The calls above the bar, as (ratio, row)."""
    return [
        (median(row) / median(row, "gapbs_ms"), row)
        for row in rows
        if row["call"] == call
        and "gapbs_ms" in row
        and median(row) > WORST * median(row, "gapbs_ms")
        and median(row) - median(row, "gapbs_ms") > BEYOND_MS
    ]


def compared_gpu(rows, column):
    """Rises along the sizes, and ratios of two sources, both as (ratio, row, other row)."""
    by_key = {
        (row["family"], row["order"], row["call"], row["source"], row["size"]): row
        for row in rows
        if column in row
    }
    rises, ratios = [], []
    for (*line, size), row in by_key.items():
        before = [other[-1] for other in by_key if list(other[:-1]) == line and other[-1] < size]
        if before and median(row, column) > FLOOR_MS:
            least = by_key[(*line, max(before))]
            rise = per_entry(row, column) / per_entry(least, column)
            rises.append((rise / RISE ** (size - max(before)) * RISE, row, least))
        if line[-1] == "elsewhere":
            other = by_key.get((*line[:-1], "hub", size), row)
            pair = [max(median(one, column), FLOOR_MS) for one in (row, other)]
            ratios.append((max(pair) / min(pair), row, other))
    return rises, ratios


def bars_gpu(rows, column="ms"):
    """Lines about the bars along the sizes and between the sources."""
    rises, ratios = compared_gpu(rows, column)
    for bar, found, text in (
        (RISE, rises, "rise of the time per entry, a doubling"),
        (SOURCES, ratios, "ratio of two sources"),
    ):
        over = sorted((one for one in found if one[0] > bar), key=lambda one: one[0], reverse=True)
        yield f"{text}: {len(found)} points, above {bar}: {len(over)} ({column})"
        yield from (
            f"    {ratio:.2f}  {name_of(row)}  {median(row, column):.3f} ms" for ratio, row, _ in over
        )


def key_of(row):
    """Point, call and source of a row."""
    return Point(row["family"], row["size"], row["order"]), row["call"], row["source"]


def above_bars(rows):
    """The keys of the rows above a bar, and of those that they are compared with."""
    if any("gapbs_ms" in row for row in rows):
        return {key_of(row) for call in CALLS for _, row in over_cpu(rows, call)}
    rises, ratios = compared_gpu(rows, "ms")
    over = [one for one in rises if one[0] > RISE] + [one for one in ratios if one[0] > SOURCES]
    return {key_of(row) for _, *pair in over for row in pair}


def per_entry(row, column):
    """Milliseconds per entry, of a call that takes at least the floor."""
    return max(median(row, column), FLOOR_MS) / max(row["entries"], 1)


def bars_states(rows):
    """Lines about the state before."""
    for call in dict.fromkeys(row["call"] for row in rows):
        for kind in ("ms", "fresh_ms", "kernel_ms"):
            ratios = [
                median(row, kind) / median(row, f"old_{kind}")
                for row in rows
                if row["call"] == call and kind in row and f"old_{kind}" in row
            ]
            if ratios:
                mean = statistics.geometric_mean(ratios)
                yield f"{call}, {kind}: new / old geometric mean {mean:.2f}, largest {max(ratios):.2f}"


def name_of(row):
    return " ".join(
        filter(None, (row["family"], f"2^{row['size']}", row["order"], row["call"], row["source"]))
    )


def bars(rows):
    """Lines about the bars."""
    yield from bars_states(rows)
    if any("gapbs_ms" in row for row in rows):
        yield from bars_cpu(rows)
        return
    for column in ("old_ms", "ms"):
        if any(column in row for row in rows):
            yield from bars_gpu(rows, column)


# -- Threads -------------------------------------------------------------------------------------------------


def graphs(given):
    """Point, maker and calls of each graph, in the order in which they are measured."""
    for name in given.named:
        yield Point(name, 0, "natural"), None, given.calls
    for size in () if given.named else given.sizes:
        for family in given.families:
            yield Point(family, size, "natural"), None, given.calls
        for file in given.roads if size == min(given.sizes) else ():
            for copies in given.copies:
                name = f"road-{file.name.partition('.')[0]}-{copies}"
                make = partial(lambda file, copies: families.joined(ew.read(file), copies), file, copies)
                yield Point(name, 0, "natural"), make, [call for call in given.calls if call in SEARCHES]


def on_threads(given):
    """Calls on 1, 2, 4, ... threads, beside GAP's programs and Wasp on as many."""
    done, wanted = 0, list(graphs(given))
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(given, folder)
        for point, make, calls in wanted:
            if not sweep.is_over():
                facts = sweep.load(point, make)
                name = f"{point.family}-{point.size}" if point.size else point.family
                counts = {"graph": name, "vertices": facts["vertices"], "entries": facts["entries"]}
                for call in calls:
                    yield from threads_rows(sweep, call, facts["sources"]["hub"], counts)
                done += not sweep.is_over()
        sweep.close()
    print(f"{done} of {len(wanted)} graphs are done")


def threads_rows(sweep, call, source, counts):
    """Yield a row for every number of threads, the largest first."""
    (sides, _), before = sweep.sides(call, source), 0
    for threads in sorted(sweep.given.threads, reverse=True):
        if sweep.is_over() or before > sweep.given.longest:
            return
        times = sweep.measure(sides, threads, {})
        row = {**counts, "call": call, "threads": threads}
        for (side, kind), spent in times.items():
            if spent and kind == "warm":
                row[{"new": "edgewise"}.get(side, side) + "_ms"] = ms_of(spent)
        before = 2e-3 * max(median(row, column) for column in row if column.endswith("_ms"))
        yield row


def bars_threads(rows):
    """Lines about the bars: against GAP and Wasp by number of threads, and fewer threads."""
    for threads in sorted({row["threads"] for row in rows}):
        found = [row for row in rows if row["threads"] == threads]
        yield from against("gapbs_ms", found, EACH, MEAN, f"{threads} threads")
        roads = [row for row in found if row["graph"].startswith(ROADS)]
        yield from against("wasp_ms", roads, WASP, WASP, f"{threads} threads, roads and grids")
    by_key = {(row["graph"], row["call"], row["threads"]): median(row, "edgewise_ms") for row in rows}
    for (graph, call, threads), ms in by_key.items():
        fewer = [one for one in by_key if one[:2] == (graph, call) and one[2] < threads]
        least = min(fewer, key=by_key.get, default=None)
        if least and ms > SLOWER * by_key[least]:
            ratio = ms / by_key[least]
            yield f"slower than on {least[2]} threads: {ratio:.2f}  {graph} {call} on {threads}"


def against(side, rows, each, mean, where):
    """Lines about the ratios to one side."""
    ratios = [(median(row, "edgewise_ms") / median(row, side), row) for row in rows if median(row, side)]
    if not ratios:
        return
    found = statistics.geometric_mean(ratio for ratio, _ in ratios)
    over = sorted((one for one in ratios if one[0] > each), key=lambda pair: -pair[0])
    name, holds = side.removesuffix("_ms"), "holds" if found <= mean else "MISSED"
    text = f"{where}: {len(ratios)} calls, ours / {name} geometric mean {found:.2f}, bar {mean} {holds}"
    yield f"{text}; above {each}: {len(over)}"
    yield from (f"    {ratio:.2f}  {row['graph']} {row['call']}" for ratio, row in over)


BOTH = {"calls": [*CALLS[:5]], "named": str, "against": "", "prepared": False, "rounds": 2, "runs": 7}
BOTH |= {"device": "cpu", "limit": math.inf, "longest": 4.0, "folder": "", "cache": ""}
PARTS = {
    "sizes": part(
        "surface-{kind}",
        sizes,
        key=("family", "size", "order", "call", "source"),
        summary=bars,
        **BOTH,
        families=[*families.FAMILIES],
        sizes=int,
        orders=[*families.ORDERS],
        threads=2,
        again=0,
        processes=1,
    ),
    "threads": part(
        "scaling-cpu",
        on_threads,
        key=("graph", "call", "threads"),
        summary=bars_threads,
        **BOTH | {"calls": ["components rows", "bfs", "sssp", "triangles"]},
        families=["rmat", "uniform", "rgg", "grid"],
        sizes=[20, 22],
        threads=[count for count in (1, 2, 4, 8, 16, 32) if count <= len(os.sched_getaffinity(0))],
        roads=Path,
        copies=[1, 16],
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
