"""Planted faults, one line each: the tests that are named beside a fault must fail with it.

``python tests/campaigns/mutants.py --processes 16``

The faults are in ``mutants.toml``: a file, the line as it is and as it is planted, and the tests that must
find it, by the engine that runs them.  Each process has a copy of the tree.  The tests are run without a
fault first and must pass.  A fault is *killed* if a test fails with it, or is stopped by the watchdog, and
*survived* if all pass.  One with a reason why it changes nothing that can be seen is *equivalent*, and no
test may fail with it.  The last line is one of JSON.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = Path(__file__).with_suffix(".toml")
#: Seconds that tests may take, on a machine that is busy.
WATCHDOG = 150
#: What a copy of the tree has.
COPIED = ("edgewise", "tests", "examples", "docs", "pyproject.toml", "README.md", "_edgewise_nx.py")
ENGINES = {
    "interpreter": {"NUMBA_DISABLE_JIT": "1"},
    "compiled": {},
    "simulator": {"EDGEWISE_SIMULATOR": "1"},
}


class Mutant(NamedTuple):
    """A planted fault.

    Attributes
    ----------
    name : str
        What is wrong.
    file : str
    old, new : str
        The text, which occurs once in the file, and what takes its place.
    tests : str
        Arguments of pytest, which select the tests that must find the fault.
    engine : str
        One of :data:`ENGINES`.
    equivalent : str
        Why nobody can see it, if that is so.
    """

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    engine: str = "interpreter"
    equivalent: str = ""


def planted(fault, text: str) -> str:
    """The text of the file with a fault."""
    if text.count(fault.old) != 1:
        raise ValueError(f"{fault.name}: the old text occurs {text.count(fault.old)} times in {fault.file}")
    return text.replace(fault.old, fault.new)


def mutants() -> list[Mutant]:
    """All rows of the table."""
    return [Mutant(**row) for row in tomllib.loads(TABLE.read_text())["mutant"]]


def copy_tree(folder: Path) -> None:
    """Copy what the tests need."""
    unused = shutil.ignore_patterns("__pycache__", "_build")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=unused)
        else:
            shutil.copy(ROOT / name, folder / name)


@contextmanager
def planted_in(folder: Path, fault):
    """Context in which a copy of the tree has a fault."""
    path = folder / fault.file
    text = path.read_text()
    write(path, planted(fault, text))
    try:
        yield
    finally:
        write(path, text)


def write(path, text):
    """Write a source and remove its bytecode, which is found by the second of the last change only."""
    path.write_text(text)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


@contextmanager
def by_copies(processes, copy=copy_tree):
    """Context with a map over rows by threads: each call has a copy of the tree to itself, and a row."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            copies.put(Path(folder, str(number)))
            copy(Path(folder, str(number)))

        def lent(call, row):
            own = copies.get()
            try:
                return call(own, row)
            finally:
                copies.put(own)

        yield lambda call, rows: zip(rows, pool.map(partial(lent, call), rows))


def options_of(description: str, of: str) -> argparse.ArgumentParser:
    """The options that campaigns of planted faults share."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help=f"only faults whose {of} contain this")
    return parser


def outcome(folder: Path, tests: Sequence[str], engine: str) -> tuple[str, str]:
    """Run tests in a copy of the tree; return passed, failed, stopped or broken, and what pytest said."""
    own = {"PYTHONPATH": str(folder), "EDGEWISE_CACHE_DIR": str(folder / "kernels"), "CI": "1"}
    dropped = ("NUMBA_DISABLE_JIT", "EDGEWISE_SIMULATOR", "EDGEWISE_PUBLIC_ONLY")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"NUMBA_NUM_THREADS": "2"} | own | ENGINES[engine]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        options = {"stdout": said, "stderr": subprocess.STDOUT, "start_new_session": True}
        child = subprocess.Popen(command, cwd=folder, env=environment, **options)
        try:
            status = child.wait(WATCHDOG)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "stopped", f"after {WATCHDOG} s"
        said.seek(0)
        lines = said.read().splitlines()
    found = {0: "passed", 1: "failed"}.get(status, "failed" if status < 0 else "broken")
    told = [line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines[-1:]
    return found, "; ".join(told)[:300]


def judged(folder: Path, mutant: Mutant) -> tuple[str, str]:
    """Whether the tests find a fault, and what they say."""
    with planted_in(folder, mutant):
        found, said = outcome(folder, mutant.tests, mutant.engine)
    if mutant.equivalent and found == "passed":
        return "equivalent", mutant.equivalent
    if mutant.equivalent and found == "failed":
        return "broken", f"it is no equivalent: {said}"
    return {"passed": "survived", "failed": "killed", "stopped": "killed"}.get(found, found), said


def main(arguments=None) -> dict[str, int]:
    """Run the campaign; return the counts by outcome."""
    parser = options_of(__doc__, "names or files")
    parser.add_argument("--cases", type=int, help="only so many faults, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=ENGINES, help="only faults that this engine finds")
    given = parser.parse_args(arguments)
    start = time.monotonic()
    rows = [one for one in mutants() if given.only in one.name or given.only in one.file]
    rows = [one for one in rows if given.engine in (None, one.engine)]
    random.Random(given.seed).shuffle(rows)
    rows = sorted(rows[: given.cases], key=lambda one: one.engine == "interpreter")  # the slow ones first
    groups = sorted({(tuple(one.tests), one.engine) for one in rows}, key=lambda group: group[::-1])
    counts: Counter[str] = Counter()
    with by_copies(given.processes) as mapped:
        for (tests, engine), (found, said) in mapped(lambda own, group: outcome(own, *group), groups):
            if found != "passed":
                print(f"broken: {' '.join(tests)} ({engine}) without a fault: {said}", flush=True)
                counts["broken"] += 1
        for one, (found, said) in mapped(judged, rows):
            print(f"{found}: {one.name} ({one.file}): {said}", flush=True)
            counts[found] += 1
    seconds = round(time.monotonic() - start, 1)
    print(json.dumps({"campaign": "mutants", "cases": len(rows), **counts, "seconds": seconds}))
    return dict(counts)


if __name__ == "__main__":
    sys.exit(bool(main().keys() - {"killed", "equivalent"}))
