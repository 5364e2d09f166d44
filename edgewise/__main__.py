"""``edgewise`` and ``python -m edgewise`` are the command line.

Nothing is imported at first, because Ctrl-C may come while the rest is being imported, and because a file
that is opened gets the number of a descriptor that the shell has closed.
"""

import gc
import os
import signal
import sys

#: Signals that end the command in good order, and what it says then, as in :mod:`edgewise.command.keyboard`.
WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}


def _end(number, _):
    """End at once: nothing has been written yet."""
    os.write(2, f"edgewise: {WORDS[signal.Signals(number).name]}\n".encode())
    os._exit(128 + number)


def expect_signals():
    """End by signals with the status and the words of the command, while it is being imported."""
    for name in WORDS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def main():
    """Run the command line and leave with its exit status."""
    expect_signals()
    for descriptor in range(3):
        _open_if_closed(descriptor)
    # NumPy starts threads for products of matrices, which commands have none of; they would spin at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # until all is imported: little of it is garbage, and the search takes a tenth of the start
    from edgewise.command import main as run_and_leave

    run_and_leave(sys.argv[1:])


def _open_if_closed(descriptor):
    """Open the null device in place of a closed descriptor: writing to standard output remains an error."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)


if __name__ == "__main__":
    main()
