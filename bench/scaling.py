"""Public calls on 1, 2, 4, ... threads, GAP's programs and Wasp in turn, each on as many.

    GAPBS=folder WASP=program python bench/scaling.py --folder graphs     all cores, 2^20 and 2^22 vertices
    python bench/scaling.py --sizes 20 --threads 16 --limit 300
    python bench/scaling.py --named --threads 2 --calls "components rows" "components edges" bfs sssp

The graphs are those of the families below, and road networks of ``--roads`` (files that :func:`edgewise.read`
reads), alone and as copies that are joined.  A cell is the median of whole calls on a warm graph that is held
as rows; the programs get the best delta of several.  The largest number of threads comes first, and a number
on which a call would take longer than ``--longest`` seconds is left out.  ``--make`` only makes the graphs
and compiles.  ``--named`` measures the six graphs of the table beside GAP's programs instead, and writes
``named-cpu.json``.  ``pictures.py`` draws the speed-up.
"""

import argparse
import json
import math
import os
import statistics
import tempfile
import time
from pathlib import Path

import families
import peer_programs
import record
from served import CALLS as ALL_CALLS
from served import Served

import edgewise as ew

FAMILIES = ("rmat", "uniform", "rgg", "grid")
SIZES = (20, 22)
CALLS = ("components rows", "bfs", "sssp", "triangles")
NAMED = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
#: Calls on graphs of real roads, and copies of a road network that are joined.
ROAD_CALLS, COPIES = ("bfs", "sssp"), (1, 16)
#: Bars: a call over GAP's, their geometric mean, over Wasp's on roads and grids, and over fewer threads.
EACH, MEAN, WASP, SLOWER = 1.0, 0.8, 1.15, 1.05
ROADS = ("grid", "road")


