"""Transactions: the tables of ``manoochehri-2017``, and histories of many commits that are checked.

    python bench/transactions.py tables cuda:0 [--size paper] [--only protocols,retries] [--runs 3]
    python bench/transactions.py history cpu --commits 1e7 [--protocols tl2,block] [--seconds 60]
    python bench/transactions.py broken cuda:0

``tables`` writes ``transactions-gpu.json`` or ``transactions-cpu.json``.  ``history`` runs every workload of
:mod:`edgewise.transactions.workloads` on a few words, on 64 words and on 200,000 words, until there are as
many commits as asked for, and checks every history in a thread of its own; a violation ends it.  ``broken``
runs the protocols that the tests have broken on purpose, until each has been caught.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import record

from edgewise import experiments
from edgewise.device import threads
from edgewise.errors import VerificationError
from edgewise.transactions import PROTOCOLS
from edgewise.transactions.workloads import WORKLOADS, run_checked, run_recorded

#: Words, transactions of a run, and the same by a protocol that has a round for each conflict.
HOT, WARM, COLD = (1, 20_000, 1000), (64, 100_000, 2000), (200_000, 400_000, 400_000)
#: Histories that wait to be checked at the same time.
WAITING = 24


def named(device):
    return "cpu" if device == "cpu" else "gpu"


def tables(given):
    options = {
        "size": given.size,
        "runs": given.runs,
        "devices": "cpu:0" if given.device == "cpu" else given.device,
    }
    chosen = {"only": given.only.split(","), "without": given.without.split(",")}
    chosen = {key: [name for name in names if name] for key, names in chosen.items()}
    found = experiments.run(
        "manoochehri-2017", **options, **chosen, report=lambda text: print(text, flush=True)
    )
    print(found.text())
    facts = found.as_dict() | {"threads": threads.count()}
    record.write(f"{given.name}-{named(given.device)}", [], **facts)


def history(given):
    rows = []
    with ThreadPoolExecutor(given.checkers) as pool:
        for protocol in given.protocols.split(",") if given.protocols else PROTOCOLS:
            rows.append(checked(protocol, given, pool))
            print(rows[-1], flush=True)
    record.write(f"{given.name}-{named(given.device)}", rows, threads=threads.count())


def checked(protocol, given, pool):
    """Commits, attempts and rates of a protocol, all of whose histories have passed."""
    begun, waiting, runs = time.perf_counter(), [], []
    slow = protocol == "reservations"
    plan = [(name, words, few if slow else count) for words, count, few in (HOT, WARM) for name in WORKLOADS]
    while sum(run["commits"] for run in runs) < given.commits:
        for seed, (name, words, count) in enumerate(plan, len(runs)):
            options = {"n_words": words, "count": count, "device": given.device, "seed": seed}
            done, check = run_recorded(name, protocol, **options)
            waiting.append(pool.submit(check))
            runs.append(
                {
                    "workload": name,
                    "words": words,
                    "commits": done.commits,
                    "aborts": done.aborts,
                    "abort_rate": done.abort_rate,
                    "commits_a_second": done.commits / done.seconds,
                }
            )
            while len(waiting) > WAITING:
                waiting.pop(0).result()
            if time.perf_counter() - begun > given.seconds:
                break
        plan = [(name, *COLD[:2]) for name in WORKLOADS]
        if time.perf_counter() - begun > given.seconds:
            break
    for check in waiting:
        check.result()
    commits, aborts = (sum(run[key] for run in runs) for key in ("commits", "aborts"))
    facts = {"protocol": protocol, "commits": commits, "attempts": commits + aborts, "violations": 0}
    return facts | {"seconds": time.perf_counter() - begun, "runs": runs}


def broken(given):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from tests.transactions.broken import BROKEN

    rows = []
    for name, (protocol, workload) in BROKEN.items():
        message, seed = None, 0
        while message is None and seed < 30:
            try:
                run_checked(workload, protocol, n_words=2, count=20_000, device=given.device, seed=seed)
            except VerificationError as error:
                message = str(error)
            seed += 1
        rows.append({"protocol": name, "workload": workload, "runs": seed, "caught": message})
        print(rows[-1], flush=True)
    record.write(f"{given.name}-{named(given.device)}", rows, threads=threads.count())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["tables", "history", "broken"])
    parser.add_argument("device")
    parser.add_argument("--size")
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--commits", type=lambda text: int(float(text)), default=10**7)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--protocols", default="")
    parser.add_argument("--checkers", type=int, default=8)
    parser.add_argument("--name")
    given = parser.parse_args()
    names = {"tables": "transactions", "history": "histories", "broken": "broken-protocols"}
    given.name = given.name or names[given.what]
    {"tables": tables, "history": history, "broken": broken}[given.what](given)


if __name__ == "__main__":
    main()
