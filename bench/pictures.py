"""Pictures of results: charts of the documentation, time per entry over the surface, and meshes.

    python bench/pictures.py surface [RESULT.json] [-o PICTURE.png]
    python bench/pictures.py meshes [MESH.graph.gz ...]
    python bench/pictures.py pages

A result is that of ``surface.py``, by default those in ``bench/results``, and a picture goes to
``docs/pictures``.  The state before is drawn in grey where the result has it.  Meshes are drawn in
the colours of their parts, by default those of ``../shared/data``.  ``pages`` runs the how-tos of the
documentation that draw pictures, and keeps these.

Charts are SVG, for light and dark pages: text and axes are grey, the background is transparent, and colours
are of medium lightness.  ``tables.py`` draws them by :func:`dots`: panels side by side, each with a row for
each case and a dot for each program.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from harness import RESULTS, ROOT, parser_of
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

PICTURES = ROOT / "docs" / "pictures"
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
#: Size of one panel of a surface in inches.
PANEL = (4.2, 3.2)
#: Meshes of ``meshes``, and the number of their parts.
MESHES = {"3elt": 8, "airfoil1": 4}


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


def surface(result, path):
    """Draw a panel for each call and order of ids: time per entry over the entries, a line a family."""
    rows = [row for row in result["rows"] if row["source"] in ("", "hub")]
    calls = list(dict.fromkeys(row["call"] for row in rows))
    orders = list(dict.fromkeys(row["order"] for row in rows))
    families = list(dict.fromkeys(row["family"] for row in rows))
    figure, panels = _panels(len(calls), len(orders))
    for panel, (call, order) in zip(panels, ((call, order) for call in calls for order in orders)):
        for number, family in enumerate(families):
            line = [
                row for row in rows if (row["call"], row["order"], row["family"]) == (call, order, family)
            ]
            _line(panel, [row for row in line if "old_ms" in row], "old_ms", color="0.75", lw=1)
            _line(panel, line, "ms", color=f"C{number}", label=family, lw=1.5)
        panel.set(title=f"{call}, {order} ids", xlabel="entries", ylabel="ns per entry")
        panel.set(xscale="log", yscale="log")
    _save(figure, panels, path, "grey: the state before" if any("old_ms" in row for row in rows) else "")


def _line(panel, rows, column, **style):
    rows = sorted(rows, key=lambda row: row["entries"])
    if rows:
        entries = [max(row["entries"], 1) for row in rows]
        panel.plot(entries, [1e6 * row[column]["median"] / n for row, n in zip(rows, entries)], ".-", **style)


def _panels(rows, columns):
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False).ravel()


def _save(figure, panels, path, note):
    """Save with one legend, of all that any panel has."""
    shown = {}
    for panel in panels:
        panel.grid(alpha=0.3)
        handles, labels = panel.get_legend_handles_labels()
        shown = dict(zip(labels, handles)) | shown
        if not panel.has_data():
            panel.set_visible(False)
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=6, fontsize="small", title=note)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    print(path)


def spectral_layout(graph):
    """Coordinates (n, 2) by the second and third eigenvectors of the random walk on a connected graph."""
    import numpy as np
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import eigsh

    n, ones = graph.n_vertices, np.ones(graph.n_edges)
    half = coo_array((ones, (graph.sources, graph.targets)), (n, n))
    matrix = (half + half.T).tocsr()
    degrees = matrix.sum(axis=0)
    scaled = diags_array(degrees**-0.5)
    start = np.random.default_rng(1).random(n)
    values, vectors = eigsh(scaled @ matrix @ scaled, k=3, sigma=1.0001, v0=start)
    chosen = np.argsort(-values)[1:]
    return vectors[:, chosen] * degrees[:, None] ** -0.5


def pages():
    """Run the how-tos that draw pictures, and keep those that they show."""
    import os
    import re
    import sys
    import tempfile

    from PIL import Image

    sys.path.insert(0, str(ROOT))
    from tests.how_tos import HOW_TOS, put_data
    from tests.shown import run_page

    for name in HOW_TOS:
        text = (ROOT / "docs" / f"{name}.md").read_text()
        drawn = re.findall(r"\(pictures/(.*?)\)", text)
        if not drawn:
            continue
        with tempfile.TemporaryDirectory() as folder:
            put_data(name, Path(folder))
            os.chdir(folder)
            run_page(text, Path(folder))
            for picture in drawn:
                Image.open(picture).quantize(64).save(PICTURES / picture, optimize=True)
                print(PICTURES / picture)


def meshes(files):
    """Draw meshes, of which the files have no coordinates, in the colours of their parts."""
    from PIL import Image

    import edgewise as ew

    data = ROOT.parent / "shared" / "data"
    for file in files or [data / name / f"{name}.graph.gz" for name in MESHES]:
        graph = ew.read(file)
        name = file.name.partition(".")[0]
        found = ew.partition(graph, MESHES.get(name, 8), preset="strong", seed=1, contiguous=True)
        path = PICTURES / f"parts-{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        found.plot(path, spectral_layout(graph))
        Image.open(path).quantize(48).save(path, optimize=True)
        print(path, found.edge_cut)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("kind", choices=("surface", "meshes", "pages"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    if given.kind != "surface":
        return meshes(given.files) if given.kind == "meshes" else pages()
    for file in given.files or sorted(RESULTS.glob("surface-*.json")):
        surface(json.loads(file.read_text()), given.output or PICTURES / f"{file.stem}.png")


if __name__ == "__main__":
    main()
