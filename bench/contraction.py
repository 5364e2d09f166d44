"""Components of more ids than memory holds: the sweep over ranges, beside randomized contraction.

    python bench/contraction.py --folder DIRECTORY              25 M edges over 10 M ids, 9 ranges
    python bench/contraction.py --folder DIRECTORY --edges 50000000 --vertices 100000000 --parts 10

Both read the same shards and hold the ids of one part at a time; one process does one part after the other.
Randomized contraction (Bögeholz, Brand & Todor, ICDE 2020) is done here by NumPy: in each round every vertex
takes the neighbour, or itself, that comes first in a random order, and edges between those are kept once.
The edges are divided by a remainder of their ids, on the disk, as a shuffle does.  It ends with a label for
each vertex; the sweep, by ``memory=``, writes a table with the least id and the size of each cluster too.
Processor time is that of the process, and bytes are those of its reads and writes, in runs in turn, after one
that compiles.  The clusters are compared.
"""

import argparse
import json
import os
import shutil
import statistics
import time
from pathlib import Path

import numpy as np
import record
from streams import make_shards

import edgewise as ew

#: Rows that are read and divided at a time.
BLOCK = 1 << 22


class Parts:
    """Rows of two numbers on the disk, divided by the remainder of the first one."""

    def __init__(self, folder, name, count):
        self.paths = [folder / f"{name}-{part}.bin" for part in range(count)]
        for path in self.paths:
            path.touch()

    def add(self, ones, others):
        """Append rows, each to its part."""
        part = ones % len(self.paths)
        order = np.argsort(part.astype(np.uint16), kind="stable")
        rows = np.column_stack((ones, others)).astype(np.uint32)[order]
        ends = np.cumsum(np.bincount(part, minlength=len(self.paths)))
        for path, chosen in zip(self.paths, np.split(rows, ends[:-1]), strict=True):
            with path.open("ab") as file:
                chosen.tofile(file)

    def take(self, part):
        """The rows of a part, whose file is removed."""
        rows = np.fromfile(self.paths[part], np.uint32).reshape(-1, 2)
        self.paths[part].unlink()
        return rows[:, 0], rows[:, 1]

    def blocks(self, part):
        """The same, a block at a time."""
        with self.paths[part].open("rb") as file:
            while len(rows := np.fromfile(file, np.uint32, 2 * BLOCK)):
                yield rows[::2], rows[1::2]
        self.paths[part].unlink()


def in_random_order(seed):
    """A random permutation of 32-bit numbers, and its inverse: steps that can be undone."""
    draw = np.random.default_rng(seed)
    factor, mask = int(draw.integers(1 << 31)) * 2 + 1, np.uint32(draw.integers(1 << 32))
    factor, inverse, half = np.uint32(factor), np.uint32(pow(factor, -1, 1 << 32)), np.uint32(16)

    def forward(numbers):
        mixed = (numbers ^ mask) * factor
        return (mixed ^ mixed >> half) * factor

    def backward(numbers):
        mixed = numbers * inverse
        return ((mixed ^ mixed >> half) * inverse) ^ mask

    return forward, backward


