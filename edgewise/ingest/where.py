"""Conditions on the columns of a table, such as ``score >= 0.9 AND kind IN ('a', 'b')``.

Their grammar is what SQL and Python have in common, in the words (in any case) and signs of either::

    condition  = all {OR all}
    all        = negation {AND negation}
    negation   = NOT negation | comparison
    comparison = sum [sign sum {sign sum} | predicate]
    predicate  = IS [NOT] (NULL | TRUE | FALSE) | [NOT] IN "(" constant {"," constant} ")"
               | [NOT] BETWEEN sum AND sum | [NOT] (LIKE | ILIKE) string [ESCAPE string]
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "/") factor}
    factor     = "-" factor | number | string | TRUE | FALSE | (DATE | TIMESTAMP) string
               | column | "(" condition ")"

A text that has one meaning in SQL and another one in Python is refused.  The parser turns a condition into
functions that call :mod:`pyarrow.compute`; nothing else is ever run.  Logic is SQL's, of three values: a row
is left out where the condition is null.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from edgewise.errors import OptionError, argument
from edgewise.ingest.arrow import arrow_scalar, is_utf8, value_type
from edgewise.ingest.comparisons import (
    COMPARISONS,
    calculated,
    column_of,
    compared,
    is_between,
    is_member,
    is_number,
    is_true,
    negated,
    regex_of_like,
)
from edgewise.ingest.numerals import about_number, is_foreign

#: Values of a column that are examined for numbers in text.
SAMPLE = 100
#: Characters of a condition that are understood, at most.
CHARACTERS = 100_000
#: Brackets, NOT and minus signs inside each other that are understood, at most.
NESTING = 40
#: The word OR in a condition, and its function.
OR = {"or": pc.or_kleene}
#: The word AND in a condition, and its function.
AND = {"and": pc.and_kleene}
SUMS, PRODUCTS = ({sign: partial(calculated, sign) for sign in signs} for signs in ("+-", "*/"))
KEYWORDS = {"and", "or", "not", "in", "is", "between", "like", "ilike", "null", "true", "false"}
TIMES = {"date": pa.date32(), "timestamp": pa.timestamp("ns")}
BRACKETS = {"(": ")", "[": "]", "{": "}"}
TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\.?[0-9](?:[eE][+-]|[\w.])*)
    |(?P<string>[rR]?(?:'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"))
    |`(?P<column>[^`]*(?:``[^`]*)*)`
    |(?P<word>[^\W\d]\w*)
    |(?P<sign><=|>=|<>|!=|==|--|&&|\|\||\S)
    |(?P<end>\Z))""",
    re.VERBOSE,
)
REMEDY = "compare columns with constants, as in: score >= 0.9 AND kind = 'x' (`...` around unusual names)"
#: What to do about signs that other languages have.
REMEDIES = {
    "&": "write AND",
    "&&": "write AND",
    "|": "write OR",
    "||": "write OR",
    "!": "write NOT",
    "--": "leave the comment out, or put a blank between two minus signs",
    "#": "leave the comment out",
    ";": "give one condition",
    ",": "write the decimal mark as a point (0.9), and the constants of a list in brackets: n IN (1, 2)",
    "%": "write a fraction (0.95 for 95%)",
    ".": "put `...` around a name with a full stop",
    "'": "close the string with another '",
    '"': 'close the string with another "',
    "`": "close the name with another `",
}


class Token(NamedTuple):
    """A word, sign, number, string or name; ``position`` is that of its first character, from 1 on.

    ``kind`` is the name of a group of :data:`TOKEN`; keywords are in lower case, and their kind is ``sign``.
    """

    kind: str
    text: str
    position: int


@dataclass(frozen=True)
class Constant:
    """A number, text or boolean of a condition; a function of the table like all its parts."""

    value: Any

    def __call__(self, table):
        return self.value


def refusal(text, problem, remedy=REMEDY):
    """The error about a condition."""
    return OptionError(f"{argument('where', text)}: {problem}; {remedy}")


def _tokens(text):
    """Yield the tokens of a condition; the last one is of the kind ``end``."""
    for found in TOKEN.finditer(text):
        kind = str(found.lastgroup)  # one group is always found
        token = Token(kind, found[kind], found.start(kind) + 1 - (kind == "column"))
        if kind == "word" and (token.text.lower() in KEYWORDS or token.text == "None"):
            word = "null" if token.text == "None" else token.text.lower()
            token = token._replace(kind="sign", text=word)
        yield token
        if kind == "end":
            return


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
        if not isinstance(text, str) or len(text) > CHARACTERS:
            raise OptionError(f"{argument('where')} takes a text of at most {CHARACTERS:,} characters")
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
        return pc.fill_null(met, arrow_scalar(False))

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

    def ranges_of(self, table):
        """Least and largest value of each column of the condition, where its type has an order."""
        found = {}
        for name in self.columns:
            with suppress(pa.ArrowException):
                found[name] = tuple(pc.min_max(column_of(table, name)).as_py().values())
        return found

    def note(self, ranges):
        """Note least and largest values, for :meth:`ranges`."""
        for name, limits in ranges.items():
            known = [value for value in (*self._ranges.get(name, ()), *limits) if value is not None]
            self._ranges[name] = (min(known), max(known)) if known else ()

    def ranges(self) -> str:
        """The ranges that were noted, in words."""
        words = {name: "runs from {!r} to {!r}".format(*ends) for name, ends in self._ranges.items() if ends}
        return " and ".join(f"{name!r} {words.get(name, 'is null')}" for name in self._ranges)


