"""Changed bits in the files of compiled kernels: every process must still give the right answers.

``python tests/campaigns/flipped_caches.py --cases 500 --seed 1 --processes 16``

A process fills a folder of kernels once.  In each case a copy of it has one changed bit, and a new process
uses it: it must end with status 0 and the answers of the first, and say nothing but that it compiles.  Every
tenth case is of the files that Numba writes by itself (``EDGEWISE_PUBLIC_ONLY=1``), and every tenth of the
kernels of GPUs, where their compiler is installed.  The last line is one of JSON.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
#: Seconds that a process may take, on a machine that is busy.
WATCHDOG = 120
#: What a process may say.
COMPILING = "edgewise: compiling kernels (first use of this version) ...\n"
#: Uses kernels of every kind of file, and prints what they give.
ON_CPU = """
import hashlib
import numpy as np
import edgewise as ew

sources, targets = np.random.default_rng(1).integers(20_000, size=(2, 15_000))
result = ew.connected_components(ew.Graph.from_edges(sources, targets, n_vertices=20_000), method="rem")
print(result.count, hashlib.sha256(result.labels.tobytes()).hexdigest())
"""
ON_GPU = """
import hashlib
from edgewise.device import ahead
kernel = ahead.kernel_named("edgewise.ingest.csr._find_row")
kinds, capability = ("uint64[]", "int64", "int64[]"), (9, 0)
kernel.compile_if_free(kinds, capability, lambda text, capability: text.encode())
text, binary = kernel.ptx(kinds, capability), kernel.binary(kinds, capability)
print(hashlib.sha256(text.encode()).hexdigest(), binary in (None, text.encode()))
"""
#: Scripts and settings, by the kind of file.
KINDS = {
    "kernel": (ON_CPU, {}),
    "file of Numba": (ON_CPU, {"EDGEWISE_PUBLIC_ONLY": "1"}),
    "kernel of a GPU": (ON_GPU, {}),
}


def use(kind, folder):
    """Run a process that uses the kernels of a folder; return its status, output and messages."""
    script, settings = KINDS[kind]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    own = {"EDGEWISE_CACHE_DIR": str(folder), "PYTHONPATH": path, "NUMBA_NUM_THREADS": "2"}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "EDGEWISE_QUIET": "0", **own, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            return process.wait(WATCHDOG), *process.communicate()
        except subprocess.TimeoutExpired:
            process.kill()
            return "hang", *process.communicate()


def filled(kind, folder):
    """Fill a folder with the kernels of one kind; return the answers."""
    status, answers, said = use(kind, folder)
    if status != 0 or not answers:
        raise RuntimeError(f"{kind}: status {status} without a changed bit: {said}")
    return answers


def kind_of(number, kinds):
    """The kind of file of a case."""
    return kinds[number % 10] if number % 10 < len(kinds) else "kernel"


def run(number, seed, full, answers, kinds):
    """Run one case; return the kind of file, the outcome, and what tells more of it."""
    draw, kind = random.Random(f"{seed} {number}"), kind_of(number, kinds)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "cache"
        shutil.copytree(full / kind, copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
        file = draw.choice(files)
        content = bytearray(file.read_bytes())
        bit = draw.randrange(8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        status, found, said = use(kind, copy)
    what = f"bit {bit} of {file.name}: status {status}, {found!r}, {said[-500:]!r}"
    if status == "hang":
        return kind, "hang", what
    if "Traceback" in said:
        return kind, "traceback", what
    if status != 0:
        return kind, "crash", what
    if found != answers[kind]:
        return kind, "wrong", what
    return kind, "right" if said in ("", COMPILING) else "words", what


def main(arguments=None):
    """Run the cases; return the counts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    wanted = parser.parse_args(arguments)
    began = time.perf_counter()
    kinds = [kind for kind in KINDS if kind != "kernel of a GPU" or find_spec("numba_cuda")]
    outcomes: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(wanted.processes) as pool:
        full, numbers = Path(folder), range(wanted.first, wanted.first + wanted.cases)
        used = [kind for kind in kinds if kind in {kind_of(number, kinds) for number in numbers}]
        answers = dict(zip(used, pool.map(lambda kind: filled(kind, full / kind), used)))
        cases = pool.map(lambda number: run(number, wanted.seed, full, answers, kinds), numbers)
        for number, (kind, outcome, what) in zip(numbers, cases):
            outcomes[outcome] += 1
            if outcome != "right":
                reproducer = f"--seed {wanted.seed} --first {number} --cases 1"
                print(f"{outcome}: {kind}, {what} ({reproducer})", flush=True)
    seconds = round(time.perf_counter() - began, 1)
    print(json.dumps({"cases": wanted.cases, **outcomes, "seconds": seconds}))
    return outcomes


if __name__ == "__main__":
    sys.exit(set(main()) != {"right"})
