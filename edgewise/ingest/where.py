"""Conditions on the columns of a table, such as ``score >= 0.9 AND kind IN ('a', 'b')``.

:mod:`edgewise.ingest.condition_grammar` turns the text into functions of a table.  Logic is SQL's, of three
values: a row is left out where the condition is null.
"""

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from edgewise.errors import OptionError, argument
from edgewise.ingest.arrow import is_utf8, value_type
from edgewise.ingest.comparisons import column_of
from edgewise.ingest.condition_grammar import Parser, refusal
from edgewise.ingest.numerals import about_number, is_foreign

#: Values of a column that are examined for numbers in text.
SAMPLE = 100
#: Largest number of characters of a condition.
MAX_LENGTH = 100_000


class Condition:
    """A condition that has been parsed and checked; ``columns`` are the names of its columns.

    ``names`` are those of the table: a text in double quotes must not be one of them, since it would be a
    string in Python and a column in SQL.

    >>> table = pa.table({"score": [0.5, 0.95, None], "kind": ["a", "b", "b"]})
    >>> Condition("score BETWEEN 0.9 AND 1 AND kind <> 'a'").rows(table).to_pylist()
    [False, True, False]
    """

    def __init__(self, text, names=()):
        self.text = text
        self._ranges: dict = {}
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise OptionError(f"{argument('where')} takes a text of at most {MAX_LENGTH:,} characters")
        parser = Parser(text, {name.casefold() for name in names})
        self._evaluate, self.columns = parser.parsed, list(dict.fromkeys(parser.columns))
        if not self.columns:
            raise refusal(text, "it compares no column")

    def rows(self, table):
        """Whether each row of a table, or record batch, meets the condition, as booleans without nulls."""
        try:
            met = self._evaluate(table)
        except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
            self._check_numbers(table)
            raise refusal(self.text, " ".join(str(error).split())) from error
        if not types.is_boolean(met.type):
            raise refusal(self.text, "it is a value, not a condition")
        return pc.fill_null(met, False)

    def _check_numbers(self, table):
        """Raise if a column of text holds numbers that are written in another way."""
        for name in self.columns:
            column = table.column(name)
            if is_utf8(value_type(column.type)):
                fields = column.slice(0, SAMPLE).to_pylist()
                field = next((field for field in fields if field and is_foreign(field.strip())), None)
                if field is not None:
                    problem, remedy = about_number(field.strip(), ".").rsplit("; ", 1)
                    raise refusal(self.text, f"column {name!r} holds text, and {problem}", remedy)

    def note_range(self, table):
        """Note least and largest value of each column of the condition, where its type has an order."""
        for name in self.columns:
            try:
                limits = pc.min_max(column_of(table, name)).as_py().values()
            except pa.ArrowException:
                continue
            known = [value for value in (*self._ranges.get(name, ()), *limits) if value is not None]
            self._ranges[name] = (min(known), max(known)) if known else ()

    def ranges(self) -> str:
        """The ranges that were noted, in words."""
        words = {name: "runs from {!r} to {!r}".format(*ends) for name, ends in self._ranges.items() if ends}
        return " and ".join(f"{name!r} {words.get(name, 'is null')}" for name in self._ranges)
