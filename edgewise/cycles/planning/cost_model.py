"""How long a count will take, said before it starts.

A method estimates the operations of every task; a table of speeds makes seconds of them.  The estimate is
right to a factor of a few, which is enough to tell seconds from days, and to cut long work into pieces.
"""

from __future__ import annotations

from edgewise.device import threads
from edgewise.errors import OptionError

#: Operations a second of one CPU thread, and of a GPU: what methods' estimates count, mostly reads that miss
#: the caches.  An H200 does 5e9 wedges a second of com-DBLP by tables, and 1.7e9 of an R-MAT graph of 2**20
#: vertices; 2e9 is nearer to what large graphs get.
ON_THREAD, ON_GPU = 6e7, 2e9
#: Seconds of estimated work that are refused unless forced.
MOST = 24 * 3600.0
#: Names and seconds of the units in which an estimate is said.
UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))


def speed_of(device: str) -> float:
    """Operations a second that ``device`` is taken to do."""
    return ON_THREAD * threads.count() if device == "cpu" else ON_GPU


def seconds_of(work: float, devices) -> float:
    """Seconds that so many operations should take in these devices together."""
    return work / sum(map(speed_of, devices))


def in_words(seconds: float) -> str:
    """``"3 days"``: the time in the largest unit of which there are two or more."""
    name, unit = next((u for u in UNITS if seconds >= 2 * u[1]), UNITS[-1])
    count = seconds / unit
    return f"{count:,.0f} {name}" if count < 1e6 else "millions of years"


def check_effort(work: float, devices, method: str, length: int, force: bool):
    """Refuse what would take days.

    Parameters
    ----------
    work : float
        Operations, estimated.
    devices : sequence of str
        Where they will be done.
    method : str
    length : int
    force : bool
        Go on all the same.

    Raises
    ------
    OptionError
        It would take longer than :data:`MOST`, and it is not forced.
    """
    seconds = seconds_of(work, devices)
    if not seconds <= MOST and not force:  # also if it is not a number
        raise OptionError(
            f"counting cycles of length {length} by {method} on {', '.join(devices)} should take about "
            f"{in_words(seconds)}; use force=True to go on, shorter cycles, or edgewise.estimate_cycles"
        )
