"""How the rows of a text look: what the parser, and the search for a bad line, go by."""

from dataclasses import dataclass, replace

BLANKS = b" \t\r"


@dataclass(frozen=True)
class Layout:
    """Columns of a text with one edge a row.

    Attributes
    ----------
    columns : int
        Fields in every row.
    ends : (int, int)
        Positions of the two ends.
    weight : int or None
        Position of the weight.
    delimiter : str
    skip : int
        Lines before the rows.
    ids : {'int64', 'uint64', 'string'}
    weights : {'int64', 'float64'}
    comments : bytes
        First characters of lines that are no rows.
    blanks : bytes
        Characters whose runs separate fields, if the delimiter is a space.
    clean : bool
        Whether the text is made tidy on its way to the parser.
    quoted : bool
        Whether fields may stand in double quotes.
    letter : str or None
        What the first field of every row must be.
    least, most : int or None
        Range of the ends.
    null : {'error', 'drop'}
        What to do with rows that lack an end or the weight.
    """

    columns: int = 2
    ends: tuple[int, int] = (0, 1)
    weight: int | None = None
    delimiter: str = " "
    skip: int = 0
    ids: str = "int64"
    weights: str = "int64"
    comments: bytes = b"#%"
    blanks: bytes = BLANKS
    clean: bool = False
    quoted: bool = False
    letter: str | None = None
    least: int | None = None
    most: int | None = None
    null: str = "error"

    def patient(self) -> "Layout":
        """The same layout for text that is made tidy first."""
        blank = self.delimiter in " \t" and not self.quoted
        return replace(self, clean=True, delimiter=" " if blank else self.delimiter)

    @property
    def types(self) -> dict[int, str]:
        """Position and type of the columns that are read: the ends, then the weight, then the letter."""
        types = dict.fromkeys(self.ends, self.ids)
        if self.weight is not None:
            types[self.weight] = self.weights
        if self.letter:
            types[0] = "bool"
        return types

    def allows(self, number: int) -> bool:
        """Whether an end may have this number."""
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)


def fields_of(line: bytes, delimiter: str, blanks: bytes = BLANKS) -> list[str]:
    """Fields of one line, for looking at samples and for messages."""
    text = line.decode("utf-8", "replace")
    if delimiter == " ":
        return text.translate(str.maketrans(dict.fromkeys(blanks.decode(), " "))).split()
    return [field.strip().strip('"') for field in text.rstrip("\r\n").split(delimiter)]
