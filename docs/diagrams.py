"""Draw the diagrams of the documentation into ``docs/pictures``: python docs/diagrams.py

Colours are of medium lightness and the background is transparent, so that they suit light and dark pages.
"""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

FOLDER = Path(__file__).parent / "pictures"
INK, FAINT = "#7a8290", "#b4bac4"
COLOURS = ("#2f7fc1", "#d1495b", "#3c9d63", "#d69a2d", "#8a63b0", "#3aa5b5")
matplotlib.rcParams.update({"svg.hashsalt": "edgewise", "font.family": "DejaVu Sans", "svg.fonttype": "path"})


class Canvas:
    """One picture: panels side by side without axes."""

    def __init__(self, panels, width=3.2, height=2.6):
        self.figure = Figure(figsize=(width * panels, height), layout="constrained")
        self.figure.patch.set_alpha(0)
        self.panels = self.figure.subplots(1, panels, squeeze=False)[0]
        for panel in self.panels:
            panel.set_axis_off()
            panel.set_aspect("equal")
            panel.margins(0.15)

    def save(self, name):
        self.figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def title(panel, text):
    panel.set_title(text, fontsize=10, color=INK)


def line(panel, one, other, *, colour=INK, dashed=False, width=1.6, arrow=False, bend=0.0):
    """An edge between two points, or an arrow; ends are hidden below the vertices."""
    style = "-|>" if arrow else "-"
    panel.add_patch(
        FancyArrowPatch(
            one,
            other,
            arrowstyle=style,
            mutation_scale=11,
            color=colour,
            linewidth=width,
            linestyle="--" if dashed else "-",
            connectionstyle=f"arc3,rad={bend}",
            shrinkA=9 if arrow else 0,
            shrinkB=9 if arrow else 0,
            zorder=1,
        )
    )


def vertices(panel, points, colours, labels=None, size=300):
    """Vertices, each a disc of its colour with its label in white."""
    xs, ys = zip(*points)
    panel.scatter(xs, ys, s=size, c=colours, zorder=2, edgecolors="white", linewidths=1)
    for point, label in zip(points, labels or ()):
        panel.text(*point, label, color="white", fontsize=8, ha="center", va="center", zorder=3)


def note(panel, point, text, *, colour=INK, size=8.5, align="center"):
    panel.text(*point, text, color=colour, fontsize=size, ha=align, va="center")


def box(panel, corner, width, height, colour=FAINT):
    style = "round,pad=0.02,rounding_size=0.12"
    panel.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle=style, fill=False, edgecolor=colour, linewidth=1.3)
    )


def clusters():
    canvas = Canvas(2)
    left, right = canvas.panels
    title(left, "pairs with scores")
    rows = (("ann", "anne", ".97"), ("anne", "anna", ".91"), ("bob", "rob", ".95"), ("ann", "bob", ".40"))
    for number, row in enumerate(rows):
        for column, word in enumerate(row):
            weak = row[2] == ".40"
            note(left, (column, -0.6 * number), word, colour=FAINT if weak else INK, size=10)
    left.set(xlim=(-0.6, 2.6), ylim=(-2.4, 0.6))
    title(right, "clusters at 0.9")
    places = {"ann": (0, 1), "anne": (1.2, 1), "anna": (2.4, 1), "bob": (0, 0), "rob": (1.2, 0)}
    for one, other, score in rows:
        line(
            right, places[one], places[other], dashed=score == ".40", colour=FAINT if score == ".40" else INK
        )
    colours = [COLOURS[0]] * 3 + [COLOURS[1]] * 2
    vertices(right, list(places.values()), colours, list(places), size=900)
    right.set(xlim=(-0.5, 2.9), ylim=(-0.5, 1.5))
    canvas.save("pairs-to-clusters")


