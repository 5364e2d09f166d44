"""Charts of results in the documentation: SVG, for light and dark pages.

Text and axes are grey, the background is transparent, and colours are of medium lightness.  A chart has
panels side by side.  A panel has a row for each case with a dot for each program (:func:`dots`).
"""

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
INK, GRID = "#7a8290", "#b4bac4"
COLOURS = (
    "#2f7fc1",
    "#d1495b",
    "#3c9d63",
    "#d69a2d",
    "#8a63b0",
    "#3aa5b5",
    "#b0667f",
    "#8c7a4b",
    "#6c8f2f",
    "#c2703d",
)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "*")
matplotlib.rcParams.update({"svg.hashsalt": "edgewise", "font.family": "DejaVu Sans", "svg.fonttype": "path"})


class Panel(NamedTuple):
    """A panel of a chart.

    Attributes
    ----------
    title, across : str
        What it shows, and the name of the horizontal axis.
    rows : dict
        For each case a dict of a number for each program, or None where there is none.
    scale : {'linear', 'log'}
        That of the values.
    mark : float, optional
        Where a line marks a value of note, such as 1 of ratios.
    """

    title: str
    across: str
    rows: dict[str, dict[Any, float | None]]
    scale: str = "log"
    mark: float | None = None


def dots(name, text, panels):
    """Save a chart with a row for each case and a dot for each program; return the Markdown that shows it."""
    programs = list(dict.fromkeys(key for panel in panels for row in panel.rows.values() for key in row))
    tallest = max(len(panel.rows) for panel in panels)
    figure, axes = _figure(len(panels), 0.9 + 0.21 * tallest)
    for one, panel in zip(axes, panels):
        labels = list(panel.rows)
        for number, program in enumerate(programs):
            places = [row for row, case in enumerate(labels) if panel.rows[case].get(program) is not None]
            values = [panel.rows[labels[row]][program] for row in places]
            style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            one.plot(values, places, linestyle="", markersize=5, label=program, **style)
        is_first = one is axes[0] or labels != list(panels[0].rows)
        one.set_yticks(range(len(labels)), labels if is_first else [""] * len(labels))
        one.set_ylim(len(labels) - 0.5, -0.5)
        _scale(
            one.xaxis, one.set_xscale, panel, [v for row in panel.rows.values() for v in row.values() if v]
        )
        one.set_xlabel(panel.across)
        _dress(one, panel, one.axvline)
    return _saved(figure, axes, name, text)


def _scale(axis, set_scale, panel, values):
    """Set a scale; the numbers of a logarithmic one are 1, 2, 5 and so on where the values span little."""
    set_scale(panel.scale)
    if panel.scale == "log":
        span = max(values) / min(values)
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if span < 50 else (1,), numticks=12))
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_locator(NullLocator())


def _figure(panels, height):
    figure = Figure(figsize=(7.6, height + 0.4), layout="constrained")
    figure.patch.set_alpha(0)
    return figure, figure.subplots(1, panels, squeeze=False)[0]


def _dress(axes, panel, mark):
    axes.set_title(panel.title, fontsize=9.5, color=INK)
    axes.patch.set_alpha(0)
    axes.grid(color=GRID, alpha=0.35, linewidth=0.7)
    axes.tick_params(colors=INK, labelsize=8)
    axes.xaxis.label.set(color=INK, fontsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)
    if panel.mark is not None:
        mark(panel.mark, color=INK, linewidth=1, linestyle=":")


def _saved(figure, axes, name, text):
    """Save with one legend of all panels."""
    shown = {}
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        shown = dict(zip(labels, handles)) | shown
    style = {"loc": "outside lower center", "ncols": min(5, len(shown)), "fontsize": 8, "frameon": False}
    figure.legend(shown.values(), shown, labelcolor=INK, **style)
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / f"chart-{name}.svg", metadata={"Date": None})
    return f"![{text}](pictures/chart-{name}.svg)"
