"""Cases of a campaign in child processes: by seed and number, under a watchdog.

A campaign has ``run(number, seed)``, which returns the outcomes of a case as lists ``[outcome, function,
what]``.  Children are those of ``edgewise/torture/batches.py``: one that crashes or hangs costs a case.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from edgewise.torture.batches import in_children

ROOT = Path(__file__).resolve().parent.parent.parent
#: Cases of a child process.
BATCH = 500


def batch(run, first, count, seed):
    """Run some cases in this process, and print a line of JSON for each."""
    for number in range(first, first + count):
        print(json.dumps([number, run(number, seed)]), flush=True)


def in_child(script, first, count, seed):
    """Run some cases in a process of their own; return the outcomes of each case, with its number."""
    command = [sys.executable, "-W", "ignore", script, "--batch", "--seed", str(seed)]
    settings = {"PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": "2", "NUMBA_DISABLE_JIT": "1"} | os.environ
    return list(in_children(command, first, count, settings))


def main(script, run, right, arguments=None):
    """Run the cases that the arguments ask for; return the counts by outcome."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--batch", action="store_true", help="run the cases in this process")
    wanted = parser.parse_args(arguments)
    if wanted.batch:
        batch(run, wanted.first, wanted.cases, wanted.seed)
        return Counter()
    began, outcomes, by_function = time.perf_counter(), Counter(), defaultdict(Counter)
    last = wanted.first + wanted.cases
    size = max(1, min(BATCH, -(-wanted.cases // wanted.processes)))
    with ThreadPoolExecutor(wanted.processes) as pool:
        starts = range(wanted.first, last, size)
        sizes = [min(size, last - start) for start in starts]
        children = pool.map(in_child, repeat(script), starts, sizes, repeat(wanted.seed))
        for number, cases in (case for done in children for case in done):
            for outcome, function, what in cases:
                outcomes[outcome] += 1
                by_function[function][outcome] += 1
                if outcome not in right:
                    reproducer = f"--seed {wanted.seed} --first {number} --cases 1"
                    print(f"{outcome}: {function} {what} ({reproducer})", flush=True)
    seconds = round(time.perf_counter() - began, 1)
    functions = {name: dict(counts) for name, counts in sorted(by_function.items())}
    summary = {"cases": wanted.cases, "seed": wanted.seed, **outcomes, "seconds": seconds}
    print(json.dumps({**summary, "functions": functions}))
    return outcomes
