"""The steps of a command: timed, and on a terminal shown while they run."""

import sys
from contextlib import contextmanager
from functools import partial

import edgewise
from edgewise.command import keyboard
from edgewise.files.destinations import name_of
from edgewise.timer import recording, timer


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
def _display(quiet):
    if quiet or not sys.stderr.isatty():
        yield lambda **_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield partial(progress.update, task)


def finish(stage, result, checking="", output=None, plot=None, to=None):
    """The last steps of a command: check the result, as ``checking`` says, write it as ``to``, draw it."""
    if checking:
        with stage("verify", checking):
            result.verify()
    if output is not None:
        with stage("write", f"writing {name_of(output)}"):
            edgewise.write(result, output, format=to)
    if plot is not None:
        with stage("plot", f"drawing {plot}"):
            result.plot(plot)


def seconds(clock) -> dict:
    """Seconds of each step, rounded to milliseconds."""
    return {name: round(scope.seconds, 3) for name, scope in clock.inside.items()}
