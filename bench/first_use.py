"""First use: every command with an empty cache of kernels, then again, and what is compiled for it.

    python bench/first_use.py [--device cpu|cuda] [--commands NAME ...] [--alone]
    python bench/first_use.py --against OLD          two states of edgewise in one run

Each command runs in a process of its own, all with one cache, which is empty at first (``--alone``: an empty
one for each command).  A row holds the seconds of the first and of the second process, and the kernels that
each compiled with their seconds.  The second process of a command must compile nothing.  On the CPU, other
processes compile nothing ahead.  What they compile for a GPU is not listed; a command that needs one of these
kernels waits for it.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from harness import ROOT, compared, main, part, process

#: Commands by name, on files of the folder in which they run.
COMMANDS = {
    "components csv": ["components", "pairs.csv"],
    "components strings": ["components", "names.csv"],
    "components parquet": ["components", "pairs.parquet"],
    "components thresholds": ["components", "scored.csv", "--thresholds", "0.5,0.9", "--score", "score"],
    "bfs": ["paths", "pairs.csv", "--bfs", "--source", "1"],
    "sssp": ["paths", "weighted.csv", "--source", "1"],
    "all pairs": ["paths", "weighted.csv", "--all-pairs"],
    "triangles": ["cycles", "pairs.csv", "--length", "3"],
    "squares": ["cycles", "pairs.csv", "--length", "4"],
    "pentagons": ["cycles", "pairs.csv", "--length", "5"],
    "forest": ["forest", "weighted.csv"],
    "forest scores": ["forest", "scored.csv", "--weight", "score"],
    "strong": ["strong", "pairs.csv"],
    "cores": ["cores", "pairs.csv"],
    "partition": ["partition", "pairs.csv", "4"],
    "generate": ["generate", "rmat", "8", "-o", "made.npz"],
    "convert": ["convert", "pairs.csv", "pairs.graph"],
}
#: Commands that take no device.
WITHOUT_DEVICE = ("convert",)

CHILD = """
import json, re, sys, time
from pathlib import Path
from edgewise.command import keyboard, main, start_driver

start_driver(json.loads(sys.argv[2]))  # as ``main`` does, before what follows is imported
from edgewise.device import cache, target

found = []


def listen():
    from numba.core import event

    class Recorder(event.Listener):
        def __init__(self):
            self.open, self.began = 0, 0.0

        def on_start(self, one):
            self.open += 1
            self.began = time.perf_counter() if self.open == 1 else self.began

        def on_end(self, one):
            self.open -= 1
            if not self.open:
                name = one.data["dispatcher"].py_func.__qualname__
                found.append([name, time.perf_counter() - self.began])

    event.register("numba:compile", Recorder())


target.on_cpu_compiler(listen)  # called before something is compiled; nothing else here imports Numba


def timed(function, name_of):
    def run(*given, **options):
        start, before = time.perf_counter(), sum(spent for _, spent in found)
        answer = function(*given, **options)
        inside = sum(spent for _, spent in found) - before
        found.append([name_of(given), time.perf_counter() - start - inside])
        return answer

    return run


write = cache._write_kernel


def named(name, signature, data):
    found[-1][0] = name + " " + re.sub(r"Array\\((\\w+), 1, .C., False, aligned=True\\)", r"\\1[]", signature)
    write(name, signature, data)


cache._write_kernel = named
from edgewise.device import launch

launch._compile = timed(launch._compile, lambda given: "ptx " + given[0].__qualname__ + repr(given[1]))
launch._Loaded.__init__ = timed(launch._Loaded.__init__, lambda given: "load " + given[1].name)
if "cuda" in sys.argv[2]:
    from cupy.cuda import compiler

    name = "_compile_using_nvrtc_no_warning"  # since CuPy 14
    name = name if hasattr(compiler, name) else "compile_using_nvrtc"
    by = lambda given: " ".join(["cupy", *re.findall(r"void (\\w+)", given[0])[-1:]])
    setattr(compiler, name, timed(getattr(compiler, name), by))
status = []
keyboard.leave = status.append
main(json.loads(sys.argv[2]))
Path(sys.argv[1]).write_text(json.dumps({"status": status[0], "kernels": found}))
"""


def make_files(folder):
    """Small files that the commands read."""
    folder = Path(folder)
    numbers = [(u, (u * 7 + 3) % 500) for u in range(1000)]
    (folder / "pairs.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in numbers))
    (folder / "names.csv").write_text("source,target\n" + "".join(f"a{u},a{v}\n" for u, v in numbers))
    rows = "".join(f"{u},{v},{u % 9 + 1}\n" for u, v in numbers)
    (folder / "weighted.csv").write_text("source,target,weight\n" + rows)
    rows = "".join(f"{u},{v},{(u % 9 + 1) / 10}\n" for u, v in numbers)
    (folder / "scored.csv").write_text("source,target,score\n" + rows)
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "pairs.csv"), folder / "pairs.parquet")


def run(command, cache, folder, state=ROOT):
    """Seconds of a process, and what it compiled."""
    report = Path(folder) / "report.json"
    caches = ("EDGEWISE_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
    own = {name: f"{cache}/{name}" for name in caches} | {"PYTHONPATH": str(state)}
    own["OPENBLAS_NUM_THREADS"] = "1"  # as the command has it, which is not run by its own page here
    if "cuda" not in " ".join(command):
        own["EDGEWISE_COMPILE_AHEAD"] = "0"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the bytecode of an installed package is there
    spent = process([sys.executable, "-c", CHILD, report, json.dumps(command)], cwd=folder, **own)
    found = json.loads(report.read_text())
    if found["status"]:
        sys.exit(f"{' '.join(command)} failed")
    loads = [pair for pair in found["kernels"] if pair[0].startswith("load ")]
    kernels = [pair for pair in found["kernels"] if pair not in loads]
    loads_s = sum(seconds for _, seconds in loads)
    return {"seconds": spent["seconds"], "cpu_s": spent["cpu"], "kernels": kernels, "loads_s": loads_s}


def rows(given):
    """A row for each command, with its first process and its second."""
    given.facts["alone"] = given.alone
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        make_files(folder)
        for name in given.commands:
            where = ["--device", given.device] if name not in WITHOUT_DEVICE else []
            cache = Path(folder) / ("cache" + name * given.alone)
            command = [*COMMANDS[name], *where]
            first, second = (run(command, cache, folder) for _ in range(2))
            first["kernels"].sort(key=lambda pair: -pair[1])
            row = {"command": name, "first": first, "second": second}
            if given.against:
                where = Path(folder) / ("old" + name * given.alone), folder, Path(given.against).resolve()
                row["old_first"], row["old_second"] = (run(command, *where) for _ in range(2))
            yield row


def summary(rows):
    """Seconds of all first processes and of all second ones, and how many kernels they compiled."""
    for turn in ("first", "second"):
        seconds = sum(row[turn]["seconds"] for row in rows)
        compiled = [spent for row in rows for _, spent in row[turn]["kernels"]]
        both = [
            (row["command"], row[turn]["cpu_s"], row[f"old_{turn}"]["cpu_s"])
            for row in rows
            if "old_first" in row
        ]
        yield from compared(f"{turn}: new / old seconds of the processor", both)
        yield f"{turn}: {seconds:.1f} s, {len(compiled)} kernels in {sum(compiled):.1f} s"


PART = part(
    "first-use-{kind}",
    rows,
    key=("command",),
    summary=summary,
    device="cpu",
    commands=[*COMMANDS],
    alone=False,
    against="",
)

if __name__ == "__main__":
    main(__doc__, PART)