def union_find():
    canvas = Canvas(3, width=2.6)
    words = ("an edge joins two trees", "the larger root hangs below", "compressed: every vertex a leaf")
    trees = (
        {1: 0, 2: 1, 4: 3, 5: 3},
        {1: 0, 2: 1, 4: 3, 5: 3, 3: 0},
        {1: 0, 2: 0, 3: 0, 4: 0, 5: 0},
    )
    places = (
        {0: (0, 2), 1: (0, 1), 2: (0, 0), 3: (1.6, 2), 4: (1.2, 1), 5: (2, 1)},
        {0: (0.6, 2), 1: (0, 1), 2: (0, 0), 3: (1.4, 1), 4: (1.0, 0), 5: (1.8, 0)},
        {0: (1, 2), 1: (-0.2, 0.7), 2: (0.4, 0.7), 3: (1, 0.7), 4: (1.6, 0.7), 5: (2.2, 0.7)},
    )
    for number, (panel, text) in enumerate(zip(canvas.panels, words)):
        title(panel, text)
        for child, parent in trees[number].items():
            line(panel, places[number][child], places[number][parent], arrow=True)
        if number == 0:
            line(panel, places[0][2], places[0][4], colour=COLOURS[1], dashed=True)
        roots = set(places[number]) - set(trees[number])
        colours = [COLOURS[0] if vertex in roots else COLOURS[5] for vertex in places[number]]
        vertices(panel, list(places[number].values()), colours, list(map(str, places[number])))
    canvas.save("union-find")


def bfs_levels():
    canvas = Canvas(1, width=5.2, height=2.8)
    (panel,) = canvas.panels
    columns = [[0], [1, -1], [1.4, 0.3, -1], [0.8, -0.6]]
    points = [(1.5 * level, y) for level, ys in enumerate(columns) for y in ys]
    edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (2, 5), (1, 2), (3, 6), (4, 6), (5, 7), (4, 7), (6, 7)]
    first = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 3, 7: 4}
    for one, other in edges:
        line(panel, points[one], points[other], colour=INK if first.get(other) == one else FAINT)
    levels = [level for level, ys in enumerate(columns) for _ in ys]
    vertices(panel, points, [COLOURS[level] for level in levels], list(map(str, levels)))
    for level in range(4):
        note(panel, (1.5 * level, -1.8), f"level {level}")
    canvas.save("bfs-levels")


