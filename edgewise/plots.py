"""Pictures of results (matplotlib, the extra ``plot``)."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.errors import OptionError
from edgewise.files.atomic_write import atomic_write
from edgewise.printable import printable

if TYPE_CHECKING:
    from edgewise.experiments.report import Figure

#: Colour of text, and of edges between parts of a graph.
_INK = "#33373d"
#: Colour of bars.
_BARS = "#2f6db3"
#: Colour of grid lines.
_GRID = "#d9dce1"
#: Curves differ in colour first, then in dashes.
_COLOURS = ("#2f6db3", "#d1495b", "#3c8d5a", "#e0a030", "#7a5195", "#4fb0c6", "#8c6d46", "#6b6f76")
_DASHES = ("-", "--", ":")
#: Largest number of spans that double; more of them grow by a factor of 10.
MAX_SPANS = 15
#: Largest number of intervals of equal width.
MAX_BINS = 60
#: Range of the values of curves from which on their axis is logarithmic.
WIDE = 20
#: Largest number of vertices, or of clusters of a larger graph, that a dendrogram has at the bottom.
MAX_LEAVES = 60
#: Most characters of a name in a dendrogram, which would have no room beside longer ones.
MAX_NAME = 40
#: Most points that are drawn as dots.
MAX_DOTS = 20_000


class Labels(NamedTuple):
    """The words of a picture: its title, and what the horizontal and the vertical axis show."""

    title: str
    across: str
    up: str


def spans(values: Any, path: str | Path, labels: Labels, base: int = 2) -> None:
    """Draw how many of the values lie in spans that grow by a factor; both axes are logarithmic.

    With base 2 the spans are 1, 2-3, 4-7 and so on.  The values are integers of 1 or more on the host.
    OptionError if Matplotlib is not installed or does not know the suffix of the path (.png, .svg, .pdf),
    FileError if the file cannot be written.
    """
    check(path)
    figure = _figure()
    axes = figure.add_subplot()
    heights = _counts_in_spans(np.asarray(values), base)
    starts = float(base) ** np.arange(len(heights))
    axes.bar(starts, heights, width=starts * (base - 1) * 0.92, align="edge", color=_BARS)
    _dress(axes, starts, heights, base)
    _label_and_save(figure, axes, path, labels)


def histogram(values: Any, path: str | Path, labels: Labels) -> None:
    """Draw how many of the values, (n,) finite numbers on the host, lie in intervals of equal width.

    Errors are those of :func:`spans`.
    """
    check(path)
    values = np.asarray(values)
    figure = _figure()
    axes = figure.add_subplot()
    low, high = (values.min(), values.max()) if len(values) else (0, 0)
    if values.dtype.kind in "iu" and high - low < MAX_BINS:
        edges = np.arange(int(low), int(high) + 2) - 0.5
    else:
        edges = np.linspace(float(low), float(high) if high > low else float(low) + 1, MAX_BINS + 1)
    axes.hist(values, edges, color=_BARS, rwidth=0.92)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _dress_frame(axes)
    _label_and_save(figure, axes, path, labels)


def curves(across: Any, series: dict[str, Any], path: str | Path, labels: Labels) -> None:
    """Draw several curves of positive numbers over the same places, on a logarithmic axis if they are wide.

    ``across`` are the places, and ``series`` the values there by the names of the curves.  Errors are those
    of :func:`spans`.
    """
    check(path)
    figure = _figure()
    axes = figure.add_subplot()
    for colour, (name, values) in zip(_COLOURS, series.items()):
        axes.plot(across, values, marker="o", markersize=3.5, color=colour, label=_text(name))
    every = np.concatenate([np.asarray(values) for values in series.values()])
    if every.max() > WIDE * every.min():
        axes.set_yscale("log")
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.legend(frameon=False, fontsize=8)
    _dress_frame(axes)
    _label_and_save(figure, axes, path, labels)


def dendrogram(
    rows: Any, names: list[str], path: str | Path, labels: Labels, falls_from: float = 0.0
) -> None:
    """Draw a hierarchy of clusters, (n - 1, 4) as of SciPy; of a large one the last clusters only.

    ``names`` are those of the ``n`` vertices.  Clusters that are joined at an infinite height remain apart.
    If ``falls_from`` is not 0, it is the weight at the height 0, and weights fall upwards.  Errors are those
    of :func:`spans`.
    """
    from scipy.cluster.hierarchy import dendrogram as draw

    check(path)
    figure, n, finite = _figure(), len(rows) + 1, np.isfinite(rows[:, 2])
    axes, drawn = figure.add_subplot(), rows.copy()
    highest = float(rows[finite, 2].max(initial=0)) or 1.0
    drawn[~finite, 2] = highest * 1.1
    few = n <= MAX_LEAVES
    draw(
        drawn,
        ax=axes,
        p=MAX_LEAVES,
        truncate_mode=None if few else "lastp",
        labels=[_text(_shortened(name)) for name in names] if few else None,
        leaf_rotation=90,
        leaf_font_size=7,
        link_color_func=lambda cluster: _BARS if finite[cluster - n] else "none",
    )
    axes.set_ylim(-0.03 * highest if falls_from else 0, highest * 1.05)
    if falls_from:
        axes.yaxis.set_major_formatter(lambda value, _: f"{falls_from - value:,g}")
    _dress_frame(axes)
    _label_and_save(figure, axes, path, labels)


def _text(words):
    """Words as Matplotlib shows them: no formula begins at a dollar sign, and a picture remains valid XML."""
    return printable(words).replace("$", r"\$")


def _shortened(name):
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def _label_and_save(figure, axes, path, labels):
    axes.set_xlabel(_text(labels.across), color=_INK)
    axes.set_ylabel(_text(labels.up), color=_INK)
    axes.set_title(_text(labels.title), loc="left", fontsize=11, color=_INK)
    _save(figure, path)


def _save(figure, path):
    with atomic_write(path) as part:
        figure.savefig(part, format=Path(path).suffix.lstrip(".").lower(), dpi=150)


def _dress_frame(axes):
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def coloured_points(points: Any, edges: Any, classes: Any, path: str | Path, title: str) -> None:
    """Draw the edges of a graph, (m, 2) vertex numbers, between its points, (n, 2), coloured by class, (n,).

    Edges inside a class have its colour, those between two classes are dark.  Errors are those of
    :func:`spans`.
    """
    check(path)
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    figure = _figure()
    figure.set_size_inches(7, 6)
    axes = figure.add_subplot()
    classes = np.asarray(classes)
    palette = colormaps["tab20"](classes * 7 % 20)
    inside = classes[edges[:, 0]] == classes[edges[:, 1]]
    kept = edges[inside]
    axes.add_collection(LineCollection(points[kept], colors=palette[kept[:, 0]], linewidths=0.5))
    axes.add_collection(LineCollection(points[edges[~inside]], colors=_INK, linewidths=0.6))
    if len(points) <= MAX_DOTS:
        axes.scatter(points[:, 0], points[:, 1], s=4, c=palette, linewidths=0)
    axes.autoscale()
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(_text(title), loc="left", fontsize=11, color=_INK)
    _save(figure, path)


class Map(NamedTuple):
    """Where things are: ``points`` (n, 2), ``edges`` (m, 2) vertices, ``marks`` (k, 2), as dots."""

    points: Any
    edges: Any
    marks: Any


def bands(drawn: Map, classes: Any, names: list[str], path: str | Path, title: str) -> None:
    """Draw the edges of a map, coloured by the higher class of their ends: the first one is the darkest.

    ``classes`` (n,) are positions in ``names``; vertices of no class have a higher number, and edges to them
    are light.  Errors are those of :func:`spans`.
    """
    check(path)
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    figure = _figure()
    figure.set_size_inches(7, 6)
    axes = figure.add_subplot()
    points, edges, marks = drawn
    of_edges = np.asarray(classes)[edges].max(axis=1, initial=0)
    colours = colormaps["viridis"](np.linspace(0.05, 0.95, len(names)))
    outside = LineCollection(points[edges[of_edges >= len(names)]], colors=_GRID, linewidths=0.5)
    axes.add_collection(outside)
    for number, (name, colour) in reversed(list(enumerate(zip(names, colours)))):
        lines = points[edges[of_edges == number]]
        axes.add_collection(LineCollection(lines, colors=[colour], linewidths=0.9, label=_text(name)))
    if len(marks) <= MAX_DOTS:
        axes.scatter(*marks.T, s=36, color=_INK, edgecolors="white", linewidths=1.2, zorder=3)
    axes.autoscale()
    axes.set_aspect("equal")
    axes.set_axis_off()
    handles, texts = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], texts[::-1], loc="outside right upper", fontsize=8, frameon=False)
    axes.set_title(_text(title), loc="left", fontsize=11, color=_INK)
    _save(figure, path)


def experiment(shown: "Figure", path: str | Path) -> None:
    """Draw a figure of :mod:`edgewise.experiments`: curves, or bars where the horizontal axis has names.

    Errors are those of :func:`spans`.
    """
    check(path)
    if not any(shown.series.values()):
        raise OptionError(f"{path}: there is nothing to draw; measure at least one graph")
    _save(_experiment(shown), path)


def experiment_as_svg(shown: "Figure") -> str:
    """The same figure as the text of an SVG picture, which does not depend on the date."""
    drawn = io.StringIO()
    _experiment(shown).savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _experiment(shown):
    figure = _figure()
    axes = figure.add_subplot()
    named = any(isinstance(x, str) for points in shown.series.values() for x, _ in points)
    if shown.wide:
        axes.set_xscale("log")
    (_draw_bars if named else _draw_curves)(axes, shown.series)
    if shown.wide:
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.tick_params(axis="x", labelsize=7)
    if shown.steep:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.set_xlabel(_text(shown.across), color=_INK)
    axes.set_ylabel(_text(shown.up), color=_INK)
    _dress_frame(axes)
    axes.set_title(_text(shown.title), loc="left", fontsize=11, color=_INK)
    if len(shown.series) > 1 or not named:
        figure.legend(loc="outside right upper", fontsize=7, frameon=False, handlelength=3.5)
    return figure


def _draw_curves(axes, series):
    """Curves labelled ``one, this`` and ``one, that`` share a colour."""
    parts = [label.partition(", ")[::2] for label in series]
    heads, tails = (list(dict.fromkeys(column)) for column in zip(*parts)) if parts else ((), ())
    for (head, tail), (label, points) in zip(parts, series.items()):
        number = heads.index(head)
        dash = _DASHES[(tails.index(tail) + number // len(_COLOURS)) % len(_DASHES)]
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(*zip(*points), dash, marker="o", markersize=3.5, color=colour, label=_text(label))
    axes.set_xticks(sorted({x for points in series.values() for x, _ in points}))


def _draw_bars(axes, series):
    names = list(dict.fromkeys(x for points in series.values() for x, _ in points))
    width = 0.8 / len(series)
    for number, (label, points) in enumerate(series.items()):
        positions = [names.index(x) + (number + 0.5) * width - 0.4 for x, _ in points]
        axes.bar(
            positions,
            [y for _, y in points],
            width,
            label=_text(label),
            color=_COLOURS[number % len(_COLOURS)],
        )
    axes.set_xticks(range(len(names)), [_text(name) for name in names], rotation=20, ha="right", fontsize=7)


def check(path: str | Path) -> None:
    """Raise :class:`~edgewise.errors.OptionError` unless a picture can be drawn into such a file."""
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in _figure().canvas.get_supported_filetypes():
        raise OptionError(f"{path}: pictures are not written as {ending!r}; use .png, .svg or .pdf")


def _figure():
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError("pictures need matplotlib, which is absent; pip install matplotlib") from None
    return Figure(figsize=(7, 4), layout="constrained")


def _counts_in_spans(numbers, base):
    """How many of the numbers, 1 or more, are below the base, from there to below its square, and so on."""
    most = int(numbers.max()) if len(numbers) else 1
    starts = [1]
    while starts[-1] * base <= most:
        starts.append(starts[-1] * base)
    spans = np.searchsorted(np.array(starts, np.int64), numbers, side="right") - 1
    return np.bincount(spans, minlength=1)


def _dress(axes, starts, counts, base):
    axes.set_xlim(starts[0] * 0.9, starts[-1] * base * 1.05)
    axes.set_ylim(0.7, max(counts.max(), 10) * 2.2)
    axes.set_xscale("log", base=base)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: _short(round(value)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _dress_frame(axes)
    for start, count in zip(starts, counts):
        if count:
            middle = start * base**0.5, count
            axes.annotate(_short(count), middle, (0, 3), textcoords="offset points", ha="center", fontsize=8)


def _short(count):
    """At most five characters, so that neighbouring bars' counts stay apart."""
    for unit, size in (("E", 10**18), ("P", 10**15), ("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count / size:.0f} {unit}"
    return f"{count:,}"
