"""Conditions on the columns of a table, such as ``score >= 0.9 and kind in ("a", "b")``.

The text is a small part of Python's grammar.  Its syntax tree is checked and turned into calls of
:mod:`pyarrow.compute`; nothing but comparisons and arithmetic of columns and constants is ever run.  A row is
left out if a column of the condition is null there, unless the condition tests it with ``column is None``.
"""

import ast
import operator
import re
import unicodedata
from functools import partial, reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from edgewise.errors import OptionError, argument
from edgewise.ingest.arrow import with_plain_nulls, without_views

#: Largest number of characters of a condition; longer ones could be nested too deeply for the parser.
MAX_LENGTH = 4000
COMPARISONS = {
    ast.Eq: pc.equal,
    ast.NotEq: pc.not_equal,
    ast.Lt: pc.less,
    ast.LtE: pc.less_equal,
    ast.Gt: pc.greater,
    ast.GtE: pc.greater_equal,
}
#: Arithmetic of columns, and of two constants.  A quotient by 0 is infinite or nan and stops no other row.
ARITHMETIC = {
    ast.Add: (pc.add_checked, operator.add),
    ast.Sub: (pc.subtract_checked, operator.sub),
    ast.Mult: (pc.multiply_checked, operator.mul),
    ast.Div: (pc.divide, operator.truediv),
}
JOINS = {ast.And: pc.and_kleene, ast.Or: pc.or_kleene}
#: A string in quotes, or a name in backquotes, which is replaced.
QUOTED = re.compile(
    r"""(\"""(?:\\.|[^\\])*?\"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`((?:[^`]|``)*)`""",
    re.DOTALL,
)
REMEDY = "compare columns with constants, as in: score >= 0.9 and kind == 'x' (`...` around unusual names)"


