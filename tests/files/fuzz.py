"""Mutated files through every reader: each is read rightly, or refused with one line.

``python -m tests.files.fuzz --files 200000 --jobs 2`` tries that many files.  The number of a file is the
seed of its mutations, so ``--first NUMBER --files 1`` tries one of them again.  Workers are processes of
their own: a crash or an endless loop ends only the file that causes it.  The files that fail are kept.
"""

import argparse
import json
import os
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[2]
#: Address space of a worker, and seconds for one file on a busy machine.
MAX_MEMORY, MAX_SECONDS = 12 << 30, 30.0
#: Seconds in which a worker compiles its kernels and makes its seeds.
START_SECONDS = 600.0
#: Methods for components that read edges, and rows.
METHODS = ("rem", "rem-sequential", "ecl-cc", "propagate")
#: Largest graph that is solved by all methods.
MAX_VERTICES = 1 << 20
MAX_MESSAGE = 2000
GOOD = ("accepted", "refused")
#: Options of some of the calls.
OPTIONS = (
    {"ids": "string"},
    {"null": "drop"},
    {"directed": True},
    {"directed": False},
    {"weight": False},
    {"weight": 2},
    {"source": 0, "target": 1},
    {"source": 1, "target": 0, "weight": 2},
    {"header": False},
    {"header": True},
    {"one_based": True},
    {"one_based": False},
    {"decimal": ","},
    {"decimal": ",", "sep": ";"},
    {"encoding": "latin-1"},
    {"encoding": "utf-16"},
    {"encoding": "shift_jis", "threshold": 0.5},
    {"repeated": "min", "self_loops": "drop"},
    {"format": "el"},
    {"format": "el1"},
    {"format": "csv"},
    {"format": "ncol"},
    {"format": "metis"},
    {"format": "smat"},
)


def make_case(number: int, families: dict) -> tuple:
    """Family, mutated files by name, and options of the case with this number."""
    from tests.files.mutations import mutate

    draw = random.Random(number)
    family = draw.choice(sorted(families))
    files = dict(draw.choice(families[family]))
    changed = draw.choice([*files])
    other = draw.choice(families[draw.choice(sorted(families))])
    files[changed] = mutate(draw, files[changed], next(iter(other.values())))
    return family, files, draw.choice(OPTIONS) if draw.random() < 0.2 else {}


def examine(path: Path, options: dict, streamed: bool = False) -> tuple[str, str]:
    """Read a file; return the outcome and, where it is not good, what is wrong."""
    import edgewise as ew
    from edgewise.errors import EdgewiseError

    try:
        graph = ew.read(path, **options)
        check_graph(graph)
        partition = check_labels(graph)
    except EdgewiseError as error:
        return check_message(error)
    except AssertionError as error:
        return "wrong", f"{error}"
    except Exception as error:
        return "unexpected", _where(error)
    return check_streamed(path, partition) if streamed and not options else ("accepted", "")


def _where(error):
    """Kind, text and place of an error that should not have been."""
    step = error.__traceback__
    steps = []
    while step is not None:
        steps.append(f"{Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno}")
        step = step.tb_next
    return f"{type(error).__name__}: {str(error)[:300]} at {' '.join(steps[-4:])}"


def check_message(error) -> tuple[str, str]:
    """A refusal is one line."""
    text = str(error)
    if len(text.splitlines()) != 1:
        return "unexpected", f"a refusal of {len(text.splitlines())} lines: {text!r}"
    return (
        ("refused", text) if len(text) <= MAX_MESSAGE else ("unexpected", f"a refusal of {len(text)} letters")
    )


def check_graph(graph):
    """Check offsets, neighbours, the symmetry of rows, ids, and the lengths of all arrays."""
    import numpy as np

    n = graph.n_vertices
    if graph.has_rows:
        offsets, neighbours = graph.offsets, graph.neighbours
        assert len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == len(neighbours), (
            "offsets do not fit"
        )
        assert (np.diff(offsets) >= 0).all(), "offsets fall"
        check_range(neighbours, n)
        if not graph.directed:
            rows = np.repeat(np.arange(n), np.diff(offsets)).astype(np.int64)
            there, back = ([np.lexsort(pair), *pair] for pair in ((rows, neighbours), (neighbours, rows)))
            for one in (1, 2):
                assert np.array_equal(there[one][there[0]], back[one][back[0]]), "rows are not symmetric"
        assert graph.csr_weights is None or len(graph.csr_weights) == len(neighbours), (
            "weights are not as many"
        )
    sources, targets, weights = graph.sources, graph.targets, graph.weights
    assert len(sources) == len(targets) == graph.n_edges, "sources, targets and edges are not as many"
    check_range(sources, n)
    check_range(targets, n)
    if weights is not None:
        assert len(weights) == graph.n_edges, "weights are not as many"
        assert weights.dtype.kind in "if", f"weights are {weights.dtype}"
    assert graph.vertex_weights is None or len(graph.vertex_weights) == n, "vertex weights are not as many"
    if graph.ids is not None:
        check_ids(graph.ids, n)


