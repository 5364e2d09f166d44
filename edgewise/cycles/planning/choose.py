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


def kind_of(device: str) -> str:
    """``"cpu"`` or ``"cuda"``."""
    return device.partition(":")[0]


def choose(methods, length: int, devices) -> dict[str, str]:
    """Name of a method for cycles of this length, for each kind of the devices.

    Where there are both, the two share their tasks, or are the same.
    """
    kinds = sorted({kind_of(device) for device in devices}, reverse=True)
    named = {kind: _preferred(methods, length, [kind]) for kind in kinds}
    if len(kinds) == 1 or methods[named["cpu"]].shares_with == named["cuda"]:
        return named
    return dict.fromkeys(kinds, _preferred(methods, length, kinds))


def _preferred(methods, length, kinds):
    for name in PREFERRED[kinds[0]]:
        if name in methods and methods[name].can(length) and set(kinds) <= set(methods[name].devices):
            return name
    raise OptionError(
        f"no method counts cycles of length {length} on {' and '.join(kinds)}; use device='cpu'"
    )
