"""Calls on a machine that is not quiet: beside busy processes, several processes at once, and under limits.

    python bench/busy.py [--named rmat-18 grid-20] [--calls bfs forest] [--busy 8] [--together 4] [--cores 4]

Every setting has processes of its own, which hold a graph and time calls on it (``served.py``):

``alone``
    One process on all cores.
``busy``
    One process beside ``--busy`` others that compute without end.
``together``
    ``--together`` processes that make the same calls at the same time; their times are put together.
``limit``
    One process whose container may use the time of ``--cores`` cores, by a control group that is made for it;
    left out where the user may not make one.
``fewer``
    One process with as many threads on all cores, against which a limit is judged.
``odd``
    One process on all cores but one.

A row has the times on a warm graph (``ms``) and on new ones (``fresh_ms``), and the ratio of the warm median
to that of the setting ``alone``.  GAP's programs in ``$GAPBS``, with their best delta, and those of PASGAL
and GBBS in ``$PASGAL`` and ``$GBBS`` are measured in all settings but ``limit``.
"""

import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import families
import peer_programs
from harness import ROOT, main, part, spread
from served import WEIGHTED, Served

CALLS = ("components rows", "bfs", "sssp", "forest")
SETTINGS = ("alone", "busy", "together", "limit", "fewer", "odd")
ENDLESS = "while True: pass"
#: Microseconds of a period of a control group.
PERIOD = 100_000
#: Where control groups are made, and their files of a limit, by the version of the interface.
GROUPS = {
    Path("/sys/fs/cgroup/cpu"): {"cpu.cfs_period_us": "{period}", "cpu.cfs_quota_us": "{quota}"},
    Path("/sys/fs/cgroup"): {"cpu.max": "{quota} {period}"},
}


@contextmanager
def busy(count):
    """Context with so many processes that compute without end."""
    processes = [subprocess.Popen([sys.executable, "-c", ENDLESS]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def affinity(cores):
    """Context in which new processes may use some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def group(cores):
    """Context with the folder of a control group that may use the time of so many cores; ``None`` if not."""
    words = {"period": PERIOD, "quota": round(PERIOD * cores)}
    for mounted, files in GROUPS.items():
        folder = mounted / f"edgewise-{os.getpid()}"
        try:
            folder.mkdir()
            for name, value in files.items():
                (folder / name).write_text(value.format(**words))
        except OSError:
            if folder.is_dir():
                folder.rmdir()
            continue
        try:
            yield folder
        finally:
            while (folder / "cgroup.procs").read_text():  # the process has just ended
                time.sleep(0.01)
            folder.rmdir()
        return
    yield None


class Place:
    """Where calls are timed: the processes of a setting, and the threads of other programs."""

    def __init__(self, setting, given):
        self.setting, self.given, self.stack = setting, given, ExitStack()
        cores = sorted(os.sched_getaffinity(0))
        self.threads = {"fewer": given.cores, "odd": max(len(cores) - 1, 1)}.get(setting, len(cores))
        self.count = given.together if setting == "together" else 1
        self.folder = self.stack.enter_context(group(given.cores)) if setting == "limit" else None
        self.cores = cores[: self.threads] if setting == "odd" else cores
        self.processes = []

    def __enter__(self):
        """Start the processes, before the machine becomes busy."""
        threads = None if self.setting == "limit" else self.threads
        with affinity(self.cores):
            for _ in range(self.count):
                served = Served(ROOT, threads, self.given.cache or None)
                self.processes.append(served)
                self.stack.callback(served.close)
                if self.folder:
                    (self.folder / "cgroup.procs").write_text(str(served.process.pid))
        return self

    def __exit__(self, *error):
        self.stack.__exit__(*error)

    def ask(self, **request):
        """The answers of all processes, which work at the same time."""
        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(lambda served: served.ask(**request), self.processes))

    def seconds(self, call, source):
        """Seconds of a call on a warm graph and on new ones, in all processes."""
        with busy(self.given.busy if self.setting == "busy" else 0):
            answers = self.ask(act="time", call=call, source=source, runs=self.given.runs, threads=0)
        return tuple([one for answer in answers for one in answer[kind]] for kind in ("warm", "fresh"))

    def of_program(self, run):
        """Seconds of a program, in all processes."""
        trial = partial(run, threads=self.threads, trials=self.given.runs)
        with ExitStack() as stack:
            stack.enter_context(busy(self.given.busy if self.setting == "busy" else 0))
            stack.enter_context(affinity(self.cores))
            pool = stack.enter_context(ThreadPoolExecutor(self.count))
            started = [pool.submit(trial) for _ in range(self.count)]
            return [one for future in started for one in future.result()]


def rows(given):
    """Calls on graphs in all settings."""
    alone = {}
    for name in given.named:
        family, _, size = name.partition("-")
        place = families.kept(given.folder, name, partial(families.generate, family, int(size), "natural"))
        for setting in given.settings:
            with Place(setting, given) as there:
                if setting == "limit" and there.folder is None:
                    continue
                there.ask(act="hold", device="cpu")
                source = there.ask(act="load", place=str(place))[0]["sources"]["hub"]
                for call in given.calls:
                    for way, warm, fresh in timed(there, call, source, place):
                        median = statistics.median(warm)
                        if setting == "alone":
                            alone[name, call, way] = median
                        row = {"graph": name, "call": call, "way": way, "setting": setting}
                        row |= {"threads": None if setting == "limit" else there.threads}
                        row["ms"] = spread([1e3 * one for one in warm])
                        row["fresh_ms"] = spread([1e3 * one for one in fresh]) if fresh else None
                        known = alone.get((name, call, way))
                        yield row | {"ratio": known and median / known}


def timed(there, call, source, place):
    """Seconds of edgewise, warm and fresh, and of the programs that are there."""
    yield "edgewise", *there.seconds(call, source)
    if there.setting == "limit":
        return
    name = peer_programs.PARLAY[call][0] if call in peer_programs.PARLAY else None
    if name and peer_programs.is_there(name):
        file = families.text_of(place, call in WEIGHTED)
        if seconds := there.of_program(partial(peer_programs.parlay, call, file, source=source)):
            yield name.lower(), seconds, []
    if peer_programs.is_there("GAPBS") and call in peer_programs.PROGRAMS:
        file = families.file_of(place, peer_programs.PROGRAMS[call][1])
        run = partial(peer_programs.gapbs, call, file, source=source)
        if call == "sssp":
            trial = partial(run, threads=there.threads, trials=2)
            run = partial(run, delta=peer_programs.best_delta(lambda one: trial(delta=one)))
        if seconds := there.of_program(run):
            yield "gapbs", seconds, []


PART = part(
    "busy-cpu",
    rows,
    key=("graph", "call", "way", "setting"),
    named=["rmat-18", "grid-20"],
    calls=[*CALLS],
    settings=[*SETTINGS],
    busy=8,
    together=4,
    cores=4,
    runs=30,
    folder="graphs",
    cache="",
)

if __name__ == "__main__":
    main(__doc__, PART)
