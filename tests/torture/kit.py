"""Edgewise and other libraries are asked the same, and what differs is made small.

``python -m tests.torture.kit --against networkx,igraph,scipy,networkit --seconds 600 --processes 2``
``python -m tests.torture.kit --against scipy --problem shortest-paths --cases 2000``
``python -m tests.torture.kit --self-test --cases 200``

Half of the graphs are all those of at most three vertices, with loops, directions and repeated edges; the
others are random ones of up to nine vertices, and slices of :mod:`tests.zoo`.  Without another library,
edgewise is asked about related graphs and by all of its methods.  The status is 1 if answers differ.

:mod:`~tests.torture.cases` draws graphs, :mod:`~tests.torture.problems` says what is asked and when two
answers are the same, :mod:`~tests.torture.peers` how each library is asked and what it documents that
differs, :mod:`~tests.torture.relations` what edgewise must answer without another library, and
:mod:`~tests.torture.faults` which faults the kit must find.  Children ask
(:mod:`~tests.torture.worker`), so that a library that crashes or hangs costs one case.
"""

import argparse
import sys

from tests.torture import campaign, faults
from tests.torture.peers import PEERS
from tests.torture.problems import PROBLEMS
from tests.torture.worker import Job


def main(words=None):
    """Ask, or plant faults; print what differs, or what was not found, and return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=lambda names: names.split(","), default=["edgewise"])
    parser.add_argument("--problem", choices=PROBLEMS)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args(words)
    if unknown := set(given.against) - {"edgewise", *PEERS}:
        parser.error(f"--against: no library {', '.join(unknown)}")
    if given.self_test:
        return self_test(given)
    job = Job(given.against, given.seed, given.problem)
    asked, findings, done, seconds = campaign.run(job, given.cases, given.seconds, given.processes)
    for one in findings:
        print(f"# {one.library}, {one.problem}: {one.kind} in {one.n_cases} cases\n{one.reproducer}\n")
    answers = ", ".join(f"{count:,} of {name}" for name, count in asked.items())
    print(f"{done} graphs: answers differ in {len(findings)} ways; compared {answers}; {seconds:.1f} s")
    return int(bool(findings))


def self_test(given):
    """Plant faults, each of which must be found."""
    found = faults.self_test(given.cases, given.seed)
    missed = [one for one in found if one.reproducer is None]
    for one in missed:
        print(f"not found: {one.summary}")
    print(f"{len(found) - len(missed)} of {len(found)} planted faults found")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
