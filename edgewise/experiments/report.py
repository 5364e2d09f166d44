"""The result of an experiment: tables of figures, and their pictures."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """Curves or bars.

    Attributes
    ----------
    name : str
        Of the file.
    title, across, up : str
        What it shows, and the labels of its axes.
    series : dict
        By label, a list of ``(x, y)``; if ``x`` are names, bars are drawn.
    steep, wide : bool
        Whether the vertical and the horizontal axis are logarithmic.
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
    """Rows of one experiment.

    Attributes
    ----------
    name, title, source : str
        ``source`` is the section of the document.
    columns : dict
        Heading of each column, by its key in the rows.
    rows : list of dict
        They may hold more columns than are shown.
    published : list of str
        The results that the document reports.
    figures : list of Figure
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
        cells = [
            [*self.columns.values()],
            *([shown(row.get(key)) for key in self.columns] for row in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*cells)]
        numbers = [any(isinstance(row.get(key), int | float) for row in self.rows) for key in self.columns]
        lines = [f"{self.title} ({self.source})", ""]
        for line in cells:
            pieces = (c.rjust(w) if n else c.ljust(w) for c, w, n in zip(line, widths, numbers))
            lines.append("  ".join(pieces).rstrip())
        return "\n".join([*lines, *(f"published: {words}" for words in self.published)])

    def markdown(self):
        """The table in Markdown."""
        lines = [[*self.columns.values()], ["---"] * len(self.columns)]
        lines += [[shown(row.get(key)) for key in self.columns] for row in self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Report:
    """All measurements of a preset.

    Attributes
    ----------
    preset, size : str
    devices : tuple of str
    runs : int
    graphs : dict
        Vertices and edges of each graph, by name.
    tables : list of Table
    """

    preset: str
    size: str
    devices: tuple[str, ...]
    runs: int
    graphs: dict[str, dict[str, int]]
    tables: list[Table]

    def text(self):
        """All tables."""
        return "\n\n".join(table.text() for table in self.tables)

    def as_dict(self):
        """Everything, for JSON."""
        return asdict(self)

    @property
    def figures(self):
        """The pictures of all tables."""
        return [figure for table in self.tables for figure in table.figures]


def shown(value):
    """A cell: numbers with three or four significant digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return (
            f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value)


def curves(rows, x, y, by):
    """Series of a :class:`Figure`: by label ``by(row)``, the points ``(row[x], row[y])``."""
    series = {}
    for row in rows:
        if row.get(y) is not None:
            series.setdefault(by(row), []).append((row[x], row[y]))
    return series
