"""Memory and cores of this machine."""

import os

from edgewise.device.usable_cores import usable_cores


def machine_memory() -> int:
    """Memory of this machine, in bytes; 0 if the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


def threads_for(sharing: int) -> int:
    """Threads for each of the tasks that share the cores that a process may use."""
    return max(1, usable_cores() // max(1, sharing))
