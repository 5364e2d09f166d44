"""Processes that tests start."""

from contextlib import contextmanager


@contextmanager
def ended(*processes):
    """Context that yields one process, or several; at its end they are killed if they still run."""
    try:
        yield processes[0] if len(processes) == 1 else processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()
