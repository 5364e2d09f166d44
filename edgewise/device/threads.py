"""How many CPU threads a parallel loop uses."""

import numba

from edgewise.errors import OptionError


def count() -> int:
    """Number of threads that loops use now."""
    return numba.get_num_threads()


def use(number: int | None) -> None:
    """Let loops use ``number`` threads from now on; ``None`` leaves everything as it is.

    Raises
    ------
    OptionError
        More threads than Numba keeps: one a core, or ``NUMBA_NUM_THREADS``.
    """
    if number is None:
        return
    most = numba.config.NUMBA_NUM_THREADS
    if not 1 <= number <= most:
        raise OptionError(
            f"{number} threads asked for, 1 to {most} can be had; set NUMBA_NUM_THREADS for more"
        )
    numba.set_num_threads(number)
