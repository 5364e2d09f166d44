"""Which method ``auto`` takes: the cheapest one that can do the length where the graph lies.

Cycles up to five are counted at their highest vertex, which is faster than closed walks on nearly every graph
that was measured, and far faster where there are hubs.  Cycles of six come from closed walks; longer ones
are met one by one.
"""

from __future__ import annotations

from edgewise.errors import OptionError

#: In the order of preference, by kind of place; the first that can do the length is taken.
PREFERRED = {
    "cpu": ("triangles", "squares", "pentagons", "walks", "enumerate", "dfs"),
    "cuda": ("triangles-warps", "squares-tables", "pentagons-tables", "walks", "enumerate", "dfs"),
}


def choose(methods, length: int, places) -> str:
    """Name of a method for cycles of this length, and for all of these places."""
    kinds = sorted({place.partition(":")[0] for place in places}, reverse=True)
    for name in PREFERRED[kinds[0]]:
        if name in methods and methods[name].can(length) and set(kinds) <= set(methods[name].places):
            return name
    raise OptionError(
        f"no method counts cycles of length {length} on {' and '.join(kinds)}; use device='cpu'"
    )