def check_range(vertices, n):
    assert vertices.dtype.kind in "iu", f"vertices are {vertices.dtype}"
    assert len(vertices) == 0 or (vertices.min() >= 0 and vertices.max() < n), "a vertex is out of range"


def check_ids(ids, n):
    import numpy as np

    assert len(ids) == n, "ids are not as many as vertices"
    if isinstance(ids, np.ndarray):
        assert ids.dtype in (np.int64, np.uint64), f"ids are {ids.dtype}"
        assert len(np.unique(ids)) == n, "ids repeat"
        return
    ids.validate(full=True)
    assert ids.null_count == 0, "an id is null"
    assert len(ids.unique()) == n, "ids repeat"


def check_labels(graph) -> dict | None:
    """Methods that read edges and rows give the same labels; return the component of each id."""
    import edgewise as ew
    from tests.oracles import components as oracle

    if graph.n_vertices > MAX_VERTICES:
        return None
    found = {method: ew.connected_components(graph, method=method).labels.tolist() for method in METHODS}
    if graph.n_vertices < 5000:
        found["oracle"] = oracle(graph.n_vertices, graph.sources.tolist(), graph.targets.tolist())
    first = next(iter(found.values()))
    for method, labels in found.items():
        assert labels == first, f"labels of {method} differ from those of {METHODS[0]}"
    ids = range(graph.n_vertices) if graph.ids is None else graph.ids.tolist()
    return partition_of(ids, first)


def partition_of(ids, labels) -> set:
    groups: dict = {}
    for one, label in zip(ids, labels, strict=True):
        groups.setdefault(label, []).append(one)
    return {frozenset(group) for group in groups.values()}


def check_streamed(path, partition) -> tuple[str, str]:
    """A table that is streamed has the same components, or is refused."""
    import edgewise as ew
    from edgewise.errors import EdgewiseError

    try:
        result = ew.stream_components(path)
        ids = range(len(result.labels)) if result.graph.ids is None else result.graph.ids.tolist()
        streamed = partition_of(ids, result.labels.tolist())
    except EdgewiseError as error:
        outcome, detail = check_message(error)
        return ("accepted", "") if outcome == "refused" else (outcome, detail)
    except Exception as error:
        return "unexpected", f"streamed: {_where(error)}"
    same = partition is None or streamed == partition
    return ("accepted", "") if same else ("wrong", "components of the stream differ")


def worker(numbers, folder: Path):
    """Try the cases with these numbers; print a line before and after each."""
    from edgewise.errors import EdgewiseWarning
    from tests.files.seed_files import seed_files

    # Such as of what a file has and a graph has not; other warnings are errors.
    warnings.simplefilter("ignore", EdgewiseWarning)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    with tempfile.TemporaryDirectory() as seeds:
        families = seed_files(Path(seeds))
    for number in numbers:
        print(json.dumps({"number": number}), flush=True)
        family, files, options = make_case(number, families)
        place = folder / str(number)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        (place / "options.json").write_text(json.dumps({"read": next(iter(files)), **options}))
        start = monotonic()
        outcome, detail = examine(place / next(iter(files)), options, number % 3 == 0)
        facts = {"number": number, "family": family, "outcome": outcome, "detail": detail}
        print(json.dumps(facts | {"seconds": monotonic() - start}), flush=True)
        if outcome in GOOD:
            shutil.rmtree(place)


