"""Several devices that work as one: who they are, how they reach each other, how work is shared out.

CPU workers (``cpu:0``, ``cpu:1`` ...) take part like GPUs, so everything built on this room runs, and is
tested, without a GPU.
"""

from edgewise.workers.queue import LoadQueue, WorkQueue
from edgewise.workers.split import Part, SplitGraph
from edgewise.workers.team import Team, Worker, team_of

__all__ = ["LoadQueue", "Part", "SplitGraph", "Team", "WorkQueue", "Worker", "team_of"]
