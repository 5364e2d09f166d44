"""Whether a search for all pairs fits the memory, asked before it begins.

Distances that are kept need their own bytes, and those for a file a block at a time.  A method that keeps the
whole matrix has it beside them, with sides padded to a tile, unless it is closed where the result goes.  Over
several GPUs it is spread by rows, and each hands its rows over in a copy.
"""

from edgewise.device import arrays
from edgewise.errors import OutOfMemoryError

#: The matrix's sides are padded to a multiple of this, or of a divisor.
SIDE = 128


def needs_of(whole, vertices, height, itemsize, home, devices, in_place=False):
    """Bytes that a search needs in each place.

    Parameters
    ----------
    whole : bool
        Whether the method keeps the whole matrix.
    vertices : int
    height : int
        Rows of distances that are held at a time.
    itemsize : int
        Bytes of a distance.
    home : str
        Where the rows are put together.
    devices : sequence of str
        Where the search runs.
    in_place : bool
        Whether all rows are wanted, in their order, so that the matrix may be closed where they go.

    Returns
    -------
    dict of str to int
    """
    needs = {home: height * vertices * itemsize}
    side = -(-vertices // SIDE) * SIDE
    if whole and not (in_place and side == vertices and len(devices) == 1):
        share = side * side * itemsize // len(devices) * (2 if len(devices) > 1 else 1)
        for position in devices:
            needs[position] = needs.get(position, 0) + share
    return needs


def lacking(needs):
    """The first place with too little memory, the bytes needed and those free; ``None`` if all fits."""
    for device, needed in needs.items():
        free = arrays.free_memory(device)
        if needed > free:
            return device, needed, free
    return None


def check(needs, without, method, instead, kept):
    """Refuse a search that does not fit.

    Parameters
    ----------
    needs, without : dict
        Bytes in each place by this method, and by one that does not keep the whole matrix.
    method, instead : str
        Names of the two.
    kept : bool
        Whether all distances are kept in memory.

    Raises
    ------
    OutOfMemoryError
    """
    short, still = lacking(needs), lacking(without)
    if short is None:
        return
    device, needed, free = still or short
    if still is None:
        raise OutOfMemoryError(
            f"{device} has too little memory for the matrix of {method}: {needed:,} bytes needed, "
            f"{free:,} free; use method={instead!r}"
        )
    also = f" and method={instead!r}" if method != instead else ""
    what, remedy = "a block of", "use fewer vertices"
    if kept:
        what, remedy = "all", f"write them to a file with output='distances.npy'{also}"
    raise OutOfMemoryError(
        f"{device} has too little memory for {what} distances: {needed:,} bytes needed, {free:,} free; "
        + remedy
    )
