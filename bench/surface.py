"""Public calls over families, sizes, orders of ids and sources, so that no graph is a cliff.

    GAPBS=folder python bench/surface.py --sizes 16 19            two cores, GAP's programs in turn
    python bench/surface.py --device cuda --sizes 16 17 18 19     one GPU
    python bench/surface.py --against OLD                         a state before in turn
    python bench/surface.py --device cuda --named rmat22 rgg21    some graphs alone, to calls-cuda.json

A size is a binary logarithm of the number of vertices.  Ours is the whole public call, on a warm graph and on
a new one over the same arrays, on the device of the graph; times are medians.  GAP's programs get the best
delta of several.  The bars are evaluated at the end: on the CPU against GAP, on a GPU along the
sizes and between the sources.  Points above a bar, and those that they are compared with, are measured
``--again`` so many times, and the medians are those of all runs: a host that pauses makes other points slow
each time, a cliff the same.  ``--limit`` ends the sweep after so many seconds, and what was done is kept.
``pictures.py`` draws the time per entry.
"""

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import families
import peer_programs
import record
from served import CALLS, Served

HERE = Path(__file__).parent
FAMILIES = tuple(families.FAMILIES)
SIZES = {"cpu": (16, 19, 21), "cuda": tuple(range(16, 24))}
#: Calls that depend on the source.
SEARCHES = ("bfs", "sssp")
#: Bars on the CPU: geometric mean of the ratio to GAP by call; largest ratio, beyond so many milliseconds.
MEANS = {"components rows": 0.60, "bfs": 0.65, "sssp": 0.80}
WORST, BEYOND_MS = 1.15, 0.02
#: Bars on a GPU: rise of the time per entry when the graph doubles, ratio of two sources, floor of a call.
RISE, SOURCES, FLOOR_MS = 1.3, 2.0, 0.15


class Point(NamedTuple):
    """A graph of the surface: family, binary logarithm of the size, and order of the ids."""

    family: str
    size: int
    order: str


