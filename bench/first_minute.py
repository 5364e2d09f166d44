"""The first minute of a new user: the commands of README with an empty cache of kernels, then again.

    python bench/first_minute.py [--wheel PYTHON] [--commands NAME ...]

Every command has an empty cache of its own and runs twice, by this checkout.  ``PYTHON`` is the interpreter
of an environment into which a wheel with compiled kernels is installed; the commands then run by that as
well, in turn.  A row holds seconds of the processor and of the clock, and how many kernels were compiled.
"""

import os
import sys
import tempfile
from pathlib import Path

from harness import ROOT, main, part, process

#: Files that the commands read, and how they are made.
FILES = {
    "pairs.parquet": "generate pairs 300000",
    "roads.mtx": "generate grid 300 --dropped 0.2 --weights 1:100",
    "friends.csv": "generate rmat 12 --simple",
    "mesh.mtx": "generate grid 200",
}
COMMANDS = {
    "components": "components pairs.parquet --threshold 0.9 -o out.parquet",
    "components, streamed": "components pairs.parquet --threshold 0.9 --stream -o out.parquet",
    "components, two thresholds": "components pairs.parquet --threshold 0.9 --threshold 0.8 -o out.parquet",
    "forest": "forest pairs.parquet --maximum -o out.parquet",
    "paths": "paths roads.mtx --source 17 --to 5018",
    "paths, BFS": "paths friends.csv --bfs --source 1",
    "cycles of length 3": "cycles friends.csv --length 3 -o out.parquet",
    "cycles of length 5": "cycles friends.csv --length 5 -o out.parquet",
    "strong": "strong friends.csv -o out.csv",
    "cores": "cores friends.csv -o out.csv",
    "partition": "partition mesh.mtx 8 -o out.part",
    "partition, weights": "partition roads.mtx 8 -o out.part",
}


def run(words, cache, python, **own):
    """What a command takes in a process, and how many kernels for CPU cores its cache has afterwards."""
    spent = process([python, "-m", "edgewise", *words.split()], EDGEWISE_CACHE_DIR=str(cache), **own)
    kernels = sum(name.suffix == ".nbc" for name in Path(cache).rglob("*"))
    return {"seconds": spent["seconds"], "cpu_s": spent["cpu"], "kernels": kernels}


def rows(given):
    """A row for each command and way: the first process and the second."""
    ways = {"compiled": (sys.executable, {"PYTHONPATH": str(ROOT)})}
    if given.wheel:
        ways["wheel"] = os.path.abspath(given.wheel), {"PYTHONPATH": ""}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the bytecode of an installed package is there
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for file, words in FILES.items():
            for python, own in ways.values():
                run(f"{words} -o {file}", Path(folder) / "made", python, **own)
        for name in given.commands:
            for way, (python, own) in ways.items():
                with tempfile.TemporaryDirectory() as cache:
                    first, second = (run(COMMANDS[name], cache, python, **own) for _ in range(2))
                yield {"command": name, "way": way, "first": first, "second": second}
        os.chdir(ROOT)


def summary(rows):
    """Seconds of the processor that the first processes take more than the second ones."""
    for row in rows:
        more = row["first"]["cpu_s"] - row["second"]["cpu_s"]
        yield (
            f"{row['command']}, {row['way']}: first {row['first']['cpu_s']:.2f} s of the processor, "
            f"{more:+.2f} s, {row['first']['kernels']} kernels"
        )


PART = part(
    "first-minute",
    rows,
    key=("command", "way"),
    summary=summary,
    wheel="",
    commands=[*COMMANDS],
)

if __name__ == "__main__":
    main(__doc__, PART)
