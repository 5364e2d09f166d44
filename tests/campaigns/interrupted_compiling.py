"""Signals while kernels are compiled: a command ends at once, and Python code gets its ``KeyboardInterrupt``.

``python tests/campaigns/interrupted_compiling.py --cases 80 --seed 1 --processes 16``

Every case has an empty folder of kernels.  In three of four, a command is sent Ctrl-C or SIGTERM at a random
time after it has said that it compiles.  It must end within a second with the status and the one line of that
signal, and leave neither an output nor an unfinished file.  On a machine with more work than cores, the
second is multiplied by the load (of the last minute) divided by the number of cores.  In the fourth case,
Python code is interrupted: the ``KeyboardInterrupt`` must arrive within half a minute, and the same call
afterwards must give the right answer.  The last line is one of JSON.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
#: Seconds that a command may take to end.
LIMIT = 1.0
#: Seconds that Python code may take until the exception, and a process in all, multiplied by the load.
PATIENCE, WATCHDOG = 30.0, 300.0
#: The latest signal, in seconds after the first compilation.
LATEST = 8.0
COMPILING = "edgewise: compiling kernels (first use of this version) ...\n"
COMMANDS = (
    ("components", "edges.csv", "-o", "out.csv"),
    ("paths", "edges.csv", "--bfs", "--source", "0", "-o", "out.csv"),
    ("forest", "weighted.csv", "-o", "out.csv"),
    ("cycles", "edges.csv", "--length", "3", "-o", "out.csv"),
    ("partition", "edges.csv", "4", "-o", "out.csv"),
    ("generate", "pairs", "200000", "-o", "out.csv"),
)
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
#: Prints a line before the first compilation, one at the interrupt, and the answer.
CODE = """
import hashlib, signal, sys, time
import numpy as np
import edgewise as ew

signal.signal(signal.SIGINT, signal.default_int_handler)
sources, targets = np.random.default_rng(1).integers(20_000, size=(2, 60_000))
def answer():
    graph = ew.Graph.from_edges(sources, targets, n_vertices=20_000)
    found = ew.connected_components(graph, method="afforest").labels, ew.bfs(graph, 0).distances
    return hashlib.sha256(b"".join(one.tobytes() for one in found)).hexdigest()
try:
    print("begun", flush=True)
    answer()
    print("done", flush=True)
    time.sleep(2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(answer(), flush=True)
"""


def factor():
    """How much more work than cores there is."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def environment(folder):
    """Variables of a process whose kernels are in a folder."""
    own = {"EDGEWISE_CACHE_DIR": str(folder), "EDGEWISE_QUIET": "0", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **own, "NUMBA_NUM_THREADS": "2"}


def started(words, folder, **how):
    """A process in a folder, whose messages are text; Ctrl-C is not ignored, as it is after ``nohup``."""
    return subprocess.Popen(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=environment(folder / "cache"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **how,
    )


def inputs(folder):
    """Write the graphs of the commands."""
    draw = random.Random(1)
    edges = [(draw.randrange(20_000), draw.randrange(20_000), draw.random()) for _ in range(60_000)]
    lines = [f"{u},{v}\n" for u, v, _ in edges]
    (folder / "edges.csv").write_text("source,target\n" + "".join(lines))
    lines = [f"{u},{v},{w:.6f}\n" for u, v, w in edges]
    (folder / "weighted.csv").write_text("source,target,weight\n" + "".join(lines))


def interrupt_command(draw, folder):
    """Interrupt a command; return the outcome, the seconds that it took to end, and what tells more."""
    words, number = draw.choice(COMMANDS), draw.choice(list(SIGNALS))
    delay = draw.uniform(0, LATEST)
    inputs(folder)
    before = set(folder.iterdir())
    process = started(["-m", "edgewise", *words, "-q"], folder)
    try:
        first = process.stderr.readline()
        time.sleep(delay)
        if process.poll() is not None:
            process.communicate()
            return "finished" if process.returncode == 0 else "crash", 0.0, first
        sent = time.perf_counter()
        process.send_signal(number)
        try:
            process.wait(30 * factor())
        except subprocess.TimeoutExpired:
            return "hang", 30.0, f"{words} {number!r} after {delay:.2f} s"
        seconds = time.perf_counter() - sent
        _, said = process.communicate()
    finally:
        process.kill()
        process.wait()
    what = f"{words} {number!r} after {delay:.2f} s: status {process.returncode} in {seconds:.2f} s, {said!r}"
    left = set(folder.iterdir()) - before - {folder / "cache"} | set(folder.rglob("*.draft"))
    if process.returncode == 0:
        return "finished", seconds, what
    if process.returncode != 128 + number or said != f"edgewise: {SIGNALS[number]}\n":
        return "words", seconds, what
    if left:
        return "left", seconds, f"{what}, {sorted(path.name for path in left)}"
    return ("ended" if seconds <= LIMIT * factor() else "late"), seconds, what


def interrupt_code(draw, folder, expected):
    """Interrupt Python code; return the outcome, the seconds until the exception, and what tells more."""
    delay = draw.uniform(0, LATEST)
    process = started(["-c", CODE], folder)
    try:
        process.stdout.readline()
        time.sleep(delay)
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        lines = [process.stdout.readline()]
        if lines[0] == "done\n":
            lines.append(process.stdout.readline())
        seconds = time.perf_counter() - sent
        try:
            rest, said = process.communicate(timeout=WATCHDOG * factor())
        except subprocess.TimeoutExpired:
            return "hang", seconds, f"after {delay:.2f} s"
    finally:
        process.kill()
        process.wait()
    what = f"after {delay:.2f} s: {lines} in {seconds:.2f} s, {rest!r}, {said[-500:]!r}"
    if lines[-1] != "interrupted\n":
        return "lost", seconds, what
    if rest.strip() != expected or process.returncode != 0:
        return "wrong", seconds, what
    return ("raised" if seconds <= PATIENCE * factor() else "late"), seconds, what


def run(number, seed, expected):
    """Run one case."""
    draw = random.Random(f"{seed} {number}")
    with tempfile.TemporaryDirectory() as name:
        if number % 4 == 3:
            return interrupt_code(draw, Path(name), expected)
        return interrupt_command(draw, Path(name))


def answer():
    """What Python code gives without an interrupt."""
    with tempfile.TemporaryDirectory() as name:
        process = started(["-c", CODE], Path(name))
        out, said = process.communicate(timeout=WATCHDOG * factor())
    if process.returncode != 0:
        raise RuntimeError(said)
    return out.split()[-1]


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    wanted = parser.parse_args(arguments)
    began = time.perf_counter()
    outcomes: Counter = Counter()
    slowest = 0.0
    numbers = range(wanted.first, wanted.first + wanted.cases)
    expected = answer() if any(number % 4 == 3 for number in numbers) else None
    with ThreadPoolExecutor(wanted.processes) as pool:
        cases = pool.map(lambda number: run(number, wanted.seed, expected), numbers)
        for number, (outcome, seconds, what) in zip(numbers, cases):
            outcomes[outcome] += 1
            slowest = max(slowest, seconds if number % 4 != 3 else 0.0)
            if outcome not in ("ended", "raised", "finished"):
                reproducer = f"--seed {wanted.seed} --first {number} --cases 1"
                print(f"{outcome}: {what} ({reproducer})", flush=True)
    took = {"slowest": round(slowest, 2), "seconds": round(time.perf_counter() - began, 1)}
    print(json.dumps({"cases": wanted.cases, **outcomes, **took}))
    return outcomes


if __name__ == "__main__":
    sys.exit(not set(main()) <= {"ended", "raised", "finished"})