class Job:
    """The numbers of one worker, which is started again after a crash or a file that takes too long."""

    def __init__(self, numbers, folder, deadline=float("inf"), limit=MAX_SECONDS):
        self.numbers, self.folder, self.deadline, self.limit = numbers, folder, deadline, limit
        self.results: list[dict] = []
        self.log = ""

    def command(self):
        """The command of a worker for the numbers that are left."""
        first, end, step = self.numbers[0], self.numbers[-1] + 1, self.numbers.step
        command = [sys.executable, "-W", "error", "-m", "tests.files.fuzz", "--work", str(self.folder)]
        return [*command, "--first", str(first), "--end", str(end), "--step", str(step)]

    def run(self):
        """Try all numbers, or as many as the time allows; return the results."""
        while self.numbers and monotonic() < self.deadline:
            before = len(self.results)
            with tempfile.TemporaryFile() as log:
                self._run_worker(log)
            if len(self.results) == before and monotonic() < self.deadline:
                raise RuntimeError(f"a worker cannot start: {self.log}")
            if len(self.results) > before:
                self.numbers = self.numbers[self.numbers.index(self.results[-1]["number"]) + 1 :]
        return self.results

    def _run_worker(self, log):
        """Run a worker to its end, and add its results and how it ended to those of the job."""
        settings = {"EDGEWISE_QUIET": "1", "PYTHONFAULTHANDLER": "1", "MALLOC_PERTURB_": "165"}
        begun, outcome, rest = None, "hang", b""
        environment = os.environ | settings
        with subprocess.Popen(self.command(), stdout=-1, stderr=log, cwd=ROOT, env=environment) as process:
            output = process.stdout.fileno()
            while select.select([output], [], [], START_SECONDS if begun is None else self.limit)[0]:
                content = os.read(output, 1 << 16)
                if not content or monotonic() > self.deadline:
                    outcome = None if content else "crash"
                    break
                *lines, rest = (rest + content).split(b"\n")
                for facts in map(json.loads, lines):
                    begun = facts["number"]
                    if "outcome" in facts:
                        self.note(facts)
            with suppress(subprocess.TimeoutExpired):
                process.wait(self.limit * (outcome == "crash"))
            process.kill()
        log.seek(0)
        self.log = log.read().decode("utf-8", "replace")
        done = self.results[-1]["number"] if self.results else None
        if outcome is not None and begun is not None and (begun != done or process.returncode):
            fatal = self.log.find("Fatal")
            fatal = self.log[-1000:] if fatal < 0 else self.log[fatal:][:1000]
            detail = f"status {process.returncode}: {' '.join(fatal.split())}"
            facts = {"number": begun, "family": "", "outcome": outcome, "detail": detail}
            self.note(facts | {"seconds": self.limit * (outcome == "hang")})

    def note(self, facts):
        """Take the result of a file, as it comes."""
        self.results.append(facts)


def run(numbers: range, folder: Path, jobs: int = 1, seconds: float = float("inf")) -> list[dict]:
    """Try the cases with these numbers in ``jobs`` workers; return the result of each."""
    deadline = monotonic() + seconds
    work = [Job(numbers[part::jobs], folder, deadline) for part in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        return [result for results in pool.map(Job.run, work) for result in results]


def report(results) -> str:
    """Counts of the outcomes, also by family, and what went wrong."""
    outcomes = Counter(one["outcome"] for one in results)
    lines = [
        f"{len(results)} files: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    ]
    families = Counter((one["family"], one["outcome"]) for one in results)
    for family in sorted({name for name, _ in families}):
        counts = ", ".join(
            f"{count} {kind}" for (name, kind), count in sorted(families.items()) if name == family
        )
        lines.append(f"  {family or '-':16} {counts}")
    slowest = sorted(results, key=lambda one: -one["seconds"])[:3]
    lines.append("slowest: " + ", ".join(f"{one['number']} ({one['seconds']:.1f} s)" for one in slowest))
    lines += [
        f"{one['number']} {one['family']} {one['outcome']}: {one['detail'][:400]}"
        for one in results
        if one["outcome"] not in GOOD
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000, help="number of files")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--keep", type=Path, default=Path(".pytest_cache/fuzz"), help="folder for what fails")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--end", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        worker(range(given.first, given.end, given.step), given.work)
        return 0
    results = run(
        range(given.first, given.first + given.files), given.keep.resolve(), given.jobs, given.seconds
    )
    print(report(results))
    return int(any(one["outcome"] not in GOOD for one in results))


if __name__ == "__main__":
    sys.exit(main())
