"""Public calls over families, sizes, orders of ids, sources and threads, beside a state before and programs.

    GAPBS=folder python bench/surface.py --sizes 16 19                  two cores, GAP's programs in turn
    python bench/surface.py --device cuda --sizes 16 17 18 19           one GPU
    python bench/surface.py --device cuda --named paths-16 grid-20 --calls bfs sssp --prepared
    python bench/surface.py --against OLD                               a state before in turn
    python bench/surface.py --against OLD --named rmat20 road1500 --processes 3 --name two-states
    GAPBS=folder WASP=program python bench/surface.py --sizes 20 --threads 1 2 4 8 16 --sources hub \\
        --families rmat uniform rgg grid --orders natural --name scaling-cpu

A size is a binary logarithm of the number of vertices.  Ours is the whole public call, on a warm graph and on
a new one over the same arrays, on the device of the graph; ``kernel`` is what ``result.seconds`` says.  Times
are medians.  ``OLD`` holds the package of a state before, whose process has the same graphs and is asked in
turn with ours; answers must be equal, and medians and least times are compared.  Programs get the best delta
of several.  ``--roads`` are files of road networks, alone and as copies that are joined.  ``--prepared``
prepares the graphs of warm searches, such as by contraction hierarchies, in ``prepare_ms``.  The largest
number of threads comes first, and one on which a call would take longer than ``--longest`` seconds is left
out.  ``--limit`` ends a sweep, and what was done is kept.  ``--processes`` repeats it with new processes,
whose memory is laid out anew.

The end tells ratios, and the points above a limit: a host that pauses makes other points slow each time, a
cliff the same.  ``pictures.py`` draws the time per entry.
"""

import math
import statistics
import sys
import tempfile
import time
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import families
import peer_programs
from harness import ROOT, compared, groups, main, median_of, ms_of, part, plural
from served import CALLS, Served

import edgewise as ew

SIZES = {"cpu": (16, 19, 21), "cuda": tuple(range(16, 24))}
#: Calls that depend on the source.
SEARCHES = ("bfs", "sssp")
#: Limits of the ratios to programs, and to a state before or fewer threads.
WORST, SLOWER = 1.15, 1.05
#: Milliseconds that are no difference.
BEYOND_MS = 0.02
#: Limits on a GPU: rise of the time per entry when the graph doubles, ratio of two sources, floor of a call.
RISE, SOURCES, FLOOR_MS = 1.3, 2.0, 0.15


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
        self.most = max(given.threads)
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
        if self.given.device != "cpu" and make is None:
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
        if peer_programs.is_there("GAPBS"):
            run = partial(peer_programs.gapbs, call, file(), source=source)
            sides["gapbs"], delta = self.program(run, call == "sssp")
        if peer_programs.is_there("WASP") and call == "sssp":
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


def points(given):
    """Pairs of a point and of what makes its graph: the smaller graphs of all families first."""
    if given.named:
        return [(Point(name, 0, "natural"), None) for name in given.named]
    sizes = given.sizes or SIZES[given.device.partition(":")[0]]
    found = [(Point(*one), None) for one in product(given.families, sizes, given.orders)]
    for file, copies in product(given.roads, given.copies):
        make = partial(lambda file, copies: families.joined(ew.read(file), copies), file, copies)
        found.append((Point(f"road-{file.name.partition('.')[0]}-{copies}", 0, "natural"), make))
    return sorted(found, key=lambda pair: pair[0].size)


def rows(given):
    """Calls over families, sizes, orders of ids, sources and threads."""
    given.facts["device"] = given.device.partition(":")[0]
    times, wanted = {}, points(given)
    for _ in range(given.processes):
        with tempfile.TemporaryDirectory() as folder:
            sweep, done = Sweep(given, folder), 0
            for point, make in wanted:
                yield from () if sweep.is_over() else point_rows(sweep, point, make, times)
                done += not sweep.is_over()
            sweep.close()
    print(f"{done} of {len(wanted)} graphs were measured")