def one_round(folder, edges, number, count, vertices):
    """Contract edges, which are there in both directions; return what is left, choices, and the number."""
    forward, backward = in_random_order(number)
    width = -(-vertices // count)
    choices, halves = Parts(folder, f"choices-{number}", count), Parts(folder, f"halves-{number}", count)
    kept = Parts(folder, f"edges-{number}", count)
    left = 0
    for part in range(count):
        ones, others = unique_rows(*edges.take(part))
        least = np.full(width, np.iinfo(np.uint32).max, np.uint32)
        places = ones // np.uint32(count)
        seen = np.zeros(width, bool)
        seen[places] = True
        own = np.flatnonzero(seen).astype(np.uint32) * np.uint32(count) + np.uint32(part)
        least[seen] = forward(own)
        np.minimum.at(least, places, forward(others))
        chosen = backward(least)
        choices.add(own, chosen[seen])
        halves.add(others, chosen[places])
    for part in range(count):
        chosen = table_of(*zip(*choices_of(choices, part), strict=True), width, count, part)
        for others, ones in halves.blocks(part):
            ends = chosen[others // np.uint32(count)]
            differ = ends != ones
            left += int(differ.sum())
            kept.add(ones[differ], ends[differ])
    return kept, choices, left


def choices_of(choices, part):
    """The rows of a part, which stay on the disk."""
    rows = np.fromfile(choices.paths[part], np.uint32).reshape(-1, 2)
    return [(rows[:, 0], rows[:, 1])]


def table_of(keys, values, width, count, part):
    """Array of the values at the places of their keys in a part; elsewhere the number of the place."""
    table = np.arange(width, dtype=np.uint32) * np.uint32(count) + np.uint32(part)
    for key, value in zip(keys, values, strict=True):
        table[key // np.uint32(count)] = value
    return table


def unique_rows(ones, others):
    """Each row once."""
    words = np.unique(ones.astype(np.uint64) << np.uint64(32) | others)
    return (words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)


def randomized(shards, folder, count, vertices):
    """Labels of all vertices, in parts on the disk, by randomized contraction; and the number of rounds."""
    import pyarrow.parquet as parquet

    edges = Parts(folder, "edges", count)
    for path in sorted(shards.glob("*.parquet")):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(BLOCK):
                ones, others = (column.to_numpy().astype(np.uint32) for column in batch.columns)
                edges.add(ones, others)
                edges.add(others, ones)
    rounds, left = [], 1
    while left:
        edges, choices, left = one_round(folder, edges, len(rounds), count, vertices)
        rounds.append(choices)
    width, labels = -(-vertices // count), rounds[-1]
    for number in range(len(rounds) - 2, -1, -1):
        by_choice, known = Parts(folder, f"ask-{number}", count), Parts(folder, f"labels-{number}", count)
        for part in range(count):
            vertex, choice = rounds[number].take(part)
            by_choice.add(choice, vertex)
        for part in range(count):
            found = table_of(*zip(labels.take(part), strict=True), width, count, part)
            choice, vertex = by_choice.take(part)
            known.add(vertex, found[choice // np.uint32(count)])
        labels = known
    return labels, len(rounds)


def measured(call):
    """What a call returns, with seconds, processor time and gigabytes read and written."""
    import psutil

    process = psutil.Process()
    before, used, start = process.io_counters(), time.process_time(), time.perf_counter()
    found = call()
    facts = {"s": time.perf_counter() - start, "cpu_s": time.process_time() - used}
    after = process.io_counters()
    facts["gb_read"] = (after.read_chars - before.read_chars) / 1e9
    facts["gb_written"] = (after.write_chars - before.write_chars) / 1e9
    return found, facts


def same_partition(table, labels, count, vertices):
    """Whether the labels in parts make the clusters of a table."""
    ids, clusters = (np.asarray(table.column(name)) for name in table.column_names[:2])
    of_vertex = np.arange(vertices, dtype=np.int64)
    for part in range(count):
        vertex, label = labels.take(part)
        of_vertex[vertex] = label
    pairs = np.unique(np.column_stack((clusters, of_vertex[ids])), axis=0)
    return len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--edges", type=int, default=25 * 10**6)
    parser.add_argument("--vertices", type=int, default=10**7)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--parts", type=int, default=9)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    shards, count, rows = make_shards(arguments), arguments.parts, []
    memory, output = 20 * -(-arguments.vertices // count) + 20 * 64, arguments.folder / "clusters"
    for number in range(arguments.runs + 1):
        shutil.rmtree(output, ignore_errors=True)
        found, facts = measured(lambda: ew.stream_components(shards, memory=memory, output=output))
        rows.append({"method": "ranges", "run": number} | facts)
        print(json.dumps(rows[-1]), flush=True)
        work = arguments.folder / "randomized"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        given = shards, work, count, arguments.vertices
        (labels, rounds), facts = measured(lambda given=given: randomized(*given))
        rows.append({"method": "randomized", "run": number, "rounds": rounds} | facts)
        print(json.dumps(rows[-1]), flush=True)
        if not number and not same_partition(found.to_frame(), labels, count, arguments.vertices):
            raise SystemExit("the clusters differ")
    for name in ("s", "cpu_s", "gb_read", "gb_written"):
        of = [
            statistics.median(row[name] for row in rows if row["method"] == method and row["run"])
            for method in ("ranges", "randomized")
        ]
        print(f"{name}: ranges {of[0]:.2f}, randomized {of[1]:.2f}")
    print(record.write("contraction-cpu", rows, edges=arguments.edges, vertices=arguments.vertices))


if __name__ == "__main__":
    os.environ.setdefault("EDGEWISE_QUIET", "1")
    main()
