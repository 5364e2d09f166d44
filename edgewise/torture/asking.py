"""A case is asked of a library and of edgewise, and what differs is shown as a few lines of Python.

The lines that a reproducer prints are compiled and run; no other code asks the libraries.
"""

import re
from functools import cache
from typing import Any, NamedTuple

from edgewise.torture.cases import Case, as_needed
from edgewise.torture.problems import MADE, PROBLEMS, canonical, has_nan, same

#: The names of a case in expressions.
FIELDS = Case._fields


class Asked(NamedTuple):
    """How one side is asked.

    Attributes
    ----------
    name : str
        The library.
    imports, made : str
        Statements that import it, and that make ``graph``.
    expression : str
        What it is asked.
    fault : Fault, optional
        A fault that is planted, for the test of the kit.
    """

    name: str
    imports: str
    made: str
    expression: str
    fault: Any = None


class Question(NamedTuple):
    """What two sides are asked about the same graph.

    Attributes
    ----------
    problem : str
        Name of the problem.
    peer, own : Asked
        The library, and edgewise.
    needs : tuple of str
        What the graph must be.
    kinds : tuple of bool
        Whether graphs are directed.
    relation : callable, optional
        If both sides are edgewise: the two cases, of one, and where the vertices of the first are in the
        second.
    """

    problem: str
    peer: Asked
    own: Asked
    needs: tuple = ()
    kinds: tuple = (False, True)
    relation: Any = None


class Difference(NamedTuple):
    """Two answers that should be the same.

    Attributes
    ----------
    kind : str
        ``"differs"``, which side raises what, or that the library says NaN.
    answers : tuple
        The two answers, canonical, or the text of the error.
    """

    kind: str
    answers: tuple


def edgewise_asked(expression):
    """How edgewise is asked."""
    return Asked("edgewise", "import edgewise as ew", MADE, expression)


def questions_for(peer):
    """The questions that a peer answers."""
    for call in peer.calls:
        problem = PROBLEMS[call.problem]
        theirs = Asked(peer.package, peer.imports, call.made or peer.made, call.asked)
        kinds = tuple(kind for kind in problem.kinds if kind in call.kinds)
        yield Question(
            call.problem, theirs, edgewise_asked(call.edgewise or problem.asked), call.needs, kinds
        )


@cache
def _imported(statements):
    """The names that import statements bind."""
    names: dict = {}
    exec(statements, names)
    return names


@cache
def _compiled(text, mode):
    return compile(text, f"<{mode}>", mode)


def answer_of(side, case, shape, known=None):
    """The canonical answer of a side, and the error instead if it raises one: two values.

    ``known`` keeps graphs and answers for the next question about the same case.
    """
    about = case if side.fault is None else side.fault.sees(case)
    known = {} if known is None else known
    key = side.made, about.key()
    answered = side.expression, side.fault, shape, key
    if answered in known:
        return known[answered]
    try:
        if key not in known:
            names = _imported(side.imports) | about._asdict()
            exec(_compiled(side.made, "exec"), names)
            known[key] = names
        answer = canonical(eval(_compiled(side.expression, "eval"), known[key]), shape, about)
        found: tuple = answer if side.fault is None else side.fault.says(answer, case), None
    except Exception as error:
        found = None, error
    if side.name == "edgewise":  # the only one that is asked the same again
        known[answered] = found
    return found


def difference(question, case, known=None):
    """What differs in the answers about a case that is as the question needs it, or ``None``.

    ``known`` keeps graphs and answers for the next question about the same case.
    """
    shape, other, at = PROBLEMS[question.problem].shape, case, None
    if question.relation is not None:
        case, other, at = question.relation(case)
    theirs, their_error = answer_of(question.peer, case, shape, known)
    ours, our_error = answer_of(question.own, other, shape, known)
    if their_error is None and our_error is None:
        ours = ours if at is None else moved(ours, shape, at)
        if same(theirs, ours):
            return None
        return Difference(f"{question.peer.name} says NaN" if has_nan(theirs) else "differs", (theirs, ours))
    if their_error is not None and (our_error is not None or _is_declined(question.peer, their_error)):
        return None
    side, error = (question.peer, their_error) if our_error is None else (question.own, our_error)
    shown = f"{type(error).__name__}: {error}"
    answers = (shown, ours) if our_error is None else (theirs, shown)
    return Difference(f"{side.name} raises {type(error).__name__}", answers)


def _is_declined(side, error):
    """Whether a method of edgewise says that it is not for such a graph."""
    return side.name == "edgewise" and type(error).__name__ == "OptionError"


def moved(answer, shape, at):
    """The answer about another graph as it is for the vertices ``at`` of it."""
    if shape == "number":
        return answer
    if shape == "distances":
        return [[answer[u][v] for v in at] for u in at]
    found = [answer[vertex] for vertex in at]
    return found if shape != "sets" else [found.index(label) for label in found]


def asked_again(question, case, kind):
    """The difference if the case, as the question needs it, still shows one of the same kind."""
    needed = as_needed(case, question.needs)
    if needed is None:
        return None
    found = difference(question, needed)
    return found if found is not None and found.kind == kind else None


def reproducer(question, case, found, alone=False):
    """A few lines of Python that need edgewise and the library only, or ``alone`` the library only."""
    case = as_needed(case, question.needs)
    if question.relation is None:
        sides = [(question.peer, case), (question.own, case)][: 1 if alone else 2]
    else:
        one, other, at = question.relation(case)
        sides = [(question.peer, one), (question.own, other)]
    imports = dict.fromkeys(line for side, _ in sides for line in side.imports.splitlines())
    used = " ".join(f"{side.made} {side.expression}" for side, _ in sides)
    lines = [line for line in imports if re.search(rf"\b{line.split()[-1]}\b", used)]
    shown = None
    for (side, about), answer in zip(sides, found.answers):
        if about != shown:
            lines += ["", *_fields(about, f"{side.made} {side.expression} {used if shown is None else ''}")]
            shown = about
        lines += [*side.made.splitlines(), f'print("{side.name}:", {side.expression})  # {answer}']
    if question.relation is not None:
        lines.append(f"# vertices 0, 1, ... of the first graph are {at} in the second")
    return "\n".join(lines)


def _fields(case, used):
    """The fields of a case that are used, as an assignment."""
    names = [name for name in FIELDS if re.search(rf"\b{name}\b", used)]
    return [f"{', '.join(names)} = {', '.join(repr(getattr(case, name)) for name in names)}"]
