"""Conditions on the columns of a table, such as ``score >= 0.9 and kind in ("a", "b")``.

The text is Python's grammar and a small part of it: nothing is ever run but comparisons of columns and
constants.  A row for which a column is null is left out, unless the condition asks for that with
``column is None``.
"""

import ast
import re

from edgewise.errors import OptionError

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
    ast.Div: "divide_checked",
}
JOINS = {ast.And: "and_kleene", ast.Or: "or_kleene"}
SIGNS = {ast.USub: "negate_checked", ast.Not: "invert"}
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
    >>> from edgewise.build.where import Condition
    >>> table = pa.table({"score": [0.5, 0.95, None], "kind": ["a", "b", "b"]})
    >>> Condition("0.9 <= score < 1 and kind != 'a'").rows(table).to_pylist()
    [False, True, False]
    """

    def __init__(self, text):
        self.text, self._names = text, {}
        if not isinstance(text, str) or len(text) > LONGEST:
            raise OptionError(f"where= takes a text of at most {LONGEST} characters")
        try:
            self.tree = ast.parse(re.sub("`([^`]*)`", self._plain_name, text.strip()), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._refusal("it is no condition") from None
        found: list[str] = []
        self._check(self.tree, found)
        self.columns = list(dict.fromkeys(found))
        if not self.columns:
            raise self._refusal("it compares no column")

    def _plain_name(self, match):
        """Name without odd characters that stands for one in backquotes."""
        name = f"column_{len(self._names)}_"
        self._names[name] = match[1]
        return name

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
            raise self._refusal(f"{ast.unparse(node)!r} has no place in it")

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
            if not pa.types.is_boolean(met.type):
                raise self._refusal("it is a value, not a condition")
            return pc.fill_null(met, False)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
            raise self._refusal(" ".join(str(error).split())) from error

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
            return getattr(pc, SIGNS[type(node.op)])(self._value(node.operand, table))
        pair = _alike(self._value(node.left, table), self._value(node.right, table))
        if isinstance(node.op, ast.Div):  # Arrow's quotient of integers is an integer
            pair = [pc.cast(value, "double") if hasattr(value, "type") else float(value) for value in pair]
        return getattr(pc, ARITHMETIC[type(node.op)])(*pair)

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
                one = getattr(pc, COMPARISONS[type(operator)])(*_alike(left, right))
                left = right
            met = one if met is None else pc.and_kleene(met, one)
        return met


def _is_constant(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str)


def _column(table, name):
    """Column of a table, its dictionary resolved."""
    from pyarrow import types

    column = table.column(name)
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def _alike(left, right):
    """Two operands; a constant takes the type of a column of dates or of short floats."""
    return _as_beside(left, right), _as_beside(right, left)


def _as_beside(value, other):
    import pyarrow as pa
    from pyarrow import types

    if hasattr(value, "type") or not hasattr(other, "type"):
        return value
    if types.is_floating(other.type) or types.is_temporal(other.type):
        return pa.scalar(value).cast(other.type)
    return value


def _is_among(column, values):
    """Whether each value of a column is one of the constants; null for a null."""
    import pyarrow.compute as pc

    met = None
    for value in values:
        one = pc.equal(*_alike(column, value))
        met = one if met is None else pc.or_kleene(met, one)
    return met
