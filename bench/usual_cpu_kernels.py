"""The kernels that commands need on the CPU, for ``edgewise/device/usual_cpu_kernels.json``.

    python bench/usual_cpu_kernels.py

Each command runs in a process of its own, which lists the kernels that it compiles or loads, in this order.
The files are as large as those of users, since small ones need no kernels.  Where runs with the same words
begin with the same kernel, a command takes the first of them.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from edgewise.device import ahead_on_cpu

#: Words of commands that are in the list, and the other words of the runs.
COMMANDS = {
    "partition": ["mesh.graph 8", "mesh.mtx 8"],
    "paths --bfs": ["pairs.csv --source 1", "roads.gr --source 1"],
    "paths": ["roads.mtx --source 1 --to 5000", "roads.gr --source 1 --to 5000", "weighted.csv --source 1"],
    "cycles --length 3": ["friends.csv"],
    "cycles --length 4": ["pairs.csv"],
    "cycles --length 5": ["friends.csv"],
    "forest": ["weighted.csv", "scores.parquet --maximum", "roads.gr"],
    "components": ["pairs.csv", "pairs.parquet", "names.parquet"],
    "strong": ["pairs.csv"],
    "cores": ["pairs.csv"],
}
CHILD = """
import json, sys
from pathlib import Path
from edgewise.command import main
from edgewise.device import ahead_on_cpu, numba_internals, threads

found, load = [], numba_internals.KernelCache.load_overload


def note(self, signature, context):
    name = self.read.args[0]
    if name in threads.by_name:
        found.append([name, ahead_on_cpu.written_as(signature)])
        Path(sys.argv[1]).write_text(json.dumps(found))
    return load(self, signature, context)


numba_internals.KernelCache.load_overload = note
main(sys.argv[2:])
"""


def make_files(folder):
    """Files that the commands read."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    import edgewise as ew
    from edgewise import generators

    n, m = 200_000, 300_000
    chosen = np.random.default_rng(1)
    ends, weights = chosen.integers(0, n, (2, m)), chosen.integers(1, 1000, m)
    numbers = pa.table({"source": ends[0], "target": ends[1], "weight": weights})
    names = pa.table({name: [f"r{one}" for one in ids] for name, ids in zip(("source", "target"), ends)})
    for name, table in ("weighted", numbers), ("pairs", numbers.select([0, 1])):
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
    scores = names.append_column("weight", pa.array(weights / 1000))
    for name, table in ("pairs", numbers.select([0, 1])), ("names", names), ("scores", scores):
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    mesh = generators.grid(200)
    roads = generators.with_weights(generators.grid(300, dropped=0.25), 1, 100)
    for graph, files in (mesh, "mesh.graph mesh.mtx"), (roads, "roads.gr roads.mtx"):
        for file in files.split():
            ew.write(graph, folder / file)
    ew.write(generators.rmat(12, simple=True), folder / "friends.csv")


def kernels_of(words, folder):
    """Kernels that a command needs, as the file has them."""
    report = Path(folder) / "kernels.json"
    report.write_text("[]")
    command = [sys.executable, "-c", CHILD, report, *words, "--device", "cpu", "--quiet", "--json"]
    alone = os.environ | {"EDGEWISE_COMPILE_AHEAD": "0"}
    subprocess.run(command, cwd=folder, env=alone, check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())


def runs(folder):
    """The words and the kernels of all runs."""
    for words, others in COMMANDS.items():
        for other in others:
            given = [*words.split(), *other.split()]
            yield {"words": words.split(), "kernels": kernels_of(given, folder)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        found = []
        for run in runs(folder):
            lines = ",\n".join(f"      {json.dumps(kernel)}" for kernel in run["kernels"])
            words = json.dumps(run["words"])
            found.append(f'  {{\n    "words": {words},\n    "kernels": [\n{lines}\n    ]\n  }}')
            print(" ".join(run["words"]), len(run["kernels"]))
    ahead_on_cpu.USUAL.write_text("[\n" + ",\n".join(found) + "\n]\n")


if __name__ == "__main__":
    main()
