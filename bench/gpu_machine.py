"""Everything that needs a machine with GPUs and many cores, in one run: tests, memory checks and benchmarks.

    python bench/gpu_machine.py --folder DIRECTORY                    every job that this machine can do
    python bench/gpu_machine.py --folder DIRECTORY --minutes 9        as many as begin and end in nine minutes
    python bench/gpu_machine.py --folder DIRECTORY --only tests memcheck-forest
    python bench/gpu_machine.py --list

A job is a command with the minutes that it needs at most.  Those on a GPU run one after the other, and so do
those that time CPU cores.  Where there are cores enough, the two lines run beside each other on cores of
their own; elsewhere one waits for the other.  ``DIRECTORY`` gets a log for every job, the results of the
benchmarks, the compiled kernels, and ``jobs.json`` with the status of every job.  A run that is repeated
with the same directory goes on with the jobs that have not succeeded.

``GAPBS`` and ``WASP`` name programs beside which some jobs measure, as in ``surface.py``.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

from harness import ROOT, parser_of, state

from edgewise.device import arrays

CORES_OF_GPU_JOBS, CORES_TIMED = 8, 16


class Job(NamedTuple):
    """A command: what follows ``python``, the minutes and the GPUs that it needs (0: it times cores).

    ``under`` is the program, with options, that runs ``python``.
    """

    name: str
    words: str
    minutes: float
    gpus: int = 1
    under: str = ""


TESTS = "-m pytest -q -p no:cacheprovider -p no:benchmark -m"
#: The tests that the simulator runs, on a GPU.
ON_GPU = "env EDGEWISE_TEST_PLACE=cuda:0"
MEMCHECK = "compute-sanitizer --tool memcheck --error-exitcode 9"
RACECHECK = "compute-sanitizer --tool racecheck --error-exitcode 9"
#: Rooms whose tests on a GPU are looked through for bad addresses, by the marker of the tests.
CHECKED = {
    "gpu": ("components", "forest", "transactions", "partitions", "refinement"),
    "simulator": ("strong", "cores"),
}
#: Minutes after which nothing new of a publication is begun.
PUBLICATIONS = {
    "hellas-2018": 2,
    "baltzakis": 3,
    "harish": 5,
    "cs406": 4,
    "ecl-mst": 1,
    "manoochehri-2017": 8,
}
JOBS = (
    Job("histories", "bench/transactions.py history --device cuda:0", 3),
    Job("tests", f"{TESTS} gpu -n 8 tests", 9),
    Job("tests-simulated", f"{TESTS} simulator -n 8 tests", 9, under=ON_GPU),
    *(
        Job(f"memcheck-{room}", f"{TESTS} {marker} tests/{room}", 9, under=f"{ON_GPU} {MEMCHECK}")
        for marker, rooms in CHECKED.items()
        for room in rooms
    ),
    Job("racecheck-transactions", f"{TESTS} gpu tests/transactions", 9, under=RACECHECK),
    Job("components-edges", "bench/components.py edges", 2),
    Job("choices", "bench/components.py choices --device cuda --limit 400", 8),
    Job("paths", "bench/paths.py gpu", 4),
    Job(
        "hierarchy",
        "bench/surface.py --device cuda --named paths-16 paths-22 grid-20 --prepared --name prepared",
        2,
    ),
    Job("cycles", "bench/cycles.py gpu", 4),
    Job("forest", "bench/forest.py gpu", 3),
    Job("partitions", "bench/partitions.py large --device cuda", 9),
    *(
        Job(preset, f"bench/publications.py --presets {preset} --devices cuda:0 --minutes {most}", most + 1)
        for preset, most in PUBLICATIONS.items()
    ),
    Job("surface", "bench/surface.py --device cuda --sizes 16 17 18 19 20", 5),
    Job("first-use", "bench/first_use.py --device cuda", 3),
    Job("tiles", "bench/paths.py tiles", 3),
    Job("streams", "bench/streams.py gpu", 3),
    Job("several", "bench/components.py several rmat24", 3, 2),
    Job("forest-several", "bench/forest.py several", 4, 2),
    Job("all-pairs-several", "bench/paths.py several", 3, 2),
    Job("partitions-cores", "bench/partitions.py large", 9, 0),
    Job(
        "scaling",
        "bench/surface.py --sizes 20 --orders natural --sources hub --threads 1 4 16 --limit 400"
        " --name scaling-cpu",
        8,
        0,
    ),
    Job("choices-cores", "bench/components.py choices --threads 2 16 --limit 400", 8, 0),
    Job(
        "transactions-cores",
        "bench/publications.py --presets manoochehri-2017 --devices cpu --minutes 5",
        6,
        0,
    ),
    Job("histories-cores", "bench/transactions.py history --seconds 120", 3, 0),
)


class Run:
    """What the jobs of one run share: the folder, when all must have ended, and what has been done."""

    def __init__(self, folder, minutes):
        self.folder, self.end = folder, time.monotonic() + 60 * minutes
        self.path, self.lock = folder / "jobs.json", Lock()
        self.done = json.loads(self.path.read_text()) if self.path.exists() else {}
        (folder / "results").mkdir(parents=True, exist_ok=True)

    def run(self, jobs, cores):
        """Run jobs one after the other on some cores, each if there is time for it."""
        for job in jobs:
            if self.done.get(job.name, {}).get("status") == 0:
                continue
            if time.monotonic() + 60 * job.minutes > self.end:
                print(f"{job.name}: no time left for its {job.minutes} minutes", flush=True)
                continue
            self.run_one(job, cores)

    def run_one(self, job, cores):
        """Run one job, and note how it ended."""
        start, words = time.monotonic(), [*job.under.split(), sys.executable, *job.words.split()]
        how = {"cwd": ROOT, "env": self.environment(len(cores)), "timeout": 60 * job.minutes}
        how |= {"stderr": subprocess.STDOUT, "preexec_fn": lambda: os.sched_setaffinity(0, cores)}
        with (self.folder / f"{job.name}.log").open("w") as output:
            try:
                status = subprocess.run(words, stdout=output, **how).returncode
            except subprocess.TimeoutExpired:
                status = "out of time"
            except OSError as error:
                status = str(error)
        seconds = round(time.monotonic() - start, 1)
        print(f"{job.name}: {status}, {seconds} s", flush=True)
        with self.lock:
            self.done[job.name] = {"status": status, "seconds": seconds, "state": state()}
            self.path.write_text(json.dumps(self.done, indent=1))

    def environment(self, cores):
        """Variables of a job."""
        folder, path = self.folder.resolve(), os.environ.get("PYTHONPATH", "")
        own = {"PYTHONPATH": f"{ROOT}{os.pathsep}{path}".rstrip(os.pathsep), "EDGEWISE_QUIET": "1"}
        own |= {"NUMBA_NUM_THREADS": str(cores), "OUT": str(folder / "results")}
        return {"EDGEWISE_CACHE_DIR": str(folder / "kernels"), **os.environ, **own}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--minutes", type=float, default=120.0, help="time for all")
    names = [job.name for job in JOBS]
    parser.add_argument("--only", nargs="+", choices=names, help="these jobs, in this order")
    parser.add_argument("--list", action="store_true", help="print the jobs")
    given = parser.parse_args()
    jobs = [JOBS[names.index(name)] for name in given.only or names]
    if given.list or given.folder is None:
        for job in jobs:
            print(f"{job.name:22} {job.gpus} GPUs {job.minutes:3} min  python {job.words}")
        return
    gpus, cores = arrays.gpu_count(), sorted(os.sched_getaffinity(0))
    of_gpus = [job for job in jobs if 1 <= job.gpus <= gpus]
    of_cores = [job for job in jobs if job.gpus == 0]
    here, shared = Run(given.folder, given.minutes), len(cores) < CORES_OF_GPU_JOBS + CORES_TIMED
    others = cores if shared else cores[CORES_TIMED : CORES_TIMED + CORES_OF_GPU_JOBS]
    beside = Thread(target=here.run, args=(of_gpus, others))
    beside.start()
    if shared:
        beside.join()
    here.run(of_cores, cores if shared else cores[:CORES_TIMED])
    beside.join()


if __name__ == "__main__":
    main()