class Condition:
    """A condition that has been parsed and checked; ``columns`` are the names of its columns.

    >>> table = pa.table({"score": [0.5, 0.95, None], "kind": ["a", "b", "b"]})
    >>> Condition("0.9 <= score < 1 and kind != 'a'").rows(table).to_pylist()
    [False, True, False]
    """

    def __init__(self, text):
        self.text, self.columns, self._names = text, [], {}
        self._ranges: dict = {}
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise OptionError(f"{argument('where')} takes a text of at most {MAX_LENGTH} characters")
        self._stem = "column_"
        while self._stem in unicodedata.normalize("NFKC", text):  # as the parser normalises names
            self._stem += "_"
        try:
            tree = ast.parse(QUOTED.sub(self._plain_name, text).strip(), mode="eval")
            self._evaluate = self._compiled(tree.body)
        except OptionError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._refusal("it is no condition") from None
        self.columns = list(dict.fromkeys(self.columns))
        if not self.columns:
            raise self._refusal("it compares no column")

    def _plain_name(self, match):
        """Name without unusual characters, found nowhere in the text, that replaces one in backquotes."""
        if match[2] is None:
            return match[1]
        name = f"{self._stem}{len(self._names)}"
        self._names[name] = match[2].replace("``", "`")
        return f" {name} "

    def _refusal(self, problem):
        return OptionError(f"{argument('where', self.text)}: {problem}; {REMEDY}")

    def rows(self, table):
        """Whether each row of a table, or record batch, meets the condition, as booleans without nulls."""
        try:
            met = self._evaluate(table)
        except (pa.ArrowException, ArithmeticError, TypeError, ValueError, RecursionError) as error:
            raise self._refusal(" ".join(str(error).split())) from error
        if not types.is_boolean(met.type):
            raise self._refusal("it is a value, not a condition")
        return pc.fill_null(met, False)

    def note_range(self, table):
        """Note least and largest value of each column of the condition, where its type has an order."""
        for name in self.columns:
            try:
                limits = pc.min_max(_column(table, name)).as_py().values()
            except pa.ArrowException:
                continue
            known = [value for value in (*self._ranges.get(name, ()), *limits) if value is not None]
            self._ranges[name] = (min(known), max(known)) if known else ()

    def ranges(self) -> str:
        """The ranges that were noted, in words."""
        words = {name: "runs from {!r} to {!r}".format(*ends) for name, ends in self._ranges.items() if ends}
        return " and ".join(f"{name!r} {words.get(name, 'is null')}" for name in self._ranges)

    def _compiled(self, node):
        """Function that evaluates a part of the condition for a table, to a column or a constant."""
        match node:
            case ast.Name(name):
                column = self._names.get(name, name)
                self.columns.append(column)
                return lambda table: _column(table, column)
            case ast.Constant(bool() | int() | float() | str() as value):
                return lambda table: value
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp(join, parts):
                parts = [self._compiled(part) for part in parts]
                return lambda table: reduce(JOINS[type(join)], [part(table) for part in parts])
            case ast.UnaryOp(ast.Not() | ast.USub() as operation, operand):
                operand = self._compiled(operand)
                change = pc.invert if isinstance(operation, ast.Not) else _negated
                return lambda table: change(operand(table))
            case ast.BinOp(left, operation, right) if type(operation) in ARITHMETIC:
                left, right = self._compiled(left), self._compiled(right)
                return lambda table: _calculated(operation, left(table), right(table))
        raise self._refusal(f"{ast.unparse(node)!r} is not allowed in it")

    def _comparison(self, node):
        """Function that evaluates ``a < b <= c``: every comparison holds."""
        first = self._compiled(node.left)
        steps = [self._step(*step) for step in zip(node.ops, node.comparators)]

        def evaluate(table):
            left, results = first(table), []
            for compare, *right in steps:
                values = [evaluated(table) for evaluated in right]
                results.append(compare(left, *values))
                left = values[0] if values else left
            return reduce(pc.and_kleene, results)

        return evaluate

    def _step(self, operation, right):
        """Comparison of a value with what is right of it, and the function for that unless it is constant."""
        if isinstance(operation, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise self._refusal("'is' is allowed before None only")
            return (pc.is_null if isinstance(operation, ast.Is) else pc.is_valid,)
        if isinstance(operation, ast.In | ast.NotIn):
            items = isinstance(right, ast.Tuple | ast.List | ast.Set) and right.elts
            if not items or not all(map(_is_constant, items)):
                raise self._refusal("'in' needs constants in brackets")
            values = [ast.literal_eval(item) for item in items]
            return (partial(_is_member, values=values, inverted=isinstance(operation, ast.NotIn)),)
        return partial(_compared, COMPARISONS[type(operation)]), self._compiled(right)


def _is_constant(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and _is_number(node.operand.value)
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str)


def _is_number(value):
    """Whether a value is a number of Python's, not a column."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_member(column, values, inverted):
    """Whether each value of a column is one of several constants, or none of them; null for a null."""
    met = reduce(pc.or_kleene, [_compared(pc.equal, column, value) for value in values])
    return pc.invert(met) if inverted else met


def _column(table, name):
    """Column of a table, its dictionary decoded."""
    column = without_views(with_plain_nulls(table.column(name)))
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def _negated(value):
    return -value if _is_number(value) else pc.negate_checked(value)


def _calculated(operation, left, right):
    """Sum, difference, product or quotient of two values."""
    of_columns, of_constants = ARITHMETIC[type(operation)]
    if _is_number(left) and _is_number(right):
        return of_constants(left, right)
    pair = _as_type_of(left, right), _as_type_of(right, left)
    if isinstance(operation, ast.Div):  # Arrow's quotient of integers is an integer
        pair = [_as_double(value) if hasattr(value, "type") else float(value) for value in pair]
    return of_columns(*pair)


def _compared(compare, left, right):
    """Result of a comparison, exact for integers of any size."""
    left, right = (_as_integer(_as_type_of(*pair), pair[1]) for pair in ((left, right), (right, left)))
    if isinstance(left, float):
        right = _as_double(right)
    elif isinstance(right, float):
        left = _as_double(left)
    return compare(left, right)


def _as_double(value):
    """A column of doubles; rounding moves no large integer past a fraction."""
    return pc.cast(value, "double", safe=False) if hasattr(value, "type") else value


def _as_type_of(value, other):
    """A constant in the type of the column that it is compared with, if that holds dates or floats."""
    if hasattr(value, "type") or not hasattr(other, "type"):
        return value
    if types.is_floating(other.type) and _is_number(value):
        return pa.scalar(float(value), other.type)
    if types.is_floating(other.type) or types.is_temporal(other.type):
        return pa.scalar(value).cast(other.type)
    return value


def _as_integer(value, other):
    """A whole number in the type of the column of integers; infinite if it is outside that type."""
    if not (_is_number(value) and hasattr(other, "type") and types.is_integer(other.type)):
        return value
    if isinstance(value, float) and not value.is_integer():
        return value
    bits = other.type.bit_width - types.is_signed_integer(other.type)
    lowest = -(1 << bits) if types.is_signed_integer(other.type) else 0
    if lowest <= value < 1 << bits:
        return pa.scalar(int(value), other.type)
    return float("inf" if value > 0 else "-inf")
