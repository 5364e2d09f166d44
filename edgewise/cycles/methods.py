"""The ways to count cycles: one line for each page."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from edgewise.cycles.method import Method

_LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "triangles": (
        "triangles",
        dict(
            gist="common higher neighbours of the ends of edges",
            source="Chiba and Nishizeki 1985",
            lengths=(3,),
        ),
    ),
    "triangles-warps": (
        "triangles_warps",
        dict(gist="the same, entries shared out in a warp", source="Merrill et al. 2012", lengths=(3,)),
    ),
    "squares": (
        "squares",
        dict(
            gist="wedges below each vertex, by their ends", source="Burkhardt and Harris 2023", lengths=(4,)
        ),
    ),
    "squares-tables": (
        "squares_tables",
        dict(gist="the same, ends in tables", source="Burkhardt and Harris 2023", lengths=(4,)),
    ),
    "pentagons": (
        "pentagons",
        dict(gist="wedges below each vertex, joined by edges", source="after Kowalik 2003", lengths=(5,)),
    ),
    "pentagons-tables": (
        "pentagons_tables",
        dict(gist="the same, ends in tables", source="after Kowalik 2003", lengths=(5,)),
    ),
    "walks": (
        "walks",
        dict(
            gist="closed walks, less those that meet themselves",
            source="Harary and Manvel 1971; Alon et al. 1997",
            lengths=(4, 5, 6),
        ),
    ),
    "enumerate": (
        "enumerate",
        dict(
            gist="all cycles, each from its highest vertex",
            source="bounded search",
            lengths=None,
            one_by_one=True,
        ),
    ),
    "dfs": (
        "dfs",
        dict(
            gist="all paths from every vertex, until they close",
            source="CS406",
            lengths=None,
            one_by_one=True,
        ),
    ),
}


def _table():
    found = {}
    for name, (page, facts) in _LINES.items():
        if find_spec(f"edgewise.cycles.{page}") is None:
            continue
        try:
            module = import_module(f"edgewise.cycles.{page}")
            found[name] = Method(module.start, module.work, **facts)
        except (ImportError, AttributeError, SyntaxError, NameError):
            continue
    return found


METHODS: dict[str, Method] = _table()
