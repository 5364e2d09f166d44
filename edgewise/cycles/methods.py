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
from edgewise.cycles.method import Method
from edgewise.cycles.search import dfs, enumerate

METHODS = {
    "triangles": Method(
        triangles.start,
        triangles.work,
        summary="rows of higher neighbours, intersected by marks",
        source="Chiba and Nishizeki 1985",
        lengths=(3,),
        devices=("cpu",),
        whole=triangles.whole,
        shares_with="triangles-warps",
    ),
    "triangles-warps": Method(
        triangles_warps.start,
        triangles_warps.work,
        summary="the same, looked up in even shares of a warp",
        source="Merrill et al. 2012",
        lengths=(3,),
        devices=("cuda",),
    ),
    "squares": Method(
        squares.start,
        squares.work,
        summary="wedges below each vertex, by their ends",
        source="Burkhardt and Harris 2023",
        lengths=(4,),
        devices=("cpu",),
        shares_with="squares-tables",
    ),
    "squares-tables": Method(
        squares_tables.start,
        squares_tables.work,
        options=("small", "large", "all_from"),
        summary="the same, ends in tables of warps and blocks",
        source="Burkhardt and Harris 2023",
        lengths=(4,),
        devices=("cuda",),
    ),
    "pentagons": Method(
        pentagons.start,
        pentagons.work,
        summary="wedges below each vertex whose ends are joined",
        source="after Kowalik 2003",
        lengths=(5,),
        devices=("cpu",),
        shares_with="pentagons-tables",
    ),
    "pentagons-tables": Method(
        pentagons_tables.start,
        pentagons_tables.work,
        options=("small", "large", "all_from"),
        summary="the same, ends in tables of warps and blocks",
        source="after Kowalik 2003",
        lengths=(5,),
        devices=("cuda",),
    ),
    "walks": Method(
        walks.start,
        walks.work,
        summary="closed walks, less those that meet themselves",
        source="Harary and Manvel 1971; Movarraei and Boxwala 2016",
        lengths=(4, 5, 6),
    ),
    "enumerate": Method(
        enumerate.start,
        enumerate.work,
        summary="every cycle, found at its highest vertex",
        source="bounded search",
        lengths=None,
        options=("cap",),
        cost=0.4,
        one_by_one=True,
    ),
    "dfs": Method(
        dfs.start,
        dfs.work,
        summary="all paths from every vertex, until they close",
        source="CS406",
        lengths=None,
        cost=0.15,
        one_by_one=True,
    ),
}
