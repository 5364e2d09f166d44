"""The kernels that commands need, for ``edgewise/device/usual_kernels.json``.

    python bench/usual_kernels.py [cpu|cuda]

Each command runs in a process of its own.  On the CPU this lists the kernels that it compiles or loads, in
this order; the files are as large as those of users, since small ones need no kernels.  Where runs with the
same words begin with the same kernel, a command takes the first of them.

For GPUs, the commands of ``bench/first_use.py`` run on the simulated GPU, which launches the same kernels
with the same types of arguments.  The slowest to compile come first, by the time that the compiler takes
here.  With the name of a device, the runs of the other one stay as they are.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

#: Words of commands that are in the list for the CPU, and the other words of the runs.
ON_CPU = {
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
    "clusters": ["apply store --add scores.parquet --remove first.parquet"],
    "warmup --components": [""],
    "warmup --paths": [""],
    "warmup --cycles": [""],
    "warmup --forests": [""],
    "warmup --partitions": [""],
    "warmup --cores": [""],
}
#: Wedges up to which a warp, a block, and a block with a table outside count the vertices of small files.
LIMITS = 1, 2, 4


def make_files(folder):
    """Files that the commands read on the CPU."""
    import numpy as np
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
    store = ew.ClusterStore.create(folder / "store", threshold=0.5)
    store.apply(add=scores.slice(0, m // 2))
    pyarrow.parquet.write_table(store.pairs().slice(0, m // 3).select([0, 1]), folder / "first.parquet")


def written(kind):
    """The type of an argument as the list has it, from how :mod:`edgewise.device.launch` or Numba has it."""
    if hasattr(kind, "types"):  # Numba's type of a tuple
        kind = getattr(kind, "instance_class", tuple), kind.types
    if isinstance(kind, tuple):
        return [f"{kind[0].__module__}:{kind[0].__qualname__}", list(map(written, kind[1]))]
    if isinstance(kind, str):
        return kind
    return f"{kind.dtype.name}[]" if hasattr(kind, "dtype") else kind.name


def kernels_of(device, words, folder):
    """Kernels that a command needs on a device, as the list has them, from a process of its own."""
    report = Path(folder, "kernels.json").resolve()
    alone = os.environ | {"EDGEWISE_COMPILE_AHEAD": "0", "EDGEWISE_SIMULATOR": str(int(device == "cuda"))}
    call = f"import usual_kernels; usual_kernels.note_{device}({str(report)!r}, {words})"
    call = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); {call}"
    subprocess.run([sys.executable, "-c", call], cwd=folder, env=alone, check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())


def note_cpu(report, words):
    """Run a command; write down the kernels that it compiles or loads, with the types of their arguments."""
    from edgewise.command import run
    from edgewise.device import numba_internals, threads

    found, load = [], numba_internals.KernelCache.load_overload

    def note(self, signature, context):
        name = self.read.args[0]
        if name in threads.by_name:
            found.append([name, list(map(written, signature))])
        return load(self, signature, context)

    numba_internals.KernelCache.load_overload = note
    device = [] if words[0] == "clusters" else ["--device", "cpu"]  # stores are on the CPU always
    if run([*words, *device, "--quiet", "--json"]):
        sys.exit(f"{' '.join(words)} failed")
    Path(report).write_text(json.dumps(found))


def note_cuda(report, words):
    """Run a command on the simulated GPU; write down the kernels that it launches."""
    from edgewise import tuning
    from edgewise.device import launch

    tuning.CPU = replace(
        tuning.CPULimits(), ingest_few=0
    )  # so that small files take the kernels of large ones
    tuning.GPU = replace(tuning.GPULimits(), cycles_marked=2)
    from edgewise.command import run
    from edgewise.cycles.counting import apex

    found, launch_one = [], launch.Kernel.__call__

    def note(self, count, arguments, device):
        kernel = [self.name, list(map(written, map(launch.kind_of, arguments)))]
        if kernel not in found:
            found.append(kernel)
        return launch_one(self, count, arguments, device)

    launch.Kernel.__call__ = note
    apex.ApexCounter._limits = lambda self, *given: LIMITS
    if run([*words, "--device", "cuda", "--quiet"]):
        sys.exit(f"{' '.join(words)} failed")
    Path(report).write_text(json.dumps(found))


def seconds_of(kernel):
    """Seconds that the compiler for GPUs takes for a kernel."""
    from edgewise.device import ahead, launch

    begun = time.perf_counter()
    launch._compile(ahead.kernel_named(kernel[0]).source(), ahead.kinds_of(kernel[1]), (9, 0))
    return time.perf_counter() - begun


def cpu_runs(folder):
    """The runs for the CPU."""
    make_files(Path(folder))
    for words, others in ON_CPU.items():
        for other in others:
            kernels = kernels_of("cpu", [*words.split(), *other.split()], folder)
            yield {"device": "cpu", "words": words.split(), "kernels": kernels}


def cuda_runs(folder):
    """The runs for GPUs, one for each command."""
    import first_use

    first_use.make_files(folder)
    by_command, known = {}, []
    for name, words in first_use.COMMANDS.items():
        if name not in first_use.WITHOUT_DEVICE:
            new = [kernel for kernel in kernels_of("cuda", words, folder) if kernel not in known]
            known += new
            by_command.setdefault(words[0], []).extend(new)
    for command, kernels in by_command.items():
        yield {"device": "cuda", "words": [command], "kernels": sorted(kernels, key=seconds_of)[::-1]}


def main(*devices):
    """Write the list."""
    from edgewise.device import ahead

    made = {"cuda": cuda_runs, "cpu": cpu_runs}
    found, numbers = [], {}
    for device, make in made.items():
        with tempfile.TemporaryDirectory() as folder:
            kept = [run for run in ahead.runs() if run["device"] == device]
            for run in make(folder) if device in (devices or made) else kept:
                print(run["device"], *run["words"], len(run["kernels"]), flush=True)
                texts = map(json.dumps, run["kernels"])
                found.append(run | {"kernels": [numbers.setdefault(text, len(numbers)) for text in texts]})
    kernels = ",\n".join(numbers)
    lines = ",\n".join(map(json.dumps, found))
    ahead.USUAL.write_text(f'{{"kernels": [\n{kernels}\n],\n"runs": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