class Sweep:
    """What measures one point after the other: a process for each state, and GAP's programs."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        states = {"new": HERE.parent} | ({"old": options.against} if options.against else {})
        caches = {name: options.cache and options.cache / name for name in states}
        self.states = {name: Served(at, options.threads, caches[name]) for name, at in states.items()}
        self.gapbs = options.device == "cpu" and peer_programs.gapbs_is_there()
        self.times = {}
        self.end = time.perf_counter() + options.limit
        for state in self.states.values():
            state.ask(act="hold", device=options.device)

    def is_over(self):
        """Whether the time is up."""
        return time.perf_counter() > self.end

    def point(self, point, wanted=None):
        """Yield a row for every call and source of a point, or for those wanted, until the time is up."""
        place = None
        if self.options.device == "cpu":
            name = f"{point.family}-{point.size}-{point.order}"
            place = families.kept(
                self.folder, name, lambda: families.generate(point.family, point.size, point.order)
            )
            facts = [state.ask(act="load", place=str(place)) for state in self.states.values()]
        else:
            given = {"family": point.family, "k": point.size, "order": point.order}
            facts = [state.ask(act="make", **given) for state in self.states.values()]
        for call in self.options.calls:
            for source in facts[0]["sources"] if call in SEARCHES else ("",):
                if self.is_over():
                    return
                if wanted and (point, call, source) not in wanted:
                    continue
                counts = {key: facts[0][key] for key in ("vertices", "entries")}
                yield self.row(point, call, source, place, facts[0]["sources"].get(source, 0), counts)

    def row(self, point, call, name, place, source, counts):
        """Time one call on all states and GAP's program in turn; the row has all their times so far."""
        options, times, digests = self.options, self.times.setdefault((point, call, name), {}), {}
        file = self.gapbs and families.file_of(place, peer_programs.PROGRAMS[call][1])
        given = {"threads": options.threads, "source": source}
        prepared = options.prepared and call in SEARCHES
        delta = self.gapbs and call == "sssp" and self.best_delta(file, given)
        for _ in range(options.rounds):
            for state, process in self.states.items():
                found = process.ask(act="time", call=call, runs=options.runs, prepared=prepared, **given)
                digests[state] = found["digest"]
                for kind in ("warm", "fresh"):
                    times.setdefault((state, kind), []).extend(found[kind])
            if self.gapbs:
                trials = max(3, options.runs // options.rounds)
                spent = peer_programs.gapbs(call, file, trials=trials, delta=delta, **given)
                times.setdefault(("gapbs", "warm"), []).extend(spent)
        if len(set(digests.values())) > 1:
            sys.exit(f"the states give different answers: {point}, {call}")
        row = {**point._asdict(), "call": call, "source": name, **counts, "gapbs_delta": delta or None}
        for (side, kind), spent in times.items():
            if spent:
                row[label(side, kind)] = record.spread([1e3 * one for one in spent])
        print(shown(row), flush=True)
        return row

    def again(self, rows, wanted):
        """The rows, with those that are wanted measured once more."""
        found = {}
        for point in dict.fromkeys(key[0] for key in wanted):
            found |= {key_of(row): row for row in self.point(point, wanted)}
        return [found.get(key_of(row), row) for row in rows]

    def best_delta(self, file, given):
        """The width of the buckets that suits GAP's search best."""
        return peer_programs.best_delta(
            lambda delta: peer_programs.gapbs("sssp", file, trials=2, delta=delta, **given)
        )


def label(side, kind):
    """Name of a column of times: ``ms``, ``fresh_ms``, ``old_ms``, ``old_fresh_ms`` or ``gapbs_ms``."""
    return ("" if side == "new" else f"{side}_") + ("fresh_" if kind == "fresh" else "") + "ms"


def median(row, column="ms"):
    """Milliseconds of a column, or None."""
    return row[column]["median"] if column in row else None


def shown(row):
    """A line about a row."""
    words = [f"{row['family']:10s} 2^{row['size']} {row['order']:9s} {row['call']:16s} {row['source']:9s}"]
    for column in ("ms", "fresh_ms", "old_ms", "old_fresh_ms", "gapbs_ms"):
        if column in row:
            words.append(f"{column} {median(row, column):9.3f}")
    words.append(f"{1e6 * median(row) / max(row['entries'], 1):8.2f} ns per entry")
    if "gapbs_ms" in row:
        words.append(f"ratio {median(row) / median(row, 'gapbs_ms'):.2f}")
    return "  ".join(words)


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


def above_bars(rows, kind):
    """The keys of the rows above a bar, and of those that they are compared with."""
    if kind == "cpu":
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
        for kind in ("ms", "fresh_ms"):
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


def bars(rows, device):
    """All lines about the bars."""
    yield from bars_states(rows)
    if device == "cpu":
        yield from bars_cpu(rows)
        return
    for column in ("old_ms", "ms"):
        if any(column in row for row in rows):
            yield from bars_gpu(rows, column)


def points(options):
    """The points in the order in which they are measured: the smaller graphs of all families first."""
    if options.named:
        return [Point(name, 0, "natural") for name in options.named]
    return [
        Point(family, size, order)
        for size in options.sizes or SIZES[options.device]
        for family in options.families
        for order in options.orders
    ]


def parsed():
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", nargs="*", default=FAMILIES, choices=families.FAMILIES)
    parser.add_argument("--named", nargs="*", default=(), help="graphs of edgewise.generate.NAMED instead")
    parser.add_argument("--sizes", nargs="*", type=int, default=())
    parser.add_argument("--orders", nargs="*", default=families.ORDERS, choices=families.ORDERS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--calls", nargs="*", default=CALLS, choices=CALLS)
    parser.add_argument("--against", type=Path, help="folder with a state before")
    parser.add_argument("--prepared", action="store_true", help="prepare the graphs of warm searches")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each side")
    parser.add_argument("--runs", type=int, default=7, help="runs of a call in a turn, at most")
    parser.add_argument(
        "--again", type=int, default=0, help="times that points above a bar are measured again"
    )
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which the sweep ends")
    parser.add_argument("--folder", type=Path, help="keeps the graphs for the next sweep")
    parser.add_argument("--cache", type=Path, help="keeps the kernels of both states")
    parser.add_argument("--bars", type=Path, help="evaluate the bars of this result, and measure nothing")
    return parser.parse_args()


def main():
    options = parsed()
    if options.bars:
        found = json.loads(options.bars.read_text())
        print(*bars(found["rows"], found["device"]), sep="\n")
        return
    os.environ.setdefault("NUMBA_NUM_THREADS", str(max(options.threads, 1)))
    rows, done = [], 0
    with tempfile.TemporaryDirectory() as folder:
        sweep, wanted = Sweep(options, options.folder or folder), points(options)
        for point in wanted:
            if sweep.is_over():
                break
            rows += sweep.point(point)
            done += not sweep.is_over()
        for _ in range(options.again):
            rows = sweep.again(rows, above_bars(rows, options.device.partition(":")[0]))
        for state in sweep.states.values():
            state.close()
    kind = options.device.partition(":")[0]
    record.write(
        f"{'calls' if options.named else 'surface'}-{kind}", rows, device=kind, threads=options.threads
    )
    print(f"{done} of {len(wanted)} graphs were measured")
    print(*bars(rows, kind), sep="\n")


if __name__ == "__main__":
    main()
