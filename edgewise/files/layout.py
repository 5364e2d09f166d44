"""How the rows of a text look: a sample of the first rows, and the layout that the reader follows."""

import csv
import re
from dataclasses import dataclass, replace

from edgewise.errors import GraphError, OptionError, argument
from edgewise.files.quotes import Quotes
from edgewise.ingest.numerals import is_integer, looks_numeric
from edgewise.ingest.pair_columns import check_distinct

BLANKS = b" \t\r"
COMMENTS = b"#%"
DELIMITERS = ",\t|;"
#: Suffixes of tables, where lines that a mark of comments begins may be rows; such a line; Excel's line.
TABLE_SUFFIXES = (".csv", ".tsv")
#: Suffix of the copies of pipes and of others without a name, which tells nothing about the content.
UNNAMED = ".unnamed"
#: Names of columns with ids, which the first row of a table without a suffix may have.
ID_COLUMN = re.compile(r"(.*_)?(id|source|target|from|to|src|dst|left|right)(_.*)?", re.IGNORECASE)
LISTED = re.compile(rb"[#%][^\s#%].*[,\t|;]")
#: Two ids and a number with a decimal comma, between blanks.
COMMA_BEHIND_BLANKS = re.compile(rb"[^\s,]+[ \t]+[^\s,]+[ \t]+[-+]?[0-9]+,[0-9]+")
BLANK = re.compile(rb"[ \t]")
#: Characters of a row that a message shows.
SHOWN = 60
SEPARATOR = re.compile(rb'"?sep=.?"?\s*', re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """Columns of a text with one edge per row.

    Attributes
    ----------
    columns, skip : int, fields in every row, and lines before the rows
    endpoints, weight : positions of the two ids, and of the weight or ``None``
    delimiter, blanks : str, and bytes whose runs separate fields if the delimiter is a space
    ids, weights : types, ``'string'`` or one of integers, and ``'int64'`` or ``'float64'``
    comments : bytes, first characters of lines that are no rows
    normalised, quoted : bool, whether the text is normalised first, and fields may be in double quotes
    whole : bool, whether weights of type ``'int64'`` must be integers; otherwise fractions make them floats
    first_field : what the first field of every row must be, or ``None``
    min_id, max_id : range of the ids, or ``None``
    exact : bool, whether ids such as ``007``, which integers would change, are refused
    null : {'error', 'drop'}, what to do with rows without one of the ids or the weight
    decimal : decimal mark of the weights, or ``None`` if the format always has a point
    """

    columns: int = 2
    endpoints: tuple[int, ...] = (0, 1)
    weight: int | None = None
    delimiter: str = " "
    skip: int = 0
    ids: str = "int64"
    weights: str = "int64"
    comments: bytes = COMMENTS
    blanks: bytes = BLANKS
    normalised: bool = False
    quoted: bool = False
    whole: bool = False
    first_field: str | None = None
    min_id: int | None = None
    max_id: int | None = None
    exact: bool = False
    null: str = "error"
    decimal: str | None = None

    def tolerant(self) -> "Layout":
        """The same layout for text that is normalised first."""
        blank = self.delimiter in " \t" and not self.quoted
        return replace(self, normalised=True, delimiter=" " if blank else self.delimiter)

    @property
    def quotes(self) -> Quotes | None:
        """Where quotes have a meaning, if they do."""
        return Quotes(self.delimiter, self.comments if self.normalised else b"") if self.quoted else None

    @property
    def types(self) -> dict[str, str]:
        """Position and type of the columns that are read: the ids, the weight, the first field."""
        types = {str(position): self.ids for position in self.endpoints}
        if self.weight is not None:
            types[str(self.weight)] = self.weights
        if self.first_field:
            types["0"] = "bool"
        return types

    def allows(self, number: int) -> bool:
        """Whether an id may have this value."""
        least, most = self.min_id, self.max_id
        return (least is None or number >= least) and (most is None or number <= most)


#: Digits that a count in a header may have.
COUNT_DIGITS = 18


def is_count(field: str) -> bool:
    """Whether a field is a number of vertices or edges."""
    return field.isascii() and field.isdecimal()


def count_in(source, field: str, line: int | None = None) -> int:
    """A number of vertices or edges that a file states."""
    if len(field.lstrip("0")) > COUNT_DIGITS:
        shown = field if len(field) < 40 else f"{field[:20]}... ({len(field):,} digits)"
        raise source.error(f"{shown} is no possible number of vertices or edges; correct it", line)
    return int(field)


@dataclass
class Sample:
    """First rows of a text: the number of lines before them, and their fields."""

    skip: int
    rows: list[list[str]]
    delimiter: str


def look(source, comments: bytes = COMMENTS) -> Sample:
    """Split the first rows of a text into fields.

    Comments, blank lines and Excel's line ``sep=;`` may come before the rows.  In ``.csv`` and ``.tsv`` files
    a line such as ``#from,to`` is a row: there a comment has no delimiter, or a blank behind its mark.
    """
    lines, skip = source.lines(comments), 0
    strict = source.suffix in TABLE_SUFFIXES

    def is_row(line):
        mark = line[:1] and line[:1] in comments
        return bool(line.strip()) and not (mark and not (strict and LISTED.match(line)))

    while skip < len(lines) and (not is_row(lines[skip]) or SEPARATOR.fullmatch(lines[skip])):
        skip += 1
    rows = [line for line in lines[skip:] if is_row(line)]
    delimiter = source.sep or (delimiter_of(rows[0].strip(), source.decimal) if rows else " ")
    if rows and not source.sep:
        _check_commas(source, rows[0].strip(), delimiter, skip + 1)
    if delimiter == "\t" and not source.sep and are_integers(fields_of(rows[0], " ")[:2]):
        delimiter = " "
    if delimiter != " ":
        rows = Quotes(delimiter).rows(b"\n".join(rows))
    return Sample(skip, [fields_of(row, delimiter) for row in rows], delimiter)


def later_fields(source, sample: Sample, columns) -> set[str]:
    """The different fields of columns, by position, in later lines of a text; none if it is re-encoded."""
    lines = source.later_lines() if source.encoding is None else []
    rows = (fields_of(line, sample.delimiter) for line in lines)
    return {row[column] for row in rows for column in columns if column < len(row)}


def _check_commas(source, row: bytes, delimiter: str, line: int) -> None:
    """Refuse rows whose commas may be between fields or be decimal marks."""
    by_commas = f"{argument('sep', ',')} if commas are between the fields"
    shown = repr(row.decode("utf-8", "replace")[:SHOWN])
    if delimiter == "," and COMMA_BEHIND_BLANKS.fullmatch(row):
        choice = f"{argument('decimal', ',')} if it has, or {by_commas}"
        raise source.error(f"{shown} may have a decimal comma; pass {choice}", line)
    if delimiter == " " and source.decimal == "," and b"," in row and not BLANK.search(row):
        problem = f"{shown} is one field, because the comma is the decimal mark"
        raise source.error(f"{problem}; pass {by_commas}, and put such numbers in quotes", line)


def delimiter_of(line: bytes, decimal: str = ".") -> str:
    """The delimiter that a line has most often; a space if it has none.  A decimal mark is none."""
    marks = DELIMITERS.replace(decimal, "")
    mark = max(marks, key=lambda mark: line.count(mark.encode()))
    return mark if mark.encode() in line else " "


def fields_of(line: bytes, delimiter: str, blanks: bytes = BLANKS) -> list[str]:
    """Fields of one line, for samples and messages."""
    text = line.decode("utf-8", "replace")
    if delimiter == " ":
        fields = text.translate(str.maketrans(blanks.decode(), " " * len(blanks))).split(" ")
        return [field for field in fields if field]
    text = text.rstrip("\r\n")
    if '"' not in text:
        return [field.strip() for field in text.split(delimiter)]
    try:
        fields = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:  # an endless field
        fields = text.split(delimiter)
    return [field.strip() for field in fields]


def are_integers(fields) -> bool:
    """Whether there are fields, and all are integers."""
    return len(fields) > 0 and all(map(is_integer, fields))


def has_names(sample: Sample, suffix: str) -> bool:
    """Whether the first row names the columns.

    It does if it has no number where the second row has one (between blanks: where all other rows have two).
    If all rows hold names only the suffix decides: ``.csv`` and ``.tsv`` files start with a row of names.
    What is no file has no suffix, and is refused then, unless the first row has usual names of columns.
    """
    first, rest = sample.rows[0], sample.rows[1:]
    if _has_number(first):
        return False
    if sample.delimiter == " " and suffix not in TABLE_SUFFIXES:
        pairs = all(len(row) > 1 and are_integers(row[:2]) for row in rest)
        return len(first) > 1 and len(rest) > 0 and pairs
    if (len(rest) > 0 and _has_number(rest[0])) or suffix in TABLE_SUFFIXES:
        return True
    if suffix != UNNAMED:
        return False
    if len(first) > 1 and all(map(ID_COLUMN.fullmatch, first[:2])):
        return True
    choice = f"{argument('header', True)} or {argument('header', False)}"
    columns = f"{argument('source')} and {argument('target')}"
    problem = "the first row may be the names of the columns, or a pair"
    raise GraphError(f"{problem}; pass {choice}, or name the columns with {columns}")


def _has_number(fields):
    return any(map(looks_numeric, fields))


def lay_out(source, sample: Sample, options, first: int = 0) -> Layout:
    """Decide which columns to read, and as what; rows before number ``first`` are no edges."""
    rows = sample.rows[first:] or sample.rows
    count = len(rows[0])
    endpoints, weight = _positions(source, options, count, sample.skip + 1)
    integers = are_integers([rows[0][position] for position in endpoints])
    strings = options.ids == "string" or (options.ids is None and not integers)
    if strings and options.one_based is not None:
        raise OptionError(f"{argument('one_based')} means nothing for ids that are names; leave it out")
    whole = weight is not None and are_integers([row[weight] for row in rows if len(row) > weight])
    tabs = sample.delimiter == " " and any(b"\t" in line for line in source.lines()[sample.skip :][:1])
    return Layout(
        columns=count,
        endpoints=endpoints,
        weight=weight,
        delimiter="\t" if tabs else sample.delimiter,
        skip=sample.skip + first,
        ids="string" if strings else "int64",
        weights="int64" if whole else "float64",
        normalised=strings or options.null == "drop",
        quoted=sample.delimiter != " ",
        min_id=None if options.one_based is None else int(options.one_based),
        null=options.null,
        decimal=source.decimal,
    )


def _positions(source, options, count, line):
    """Columns of the ids and of the weight."""
    chosen = f"{argument('source')}, {argument('target')} and {argument('weight')}"
    if options.names_columns:
        raise OptionError(f"{chosen} are names, but the rows have none; give positions from 0 on")
    if count < 2:
        raise source.error("only one column found; an edge list needs two ids in every row", line)
    if count > 3 and options.source is None and options.weight is None:
        problem = f"{count} columns found; choose with {chosen} (positions from 0 on)"
        raise source.error(problem, line)
    endpoints = (0, 1) if options.source is None else (int(options.source), int(options.target))
    weight = options.weight
    if weight is None and count == 3 and options.source is None:
        weight = 2
    weight = None if weight is None or weight is False else int(weight)
    check_distinct(*endpoints, weight)
    if max(*endpoints, weight or 0) >= count or min(*endpoints, weight or 0) < 0:
        problem = f"the rows have {count} columns; positions run from 0 to {count - 1}"
        raise source.error(problem, line)
    return endpoints, weight
