"""The result of an experiment: tables of figures, and their pictures."""

from dataclasses import asdict, dataclass, field
from typing import Any

from edgewise.printable import printable

#: What is said above the tables of graphs that are smaller than the published ones.
NOTES = {
    "small": "The graphs are a fraction of the published ones; times are not comparable with published ones.",
    "tiny": "The graphs are tiny, for tests of the program: the times mean nothing.",
}


@dataclass(frozen=True)
class Figure:
    """Curves, or bars where the ``x`` of the points are names; ``across`` and ``up`` label the axes.

    ``series`` are the points ``(x, y)`` by label; ``steep`` if the vertical axis is logarithmic, ``wide`` if
    the horizontal one is.
    """

    name: str
    title: str
    across: str
    up: str
    series: dict[str, list[tuple[Any, float]]]
    steep: bool = False
    wide: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of one experiment; ``source`` is the section of the document.

    ``columns`` are headings by the keys of the rows, which may hold more than is shown; ``published`` are the
    results that the document reports.
    """

    name: str
    title: str
    source: str
    columns: dict[str, str]
    rows: list[dict[str, Any]]
    published: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def text(self):
        """The table as aligned lines, with its title above and the published results below."""
        cells = [[*self.columns.values()], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells)]
        numbers = [any(isinstance(row.get(key), int | float) for row in self.rows) for key in self.columns]
        lines = [f"{self.title} ({self.source})", ""]
        for line in cells:
            pieces = (c.rjust(w) if n else c.ljust(w) for c, w, n in zip(line, widths, numbers))
            lines.append("  ".join(pieces).rstrip())
        return "\n".join([*lines, *(f"published: {words}" for words in self.published)])

    def _cells(self):
        return [[shown(row.get(key)) for key in self.columns] for row in self.rows]

    def markdown(self):
        """The table in Markdown."""
        cells = [[cell.replace("|", "\\|") for cell in row] for row in self._cells()]
        lines = [[*self.columns.values()], ["---"] * len(self.columns), *cells]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Report:
    """All measurements of a preset.

    ``graphs`` are the vertices and edges of each graph, by name, ``left_out`` is what was not begun for
    lack of time, and ``unread`` are files that were given and not read.
    """

    preset: str
    size: str
    devices: tuple[str, ...]
    runs: int
    graphs: dict[str, dict[str, int]]
    tables: list[Table]
    left_out: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def text(self):
        """All tables."""
        return "\n\n".join(table.text() for table in self.tables)

    @property
    def note(self):
        """What has to be known before a time is read; empty if all is of the published sizes."""
        missing = {"Left out for lack of time": self.left_out, "Given, but not read": self.unread}
        late = (f"{words}: {', '.join(dict.fromkeys(names))}." for words, names in missing.items() if names)
        return " ".join(filter(None, [NOTES.get(self.size), *late]))

    def as_dict(self):
        """Everything, for JSON."""
        return asdict(self)

    @property
    def figures(self):
        """The pictures of all tables."""
        return [figure for table in self.tables for figure in table.figures]


def headings(text):
    """Columns of a :class:`Table` from ``"key: heading | key"``, where a heading may be the key itself."""
    pairs = (word.partition(":")[::2] for word in text.split("|"))
    return {key.strip(): heading.strip() or key.strip() for key, heading in pairs}


def shown(value):
    """A cell: numbers with three or four significant digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else printable(value)


def curves(rows, x, y, by):
    """Series of a :class:`Figure`: by label ``by(row)``, the points ``(row[x], row[y])``."""
    series: dict[str, list] = {}
    for row in rows:
        if row.get(y) is not None:
            series.setdefault(by(row), []).append((row[x], row[y]))
    return series


def curves_of_columns(rows, x, columns, by="{}"):
    """Series of several columns, given as words by key; ``by`` formats a label from the words and the row."""
    return {
        label: points
        for key, words in columns.items()
        for label, points in curves(rows, x, key, lambda row, w=words: by.format(w, **row)).items()
    }