class Scaling:
    """What measures one graph after the other."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.end = time.perf_counter() + options.limit
        self.state = Served(Path(__file__).parent.parent, max(options.threads))
        self.state.ask(act="hold", device="cpu")

    def is_over(self):
        """Whether the time is up."""
        return time.perf_counter() > self.end

    def graph(self, name, make, calls):
        """Yield rows of every call and number of threads on a graph, until the time is up."""
        place = families.kept(self.folder, name, make)
        facts = self.state.ask(act="load", place=str(place))
        counts = {"graph": name, "vertices": facts["vertices"], "entries": facts["entries"]}
        for call in calls:
            yield from self.call(call, place, facts["sources"]["hub"], counts)

    def call(self, call, place, source, counts):
        """Yield a row for every number of threads, the largest first."""
        file = place / "none"
        if peer_programs.gapbs_is_there() or self.options.make:
            file = families.file_of(place, peer_programs.PROGRAMS[call][1])
        if self.options.make:
            self.ours(call, source, max(self.options.threads))
            return
        runs = self.peers(call, file, source)
        before = 0
        for threads in sorted(self.options.threads, reverse=True):
            if self.is_over() or before > self.options.longest:
                return
            times = {}
            for _ in range(self.options.rounds):
                for side, run in runs.items():
                    if len(times.get(side, ())) < 3 or sum(times[side]) < self.options.longest:
                        times.setdefault(side, []).extend(run(threads, times.get(side)))
            row = {**counts, "call": call, "threads": threads}
            row |= {
                f"{side}_ms": record.spread([1e3 * t for t in spent])
                for side, spent in times.items()
                if spent
            }
            before = 2e-3 * max(row[column]["median"] for column in row if column.endswith("_ms"))
            print(shown(row), flush=True)
            yield row

    def ours(self, call, source, threads):
        """Seconds of our call."""
        given = {"runs": self.options.runs, "threads": threads}
        return self.state.ask(act="time", call=call, source=source, **given)["warm"]

    def peers(self, call, file, source):
        """What gives the seconds of each side on a number of threads, after the times that it has taken."""
        sides = {"edgewise": lambda threads, _: self.ours(call, source, threads)}
        most = max(self.options.threads)
        if peer_programs.gapbs_is_there():
            given = {"source": source}
            if call == "sssp":
                given["delta"] = peer_programs.best_delta(
                    lambda delta: peer_programs.gapbs(
                        call, file, threads=most, trials=2, source=source, delta=delta
                    )
                )
            sides["gapbs"] = lambda threads, taken: peer_programs.gapbs(
                call, file, threads=threads, trials=self.trials(taken), **given
            )
        if peer_programs.wasp_is_there() and call == "sssp":
            delta = peer_programs.best_delta(
                lambda delta: peer_programs.wasp(file, threads=most, trials=2, source=source, delta=delta)
            )
            sides["wasp"] = lambda threads, taken: peer_programs.wasp(
                file, threads=threads, trials=self.trials(taken), source=source, delta=delta
            )
        return sides

    def trials(self, taken):
        """Trials of a program: one at first, so that a long one is not repeated."""
        return max(1, min(self.options.runs, int(1 / statistics.median(taken)))) if taken else 1


def median(row, side="edgewise"):
    """Milliseconds of a side, or None."""
    return row[f"{side}_ms"]["median"] if f"{side}_ms" in row else None


def shown(row):
    """A line about a row."""
    words = [f"{row['graph']:16s} {row['call']:16s} {row['threads']:2d} threads"]
    for side in ("edgewise", "gapbs", "wasp"):
        if median(row, side):
            words.append(f"{side} {median(row, side):9.3f} ms ({row[f'{side}_ms']['least']:.3f})")
    if median(row, "gapbs"):
        words.append(f"ratio {median(row) / median(row, 'gapbs'):.2f}")
    return "  ".join(words)


def bars(rows):
    """Lines about the bars: against GAP and Wasp by number of threads, and fewer threads."""
    for threads in sorted({row["threads"] for row in rows}):
        found = [row for row in rows if row["threads"] == threads]
        yield from against("gapbs", found, EACH, MEAN, f"{threads} threads")
        roads = [row for row in found if row["graph"].startswith(ROADS)]
        yield from against("wasp", roads, WASP, WASP, f"{threads} threads, roads and grids")
    by_key = {(row["graph"], row["call"], row["threads"]): row for row in rows}
    for (graph, call, threads), row in by_key.items():
        fewer = [one for one in by_key if one[:2] == (graph, call) and one[2] < threads]
        if fewer:
            least = min(fewer, key=lambda one: median(by_key[one]))
            ratio = median(row) / median(by_key[least])
            if ratio > SLOWER:
                yield f"slower than on {least[2]} threads: {ratio:.2f}  {graph} {call} on {threads}"


def against(side, rows, each, mean, where):
    """Lines about the ratios to one side."""
    ratios = [(median(row) / median(row, side), row) for row in rows if median(row, side)]
    if not ratios:
        return
    found = statistics.geometric_mean(ratio for ratio, _ in ratios)
    over = sorted((one for one in ratios if one[0] > each), key=lambda pair: -pair[0])
    holds = "holds" if found <= mean else "MISSED"
    text = f"{where}: {len(ratios)} calls, ours / {side} geometric mean {found:.2f}, bar {mean} {holds}"
    yield f"{text}; above {each}: {len(over)}"
    yield from (f"    {ratio:.2f}  {row['graph']} {row['call']}" for ratio, row in over)


def wanted(options):
    """Name, maker and calls of each graph, in the order in which they are measured."""
    for name in NAMED if options.named else ():
        yield name, lambda name=name: families.generate(name, 0, "natural"), options.calls
    for size in () if options.named else options.sizes:
        for family in options.families:
            yield (
                f"{family}-{size}",
                lambda f=family, k=size: families.generate(f, k, "natural"),
                options.calls,
            )
        for file in options.roads if size == min(options.sizes) else ():
            for copies in options.copies:
                name = f"road-{file.name.partition('.')[0]}-{copies}"
                yield (
                    name,
                    lambda f=file, c=copies: families.joined(ew.read(f), c),
                    [call for call in options.calls if call in ROAD_CALLS],
                )


def parsed():
    """The options of the command line."""
    cores = len(os.sched_getaffinity(0))
    counts = [count for count in (1, 2, 4, 8, 16, 32) if count <= cores]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", nargs="*", default=FAMILIES, choices=families.FAMILIES)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--calls", nargs="*", default=CALLS, choices=ALL_CALLS)
    parser.add_argument("--named", action="store_true", help="six graphs by name")
    parser.add_argument("--threads", nargs="*", type=int, default=counts)
    parser.add_argument("--roads", nargs="*", type=Path, default=(), help="files of road networks")
    parser.add_argument("--copies", nargs="*", type=int, default=COPIES, help="of a road network")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each side")
    parser.add_argument("--runs", type=int, default=7, help="runs of a call in a turn, at most")
    parser.add_argument("--longest", type=float, default=4.0, help="seconds of a call and its turns, about")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which to stop")
    parser.add_argument("--folder", type=Path, help="keeps the graphs")
    parser.add_argument("--make", action="store_true", help="make the graphs, compile, and measure nothing")
    parser.add_argument("--bars", type=Path, help="evaluate the bars of this result, and measure nothing")
    return parser.parse_args()


def main():
    options = parsed()
    if options.bars:
        print(*bars(json.loads(options.bars.read_text())["rows"]), sep="\n")
        return
    rows, done = [], 0
    with tempfile.TemporaryDirectory() as folder:
        scaling, graphs = Scaling(options, options.folder or folder), list(wanted(options))
        for name, make, calls in graphs:
            if scaling.is_over():
                break
            rows += scaling.graph(name, make, calls)
            done += not scaling.is_over()
        scaling.state.close()
    print(f"{done} of {len(graphs)} graphs are done")
    if rows:
        record.write("named-cpu" if options.named else "scaling-cpu", rows)
        print(*bars(rows), sep="\n")


if __name__ == "__main__":
    main()
