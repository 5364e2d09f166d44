"""Stores of clusters: a day's changes beside the full run, and batches of a million changes.

    python bench/clusters.py day --folder DIRECTORY               10 M pairs; 1 % more, 0.1 % removed
    python bench/clusters.py day --folder DIRECTORY --pairs 20000
    python bench/clusters.py batches --folder DIRECTORY           changes a second, in memory and on disk
    python bench/clusters.py batches --folder DIRECTORY --count 6  six batches each, rather than three
    python bench/clusters.py tree                                 one change of a tree with all pairs

The pairs are those of ``edgewise.generate.pairs``, with strings of 17 characters as ids, at a threshold of
0.9.  The full run finds the components of the pairs in memory and names them; the store is opened and changed
by a process that has compiled what it needs.  Times are of the wall and of all threads of the process: on a
machine that does other things at the same time the second one says more.
"""

import resource
import shutil
import time
from pathlib import Path

import numpy as np
from harness import main, part

THRESHOLD = 0.9
#: Shares of the pairs that a day adds and removes.
ADDED, REMOVED = 0.01, 0.001


class Clock:
    """Context that measures seconds of the wall and of the threads."""

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = round(time.perf_counter() - self.start[0], 3)
        self.threads = round(time.process_time() - self.start[1], 3)


def tables(n_pairs, n_added, n_removed):
    """Pairs of the first day, those that a day adds, and those that it removes."""
    import pyarrow as pa

    import edgewise as ew

    pairs = ew.generate.pairs(n_pairs + n_added, seed=1)
    rows = np.random.default_rng(1).choice(n_pairs, n_removed, replace=False)
    return pairs.slice(0, n_pairs), pairs.slice(n_pairs), pairs.take(pa.array(rows)).select([0, 1])


def warm_up(pairs, path):
    """Compile what a store needs, in batches that all threads work on."""
    import edgewise as ew

    size = min(500_000, len(pairs) // 4)
    store = ew.ClusterStore.create(path, threshold=THRESHOLD)
    store.apply(add=pairs.slice(0, 2 * size))
    stored = store.pairs().select([0, 1])
    for start in (0, size):
        more = pairs.slice(2 * size + start, size)
        store.apply(remove=stored.slice(start, size), add=more)
    store.close()  # which waits for its base
    with ew.ClusterStore.open(path) as store:
        store.apply(add=pairs.slice(0, 100))
    shutil.rmtree(path)


def bytes_of(path):
    """Bytes on disk of the files of a folder."""
    return sum(one.stat().st_blocks * 512 for one in Path(path).rglob("*") if one.is_file())


def day(given):
    """The first load, and a day's changes on the store that was opened."""
    import edgewise as ew

    path = Path(given.folder, "clusters")
    shutil.rmtree(path, ignore_errors=True)
    pairs, added, removed = tables(given.pairs, int(ADDED * given.pairs), int(REMOVED * given.pairs))
    warm_up(pairs, path)
    for what in ("full run", "first load", "open", "day"):
        with Clock() as clock:
            if what == "full run":
                ew.connected_components(ew.Graph.from_frame(pairs, threshold=THRESHOLD)).to_frame("min")
            elif what == "first load":
                store = ew.ClusterStore.create(path, threshold=THRESHOLD)
                store.apply(add=pairs)
            elif what == "open":
                store = ew.ClusterStore.open(path)
            else:
                store.apply(add=added, remove=removed)
        row = {"pairs": given.pairs, "what": what, "seconds": clock.wall, "thread_seconds": clock.threads}
        if what == "first load":
            with Clock() as clock:
                store._history.wait()
            row["seconds_for_base"] = clock.wall
            row["disk_bytes_per_pair"] = round(bytes_of(path) / given.pairs, 1)
        yield row
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield {"pairs": given.pairs, "what": "largest resident set", "bytes_per_pair": round(peak / given.pairs)}
    shutil.rmtree(path)


def batches(given):
    """Batches of a million pairs, half of which replace pairs that go."""
    import edgewise as ew

    path, half = Path(given.folder, "clusters"), given.batch // 2
    shutil.rmtree(path, ignore_errors=True)
    pairs, added, _ = tables(given.pairs, given.count * half, 0)
    warm_up(pairs, path)
    for where in ("memory", "disk"):
        store = ew.ClusterStore(threshold=THRESHOLD)
        if where == "disk":
            store = ew.ClusterStore.create(path, threshold=THRESHOLD)
        store.apply(add=pairs)
        stored, seconds = store.pairs().select([0, 1]), 0.0
        for number in range(given.count):
            gone, more = stored.slice(number * half, half), added.slice(number * half, half)
            with Clock() as clock:
                store.apply(remove=gone, add=more)
            row = {"pairs": given.pairs, "where": where, "changes": 2 * half, "seconds": clock.wall}
            row |= {"thread_seconds": clock.threads, "changes_per_second": round(2 * half / clock.wall)}
            seconds += clock.wall
            yield row
        changes = 2 * half * given.count
        row = {"pairs": given.pairs, "where": f"{where}, all batches", "changes": changes}
        yield row | {"seconds": round(seconds, 3), "changes_per_second": round(changes / seconds)}
        if where == "disk":
            with Clock() as clock:
                store._history.wait()
            yield {"pairs": given.pairs, "where": "disk, base after the last batch", "seconds": clock.wall}
    shutil.rmtree(path)


def tree(given):
    """Single changes of a store with most pairs in one tree, before and after a decision divides it."""
    import pyarrow as pa

    import edgewise as ew

    chosen, n = np.random.default_rng(1), given.pairs // 3
    ends, scores = chosen.integers(0, n, (2, given.pairs)), chosen.random(given.pairs)
    table = pa.table({"source": ends[0], "target": ends[1], "score": scores})
    ew.ClusterStore(threshold=0.1).apply(add=table)  # compiles what it needs
    store = ew.ClusterStore(threshold=0.05)
    store.apply(add=table)
    found = store.to_frame().to_pydict()
    largest = int(np.bincount(found["cluster"]).argmax())
    inside = [one for one, name in zip(found["id"][:100], found["cluster"]) if name == largest]
    pairs, new = store.pairs().select([0, 1]), 10 * n
    changes = {"a pair less": {"remove": pairs.slice(0, 1)}, "a pair more": {"add": [(*inside[:2], 0.9)]}}
    changes |= {"a record more": {"add": [(inside[0], new, 0.9)]}, "a decision": {"cannot": [inside[2:4]]}}
    changes |= {"then a pair less": {"remove": pairs.slice(1, 1)}}
    changes |= {"then a pair more": {"add": [(*inside[4:6], 0.9)]}}
    changes |= {"then a record more": {"add": [(inside[0], new + 1, 0.9)]}}
    for what, change in changes.items():
        with Clock() as clock:
            store.apply(**change)
        yield {"pairs": given.pairs, "what": what, "seconds": clock.wall, "thread_seconds": clock.threads}


PARTS = {
    "day": part("clusters-day", day, folder=".", pairs=10**7),
    "tree": part("clusters-tree", tree, pairs=1_500_000),
    "batches": part("clusters-batches", batches, folder=".", pairs=10**7, batch=10**6, count=3),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
