"""Arrays that grow at the end."""

from contextlib import suppress

import numpy as np

from edgewise.primitives.array_operations import copy_into


class Growing:
    """A one-dimensional array that doubles when it is full: ``used`` items of ``array`` are in use.

    Memory that was never written takes no physical memory, so reserving too much costs nothing, and doubling
    costs what is used.
    """

    def __init__(self, dtype, expected=0):
        self.array, self.used = np.empty(1024, dtype), 0
        self.reserve(int(expected))

    def extend(self, count, spare=0):
        """Append ``count`` items and return them, to be written; ``spare`` more are reserved."""
        self.used += count
        if self.used + spare > len(self.array):
            size = max(self.used + spare, 2 * len(self.array))
            self._move(np.empty(size, self.array.dtype), self.used - count)
        return self.array[self.used - count : self.used]

    def reserve(self, count):
        """Reserve room for ``count`` items in all, if there is that much address space."""
        if count > len(self.array):
            with suppress(MemoryError):
                self._move(np.empty(count, self.array.dtype), self.used)

    def widen(self, dtype):
        """Change to a type that holds larger numbers."""
        self._move(np.empty(len(self.array), dtype), self.used)

    def _move(self, array, count):
        copy_into(array[:count], self.array[:count])
        self.array = array

    def used_items(self):
        """Return the items in use."""
        return self.array[: self.used]