def point_rows(sweep, point, make, times):
    """Yield a row for every call, source and number of threads of a point, until the time is up."""
    facts, given = sweep.load(point, make), sweep.given
    for call in given.calls:
        for name in given.sources if call in SEARCHES else ("",):
            (sides, delta), before = sweep.sides(call, facts["sources"].get(name, 0)), 0
            for threads in sorted(given.threads, reverse=True):
                if sweep.is_over() or before > given.longest:
                    break
                spent = times.setdefault((point, call, name, threads), {})
                sweep.measure(sides, threads, spent)
                row = {**point._asdict(), "call": call, "source": name, "threads": threads}
                row |= {"vertices": facts["vertices"], "entries": facts["entries"], "gapbs_delta": delta}
                row |= {label(*one): ms_of(taken) for one, taken in spent.items() if taken}
                before = 2e-3 * median_of(row)
                yield row


def label(side, kind):
    """Name of a column of times, such as ``ms``, ``fresh_ms``, ``old_fresh_ms`` or ``gapbs_ms``."""
    return ("" if side == "new" else f"{side}_") + ("" if kind == "warm" else f"{kind}_") + "ms"


def bars(rows):
    """Lines about the ratios to a state before, to programs and to fewer threads, or about the sizes."""
    for (call, threads), mine in groups(rows, "call", "threads"):
        title = f"{call}, {plural(threads, 'thread')}"
        of_both = [row for row in mine if "old_ms" in row]
        for kind, which in product(("ms", "fresh_ms", "kernel_ms"), ("median", "least")):
            pairs = [(name_of(row), row[kind][which], row[f"old_{kind}"][which]) for row in of_both]
            yield from compared(f"{title}, {kind}, {which}: new / old", pairs, SLOWER, BEYOND_MS)
        for side in ("gapbs", "wasp"):
            pairs = [(name_of(row), median_of(row), median_of(row, f"{side}_ms")) for row in mine]
            yield from compared(f"{title}: ours / {side}", pairs, WORST, BEYOND_MS)
    for name, mine in groups([row | {"point": name_of(row)} for row in rows], "point"):
        by_threads = sorted((row["threads"], median_of(row)) for row in mine)
        for (fewer, before), (threads, ms) in pairwise(by_threads):
            if ms > SLOWER * before:
                yield f"slower than on {fewer} threads: {ms / before:.2f}  {name} on {threads}"
    if not any("gapbs_ms" in row for row in rows):
        yield from bars_gpu([row for row in rows if row["threads"] == rows[0]["threads"]])


def bars_gpu(rows, column="ms"):
    """Lines about the time per entry along the sizes, and about two sources."""
    by_key = {(row["family"], row["order"], row["call"], row["source"], row["size"]): row for row in rows}
    rises, sources = [], []
    for (*line, size), row in by_key.items():
        ms = max(median_of(row, column), FLOOR_MS)
        before = max(
            (other[-1] for other in by_key if list(other[:-1]) == line and other[-1] < size), default=0
        )
        if before and ms > FLOOR_MS:
            least = by_key[(*line, before)]
            expected = max(median_of(least, column), FLOOR_MS) * row["entries"] / max(least["entries"], 1)
            rises.append((name_of(row), ms / RISE ** (size - before - 1), expected))
        if line[-1] == "elsewhere":
            other = max(median_of(by_key.get((*line[:-1], "hub", size), row), column), FLOOR_MS)
            sources.append((name_of(row), max(ms, other), min(ms, other)))
    yield from compared(f"rise of the time per entry, a doubling ({column})", rises, RISE)
    yield from compared(f"ratio of two sources ({column})", sources, SOURCES)


def name_of(row):
    """A point, call and source in words."""
    size = f"2^{row['size']}" if row["size"] else ""
    words = row["family"], size, row["order"], row["call"], row["source"]
    return " ".join(filter(None, words))


PART = part(
    "surface-{kind}",
    rows,
    key=("family", "size", "order", "call", "source", "threads"),
    summary=bars,
    families=[*families.FAMILIES],
    named=str,
    sizes=int,
    orders=[*families.ORDERS],
    roads=Path,
    copies=[1, 16],
    calls=[*CALLS[:5]],
    sources=["hub", "elsewhere"],
    threads=[2],
    device="cpu",
    against="",
    prepared=False,
    rounds=2,
    runs=7,
    processes=1,
    longest=4.0,
    limit=math.inf,
    folder="",
    cache="",
)

if __name__ == "__main__":
    main(__doc__, PART)
