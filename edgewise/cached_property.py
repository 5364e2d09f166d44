"""``functools.cached_property`` without the lock that it had before Python 3.12.

That lock was one for all objects of a class, held while the value was computed.  Threads with different
graphs waited for each other, and the child of a ``fork`` waited for ever if another thread had held it.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):  # type checkers know that of functools
    from functools import cached_property
else:

    class cached_property:
        """A method whose value is kept in the object under the method's name."""

        def __init__(self, function):
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = vars(instance)[self.name] = self.function(instance)
            return value


__all__ = ["cached_property"]
