"""Random histories of cluster stores: after every batch the store must be what brute force says.

``python tests/campaigns/cluster_histories.py --cases 100000 --seed 1 --processes 2``

``--on-disk 0.1`` is the share of histories whose stores are in folders, in the folder for temporary files.
There writing is ended at a step that is drawn, as by a kill, and the store is opened again: it must be as it
was before the batch, or after it.  Some lose the files that can be made of others.  ``--seconds 250`` ends
the campaign sooner; the last line says how many histories were tried.

A history has up to ten batches of pairs and records that are added and removed, decisions that are made and
withdrawn, and settings, on a dozen ids; many scores are equal, and a part of the batches cannot be done.
After each batch the clusters with their names, the log, and in the end the clusters at every entry are those
of :class:`tests.cluster_model.Model`.  A batch that the model refuses must be refused, and change nothing.

The last line is one of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.cluster_model import Model, Refused  # noqa: E402

SCORES = (0.2, 0.5, 0.5, 0.7, 0.7, 0.9, 1.0)
THRESHOLDS = (None, 0.2, 0.5, 0.6, 0.9)
SIZES = (None, 1, 2, 3, 3, 5)
SIDES = (None, "all", ["a"], ["b", "none"])


def drawn_batch(draw, model, ids):
    """A batch that is likely to be possible."""

    def some(values, most):
        values = sorted(values)  # sets of strings have another order in every process
        return draw.sample(values, min(len(values), draw.randrange(most + 1)))

    def turned(pairs):
        return [pair[::-1] if draw.random() < 0.5 else pair for pair in pairs]

    def new_pairs(most):
        return [(draw.choice(ids), draw.choice(ids)) for _ in range(draw.randrange(most + 1))]

    batch = {}
    if draw.random() < 0.8:
        batch["add"] = [(*pair, draw.choice(SCORES)) for pair in new_pairs(8)]
        batch["add"] += [(*pair, float("nan")) for pair in new_pairs(1) if draw.random() < 0.05]
    if draw.random() < 0.5:
        batch["remove"] = turned(some(model.pairs, 4)) + (new_pairs(1) if draw.random() < 0.05 else [])
    if draw.random() < 0.2:
        batch["records"] = some(ids, 3)
    if draw.random() < 0.15:
        batch["delete"] = some(model.clusters, 2) + (some(ids, 1) if draw.random() < 0.1 else [])
        batch["with_pairs"] = draw.random() < 0.7
    there = sorted(model.clusters) or ids
    for name, chance in (("must", 0.15), ("cannot", 0.3)):
        if draw.random() < chance:
            among = ids if draw.random() < 0.1 else there
            batch[name] = [(draw.choice(among), draw.choice(among)) for _ in range(draw.randrange(1, 3))]
    if draw.random() < 0.3:
        batch["withdraw"] = turned(some(model.musts | model.cannots, 2))
        batch["withdraw"] += new_pairs(1) if draw.random() < 0.05 else []
    if draw.random() < 0.2:
        batch["threshold"] = draw.choice(THRESHOLDS)
    if draw.random() < 0.15:
        batch["max_size"] = draw.choice(SIZES)
    if draw.random() < (0.15 if "-__-" in str(ids[0]) else 0.01):
        batch["one_to_one"] = draw.choice(SIDES)
    return batch


def state_of(store):
    """The clusters of a store by id."""
    table = store.to_frame()
    return dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist()))


def log_of(table):
    """The rows of a log as the model writes them."""
    columns = ("change", "before", "cluster", "size_before", "size")
    return sorted(zip(*(table[name].to_pylist() for name in columns)), key=str)


class Killed(BaseException):
    """Stands for the end of the process."""


class InMemory:
    """A store that is never killed."""

    def __init__(self, settings, draw):
        from edgewise.clusters import ClusterStore

        self.store = ClusterStore(**settings)

    def apply(self, batch):
        return self.store.apply(**batch)

    def end(self):
        pass


class OnDisk:
    """A store in a folder, which is opened again now and then; ``apply`` returns "killed" if it was.

    Two writers take turns, each of which has the store open while the other one changes it.
    """

    def __init__(self, settings, draw):
        from edgewise.clusters import ClusterStore, folder

        self.path, self.draw, self.pages = Path(tempfile.mkdtemp()), draw, folder
        self.opened, self.few = ClusterStore.open, draw.choice((0, folder.FEW_BYTES))
        self.store = ClusterStore.create(self.path, **settings)
        self.other = ClusterStore.open(self.path)

    def apply(self, batch):
        if self.draw.random() < 0.3:
            self.store, self.other = self.other, self.store
        if self.draw.random() < 0.1:
            self.check_lock(batch)
        left, sync, few = (
            self.draw.choice((-1, self.draw.randrange(12))),
            self.pages._sync,
            self.pages.FEW_BYTES,
        )

        def killed_at_step(path):
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            sync(path)

        self.pages._sync, self.pages.FEW_BYTES = killed_at_step, self.few
        try:
            return self.store.apply(**batch)
        except Killed:
            return "killed"
        finally:
            self.store._history.wait()
            self.pages._sync, self.pages.FEW_BYTES = sync, few
            if left <= 0 or self.draw.random() < 0.2:
                self.open_again()

    def check_lock(self, batch):
        """Check that a batch is refused while another process writes."""
        from edgewise.errors import FileError

        with self.other._history.locked():
            try:
                self.store.apply(**batch)
            except FileError:
                return
        raise AssertionError(f"two writers at the same time: {batch}")

    def open_again(self):
        if self.draw.random() < 0.1:
            for one in self.path.glob("base-*/*"):
                if self.draw.random() < 0.3:
                    one.unlink()
        self.store = self.opened(self.path)

    def end(self):
        shutil.rmtree(self.path)


def drawn_ids(draw):
    """Some strings, with datasets or without, or integers."""
    count = draw.randrange(3, 14)
    if draw.random() < 0.4:
        return [f"{draw.choice('aabbc')}-__-{one}" for one in range(count)]
    return draw.sample(range(-5, 50), count) if draw.random() < 0.5 else [f"id {one}" for one in range(count)]


def try_history(number, seed, on_disk=0.0):
    """Try one history; return what was wrong, or how many batches were taken, refused and killed."""
    draw = random.Random(f"{seed} {number}")
    ids, settings = drawn_ids(draw), {"threshold": draw.choice(THRESHOLDS)}
    if draw.random() < 0.3:
        settings["max_size"] = draw.choice(SIZES)
    if draw.random() < 0.5 and "-__-" in str(ids[0]):
        settings["one_to_one"] = draw.choice(SIDES)
    kept = (OnDisk if draw.random() < on_disk else InMemory)(settings, draw)
    try:
        problem = wrong_with(kept, draw, ids, Model(**settings))
    finally:
        kept.end()
    return f"history {number}: {problem}" if isinstance(problem, str) else problem


def wrong_with(kept, draw, ids, model):
    """What is wrong with a store, as text, or the counts of its batches."""
    from edgewise.errors import EdgewiseError

    counts = Counter()
    for _ in range(draw.randrange(1, 11)):
        batch = drawn_batch(draw, model, ids)
        try:
            expected = model.applied(**batch)
        except Refused:
            expected = None
        try:
            table, outcome = kept.apply(batch), "taken"
        except EdgewiseError as error:
            if expected is not None:
                return f"{batch} was refused: {error}"
            table, outcome = None, "refused"
        if expected is None and outcome == "taken":
            return f"{batch} was not refused"
        store = kept.store
        if isinstance(table, str):
            table, outcome = None, table
            model = expected if store.entry == len(expected.states) - 1 else model
        elif outcome == "taken":
            model = expected
        counts[outcome] += 1
        if store.entry != len(model.states) - 1 or state_of(store) != model.clusters:
            return f"after {batch} ({outcome}): {state_of(store)} instead of {model.clusters}"
        if table is not None and log_of(table) != model.log[-1]:
            return f"after {batch}: {log_of(table)} instead of {model.log[-1]}"
    for entry, clusters in enumerate(model.states):
        table = kept.store.at(entry)
        if dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist())) != clusters:
            return f"at entry {entry}: {table} instead of {clusters}"
    if [log_of(part) for part in by_entry(kept.store.log(), len(model.log))] != model.log:
        return f"the log is {kept.store.log()} instead of {model.log}"
    return counts


def by_entry(log, count):
    """The log, a table for each entry."""
    entries = log["entry"].to_numpy()
    return [log.filter(entries == entry) for entry in range(1, count + 1)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on-disk", type=float, default=0.1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args(arguments)
    end = time.monotonic() + given.seconds
    attempt = partial(try_history, seed=given.seed, on_disk=given.on_disk)
    if given.processes == 1:
        counts = _counted(map(attempt, range(given.cases)), end)
    else:
        with ProcessPoolExecutor(given.processes) as pool:
            counts = _counted(pool.map(attempt, range(given.cases), chunksize=50), end)
            pool.shutdown(cancel_futures=True)
    print(json.dumps({"seed": given.seed, **counts}))
    return counts


def _counted(results, end):
    """The counts of all histories up to a time; a line for each that is wrong."""
    counts = Counter()
    for result in results:
        counts["cases"] += 1
        if isinstance(result, str):
            print(result, flush=True)
        counts += Counter({"wrong": 1}) if isinstance(result, str) else result
        if time.monotonic() > end:
            break
    return dict(counts)


if __name__ == "__main__":
    sys.exit(1 if "wrong" in main() else 0)
