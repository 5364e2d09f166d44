"""The steps of a command: timed, and on a terminal shown while they run."""

import sys
from contextlib import contextmanager

from edgewise.timer import recording, timer


@contextmanager
def stages(quiet=False, settle=None):
    """Context that gives ``stage`` and the clock's outermost scope.

    ``with stage("read", "reading pairs.csv"):`` adds its time to the scope ``read`` and shows the text beside
    a running clock.  In a pipe, or with ``quiet``, nothing is shown.
    """
    with _display(quiet) as show, recording("edgewise", settle) as clock:

        @contextmanager
        def stage(name, doing):
            show(doing)
            with timer(name):
                yield

        yield stage, clock


@contextmanager
def _display(quiet):
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda text: progress.update(task, description=text)


def seconds(clock) -> dict:
    """Seconds of each step, rounded to milliseconds."""
    return {name: round(scope.seconds, 3) for name, scope in clock.inside.items()}
