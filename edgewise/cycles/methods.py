"""The ways to count cycles: one line for each page."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from edgewise.cycles.method import Method

_LINES = {
    "triangles": (
        "triangles",
        "rows of higher neighbours are intersected",
        "Chiba and Nishizeki 1985",
        (3,),
        ("cpu", "cuda"),
    ),
    "squares": (
        "squares",
        "wedges below each vertex, by their far end",
        "Chiba and Nishizeki 1985",
        (4,),
        ("cpu", "cuda"),
    ),
    "pentagons": (
        "pentagons",
        "wedges below each vertex, joined by an edge",
        "after Kowalik 2003",
        (5,),
        ("cpu", "cuda"),
    ),
    "walks": (
        "walks",
        "closed walks less those that meet themselves",
        "after Harary and Manvel 1971",
        (4, 5, 6),
        ("cpu", "cuda"),
    ),
    "enumerate": ("enumerate", "every cycle, found at its highest vertex", "bounded search", None, ("cpu",)),
    "dfs": ("dfs", "every closed walk from every vertex", "CS406", None, ("cpu", "cuda")),
}


def _table():
    found = {}
    for name, (page, gist, source, lengths, places) in _LINES.items():
        if find_spec(f"edgewise.cycles.{page}") is None:
            continue
        module = import_module(f"edgewise.cycles.{page}")
        if hasattr(module, "start") and hasattr(module, "work"):
            found[name] = Method(module.start, module.work, gist, source, lengths, places)
    return found


METHODS: dict[str, Method] = _table()
