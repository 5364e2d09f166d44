"""The number of CPU threads of a parallel loop."""

import numba

from edgewise.errors import OptionError


def count() -> int:
    """Number of threads that loops use."""
    return numba.get_num_threads()


def use(number: int | None) -> None:
    """Set the number of threads of loops; ``None`` changes nothing.

    Raises
    ------
    OptionError
        More threads than Numba has: one per core, or ``NUMBA_NUM_THREADS``.
    """
    if number is None:
        return
    max_threads = numba.config.NUMBA_NUM_THREADS
    if not 1 <= number <= max_threads:
        raise OptionError(
            f"{number} threads are not available, 1 to {max_threads} are; set NUMBA_NUM_THREADS for more"
        )
    numba.set_num_threads(number)
