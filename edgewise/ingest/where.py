"""Conditions on the columns of a table, such as ``score >= 0.9 and kind in ("a", "b")``.

The text is Python's grammar and a small part of it: nothing is ever run but comparisons of columns and
constants.  A row for which a column is null is left out, unless the condition asks for that with
``column is None``.
"""

import ast
import re
import unicodedata
from operator import add, mul, sub, truediv

from edgewise.errors import OptionError
from edgewise.ingest.arrow import with_plain_nulls, without_views

#: Characters of a condition at the most; deeper nesting than that much text allows would exhaust the parser.
LONGEST = 4000

COMPARISONS = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
ARITHMETIC = {
    ast.Add: "add_checked",
    ast.Sub: "subtract_checked",
    ast.Mult: "multiply_checked",
    ast.Div: "divide",  # of floats: x / 0 is infinite or nan, and no row stops the others
}
JOINS = {ast.And: "and_kleene", ast.Or: "or_kleene"}
SIGNS = {ast.USub: "negate_checked", ast.Not: "invert"}
#: What is done with two constants before any row is looked at.
FOLDED = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}
#: A string in quotes, left as it is, or a name in backquotes.
QUOTED = re.compile(
    r"""(\"""(?:\\.|[^\\])*?\"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`""",
    re.DOTALL,
)
REMEDY = "compare columns with constants, as in: score >= 0.9 and kind == 'x' (`...` around unusual names)"


