"""Mutated files: each is read, or refused with one line, and no state is accepted that was not written.

``python tests/campaigns/mutated_files.py --mode footers --cases 20000 --seed 1 --processes 16``
``python tests/campaigns/mutated_files.py --mode others --cases 60000 --seed 1 --processes 16``

``footers`` mutates the footers of Parquet files, which are then read as pairs, streams, forests, records,
clusters and shards.  ``others`` mutates files of all formats, compressed ones among them, and what edgewise
writes to be read again: checkpoints, saved streams, folders of tasks, unfinished matrices, and stores.  These
must give what the state gives that was written, or be refused.  Every hundredth file is given to the command
in a process of its own.

Workers are processes: a crash or an endless loop ends only the case that causes it, and is a failure.  The
number of a case and the seed make the case: ``--first NUMBER --cases 1`` tries it again.  What fails is kept
in the folder ``--keep``.  The last line is one of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.files import fuzz  # noqa: E402

#: Every so many cases are given to the command in a process of its own, and the seconds that it may take.
COMMANDS, COMMAND_SECONDS = 100, 60
MAX_SECONDS = 60.0
#: Lines on standard error that are no part of an error.
NOTICES = ("edgewise: compiling kernels", "edgewise: no row was kept")


def mutated_footer(draw, content):
    """Change the footer of a Parquet file, mostly so that its length is still right."""
    from tests.files import mutations

    length = int.from_bytes(content[-8:-4], "little")
    pages, footer = content[: -8 - length], content[-8 - length : -8]
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        change = draw.choice((mutations.flip_bits,) * 4 + (mutations.set_bytes,) * 3 + FOOTER_CHANGES)
        footer = change(draw, footer) or b"\0"
    length = (
        len(footer) if draw.random() < 0.9 else draw.choice((0, length, len(footer) + 1, 2**31, 2**32 - 1))
    )
    return pages + footer + length.to_bytes(4, "little") + b"PAR1"


def _varint(draw, footer):
    """Put a number of several bytes in place of one byte."""
    at = draw.randrange(len(footer))
    number = bytes(draw.choice((0x80, 0xFF, 0xFE)) for _ in range(draw.randrange(1, 11)))
    return footer[:at] + number + bytes([draw.randrange(128)]) + footer[at + 1 :]


def _removed(draw, footer):
    at = draw.randrange(len(footer))
    return footer[:at] + footer[at + draw.choice((1, 1, 2, 8)) :]


def _doubled(draw, footer):
    first = draw.randrange(len(footer))
    return (
        footer[: draw.randrange(len(footer))]
        + footer[first : first + draw.choice((1, 2, 16, 64))]
        + footer[first:]
    )


FOOTER_CHANGES = (_varint, _varint, _removed, _doubled)


def footer_seeds(folder):
    """Parquet files of several writers' options, by name."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    import edgewise as ew

    draw = np.random.default_rng(1)
    ends = draw.integers(0, 30, (2, 40))
    texts = [[f"v{one}" for one in side] for side in ends]
    nested = {"list": [[1, 2]] * 40, "record": [{"x": 1, "y": "z"}] * 40}
    tables = {
        "one": {"source": ["a"], "target": ["b"]},
        "numbers": {"source": ends[0], "target": ends[1], "weight": draw.random(40)},
        "unsigned": {"source": ends[0].astype(np.uint64), "target": ends[1].astype(np.uint64)},
        "texts": {"source": texts[0], "target": texts[1], "score": draw.random(40)},
        "nested": {"source": texts[0], "target": texts[1], "weight": draw.random(40), **nested},
        "nothing": {"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())},
    }
    options = (
        {},
        {"row_group_size": 7, "write_page_index": True},
        {"use_dictionary": False, "store_schema": False, "write_page_checksum": True, "compression": "gzip"},
        {"version": "1.0", "write_statistics": False, "data_page_version": "2.0"},
    )
    for name, columns in tables.items():
        for number, how in enumerate(options):
            parquet.write_table(pa.table(columns), folder / f"{name}-{number}.parquet", **how)
    ew.write(ew.Graph.from_edges(*ends, n_vertices=40, directed=True), folder / "own.parquet")
    ew.write(ew.Graph.from_edges(*texts, weights=draw.random(40)), folder / "named.parquet")
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def inputs(folder):
    """Files that are not mutated, which others go with."""
    import numpy as np
    import pyarrow as pa

    import edgewise as ew

    folder.mkdir(exist_ok=True)
    draw = np.random.default_rng(2)
    for name, low in (("dense", 0), ("sparse", -(2**40)), ("texts", 0)):
        (folder / name).mkdir()
        for shard in range(3):
            ends = draw.integers(0, 40, (2, 30)) if low == 0 else draw.integers(-9, 20, (2, 30)) * 10**9
            columns = [[f"v{one}" for one in side] for side in ends] if name == "texts" else list(ends)
            table = {"source": columns[0], "target": columns[1], "weight": draw.integers(1, 9, 30)}
            ew.write(pa.table(table), folder / name / f"{shard}.parquet")
    pairs = pa.table({"source": ["v1", "v2", "v5"], "target": ["v2", "v3", "v6"], "weight": [3, 1, 2]})
    ew.write(pairs, folder / "pairs.csv")
    records = {"id": [f"v{one}" for one in range(8)], "name": [f"n{one % 5}" for one in range(8)]}
    for ending in ("csv", "parquet", "arrow", "tsv"):
        ew.write(pa.table(records), folder / f"records.{ending}")
    graph = ew.read(folder / "pairs.csv", vertices=folder / "records.csv")
    for ending in ("csv", "parquet", "arrow"):
        ew.connected_components(graph).write(folder / f"clusters.{ending}", name="min")
    ew.write(ew.generate.grid(3, 4), folder / "grid.graph")
    (folder / "parts.txt").write_text("\n".join("001122001122") + "\n")
    return folder


def further_seeds(folder):
    """Files of records: duplicates of datatrove, and scored pairs of dedupe."""
    import numpy as np

    draw = np.random.default_rng(3)
    duplicates = {"a.dups": draw.integers(0, 9, (12, 4)).astype("<u4").tobytes()}
    records = np.zeros(9, [("pairs", "i8", (2,)), ("score", "f4")])
    records["pairs"], records["score"] = draw.integers(0, 7, (9, 2)), draw.random(9)
    np.save(folder / "scored.npy", records)
    return {"dups": [duplicates], "npy": [{"scored.npy": (folder / "scored.npy").read_bytes()}]}


def frame(thing):
    """A result as values that can be compared."""
    return thing.to_frame().to_pydict()


def as_clusters(path, given):
    import edgewise as ew

    frame(ew.update_components(path, given / "pairs.csv"))


def as_records(path, given):
    import edgewise as ew

    frame(ew.connected_components(ew.read(given / "pairs.csv", vertices=path)))


def as_parts(path, given):
    import edgewise as ew
    from edgewise.partitions.result import read_numbers

    graph = ew.read(given / "grid.graph")
    ew.evaluate_partition(graph, read_numbers(str(path), graph.n_vertices, whole=True))


def as_graph(path, given):
    outcome, detail = fuzz.examine(path, {}, True)
    if outcome not in fuzz.GOOD:
        raise AssertionError(f"{outcome}: {detail}")


def as_stream(path, given):
    import edgewise as ew

    frame(ew.stream_components(path))


def as_forest(path, given):
    import edgewise as ew

    frame(ew.stream_forest(path, weight="weight", maximum=True))


def as_store(path, given):
    """Convert rows to a store, and read that."""
    import edgewise as ew
    from edgewise.files.to_store import to_store
    from edgewise.files.write_tables import shard_writer

    folder = path.parent / "converted"
    to_store(path, folder, (2, shard_writer()), {})
    ew.read(folder)


def in_process(*arguments):
    """A use by the command in this process."""

    def use(path, given):
        from contextlib import redirect_stderr, redirect_stdout
        from io import StringIO

        from edgewise.command import run

        error = StringIO()
        with redirect_stderr(error), redirect_stdout(StringIO()):
            status = run([one.format(path=path, given=given) for one in arguments])
        check_command(status, error.getvalue())

    return use


def check_command(status, error):
    lines = [line for line in error.splitlines() if not line.startswith(NOTICES)]
    warned = sum(line.startswith("edgewise: ") for line in lines)
    assert status in (0, 2), f"status {status}: {error[-400:]}"
    assert len(lines) == warned and (status == 0 or lines), f"no lines of the command: {error[-400:]}"


#: What a Parquet file is read as.
READ = {
    "pairs": as_graph,
    "streamed": as_stream,
    "forest": as_forest,
    "records": as_records,
    "clusters": as_clusters,
    "converted": as_store,
    "info": in_process("info", "{path}"),
    "updated": in_process("components", "{given}/pairs.csv", "--update", "{path}", "--device", "cpu", "-q"),
}


def make_states(folder, given):
    """States by name: the files, by their paths in ``folder``, and a function that gives what they hold."""
    from tests.campaigns import written_states

    return written_states.make(folder, given)


class Worker:
    """Tries cases: the files that it needs are made in a folder of its own."""

    def __init__(self, mode, seed, folder):
        self.mode, self.seed, self.folder = mode, seed, folder
        self.given = inputs(folder / "given")
        (folder / "seeds").mkdir()
        if mode == "footers":
            self.footers = footer_seeds(folder / "seeds")
        else:
            from tests.files.seed_files import seed_files

            self.families = seed_files(folder / "seeds") | further_seeds(folder / "seeds")
            self.others = [
                one for seeds in self.families.values() for files in seeds for one in files.values()
            ]
        self.states = make_states(folder / "states", self.given)

    def case(self, number):
        """Family, name of the mutated file, its content, what is done with it, and what is expected."""
        draw = random.Random(f"{self.mode} {self.seed} {number}")
        place = self.folder / "case"
        if self.mode == "footers":
            if draw.random() < 0.1:
                state = self.states["store of Parquet"]
                name = draw.choice([one for one in state.files if one.endswith(".parquet")])
                return state.restore(place, {name: mutated_footer(draw, state.files[name])}), "shard", name
            name, (family, use) = draw.choice([*self.footers]), draw.choice([*READ.items()])
            content = mutated_footer(draw, self.footers[name])
            return self._alone(place, name, content, use), family, name
        return self._other(draw, place)

    def _other(self, draw, place):
        from tests.files.mutations import mutate

        kind = draw.random()
        other = draw.choice(self.others)
        if kind < 0.45:
            name = draw.choice([*self.states])
            state = self.states[name]
            file = draw.choice([*state.files])
            return state.restore(place, {file: mutate(draw, state.files[file], other)}), name, file
        if kind < 0.6:
            what = draw.choice(("clusters", "records", "parts"))
            file = draw.choice([one for one in sorted(self.given.iterdir()) if one.name.startswith(what)])
            use = {"clusters": as_clusters, "records": as_records, "parts": as_parts}[what]
            return self._alone(place, file.name, mutate(draw, file.read_bytes(), other), use), what, file.name
        family = draw.choice(sorted(self.families))
        files = dict(draw.choice(self.families[family]))
        changed = draw.choice([*files])
        files[changed] = mutate(draw, files[changed], other)
        place.mkdir(parents=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        path = place / next(iter(files))
        return lambda: as_graph(path, self.given), family, changed

    def _alone(self, place, name, content, use):
        place.mkdir(parents=True)
        (place / name).write_bytes(content)
        return lambda: use(place / name, self.given)

    def examine(self, number):
        """Try a case; return its family and file, the outcome and, where it is not good, what is wrong."""
        from edgewise.errors import EdgewiseError

        shutil.rmtree(self.folder / "case", ignore_errors=True)
        use, family, name = self.case(number)
        try:
            use()
            if number % COMMANDS == 0:
                self._command(self.folder / "case" / name)
            return family, name, "accepted", ""
        except EdgewiseError as error:
            return family, name, *fuzz.check_message(error)
        except AssertionError as error:
            return family, name, "wrong", f"{error}"
        except Exception as error:
            return family, name, "unexpected", fuzz._where(error)

    def _command(self, path):
        """Use the command in a process of its own."""
        if not path.exists():
            return
        command = [sys.executable, "-W", "error", "-m", "edgewise", "info", str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=COMMAND_SECONDS)
        check_command(done.returncode, done.stderr)


def work(given):
    """Try the cases of a worker; print a line before and after each."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (fuzz.MAX_MEMORY, fuzz.MAX_MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(given.mode, given.seed, Path(folder))
        for number in range(given.first, given.end, given.step):
            print(json.dumps({"number": number}), flush=True)
            start = monotonic()
            family, name, outcome, detail = worker.examine(number)
            facts = {"number": number, "family": family, "file": name, "outcome": outcome, "detail": detail}
            print(json.dumps(facts | {"seconds": monotonic() - start}), flush=True)
            if outcome not in fuzz.GOOD:
                shutil.copytree(worker.folder / "case", given.work / str(number), dirs_exist_ok=True)


class Job(fuzz.Job):
    """The numbers of one worker of this campaign."""

    how: tuple[str, int]

    def note(self, facts):
        super().note(facts)
        if facts["outcome"] not in fuzz.GOOD:
            again = f"--mode {self.how[0]} --seed {self.how[1]} --first {facts['number']} --cases 1"
            print(f"{again}: {json.dumps(facts)}", flush=True)

    def command(self):
        first, end, step = self.numbers[0], self.numbers[-1] + 1, self.numbers.step
        command = [sys.executable, str(Path(__file__).resolve()), "--work", str(self.folder)]
        command += ["--mode", self.how[0], "--seed", str(self.how[1])]
        return [*command, "--first", str(first), "--end", str(end), "--step", str(step)]


def run(mode, numbers, seed, processes, folder):
    """Try cases; return the results."""

    def one(part):
        job = Job(numbers[part::processes], folder, limit=MAX_SECONDS)
        job.how = mode, seed
        return job.run()

    with ThreadPoolExecutor(processes) as pool:
        parts = pool.map(one, range(min(processes, len(numbers))))
        return [result for part in parts for result in part]


def main(arguments=None):
    """Run the campaign; return the counts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("footers", "others"), default="others")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, default=ROOT / ".pytest_cache" / "mutated")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--end", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work is not None:
        work(given)
        return {}
    start = monotonic()
    numbers = range(given.first, given.first + given.cases)
    results = run(given.mode, numbers, given.seed, given.processes, given.keep.resolve())
    counts = Counter(one["outcome"] for one in results)
    families = Counter(one["family"] for one in results)
    facts = {"campaign": "mutated files", "mode": given.mode, "cases": len(results), "outcomes": counts}
    print(json.dumps(facts | {"families": families, "seconds": round(monotonic() - start, 1)}))
    return counts


if __name__ == "__main__":
    sys.exit(not set(main()) <= set(fuzz.GOOD))
