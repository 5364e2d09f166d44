"""Transactions: histories of millions of commits, and what is made of transactions.

    python bench/transactions.py history --commits 10000000 [--protocols tl2 block] [--seconds 60]
    python bench/transactions.py history --variants --seconds 60 --name histories-variants
    python bench/transactions.py history --broken --seconds 60 --name histories-broken
    python bench/transactions.py visibility --device cuda:0
    python bench/transactions.py scans --device cuda:0
    python bench/transactions.py refinement --points 500000 [--threads 1 16] [--device cuda:0] [--runs 3]

``history`` runs every workload of :mod:`edgewise.transactions.workloads` on a few words, on 64 words and on
200,000 words, until there are as many commits as asked for, and checks every history and its results in a
thread of its own.  A row says how many histories have been checked, whose seeds are those of its runs, and
what was found, which ends the row.  ``--variants`` adds right protocols that are not in the library.
``--broken`` runs those that the tests break on purpose; its rows are right if something was found.

``visibility`` compares PSTM and ISTM by the share of the words that are written after they were read.
``scans`` times the scans of chapter 4, of an array and within its segments, beside those of the library.
``refinement`` refines the Delaunay triangulation of random points in a square, which has about twice as many
triangles as points: one triangle after the other, by transactions, and by ``triangle`` if it is installed.
Every mesh is checked by ``tests/refinement/invariants.py``.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, cycle

import numpy as np
from harness import ROOT, main, ms_of, part, repeated, spread, timed

from edgewise.device import arrays, threads
from edgewise.errors import VerificationError
from edgewise.primitives.segments import segmented_scan
from edgewise.primitives.work_efficient_scan import work_efficient_scan
from edgewise.refinement import refine
from edgewise.transactions import PROTOCOLS, TransactionalMemory, TransactionError, read, visibility
from edgewise.transactions import write as write_word
from edgewise.transactions.workloads import WORKLOADS, run_recorded

#: Words, transactions of a run, and the same by a protocol that has a round for each conflict.
HOT, WARM, COLD = (1, 20_000, 1000), (64, 100_000, 2000), (200_000, 400_000, 400_000)
#: Histories that wait to be checked at the same time, and threads that check them.
WAITING, CHECKERS = 24, 8


def history(given):
    """Histories of many commits by every protocol, all of which are checked."""
    given.facts["threads"] = threads.count()
    with ThreadPoolExecutor(CHECKERS) as pool:
        for protocol in protocols(given):
            yield checked(protocol, given, pool)


def protocols(given):
    """The protocols of the options."""
    chosen = dict(PROTOCOLS)
    if given.variants or given.broken:
        sys.path.append(str(ROOT))
        from tests.transactions import broken, variants

        more = {one.name: one for one in (broken.BROKEN if given.broken else variants.RIGHT)}
        chosen = more if given.broken else chosen | more
    return [chosen[name] for name in given.protocols or chosen]


def checked(protocol, given, pool):
    """Commits, attempts and rates of a protocol, and what was found in its histories."""
    begun, waiting, runs, found = time.perf_counter(), [], [], ""
    try:
        for run, check in histories(protocol, given.device):
            runs.append(run)
            waiting.append(pool.submit(check))
            while len(waiting) > WAITING or (waiting and waiting[0].done()):
                waiting.pop(0).result()
            is_over = time.perf_counter() - begun > given.seconds
            if is_over or sum(run["commits"] for run in runs) >= given.commits:
                break
        while waiting:
            waiting.pop(0).result()
    except (VerificationError, TransactionError) as error:
        found = str(error)
    commits, aborts = (sum(run[key] for run in runs) for key in ("commits", "aborts"))
    facts = {"protocol": protocol.name, "right": bool(found) == given.broken, "found": found}
    facts |= {"histories_checked": len(runs) - len(waiting), "commits": commits, "attempts": commits + aborts}
    return facts | {"seconds": time.perf_counter() - begun, "runs": runs}


def histories(protocol, device):
    """Run a protocol with seeds from 0 on; yield the facts of a run and the function that checks it."""
    slow = protocol.drive is PROTOCOLS["reservations"].drive
    plan = [(name, words, few if slow else count) for words, count, few in (HOT, WARM) for name in WORKLOADS]
    plan = chain(plan, cycle([(name, *COLD[:2]) for name in WORKLOADS]))
    for seed, (name, words, count) in enumerate(plan):
        done, check = run_recorded(name, protocol, n_words=words, count=count, device=device, seed=seed)
        run = {"workload": name, "words": words, "seed": seed, "commits": done.commits, "aborts": done.aborts}
        yield run | {"abort_rate": done.abort_rate, "commits_a_second": done.commits / done.seconds}, check


#: Words of a transaction, and transactions of a run.
READS, TRANSACTIONS = 8, 400_000


def read_and_write(tx, number, picks, n_written):
    """Read words, and write some of them."""
    first, total = number * READS, np.int64(0)
    for access in range(READS):
        total += read(tx, picks[first + access])
    for access in range(n_written):
        write_word(tx, picks[first + access], total % 1024)


def visibilities(given):
    """Milliseconds of PSTM and ISTM by the share of the words that are written after they were read."""
    rng, given.facts["threads"] = np.random.default_rng(1), threads.count()
    for n_words in (1000, 100_000, 10_000_000):
        picks = arrays.move(rng.integers(0, n_words, TRANSACTIONS * READS), given.device)
        for n_written in (0, 1, 2, 4, 6, 8):
            row = {"words": n_words, "written": n_written}
            for protocol in ("pessimistic", "invisible"):
                words = arrays.zeros(n_words, np.int64, given.device)
                memory = TransactionalMemory(words, protocol=protocol)
                done = [
                    memory.run(read_and_write, TRANSACTIONS, picks, n_written) for _ in range(given.runs + 1)
                ][1:]
                row[f"{protocol}_ms"] = ms_of([one.seconds for one in done])
                row[f"{protocol}_abort_rate"] = done[-1].abort_rate
            yield row | {"visibility": visibility(memory, read_and_write, TRANSACTIONS, picks, n_written)}


def scans(given):
    """Milliseconds of scans by sweeps, and of those of NumPy or CuPy, by items and lengths of segments."""
    rng, xp = np.random.default_rng(1), arrays.namespace(given.device)
    for n_items in (100_000, 10_000_000):
        values = arrays.move(rng.integers(0, 1000, n_items), given.device)
        ways = {"cumsum": lambda v=values: xp.cumsum(v), "scan": lambda v=values: work_efficient_scan(v)}
        yield {"items": n_items, "length": None} | {name: timed_ms(way, given) for name, way in ways.items()}
        for length in (4, 16, 1000, n_items):
            offsets = arrays.move(np.append(np.arange(0, n_items, length), n_items), given.device)
            row = {"items": n_items, "length": length}
            for operation in ("sum", "min"):
                way = partial(segmented_scan, values, offsets, operation)
                row[f"segmented_{operation}"] = timed_ms(way, given)
            yield row


def timed_ms(way, given):
    """Spread of the milliseconds of a call."""
    return repeated(lambda: (way(), arrays.synchronize(given.device)), given.runs)


def refinement(given):
    """Meshes without small angles, from random points in a square."""
    from scipy.spatial import Delaunay

    at = np.linspace(0, 1, round(given.points**0.5), endpoint=False)
    sides = (at, 0 * at), (0 * at + 1, at), (1 - at, 0 * at + 1), (0 * at, 1 - at)
    outline = np.concatenate([np.stack(side, axis=1) for side in sides])
    draw = np.random.default_rng(1)
    points = np.concatenate([outline, draw.random((given.points - len(outline), 2))])
    triangles = Delaunay(points).simplices.astype(np.int64)
    if given.device == "cpu":
        yield refined(given, points, triangles, protocol=None, threads=1)
        yield from by_triangle(given, points, triangles, len(outline))
    for protocol in given.protocols:
        for count in given.threads or [threads.count()] if given.device == "cpu" else [None]:
            yield refined(given, points, triangles, protocol=protocol, threads=count)


def refined(given, points, triangles, protocol, threads):
    """The best of some runs by a protocol, and whether every invariant holds."""
    sys.path.append(str(ROOT))
    from tests.refinement.invariants import Broken, check_refined

    options = {"min_angle": given.angle, "protocol": protocol, "slots": given.slots or None}
    run = partial(refine, points, triangles, device=given.device, threads=threads, **options)
    runs = [timed(run) for _ in range(given.runs + 1)][1:]
    done = min(runs, key=lambda one: one[1])[0]
    row = {"way": protocol or "sequential", "threads": threads}
    row |= {"points_given": len(points), "triangles_given": len(triangles)}
    row |= {"points": len(done.points), "triangles": len(done.triangles), "rounds": done.n_rounds}
    row |= {"call_s": spread([one[1] for one in runs]), "refine_s": spread([one[0].seconds for one in runs])}
    row["transactions_s"] = spread([one[0].transactions.seconds for one in runs])
    row["triangles_a_second"] = len(done.triangles) / row["refine_s"]["median"]
    statistics = done.transactions
    row |= {"commits": statistics.commits, "aborts": statistics.aborts, "abort_rate": statistics.abort_rate}
    row |= {"left_by_input": done.left_by_input, "left_by_grid": done.left_by_grid, "right": True}
    try:
        check_refined(done, points, triangles, given.angle, lambda array: arrays.move(array, "cpu"))
    except Broken as broken:
        row |= {"right": False, "broken": str(broken)}
    return row


def by_triangle(given, points, triangles, n_outline):
    """The same by the library ``triangle`` on one core, if it is installed."""
    try:
        import triangle
    except ImportError:
        return
    at = np.arange(n_outline)
    mesh = {"vertices": points, "triangles": triangles, "segments": np.stack([at, np.roll(at, -1)], axis=1)}
    runs = [timed(partial(triangle.triangulate, mesh, f"rpq{given.angle}")) for _ in range(given.runs)]
    found = runs[0][0]
    row = {"way": "triangle", "threads": 1, "points_given": len(points), "triangles_given": len(triangles)}
    row |= {"points": len(found["vertices"]), "triangles": len(found["triangles"])}
    row["call_s"] = spread([one[1] for one in runs])
    yield row | {"triangles_a_second": len(found["triangles"]) / row["call_s"]["median"]}


REFINEMENT = {
    "points": 500_000,
    "angle": 20.7,
    "threads": int,
    "slots": 0,
    "protocols": ["wound-wait"],
    "runs": 3,
}


HISTORY = {"commits": 10**7, "seconds": 600.0, "protocols": str, "variants": False, "broken": False}
PARTS = {
    "history": part("histories-{place}", history, key=("protocol",), device="cpu", **HISTORY),
    "visibility": part("visibility-{place}", visibilities, device="cpu", runs=5),
    "scans": part("scans-{place}", scans, device="cpu", runs=5),
    "refinement": part("refinement-{place}", refinement, key=("way", "threads"), device="cpu", **REFINEMENT),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