class Condition:
    """A condition, understood and ready to be asked of tables.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    columns : list of str
        Names of the columns it speaks of.

    Raises
    ------
    OptionError
        The text is not such a condition.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from edgewise.ingest.where import Condition
    >>> table = pa.table({"score": [0.5, 0.95, None], "kind": ["a", "b", "b"]})
    >>> Condition("0.9 <= score < 1 and kind != 'a'").rows(table).to_pylist()
    [False, True, False]
    """

    def __init__(self, text):
        self.text, self._names = text, {}
        if not isinstance(text, str) or len(text) > LONGEST:
            raise OptionError(f"where= takes a text of at most {LONGEST} characters")
        self._stem = "column_"
        while self._stem in unicodedata.normalize("NFKC", text):  # as the parser normalises names
            self._stem += "_"
        found: list[str] = []
        try:
            self.tree = ast.parse(QUOTED.sub(self._plain_name, text).strip(), mode="eval").body
            self._check(self.tree, found)
        except OptionError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._refusal("it is no condition") from None
        self.columns = list(dict.fromkeys(found))
        if not self.columns:
            raise self._refusal("it compares no column")

    def _plain_name(self, match):
        """Name without odd characters, found nowhere in the text, that stands for one in backquotes."""
        if match[2] is None:
            return match[1]
        name = f"{self._stem}{len(self._names)}"
        self._names[name] = match[2]
        return f" {name} "

    def _refusal(self, problem):
        return OptionError(f"where={self.text!r}: {problem}; {REMEDY}")

    def _check(self, node, found):
        """Refuse everything that :meth:`_value` does not know, and note the columns."""
        if isinstance(node, ast.Name):
            found.append(self._names.get(node.id, node.id))
        elif isinstance(node, ast.Compare):
            for operator, right in zip(node.ops, node.comparators):
                self._check_comparison(operator, right, found)
            self._check(node.left, found)
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                self._check(part, found)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
            self._check(node.operand, found)
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self._check(node.left, found)
            self._check(node.right, found)
        elif not _is_constant(node):
            raise self._refusal(f"{ast.unparse(node)!r} has no device in it")

    def _check_comparison(self, operator, right, found):
        if isinstance(operator, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise self._refusal("'is' goes with None only")
        elif isinstance(operator, ast.In | ast.NotIn):
            constants = isinstance(right, ast.Tuple | ast.List | ast.Set) and right.elts
            if not constants or not all(_is_constant(item) for item in right.elts):
                raise self._refusal("'in' needs constants in brackets")
        else:
            self._check(right, found)

    def rows(self, table):
        """Tell for each row of a table, or record batch, whether it meets the condition.

        Returns
        -------
        pyarrow.BooleanArray or ChunkedArray
            Without nulls.

        Raises
        ------
        OptionError
            The column has a type that cannot be so compared.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            met = self._value(self.tree, table)
        except (pa.ArrowException, ArithmeticError, TypeError, ValueError, RecursionError) as error:
            raise self._refusal(" ".join(str(error).split())) from error
        if not pa.types.is_boolean(met.type):
            raise self._refusal("it is a value, not a condition")
        return pc.fill_null(met, False)

    def _value(self, node, table):
        """Value of a part of the condition: a column or a constant."""
        import pyarrow.compute as pc

        if isinstance(node, ast.Name):
            return _column(table, self._names.get(node.id, node.id))
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Compare):
            return self._comparison(node, table)
        if isinstance(node, ast.BoolOp):
            parts = [self._value(part, table) for part in node.values]
            join = getattr(pc, JOINS[type(node.op)])
            while len(parts) > 1:
                parts[:2] = [join(*parts[:2])]
            return parts[0]
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand, table)
            if isinstance(node.op, ast.USub) and _is_number(value):
                return -value
            return getattr(pc, SIGNS[type(node.op)])(value)
        return _reckoned(node.op, self._value(node.left, table), self._value(node.right, table))

    def _comparison(self, node, table):
        """Value of ``a < b <= c``: every comparison holds."""
        import pyarrow.compute as pc

        left, met = self._value(node.left, table), None
        for operator, right_node in zip(node.ops, node.comparators):
            if isinstance(operator, ast.Is | ast.IsNot):
                one = pc.is_null(left) if isinstance(operator, ast.Is) else pc.is_valid(left)
            elif isinstance(operator, ast.In | ast.NotIn):
                one = _is_among(left, [ast.literal_eval(item) for item in right_node.elts])
                one = pc.invert(one) if isinstance(operator, ast.NotIn) else one
            else:
                right = self._value(right_node, table)
                one = _compared(COMPARISONS[type(operator)], left, right)
                left = right
            met = one if met is None else pc.and_kleene(met, one)
        return met


def _is_constant(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and _is_number(node.operand.value)
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str)


def _is_number(value):
    """Whether a value is a number of Python's, not a column."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _column(table, name):
    """Column of a table, its dictionary resolved."""
    from pyarrow import types

    column = without_views(with_plain_nulls(table.column(name)))
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def _reckoned(operation, left, right):
    """Sum, difference, product or quotient of two values."""
    import pyarrow.compute as pc

    if _is_number(left) and _is_number(right):
        return FOLDED[type(operation)](left, right)
    pair = _as_beside(left, right), _as_beside(right, left)
    if isinstance(operation, ast.Div):  # Arrow's quotient of integers is an integer
        pair = [_as_double(value) if hasattr(value, "type") else float(value) for value in pair]
    return getattr(pc, ARITHMETIC[type(operation)])(*pair)


def _compared(comparison, left, right):
    """Outcome of a comparison, right for integers of any size."""
    import pyarrow.compute as pc

    left, right = (
        _whole_beside(_as_beside(one, other), other) for one, other in ((left, right), (right, left))
    )
    if isinstance(left, float):
        right = _as_double(right)
    elif isinstance(right, float):
        left = _as_double(left)
    return getattr(pc, comparison)(left, right)


def _as_double(value):
    """A column of doubles; large integers are rounded, which moves none past a fraction."""
    import pyarrow.compute as pc

    return pc.cast(value, "double", safe=False) if hasattr(value, "type") else value


def _as_beside(value, other):
    """A constant in the type of the column beside it, if that holds dates or floats."""
    import pyarrow as pa
    from pyarrow import types

    if hasattr(value, "type") or not hasattr(other, "type"):
        return value
    if types.is_floating(other.type) and _is_number(value):
        return pa.scalar(float(value), other.type)
    if types.is_floating(other.type) or types.is_temporal(other.type):
        return pa.scalar(value).cast(other.type)
    return value


def _whole_beside(value, other):
    """A number in the type of the column of integers beside it; infinite if it is beyond all of these."""
    import pyarrow as pa
    from pyarrow import types

    if not (_is_number(value) and hasattr(other, "type") and types.is_integer(other.type)):
        return value
    if isinstance(value, float) and not value.is_integer():
        return value
    bits = other.type.bit_width - types.is_signed_integer(other.type)
    least, beyond = -(1 << bits) if types.is_signed_integer(other.type) else 0, 1 << bits
    if least <= value < beyond:
        return pa.scalar(int(value), other.type)
    return float("inf" if value > 0 else "-inf")


def _is_among(column, values):
    """Whether each value of a column is one of the constants; null for a null."""
    import pyarrow.compute as pc

    met = None
    for value in values:
        one = _compared("equal", column, value)
        met = one if met is None else pc.or_kleene(met, one)
    return met
