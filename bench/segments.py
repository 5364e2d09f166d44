"""Scans, sorts and packs within segments, beside what a user of NumPy writes: the median of several runs.

    python bench/segments.py [--items 4194304] [--mean 16] [--runs 9]

Both find the same, which is checked; compilation is not in the times.
"""

import argparse
import time
from itertools import pairwise

import numpy as np
import record

from edgewise.device import threads
from edgewise.primitives import segments


def numpy_sums(values, flags, offsets):
    """One scan, less the sum at the head of each segment."""
    total = np.cumsum(values)
    return total - values - np.repeat((total - values)[offsets[:-1]], np.diff(offsets))


def numpy_minima(values, flags, offsets):
    """NumPy scans minima of whole arrays only: one call for each segment."""
    parts = [np.minimum.accumulate(values[first:end]) for first, end in pairwise(offsets)]
    return np.concatenate(parts)


def numpy_split(values, flags, offsets):
    """A sort by segment and flag."""
    return values[np.lexsort((flags, numbers(offsets)))]


def numpy_sort(values, flags, offsets):
    """A sort by segment and value."""
    return values[np.lexsort((values, numbers(offsets)))]


def numbers(offsets):
    """The segment of each item."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


#: What is done, by this library and by NumPy.
CASES = {
    "segmented_scan, sum": (lambda v, f, o: segments.segmented_scan(v, o), numpy_sums),
    "segmented_scan, min": (
        lambda v, f, o: segments.segmented_scan(v, o, "min", inclusive=True),
        numpy_minima,
    ),
    "segmented_enumerate": (
        lambda v, f, o: segments.segmented_enumerate(f, o),
        lambda v, f, o: numpy_sums(f.astype(np.int64), f, o),
    ),
    "segmented_copy": (
        lambda v, f, o: segments.segmented_copy(v, o),
        lambda v, f, o: np.repeat(v[o[:-1]], np.diff(o)),
    ),
    "split_and_segment": (lambda v, f, o: segments.split_and_segment(v, f, o)[0], numpy_split),
    "segmented_sort": (lambda v, f, o: segments.segmented_sort(v, o), numpy_sort),
    "segmented_pack": (
        lambda v, f, o: segments.segmented_pack(v, f, o),
        lambda v, f, o: (v[f], np.concatenate([[0], np.cumsum(np.add.reduceat(f, o[:-1], dtype=np.int64))])),
    ),
}


def measured(name, data, runs):
    """Both ways in turn, warm: seconds, and the median of the ratios."""
    ours, theirs = CASES[name]
    first, second = ours(*data), theirs(*data)
    pair = zip(first, second) if isinstance(first, tuple) else [(first, second)]
    if not all((one == other).all() for one, other in pair):
        raise SystemExit(f"{name}: NumPy finds something else")
    taken = []
    for _ in range(runs):
        times = [time.perf_counter()]
        for way in (ours, theirs):
            way(*data)
            times.append(time.perf_counter())
        taken.append(np.diff(times))
    ms = [record.spread([1e3 * pair[side] for pair in taken]) for side in (0, 1)]
    return {
        "name": name,
        "ms": ms[0],
        "numpy_ms": ms[1],
        "ratio": float(np.median([a / b for a, b in taken])),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=2**22)
    parser.add_argument("--mean", type=int, default=16, help="items of a segment")
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    n_segments = given.items // given.mean
    cuts = np.sort(rng.choice(given.items - 1, n_segments - 1, replace=False)) + 1  # none is empty
    offsets = np.concatenate([[0], cuts, [given.items]]).astype(np.int64)
    values = rng.integers(0, 1 << 20, given.items)
    data = values, rng.random(given.items) < 0.5, offsets
    rows = []
    for name in CASES:
        rows.append(measured(name, data, given.runs))
        row = rows[-1]
        print(
            f"{name:20} {row['ms']['median']:9.1f} ms, NumPy {row['numpy_ms']['median']:9.1f} ms", flush=True
        )
    facts = {"items": given.items, "segments": n_segments, "threads": threads.count()}
    record.write("segments-cpu", rows, **facts)


if __name__ == "__main__":
    main()
