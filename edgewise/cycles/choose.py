"""Which method ``auto`` takes: the cheapest one that can do the length where the graph lies.

Cycles up to five are counted at their highest vertex, which is faster than closed walks on every graph that
was measured, and far faster where there are hubs.  Cycles of six come from closed walks; longer ones are
listed one by one.
"""

from __future__ import annotations

from edgewise.errors import OptionError

#: In the order of preference; the first that can do the length and runs everywhere is taken.
PREFERRED = (
    "triangles-warps",
    "squares-tables",
    "pentagons-tables",
    "triangles",
    "squares",
    "pentagons",
    "walks",
    "enumerate",
    "dfs",
)


def choose(methods, length: int, places) -> str:
    """Name of a method for cycles of this length in all of these places."""
    kinds = {place.partition(":")[0] for place in places}
    for name in PREFERRED:
        if name in methods and methods[name].can(length) and kinds <= set(methods[name].places):
            return name
    raise OptionError(
        f"no method counts cycles of length {length} on {', '.join(sorted(kinds))}; use device='cpu'"
    )
