"""The ways to count cycles: one line for each page."""

from __future__ import annotations

from edgewise.cycles.counting import hexagons, pentagons, squares, triangles
from edgewise.cycles.method import CycleMethod
from edgewise.cycles.search import dfs, enumerate
from edgewise.method import Option

#: A number of wedges or of steps.
LARGE = Option(below=2**63)
#: Wedges up to which a warp and a block of a GPU count an apex vertex, and from which on the whole grid does.
LIMITS = {"small": LARGE, "large": LARGE, "all_from": LARGE}

METHODS = {
    "triangles": CycleMethod(
        triangles.start,
        "rows of higher neighbours, intersected",
        "Chiba and Nishizeki 1985; Merrill et al. 2012",
        work=triangles.work,
        lengths=(3,),
        whole=triangles.count_whole,
    ),
    "squares": CycleMethod(
        squares.start,
        "wedges below each vertex, by their endpoints",
        "Burkhardt and Harris 2023",
        work=squares.work,
        lengths=(4,),
        options=LIMITS,
    ),
    "pentagons": CycleMethod(
        pentagons.start,
        "wedges below each vertex whose endpoints are joined",
        "after Kowalik 2003",
        work=pentagons.work,
        lengths=(5,),
        options=LIMITS,
    ),
    "walks": CycleMethod(
        hexagons.start,
        "closed walks, less those that meet themselves",
        "Movarraei and Boxwala 2016",
        work=hexagons.work,
        lengths=(6,),
    ),
    "enumerate": CycleMethod(
        enumerate.start,
        "every cycle, found at its highest vertex",
        "bounded search",
        work=enumerate.work,
        options={"cap": LARGE},
        cost=0.4,
        enumerates=True,
    ),
    "dfs": CycleMethod(
        dfs.start,
        "all paths from every vertex, until they close",
        "CS406",
        work=dfs.work,
        cost=0.15,
        enumerates=True,
        baseline=True,
    ),
}
