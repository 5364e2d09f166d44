"""A child process of the kit: ``python -m edgewise.torture.worker JSON --first N --cases N``.

The JSON is a :class:`Job`.  A line for each case says how many questions each library answered, and which
answers differ, the first of each kind in the smallest case that shows it.
"""

import argparse
import json
import random
import sys
import warnings
from collections import Counter, defaultdict
from typing import NamedTuple

from edgewise.torture import relations
from edgewise.torture.asking import answer_of, asked_again, difference, questions_for
from edgewise.torture.cases import Case, as_needed, case_of
from edgewise.torture.peers import PEERS
from edgewise.torture.problems import PROBLEMS
from edgewise.torture.shrinking import shrunk

#: Differences of each kind that a child makes smaller; more of the same kind are counted.
SHRUNK = 2


class Job(NamedTuple):
    """What is asked.

    Attributes
    ----------
    against : list of str
        The libraries.
    seed : int
        Of what is drawn.
    problem : str, optional
        The only problem.
    left_out : list of int
        Positions of questions that are asked no more, since they end the process.
    """

    against: list
    seed: int = 1
    problem: str | None = None
    left_out: tuple = ()


def questions_of(job):
    """All questions of a job."""
    found: list = []
    for name in job.against:
        found += relations.questions() if name == "edgewise" else questions_for(PEERS[name])
    return [one for one in found if job.problem in (None, one.problem)]


def by_weights(questions):
    """The positions of questions, by the kinds of weights of their problems, which are asked together."""
    found = defaultdict(list)
    for at, question in enumerate(questions):
        found[PROBLEMS[question.problem].weights].append(at)
    return found


def drawn(job, questions, positions, number):
    """The case of a number, and the positions of the questions that are asked about it."""
    draw = random.Random(f"{job.seed} {number}")
    problem = PROBLEMS[draw.choice(questions).problem]
    return case_of(draw, number, problem.kinds, problem.weights), positions[problem.weights]


def as_asked(question, case):
    """The case as the question needs it, or ``None`` if it is not asked."""
    return as_needed(case, question.needs) if case.directed in question.kinds else None


def run(job, first, count):
    """Yield the number of every case, how many questions were asked by library, and what differs."""
    questions = questions_of(job)
    positions = by_weights(questions)
    seen: Counter = Counter()
    for number in range(first, first + count):
        case, asks = drawn(job, questions, positions, number)
        asked: Counter = Counter()
        found: list = []
        known: dict = {}
        for at in asks:
            needed = None if at in job.left_out else as_asked(questions[at], case)
            if needed is None:
                continue
            asked[questions[at].peer.name] += 1
            differs = difference(questions[at], needed, known)
            if differs is not None:
                seen[at, differs.kind] += 1
                if seen[at, differs.kind] <= SHRUNK:
                    needed = shrunk(
                        needed, lambda one, at=at, kind=differs.kind: shows(questions[at], one, kind)
                    )
                    found.append([at, differs.kind, needed])
                else:
                    found.append([at, differs.kind, None])
        yield [number, asked, found]


def shows(question, case, kind):
    """Whether a case shows a difference of a kind."""
    return asked_again(question, case, kind) is not None


def main():
    """Answer about some cases, or, with ``--asks``, about one, in which only the library is asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job", type=json.loads)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--asks", type=json.loads, help="position of a question, and a case")
    given = parser.parse_args()
    job = Job(*given.job)
    warnings.simplefilter("ignore")
    if given.asks:
        at, case = given.asks
        question = questions_of(job)[at]
        needed = as_asked(question, case_from(case))
        if needed is not None:
            answer_of(question.peer, needed, PROBLEMS[question.problem].shape)
        return
    for found in run(job, given.first, given.cases):
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def case_from(fields):
    """A case of what JSON gives back."""
    case = Case(*fields)
    return case._replace(pairs=[tuple(pair) for pair in case.pairs])


if __name__ == "__main__":
    main()
