"""Signals while kernels are compiled or run: a command ends at once, and code gets its ``KeyboardInterrupt``.

``python tests/campaigns/interrupted_compiling.py --cases 80 --seed 1 --processes 16``, and for kernels that
run long ``--cases 60 --edges 25000000 --compiled --processes 4``.

Every case has an empty folder of kernels.  In three of four, a command is sent Ctrl-C or SIGTERM at a random
time after it has said that it compiles.  It must end within a second with the status and the one line of that
signal, and leave neither an output nor an unfinished file.  On a machine with more work than cores, the
second is multiplied by the load (of the last minute) divided by the number of cores.  In the fourth case,
Python code is interrupted: the ``KeyboardInterrupt`` must arrive within half a minute, and the same call
afterwards must give the right answer.

With ``--compiled`` all cases are commands of one thread that find their kernels compiled, and are sent the
signal at a random time of the time that they take.  The last line is one of JSON.
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
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv

ROOT = Path(__file__).resolve().parent.parent.parent
#: Seconds that a command may take to end.
LIMIT = 1.0
#: Seconds that Python code may take until the exception, and a process in all, multiplied by the load.
PATIENCE, WATCHDOG = 30.0, 300.0
#: The latest signal, in seconds after the first compilation; and seconds until Python has begun a command.
LATEST, STARTED = 8.0, 0.3
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


class Given(NamedTuple):
    """What the cases have: the folder of the inputs, and of kernels if these are there.

    By the words of the commands ``seconds`` are what they take then.
    """

    inputs: Path
    kernels: Path | None
    seconds: dict


def environment(folder, threads):
    """Variables of a process whose kernels are in a folder."""
    own = {"EDGEWISE_CACHE_DIR": str(folder), "EDGEWISE_QUIET": "0", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **own, "NUMBA_NUM_THREADS": str(threads)}


def started(words, folder, kernels=None, **how):
    """A process in a folder, whose messages are text; Ctrl-C is not ignored, as it is after ``nohup``."""
    return subprocess.Popen(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=environment(kernels or folder / "cache", 1 if kernels else 2),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **how,
    )


def write_inputs(folder, n_edges):
    """Write the graphs of the commands."""
    draw = np.random.default_rng(1)
    sources, targets = draw.integers(max(2, n_edges // 3), size=(2, n_edges))
    edges = pa.table({"source": sources, "target": targets})
    csv.write_csv(edges, folder / "edges.csv")
    csv.write_csv(edges.append_column("weight", [draw.random(n_edges)]), folder / "weighted.csv")


def link_inputs(given, folder):
    """Show the inputs in a folder."""
    for path in given.inputs.iterdir():
        os.link(path, folder / path.name)


def with_kernels(given, folder):
    """Compile the kernels of the commands into a folder, and take the time that the commands take then."""
    for words in COMMANDS:
        for _ in range(2):
            with tempfile.TemporaryDirectory(dir=given.inputs.parent) as name:
                link_inputs(given, Path(name))
                began = time.perf_counter()
                process = started(["-m", "edgewise", *words, "-q"], Path(name), folder)
                _, said = process.communicate()
                if process.returncode:
                    raise RuntimeError(said)
                given.seconds[words] = time.perf_counter() - began
    return given._replace(kernels=folder)


def interrupt_command(draw, folder, given):
    """Interrupt a command; return the outcome, the seconds that it took to end, and what tells more."""
    words, number = draw.choice(COMMANDS), draw.choice(list(SIGNALS))
    delay = draw.uniform(0, given.seconds.get(words, LATEST))
    link_inputs(given, folder)
    before = set(folder.iterdir())
    process = started(["-m", "edgewise", *words, "-q"], folder, given.kernels)
    try:
        first = "" if given.kernels else process.stderr.readline()
        time.sleep(STARTED * factor() + delay if given.kernels else delay)
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


def run(number, seed, given, expected):
    """Run one case."""
    draw = random.Random(f"{seed} {number}")
    with tempfile.TemporaryDirectory(dir=given.inputs.parent) as name:
        if of_code(number, given):
            return interrupt_code(draw, Path(name), expected)
        return interrupt_command(draw, Path(name), given)


def of_code(number, given):
    """Whether a case is one of Python code."""
    return number % 4 == 3 and not given.kernels


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
    parser.add_argument("--edges", type=int, default=60_000, help="edges of the graphs")
    parser.add_argument("--compiled", action="store_true", help="let commands find their kernels compiled")
    wanted = parser.parse_args(arguments)
    began = time.perf_counter()
    outcomes: Counter = Counter()
    slowest = 0.0
    numbers = range(wanted.first, wanted.first + wanted.cases)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(wanted.processes) as pool:
        given = Given(Path(name, "inputs"), None, {})
        given.inputs.mkdir()
        write_inputs(given.inputs, wanted.edges)
        if wanted.compiled:
            given = with_kernels(given, Path(name, "kernels"))
        expected = answer() if any(of_code(number, given) for number in numbers) else None
        cases = pool.map(lambda number: run(number, wanted.seed, given, expected), numbers)
        for number, (outcome, seconds, what) in zip(numbers, cases):
            outcomes[outcome] += 1
            slowest = max(slowest, 0.0 if of_code(number, given) else seconds)
            if outcome not in ("ended", "raised", "finished"):
                reproducer = f"--seed {wanted.seed} --first {number} --cases 1"
                print(f"{outcome}: {what} ({reproducer})", flush=True)
    took = {"slowest": round(slowest, 2), "seconds": round(time.perf_counter() - began, 1)}
    print(json.dumps({"cases": wanted.cases, **outcomes, **took}))
    return outcomes


if __name__ == "__main__":
    sys.exit(not set(main()) <= {"ended", "raised", "finished"})
