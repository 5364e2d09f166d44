"""Who is told that a kernel is compiled, such as a display of progress, and which command runs.

The page imports nothing, so that a command can listen before a compiler is imported.
"""

from collections.abc import Callable

#: Is called with the name of a kernel when its compilation begins, and with "" when it is done.
listener: Callable[[str], None] | None = None
#: Is called with the full name and the argument types of each CPU kernel that this process compiles, until it
#: returns ``True``.
first_kernel: Callable[[str, str], bool] | None = None
#: The subcommand that this process was started for, if it is the command line.
command: str | None = None
