"""A threshold on the score of each pair, which is a condition on one column of the table."""

from __future__ import annotations

import math
from numbers import Real
from typing import NamedTuple

from edgewise.errors import GraphError, OptionError, argument
from edgewise.ingest.default_columns import listing, name_of

#: The column of scores that Splink writes beside others, and further usual names, in lower case.
PROBABILITY = "match_probability"
SCORES = ("score", "match_score", "similarity", "probability", "confidence", "weight", "match_weight")


class Kept(NamedTuple):
    """Which rows of a table are kept: those that meet a condition, and have a score of at least a threshold.

    See :func:`edgewise.read` for the meaning of each.
    """

    where: str | None = None
    threshold: float | None = None
    score: str | int | None = None

    def check(self) -> None:
        """Refuse what is no condition, no threshold or no column."""
        if not isinstance(self.where, str | None):
            raise OptionError(f"{argument('where', self.where)} is no condition; write it as a string")
        least, score = self.threshold, self.score
        number = isinstance(least, Real) and not isinstance(least, bool) and math.isfinite(least)
        if least is not None and not number:
            raise OptionError(f"{argument('threshold', least)} is no number; give the least score of a pair")
        if isinstance(score, bool) or not isinstance(score, str | int | None):
            raise OptionError(f"{argument('score', score)} is no column; give a name or a position")
        if least is None and score is not None:
            given = f"{argument('score')} names the column of a threshold"
            raise OptionError(f"{given}; add {argument('threshold')}, or leave it out")

    def beside(self, weight) -> Kept:
        """The same where the column of the scores may be for the weights alone, if these are ``True``."""
        return self._replace(score=None) if weight is True and self.threshold is None else self

    def condition(self, names) -> str | None:
        """The condition on the rows of a table with these columns.

        Examples
        --------
        >>> Kept("kind == 'a'", 0.9).condition(["l", "r", "score", "kind"])
        "`score` >= 0.9 and (kind == 'a')"
        """
        self.check()
        if self.threshold is None:
            return self.where
        least = self.threshold if isinstance(self.threshold, int) else float(self.threshold)
        column = _score_column(names) if self.score is None else name_of(self.score, names)
        if column not in names:
            choice = f"choose the column of the scores with {argument('score')}"
            raise GraphError(f"no column {column!r}; there are {listing(names)}: {choice}")
        reached = f"`{column.replace('`', '``')}` >= {least!r}"
        if self.where is None:
            return reached
        from edgewise.ingest.where import Condition  # imports pyarrow.compute

        Condition(self.where, names)  # raises for what is a condition only in the brackets
        return f"{reached} and ({self.where})"


def weight_column(weight, score, names):
    """The column of the weights that is given: that of the scores, if the weight is ``True``.

    Examples
    --------
    >>> weight_column(True, None, ["l", "r", "km", "match_probability"])
    'match_probability'
    """
    if weight is not True:
        return weight
    return _score_column(names) if score is None else name_of(score, names)


def _score_column(names):
    """The column of the scores, by its name."""
    if PROBABILITY in names:
        return PROBABILITY
    found = [name for name in names if name.lower() in (PROBABILITY, *SCORES)]
    if len(found) != 1:
        held = f"the scores may be in {' or '.join(map(repr, found))}" if found else "no column of scores"
        choice = f"choose the column with {argument('score')}"
        raise GraphError(f"{held} (columns: {listing(names)}); {choice}")
    return found[0]
