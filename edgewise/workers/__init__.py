"""Several devices that work as one: who they are, how they reach each other, how work is shared out.

CPU workers (``cpu:0``, ``cpu:1`` ...) take part like GPUs, so everything built on this room runs, and is
tested, without a GPU.
"""

from edgewise.workers.device_team import DeviceTeam, Worker, device_team
from edgewise.workers.queue import LoadQueue, WorkQueue
from edgewise.workers.split import Part, SplitGraph

__all__ = ["DeviceTeam", "LoadQueue", "Part", "SplitGraph", "WorkQueue", "Worker", "device_team"]