class Parser:
    """Parser of one condition: ``parsed`` is a function of a table, ``columns`` are those it names."""

    def __init__(self, text, names):
        self.text, self.names, self.columns, self.depth = text, names, [], 0
        self.tokens, self.refusal = _tokens(text), partial(refusal, text)
        self.token = next(self.tokens)
        self.parsed = self.either()
        if self.token.kind != "end":
            raise self.misplaced()

    def misplaced(self, wanted=None):
        """The error about a token that cannot be where it is; ``wanted`` is what can."""
        kind, text, position = self.token
        if kind == "end":
            return self.refusal(f"it ends where {wanted or 'more'} is missing")
        expected = f", where {wanted} is missing" if wanted else ""
        problem = f"{self.shown()!r} at character {position} is not understood{expected}"
        if text in KEYWORDS and kind == "sign":
            return self.refusal(problem, f"put `...` around a column of this name, or {REMEDY}")
        return self.refusal(problem, REMEDIES.get(text, REMEDY) if kind == "sign" else REMEDY)

    def shown(self):
        """The token as it is in the text."""
        start = self.token.position - 1
        length = len(self.token.text) + 2 * (self.token.kind == "column")
        return self.text[start : start + length]

    def accept(self, *signs):
        """Whether the token is one of some signs and keywords, which is skipped then."""
        if self.token.kind != "sign" or self.token.text not in signs:
            return False
        self.advance()
        return True

    def advance(self):
        """Return the token and go on to the next."""
        token, self.token = self.token, next(self.tokens, self.token)
        return token

    def demand(self, sign, wanted=None):
        """Skip a sign or keyword that must be there."""
        if not self.accept(sign):
            raise self.misplaced(wanted or f"{sign.upper()!r}")

    def nested(self, part):
        """The result of a method of the parser that may call itself."""
        self.depth += 1
        if self.depth > NESTING:
            raise self.refusal(f"more than {NESTING} brackets are inside each other", "leave some out")
        result = part()
        self.depth -= 1
        return result

    def either(self):
        """One of several conditions holds, or the only one does."""
        return self._joined(OR, partial(self._joined, AND, self.negation))

    def _joined(self, joins, part):
        """Parts with signs between them, from left to right; ``joins`` has the function for each sign."""
        first, steps = part(), []
        while self.token.kind == "sign" and self.token.text in joins:
            steps.append((joins[self.advance().text], part()))
        if not steps:
            return first
        return lambda table: reduce(lambda value, step: step[0](value, step[1](table)), steps, first(table))

    def negation(self):
        if not self.accept("not"):
            return self.comparison()
        operand = self.nested(self.negation)
        return lambda table: pc.invert(operand(table))

    def comparison(self):
        """A comparison, a chain of these such as ``0 < n <= 9``, a predicate, or a value."""
        operands, compares = [self.sum()], []
        while self.token.kind == "sign" and self.token.text in COMPARISONS:
            sign = self.advance()
            operands.append(self.sum())
            self._check_column(sign, *operands[-2:])
            compares.append(COMPARISONS[sign.text])
        if not compares:
            return self.predicate(operands[0])

        def evaluate(table):
            values = [operand(table) for operand in operands]
            return reduce(pc.and_kleene, map(compared, compares, values, values[1:]))

        return evaluate

    def _check_column(self, sign, *operands):
        """Refuse a comparison of constants with a text among them, which was meant to be a column's name."""
        values = [operand.value for operand in operands if isinstance(operand, Constant)]
        texts = [value for value in values if isinstance(value, str)]
        if texts and len(values) == len(operands):
            problem = f"{sign.text.upper()!r} at character {sign.position} compares the text {texts[0]!r}"
            raise self.refusal(f"{problem} with no column", "write names of columns plain or in `...`")

    def predicate(self, operand):
        """What follows the operand of a predicate; the operand itself if nothing does."""
        start, operands = self.token, [operand]
        if self.accept("is"):
            inverted = self.accept("not")
            test = self.state()
        else:
            inverted = self.accept("not")
            start = self.token
            if self.accept("in"):
                test = partial(is_member, values=self.constants())
            elif self.accept("like", "ilike"):
                regex, ignore_case = self.pattern(), start.text == "ilike"
                test = partial(pc.match_substring_regex, pattern=regex, ignore_case=ignore_case)
            elif self.accept("between"):
                operands.append(self.sum())
                self.demand("and", "the AND of BETWEEN")
                operands.append(self.sum())
                test = is_between
            elif inverted:
                raise self.misplaced("IN, BETWEEN or LIKE")
            else:
                return operand
        self._check_column(start, *operands)
        change = pc.invert if inverted else lambda met: met
        return lambda table: change(test(*(evaluated(table) for evaluated in operands)))

    def state(self):
        """Function that tests what follows IS."""
        kind, word = self.token.kind, self.token.text.lower()
        if kind not in ("sign", "word") or word not in ("null", "none", "true", "false"):
            raise self.misplaced("NULL, TRUE or FALSE")
        self.advance()
        return pc.is_null if word in ("null", "none") else partial(is_true, constant=word == "true")

    def constants(self):
        """Values of the constants in the brackets of IN."""
        closing = BRACKETS.get(self.token.text, "")
        if not (closing and self.accept(self.token.text)):
            raise self.misplaced("a bracket with constants")
        values: list = []
        while not (values and self.accept(closing)):
            start = self.token
            constant = self.factor()
            if not isinstance(constant, Constant):
                self.token = start
                raise self.misplaced("a constant")
            values.append(constant.value)
            if self.token.text != closing:
                self.demand(",", f"',' or {closing!r}")
        return values

    def pattern(self):
        """Regular expression for the pattern of LIKE, and the ESCAPE behind it."""
        pattern, escape = self.string("a pattern in quotes"), ""
        if self.token.kind == "word" and self.token.text.lower() == "escape":
            self.advance()
            escape = self.string("a letter in quotes")
            if len(escape) != 1:
                raise self.refusal(f"ESCAPE takes one letter, not {escape!r}", "choose a letter such as '!'")
        elif "\\" in pattern:
            problem = f"the backslash in the pattern {pattern!r} may be an escape or a letter"
            remedy = r"add ESCAPE r'\', or another one such as ESCAPE '!' if it is a letter"
            raise self.refusal(problem, remedy)
        try:
            return regex_of_like(pattern, escape)
        except ValueError as error:
            raise self.refusal(str(error), "write it twice to match the letter itself") from None

    def string(self, wanted):
        if self.token.kind != "string":
            raise self.misplaced(wanted)
        return self.factor().value

    def sum(self):
        return self._joined(SUMS, partial(self._joined, PRODUCTS, self.factor))

    def factor(self):
        """A constant, a column, or what is in brackets; a minus sign may be before it."""
        kind, text, _ = start = self.token
        if self.accept("-"):
            operand = self.nested(self.factor)
            if not isinstance(operand, Constant):
                return lambda table: negated(operand(table))
            if is_number(operand.value):
                return Constant(-operand.value)
            raise self.refusal(f"'-' at character {start.position} is before no number")
        if self.accept("("):
            inner = self.nested(self.either)
            self.demand(")")
            return inner
        if self.accept("true", "false"):
            return Constant(text == "true")
        if kind == "sign" and text == "null":
            problem = f"{self.shown()!r} at character {start.position} is equal to nothing"
            raise self.refusal(problem, "write IS NULL or IS NOT NULL")
        if kind not in ("word", "column", "number", "string"):
            raise self.misplaced("a column or a constant")
        self.advance()
        if kind == "word" and text.lower() in TIMES and self.token.kind == "string":
            return self.time(start)
        if kind in ("word", "column"):
            return self.column(start)
        return Constant(self.number(start) if kind == "number" else self.text_of(start))

    def column(self, token):
        """Function that returns a column of a table."""
        if token.kind == "word" and self.token[:2] == ("sign", "("):
            place = f"{token.text!r} at character {token.position}"
            raise self.refusal(f"{place} is a function, which conditions do not have")
        name = token.text.replace("``", "`")
        self.columns.append(name)
        return lambda table: column_of(table, name)

    def time(self, word):
        """Constant of the string behind DATE or TIMESTAMP."""
        token = self.token
        try:
            return Constant(pa.scalar(self.factor().value).cast(TIMES[word.text.lower()]))
        except pa.ArrowInvalid:
            problem = f"{token.text!r} at character {token.position} is no {word.text.lower()}"
            raise self.refusal(problem, "write it as in DATE '2026-01-31'") from None

    def number(self, token):
        """Number of a token; a fraction or one with an exponent is a float."""
        for kind in int, float:
            with suppress(ValueError):
                return kind(token.text)
        raise self.refusal(f"{token.text!r} at character {token.position} is no number")

    def text_of(self, token):
        """The text between quotes, which are doubled inside."""
        raw = token.text[0] in "rR"
        quote, content = token.text[raw], token.text[1 + raw : -1]
        place = f"{token.text!r} at character {token.position}"
        if "\\" in content and not raw:
            remedy = "write r'...' around the letters as they are, and a quote inside a string twice"
            raise self.refusal(f"the backslash in {place} differs between SQL and Python", remedy)
        if content.startswith(quote):
            remedy = "put the other quotes around a text that begins with a quote"
            raise self.refusal(f"the three quotes of {place} differ between SQL and Python", remedy)
        text = content.replace(2 * quote, quote)
        if quote == '"' and text.casefold() in self.names:
            remedy = f"write `{text}` for the column, or '...' around the text"
            raise self.refusal(f"{place} would be a text in Python, and is the name of a column", remedy)
        return text
