"""The number of CPU threads of a parallel loop."""

import numba

from edgewise.errors import OptionError, argument


def count() -> int:
    """Number of threads that loops use."""
    return numba.get_num_threads()


def use(number: int | None) -> None:
    """Set the number of threads of loops; ``None`` changes nothing.

    Raises
    ------
    OptionError
        No whole number, or more threads than Numba has: one per core, or ``NUMBA_NUM_THREADS``.
    """
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise OptionError(f"{argument('threads', number)} must be a whole number, 1 or more")
    max_threads = numba.config.NUMBA_NUM_THREADS
    if not 1 <= number <= max_threads:
        raise OptionError(
            f"{number} threads are not available, 1 to {max_threads} are; set NUMBA_NUM_THREADS for more"
        )
    numba.set_num_threads(number)
