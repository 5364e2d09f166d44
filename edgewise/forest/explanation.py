"""Why two vertices are in one cluster: the path in the forest, which has the best weakest edge of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from edgewise.printable import printable

if TYPE_CHECKING:
    import pyarrow


class Explanation(NamedTuple):
    """The strongest path between two vertices.

    Attributes
    ----------
    source, target : id
        As in the input.
    path : pyarrow.Table
        Columns ``source``, ``target`` and ``weight``: one row per edge, in the order of the path; no row if
        the two are equal.
    weakest : dict or None
        The row of the weakest edge: the one whose removal parts the two.  ``None`` if they are equal.
    maximum : bool
        Whether large weights are strong.
    """

    source: Any
    target: Any
    path: pyarrow.Table
    weakest: dict | None
    maximum: bool

    @property
    def threshold(self):
        """The last threshold at which the two are together: the weight of the weakest edge, or ``None``."""
        return None if self.weakest is None else self.weakest["weight"]

    def __repr__(self):
        return f"<Explanation: {self}>"

    def __str__(self):
        if self.weakest is None:
            return printable(f"{self.source} is one vertex, which no threshold parts")
        side = "above" if self.maximum else "below"
        pair = f"{self.weakest['source']} and {self.weakest['target']}"
        return printable(
            f"{self.source} and {self.target} are together by {count_of(self.path)}, the weakest between "
            f"{pair}; they part {side} {self.threshold}"
        )


def count_of(path) -> str:
    """The number of edges in words."""
    return "1 edge" if path.num_rows == 1 else f"{path.num_rows:,} edges"


def explain(forest, source, target) -> Explanation:
    """See :meth:`~edgewise.forest.SpanningForest.explain`."""
    from edgewise.forest.linkage import path_between

    path, weakest = path_between(forest, source, target)
    row = None if weakest is None else path.slice(weakest, 1).to_pylist()[0]
    return Explanation(source, target, path, row, forest.maximum)