def delta_buckets():
    canvas = Canvas(1, width=5.6, height=2.2)
    (panel,) = canvas.panels
    for bucket in range(4):
        box(panel, (1.6 * bucket + 0.06, -0.5), 1.48, 1.2, COLOURS[bucket])
        low = ("0", "Δ", "2Δ", "3Δ")[bucket]
        note(panel, (1.6 * bucket + 0.8, -0.85), f"from {low}")
    places = [(0.35, 0.3), (0.85, -0.1), (1.3, 0.35), (2.1, 0.0), (2.9, 0.35), (3.7, -0.1), (5.6, 0.2)]
    for one, other, dashed in ((0, 1, 0), (1, 2, 0), (1, 3, 0), (0, 4, 1), (3, 4, 0), (3, 5, 1), (4, 6, 1)):
        line(panel, places[one], places[other], arrow=True, dashed=bool(dashed), bend=-0.25)
    vertices(panel, places, [COLOURS[int(x // 1.6)] for x, _ in places], size=130)
    note(
        panel, (3.2, 1.05), "buckets by tentative distance: one bucket is settled in parallel, then the next"
    )
    panel.set(xlim=(-0.1, 6.6), ylim=(-1.1, 1.25))
    canvas.save("delta-buckets")


def wedges():
    canvas = Canvas(3, width=2.0, height=2.0)
    shapes = (
        ("wedge", [(0, 0), (1, 1.2), (2, 0)], [(0, 1), (1, 2)]),
        ("two wedges: a square", [(0, 0), (1, 1), (2, 0), (1, -1)], [(0, 1), (1, 2), (0, 3), (3, 2)]),
        (
            "two wedges and an edge:\na pentagon",
            [(1, 1.3), (0, 0.4), (0.4, -0.8), (1.6, -0.8), (2, 0.4)],
            [(0, 1), (0, 4), (1, 2), (4, 3), (2, 3)],
        ),
    )
    for panel, (text, points, edges) in zip(canvas.panels, shapes):
        title(panel, text)
        for one, other in edges:
            line(panel, points[one], points[other])
        apex = max(range(len(points)), key=lambda vertex: points[vertex][1])
        vertices(panel, points, [COLOURS[1] if v == apex else COLOURS[0] for v in range(len(points))])
    canvas.save("wedges")


def thresholds():
    canvas = Canvas(1, width=6.6, height=3.0)
    (panel,) = canvas.panels
    panel.set_aspect("auto")
    names = ("ann", "anne", "anna", "hanna", "johanna", "bob", "rob", "robin")
    merges = (
        ((0, 1), 0.97),
        ((0.5, 2), 0.91),
        ((3, 4), 0.88),
        ((1.25, 3.5), 0.62),
        ((5, 6), 0.95),
        ((5.5, 7), 0.83),
    )
    at = dict.fromkeys(range(len(names)), 1.0)
    for (one, other), score in merges:
        xs = [one, one, other, other]
        panel.plot(xs, [at[one], score, score, at[other]], color=INK, linewidth=1.6)
        at[(one + other) / 2] = score
    for cut, words in ((0.8, "at 0.8: three clusters"), (0.6, "at 0.6: two clusters")):
        panel.axhline(cut, color=COLOURS[1], linestyle="--", linewidth=1.2)
        note(panel, (7.3, cut + 0.03), words, colour=COLOURS[1], align="left")
    colours = [COLOURS[0]] * 3 + [COLOURS[2]] * 2 + [COLOURS[3]] * 3
    for x, (name, colour) in enumerate(zip(names, colours)):
        note(panel, (x, 1.03), name, colour=colour)
    panel.set(xlim=(-0.5, 9.6), ylim=(0.53, 1.08))
    canvas.save("thresholds")


def multilevel():
    canvas = Canvas(4, width=2.1, height=2.4)
    grid = [(x, y) for y in range(4) for x in range(4)]
    pairs = [((x + y * 4), (x // 2 + y // 2 * 2)) for x, y in grid]
    cluster = dict(pairs)
    coarse = [(0.5, 0.5), (2.5, 0.5), (0.5, 2.5), (2.5, 2.5)]
    words = (
        "1. clusters of vertices",
        "2. each becomes a vertex",
        "3. split the small graph",
        "4. project and refine",
    )
    fine_edges = [
        (one, other)
        for one, (x, y) in enumerate(grid)
        for other, (u, v) in enumerate(grid)
        if (u - x, v - y) in ((1, 0), (0, 1))
    ]
    coarse_edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    for number, (panel, text) in enumerate(zip(canvas.panels, words)):
        title(panel, text)
        points, edges = (grid, fine_edges) if number in (0, 3) else (coarse, coarse_edges)
        for one, other in edges:
            line(panel, points[one], points[other], width=1.6 if number in (0, 3) else 4)
        if number == 0:
            colours = [COLOURS[cluster[vertex]] for vertex in range(16)]
        elif number == 1:
            colours = COLOURS[:4]
        elif number == 2:
            colours = [COLOURS[0], COLOURS[1], COLOURS[0], COLOURS[1]]
        else:
            colours = [COLOURS[0] if x < 2 else COLOURS[1] for x, _ in grid]
        vertices(panel, points, list(colours), size=110 if number in (0, 3) else 700)
        panel.set(xlim=(-0.6, 3.6), ylim=(-0.6, 3.6))
    canvas.save("multilevel")


def several_devices():
    canvas = Canvas(1, width=6.4, height=2.6)
    (panel,) = canvas.panels
    panel.set_aspect("auto")
    for row, (name, colour) in enumerate((("GPU 0", COLOURS[0]), ("GPU 1", COLOURS[2]))):
        y = 1.6 - 1.6 * row
        steps = ("half of the edges", "labels of its half")
        for column, words in enumerate(steps):
            box(panel, (2.3 * column, y), 1.8, 0.8, colour)
            note(panel, (2.3 * column + 0.9, y + 0.4), words)
        note(panel, (-0.5, y + 0.4), name, colour=colour)
        line(panel, (1.75, y + 0.4), (2.35, y + 0.4), arrow=True, colour=colour)
        line(panel, (4.05, y + 0.4), (4.8, 1.2), arrow=True, colour=colour)
    box(panel, (4.7, 0.8), 1.9, 0.8)
    note(panel, (5.65, 1.2), "merge: one more\nunion per vertex")
    line(panel, (6.55, 1.2), (7.25, 1.2), arrow=True)
    note(panel, (7.75, 1.2), "labels")
    panel.set(xlim=(-1, 8.3), ylim=(-0.2, 2.6))
    canvas.save("several-devices")


if __name__ == "__main__":
    for draw in (
        clusters,
        union_find,
        bfs_levels,
        delta_buckets,
        wedges,
        thresholds,
        multilevel,
        several_devices,
    ):
        draw()
