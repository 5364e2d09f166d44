"""The choices of ``auto``: the method by the length, rows without hubs, and the devices that take part.

The limits are lines of :mod:`edgewise.tuning`, and ``docs/cycles.md`` has the choices in a table.
"""

from edgewise import tuning

#: Methods by length; up to five edges, counting at the highest vertex is faster than closed walks on nearly
#: every graph that was measured, and far faster where there are hubs.
BY_LENGTH = {3: "triangles", 4: "squares", 5: "pentagons", 6: "walks"}


def select_method(length: int) -> str:
    """Name of the method for cycles of a length, on any devices."""
    return BY_LENGTH.get(length, "enumerate")


def has_hubs(pairs: float, entries: int) -> bool:
    """Whether triangles are counted by rank on CPU cores, rather than in rows as they are.

    By number there is a step for each of the ``pairs`` of a lower and a higher neighbour of the same vertex.
    Where these are few for so many ``entries`` of rows, ranking takes longer than it saves.
    """
    return pairs > tuning.CPU.cycles_hubs * entries


def select_devices(devices, speeds, seconds: float) -> list[int]:
    """Numbers of the devices that take part: the CPU beside GPUs only where that pays.

    Few CPU threads add nothing to a GPU, and short work ends before they have started.
    """
    limits = tuning.GPU
    gpus = [number for number, device in enumerate(devices) if device != "cpu"]
    if gpus and len(gpus) < len(devices):
        share = 1 - sum(speeds[number] for number in gpus) / sum(speeds)
        if share < limits.cycles_share or seconds < limits.cycles_joined:
            return gpus
    return list(range(len(devices)))
