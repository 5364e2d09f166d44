"""What the tree of merges of ``docs/scale.md`` takes: a calculation, which measures nothing.

    python bench/merge_tree.py
    python bench/merge_tree.py --workers 16 --rate 20e6 --storage 10e9

It adds up the levels of the tree as :mod:`edgewise.streams.sharded` builds it, with the largest parts that
there can be: a pair for each id, or for each row that a task has read.
"""

import math

from harness import parser_of, results

from edgewise.streams.sharded import parts_together

CASES = ((1e10, 1e9), (1e11, 1e9), (1e11, 4e9), (1e12, 4e9), (1e12, 1e10))
TASKS_PER_WORKER, BYTES_OF_A_ROW = 4, 13


def times(edges, ids, workers, rate, storage):
    """Bytes of parents, minutes of reading, merging and of the last merge, and all bytes moved."""
    tasks, parent = TASKS_PER_WORKER * workers, 4 if ids < 2**32 else 8
    part = 2 * parent * min(ids, edges / tasks)
    reading = max(edges / (rate * workers), BYTES_OF_A_ROW * edges / storage)
    moved, merging, parts = tasks * part, 0.0, tasks
    while parts > 2:
        together = parts_together(parts, workers)
        merges = math.ceil(parts / together)
        larger = min(together * part, 2 * parent * ids)
        level = parts * part + merges * larger
        pairs = together * part / (2 * parent)
        merging += max(math.ceil(merges / workers) * pairs / rate, level / storage)
        moved, parts, part = moved + level, merges, larger
    last = 2 * part / (2 * parent) / rate
    return ids * parent, reading / 60, merging / 60, last / 60, moved + BYTES_OF_A_ROW * edges


def in_words(number):
    """A number as a power of ten, or a multiple of one."""
    power = int(math.log10(number))
    factor = round(number / 10**power)
    return f"{f'{factor} × ' if factor > 1 else ''}10<sup>{power}</sup>"


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--rate", type=float, help="Rows a second of a worker.")
    parser.add_argument("--storage", type=float, default=2e9, help="Bytes a second of all workers together.")
    given = parser.parse_args()
    rate = given.rate or results("streams-rmat-cpu-4")["rows"][0]["edges_per_s"]
    print("| edges | ids | parents, GB | reading, min | merging, min | last merge, min | moved, TB |")
    print("|" + " --- |" * 7)
    for edges, ids in CASES:
        parents, *minutes, moved = times(edges, ids, given.workers, rate, given.storage)
        cells = [in_words(edges), in_words(ids), *(f"{one:,.0f}" for one in (parents / 1e9, *minutes))]
        print("| " + " | ".join([*cells, f"{moved / 1e12:,.1f}"]) + " |")


if __name__ == "__main__":
    main()
