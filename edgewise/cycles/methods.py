"""The ways to count cycles: one line for each page."""

from __future__ import annotations

from edgewise.cycles.counting import (
    pentagons,
    pentagons_tables,
    squares,
    squares_tables,
    triangles,
    triangles_warps,
    walks,
)
from edgewise.cycles.method import CycleMethod
from edgewise.cycles.search import dfs, enumerate
from edgewise.method import Option

#: A number of wedges or of steps.
LARGE = Option(below=2**63)
#: Wedges up to which a warp and a block count an apex vertex, and from which on the whole grid does.
LIMITS = {"small": LARGE, "large": LARGE, "all_from": LARGE}

METHODS = {
    "triangles": CycleMethod(
        triangles.start,
        "rows of higher neighbours, intersected by marks",
        "Chiba and Nishizeki 1985",
        work=triangles.work,
        lengths=(3,),
        devices=("cpu",),
        whole=triangles.whole,
        shares_with="triangles-warps",
    ),
    "triangles-warps": CycleMethod(
        triangles_warps.start,
        "the same, looked up by warps that share the entries evenly",
        "Merrill et al. 2012",
        work=triangles_warps.work,
        lengths=(3,),
        devices=("cuda",),
    ),
    "squares": CycleMethod(
        squares.start,
        "wedges below each vertex, by their endpoints",
        "Burkhardt and Harris 2023",
        work=squares.work,
        lengths=(4,),
        devices=("cpu",),
        shares_with="squares-tables",
    ),
    "squares-tables": CycleMethod(
        squares_tables.start,
        "the same, endpoints in hash tables of warps and blocks",
        "Burkhardt and Harris 2023",
        work=squares_tables.work,
        lengths=(4,),
        devices=("cuda",),
        options=LIMITS,
    ),
    "pentagons": CycleMethod(
        pentagons.start,
        "wedges below each vertex whose endpoints are joined",
        "after Kowalik 2003",
        work=pentagons.work,
        lengths=(5,),
        devices=("cpu",),
        shares_with="pentagons-tables",
    ),
    "pentagons-tables": CycleMethod(
        pentagons_tables.start,
        "the same, endpoints in hash tables of warps and blocks",
        "after Kowalik 2003",
        work=pentagons_tables.work,
        lengths=(5,),
        devices=("cuda",),
        options=LIMITS,
    ),
    "walks": CycleMethod(
        walks.start,
        "closed walks, less those that meet themselves",
        "Harary and Manvel 1971; Movarraei and Boxwala 2016",
        work=walks.work,
        lengths=(4, 5, 6),
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
