"""The steps of a command: timed, and on a terminal shown while they run."""

import sys
from contextlib import contextmanager
from functools import partial

from edgewise import notices
from edgewise.command import keyboard
from edgewise.printable import printable
from edgewise.timer import recording, timer

#: Between what a command does and the kernel that it compiles for it.
COMPILING = ", compiling "


@contextmanager
def stages(quiet=False, settle=None):
    """Context that yields ``stage`` and the outermost scope of the clock; ``quiet`` and pipes show nothing.

    ``with stage("read", "reading pairs.csv") as progress:`` adds its time to the scope ``read`` and shows the
    text beside a running clock; ``progress(done, total)`` moves a bar.
    """
    with _display(quiet) as show, recording("edgewise", settle) as clock:

        @contextmanager
        def stage(name, doing):
            keyboard.check_interrupt()
            show(description=doing, completed=0, total=None)

            def progress(done, total, doing=doing):
                keyboard.check_interrupt()
                show(description=doing, completed=done, total=total)

            with timer(name):
                yield progress

        yield stage, clock


@contextmanager
def workers_of(scheduler):
    """Context with the argument ``client`` for the workers of a scheduler; without one there is none."""
    if scheduler is None:
        yield {}
        return
    from edgewise.workers.dask import connected

    with connected(scheduler) as client:
        yield {"client": client}


@contextmanager
def _display(quiet):
    if quiet or not sys.stderr.isatty():
        yield lambda **_: None
        return
    from rich import progress
    from rich.console import Console

    class Left(progress.TimeRemainingColumn):
        """The time left, with that word, since the time that has passed is beside it."""

        def render(self, task):
            time = super().render(task)
            return time.append(" left") if time.plain else time

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),  # a file may have brackets in its name
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        Left(),
    )
    with (
        progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar,
        _told_of_kernels(lambda name: _add_kernel(bar, name)),
    ):
        yield partial(_show, bar, bar.get_time())


@contextmanager
def _told_of_kernels(listener):
    """Context in which a listener is told the names of the kernels that are compiled."""
    notices.listener = listener
    try:
        yield
    finally:
        notices.listener = None


def _add_kernel(bar, name):
    """Show what is compiled behind what is being done; nothing without a name."""
    for task in bar.tasks:
        doing = task.description.partition(COMPILING)[0]
        bar.update(task.id, description=f"{doing}{COMPILING}{name}" if name else doing)


def _show(bar, began, description, completed, total):
    """Move the bar; one that has a total cannot lose it, so a step without one gets a bar of its own."""
    description = printable(description)
    if bar.tasks and (total is not None or bar.tasks[0].total is None):
        bar.update(bar.task_ids[0], description=description, completed=completed, total=total)
        return
    for task in bar.task_ids:
        bar.remove_task(task)
    bar.add_task(description, completed=completed, total=total)
    bar.tasks[0].start_time = began


def seconds(clock) -> dict:
    """Seconds of each step, rounded to milliseconds."""
    return {name: round(scope.seconds, 3) for name, scope in clock.inside.items()}
