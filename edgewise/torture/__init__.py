"""``edgewise torture``: edgewise and other libraries are asked the same, and what differs is made small.

:mod:`~edgewise.torture.cases` draws graphs, :mod:`~edgewise.torture.problems` says what is asked and when two
answers are the same, :mod:`~edgewise.torture.peers` how each library is asked and what it documents that
differs, :mod:`~edgewise.torture.relations` what edgewise must answer without another library, and
:mod:`~edgewise.torture.faults` which faults the kit must find.  Children ask
(:mod:`~edgewise.torture.worker`), so that a library that crashes or hangs costs one case.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from edgewise.errors import OptionError, argument, closest
from edgewise.torture import campaign
from edgewise.torture.peers import PEERS
from edgewise.torture.problems import PROBLEMS
from edgewise.torture.worker import Job


class Report(NamedTuple):
    """What :func:`run` found.

    Attributes
    ----------
    graphs : int
        Number of graphs.
    cases : dict of str to int
        Questions answered, by library.
    findings : list of Finding
        What differs.
    seconds : float
        Duration.
    """

    graphs: int
    cases: dict
    findings: list
    seconds: float


def run(
    against: Sequence[str] = ("edgewise",),
    *,
    cases: int = 10_000,
    seed: int = 1,
    problem: str | None = None,
    seconds: float | None = None,
    processes: int = 1,
    report: Callable[[int, int, str], None] | None = None,
) -> Report:
    """Ask edgewise and other libraries the same about small graphs, and find where answers differ.

    Parameters
    ----------
    against : sequence of str
        Libraries: "networkx", "igraph", "scipy", "networkit"; "edgewise" is asked about related graphs and by
        all methods.
    cases : int
        Number of graphs, each with a question for every library that can answer it.
    seed : int
        Seed of graphs and questions.
    problem : str, optional
        The only problem, such as "forest".
    seconds : float, optional
        Stop after this time.
    processes : int
        Processes that ask at the same time.
    report : callable, optional
        Called with the number of cases that are done, their number, and words.

    Returns
    -------
    Report
        Counts, and what differs, each with the smallest graph that was found to show it.

    Raises
    ------
    OptionError
        If there is no such library or problem, or a library is not installed.
    """
    against = [against] if isinstance(against, str) else list(dict.fromkeys(against))
    for name in against:
        if name not in (*PEERS, "edgewise"):
            raise _unknown("against", name, ("edgewise", *PEERS))
        if find_spec(name) is None:
            raise OptionError(f"{name} is not installed; pip install {name}")
    if problem is not None and problem not in PROBLEMS:
        raise _unknown("problem", problem, PROBLEMS)
    job = Job(against, seed, problem)
    asked, findings, done, spent = campaign.run(job, cases, seconds, processes, report)
    return Report(done, {name: asked[name] for name in against}, findings, spent)


def _unknown(option, given, known):
    meant = closest(given, known)
    hint = f"did you mean {meant}?" if meant else f"choose from {', '.join(known)}"
    return OptionError(f"{argument(option, given)} is unknown; {hint}")
