"""Several devices that work together: which they are, how they reach each other, how work is distributed.

CPU workers (``cpu:0``, ``cpu:1`` ...) take part like GPUs, so all methods for several devices run, and are
tested, without a GPU.
"""

from edgewise.workers.device_team import DeviceTeam, Worker, device_team
from edgewise.workers.queue import LoadQueue, WorkQueue
from edgewise.workers.split import Part, SplitGraph

__all__ = ["DeviceTeam", "LoadQueue", "Part", "SplitGraph", "WorkQueue", "Worker", "device_team"]
