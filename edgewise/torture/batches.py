"""Cases in child processes, under a watchdog.

A child is a command that takes ``--first`` and ``--cases`` and prints a line of JSON, a list of the number of
a case and what came of it, after each.  One that crashes, or is silent for too long, costs the case in which
it did so; another child goes on with the next.
"""

import json
import subprocess
import tempfile
from threading import Timer
from time import monotonic

#: Seconds of silence after which a child hangs, also on a busy machine and while it compiles.
SILENCE = 300


def in_children(command, first, count, environment=None, silence=SILENCE, ends=None):
    """Run cases in child processes, one after another.

    Parameters
    ----------
    command : list of str
        The command of a child without the cases.
    first, count : int
        The cases.
    environment : dict of str, optional
        Environment of the children.
    silence : float
        Seconds without a line after which a child hangs.
    ends : float, optional
        When no further child is started, by :func:`time.monotonic`.

    Yields
    ------
    list
        The number of a case and what came of it, which is a list with ``["crash", "", reason]`` or
        ``["hang", "", reason]`` if the child ended.
    """
    last = first + count
    while first < last and (ends is None or monotonic() < ends):
        words = [*command, "--first", str(first), "--cases", str(last - first)]
        with tempfile.TemporaryFile() as complaints:
            pipe = subprocess.PIPE
            with subprocess.Popen(words, env=environment, stdout=pipe, stderr=complaints, text=True) as child:
                watchdog = _Watchdog(child, silence)
                try:
                    for line in child.stdout or ():
                        watchdog.heard()
                        if line.endswith("]\n"):
                            found = json.loads(line)
                            first = found[0] + 1
                            yield found
                finally:
                    watchdog.stop()
            if child.returncode == 0:
                return
            complaints.seek(0)
            reason = f"status {child.returncode}: {complaints.read()[-300:].decode(errors='replace')}"
        ended = ["hang", "", f"{silence:g} seconds"] if watchdog.hangs else ["crash", "", reason]
        yield [first, [ended]]
        first += 1


class _Watchdog:
    """Ends a child that has been silent for too long."""

    def __init__(self, child, silence):
        self._child, self._silence, self.hangs = child, silence, False
        self.heard()
        self._look()

    def heard(self):
        self._last = monotonic()

    def _look(self):
        left = self._last + self._silence - monotonic()
        if left <= 0:
            self.hangs = True
            self._child.kill()
            return
        self._timer = Timer(max(left, 0.01), self._look)
        self._timer.daemon = True
        self._timer.start()

    def stop(self):
        self._timer.cancel()
