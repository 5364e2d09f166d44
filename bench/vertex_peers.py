"""Methods and peers that give every vertex a number: run in turn on one thread, compared, and timed."""

import argparse
import time
from importlib import import_module

import numpy as np
import record

from edgewise.device import threads

#: Runs of a peer that is written in Python.
SLOW = "networkx"


def arguments(text):
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=18, help="about the logarithm of the number of vertices")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="graphs to measure; by default all")
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out")
    return parser.parse_args()


def compare(graph, ours, peers, given):
    """Milliseconds of processor time of each call; the numbers of all must be equal."""
    threads.use(1)
    calls = {name: (run, np.asarray) for name, run in ours.items()}
    for name, prepare in peers.items():
        if name in given.without:
            continue
        try:
            call = prepare(graph, import_module(name))
        except ImportError:
            continue
        calls[name] = call if isinstance(call, tuple) else (call, np.asarray)
        if hasattr(import_module(name), "setNumberOfThreads"):
            import_module(name).setNumberOfThreads(1)
    times = {name: [] for name in calls}
    answer = None
    for turn in range(given.runs + 1):
        for name, (run, numbers) in calls.items():
            if name == SLOW and turn > 1:
                continue
            start = time.process_time()
            found = run()
            if turn or name == SLOW:  # the first run compiles
                times[name].append(1e3 * (time.process_time() - start))
            found = numbers(found)
            answer = found if answer is None else answer
            assert np.array_equal(found, answer), name
    facts = {"vertices": graph.n_vertices, "edges": graph.n_edges}
    return facts | {"ms": {name: record.spread(of) for name, of in times.items()}}


def table(rows):
    """Print the medians."""
    for row in rows:
        times = ", ".join(f"{name} {spread['median']:.1f}" for name, spread in row["ms"].items())
        print(
            f"{row['graph']}: {row['vertices']:,} vertices, {row['edges']:,} edges; ms: {times}", flush=True
        )
