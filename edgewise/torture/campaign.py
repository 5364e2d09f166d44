"""The children of a run, and what they find, put together."""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import NamedTuple

from edgewise.torture.asking import Difference, asked_again, reproducer
from edgewise.torture.batches import SILENCE, in_children
from edgewise.torture.cases import as_needed
from edgewise.torture.shrinking import cost, shrunk
from edgewise.torture.worker import as_asked, by_weights, case_from, drawn, questions_of

#: Cases of a child, and crashes after which a question is asked no more.
BATCH, CRASHES = 20_000, 3
#: Seconds in which a case that crashes or hangs is made smaller, and in which a library answers about it.
SMALLER, ANSWER = 60.0, 20.0
#: Small graphs need one thread, also in libraries that use OpenMP.
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Finding(NamedTuple):
    """Answers that differ in one way.

    Attributes
    ----------
    library, problem : str
        Who was asked, and what.
    asked : str
        The expression that asked it.
    kind : str
        ``"differs"``, who raises what or says NaN, ``"crash"`` or ``"hang"``.
    n_cases : int
        Number of cases.
    reproducer : str
        Lines of Python that show the smallest case.
    """

    library: str
    problem: str
    asked: str
    kind: str
    n_cases: int
    reproducer: str


def run(job, cases, seconds, processes, report):
    """Run the cases of a job.

    Returns
    -------
    asked : Counter
        Questions answered, by library.
    findings : list of Finding
        What differs.
    done : int
        Graphs.
    seconds : float
        Duration.
    """
    began = monotonic()
    campaign = _Campaign(job, cases, None if seconds is None else began + seconds, report)
    with ThreadPoolExecutor(processes) as pool:
        size = max(1, min(BATCH, -(-cases // processes)))
        batches = [(first, min(size, cases - first)) for first in range(0, cases, size)]
        list(pool.map(campaign.batch, batches))
    return campaign.asked, campaign.findings(), campaign.done, monotonic() - began


class _Campaign:
    """What is known while children run."""

    def __init__(self, job, cases, ends, report):
        self.job, self.cases, self.ends, self.report = job, cases, ends, report or (lambda *words: None)
        self.questions = questions_of(job)
        self.positions = by_weights(self.questions)
        self.asked: Counter = Counter()
        self.counts: Counter = Counter()
        self.smallest: dict = {}
        self.done, self.lock = 0, Lock()

    def batch(self, numbers):
        """Run a batch of cases in children."""
        first, count = numbers
        end = first + count
        while first < end and not self.is_over():
            for number, *what in in_children(self.command(), first, end - first, self.environment(), SILENCE):
                first = number + 1
                with self.lock:
                    if len(what) == 1:
                        self.ended(number, *what[0])
                    else:
                        self.answered(*what)
                if self.is_over() or len(what) == 1:  # a child without the question may be needed
                    break

    def is_over(self):
        return self.ends is not None and monotonic() >= self.ends

    def command(self, *more):
        job = self.job._replace(left_out=[at for at in self.crashing() if self.is_hopeless(at)])
        return [sys.executable, "-W", "ignore", "-m", "edgewise.torture.worker", json.dumps(job), *more]

    def environment(self):
        return ONE_THREAD | {"EDGEWISE_QUIET": "1"} | os.environ

    def crashing(self):
        return {at for at, kind in self.counts if kind in ("crash", "hang")}

    def is_hopeless(self, at):
        return self.counts[at, "crash"] + self.counts[at, "hang"] >= CRASHES

    def answered(self, asked, found):
        """Keep what came of a case."""
        self.done += 1
        self.asked.update(asked)
        for at, kind, case in found:
            self.counts[at, kind] += 1
            if case is not None:
                self.keep(at, kind, case_from(case))
        if self.done % 100 == 0 or self.done == self.cases:
            differ = sum(self.counts.values())
            self.report(self.done, self.cases, f"{sum(self.asked.values()):,} answers, {differ:,} differ")

    def keep(self, at, kind, case):
        if (at, kind) not in self.smallest or cost(case) < cost(self.smallest[at, kind]):
            self.smallest[at, kind] = case

    def ended(self, number, ended):
        """Find the question that ended a child, and a small case in which it does."""
        kind = ended[0]
        case, asks = drawn(self.job, self.questions, self.positions, number)
        self.done += 1
        for at in asks:
            needed = as_asked(self.questions[at], case)
            if needed is not None and not self.is_hopeless(at) and self.ends_process(at, needed):
                self.counts[at, kind] += 1
                if (at, kind) not in self.smallest:
                    small = shrunk(needed, lambda one, at=at: self.ends_process(at, one), SMALLER)
                    self.keep(at, kind, as_needed(small, self.questions[at].needs))
                return

    def ends_process(self, at, case):
        """Whether a library that is asked about a case alone crashes, or does not answer in time."""
        if as_needed(case, self.questions[at].needs) is None:
            return False
        command = self.command("--asks", json.dumps([at, case]))
        try:
            done = subprocess.run(command, env=self.environment(), capture_output=True, timeout=ANSWER)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    def findings(self):
        """What differs, the most frequent first."""
        return [self.finding(at, kind, count) for (at, kind), count in self.counts.most_common()]

    def finding(self, at, kind, count):
        question, case = self.questions[at], self.smallest[at, kind]
        ends = kind in ("crash", "hang")
        found = Difference(kind, (kind, "")) if ends else asked_again(question, case, kind)
        found = found or Difference(kind, ("answers differ from run to run", ""))
        relation = getattr(question.relation, "__name__", "").replace("_", " ")
        asked = question.peer.expression + (f", {relation}" if relation else "")
        shown = reproducer(question, case, found, alone=ends)
        return Finding(question.peer.name, question.problem, asked, kind, count, shown)
