"""The control groups of this process, by which a container limits it: where their files are.

Version 1 of the interface has a tree of groups for each controller, version 2 one for all.  A limit holds for
a group and for all groups below it, so that of a process is the least of its own group and those above.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: Where the system shows control groups, by the version of the interface.
MOUNTED_1, MOUNTED_2 = "sys/fs/cgroup/{}", "sys/fs/cgroup"


def limits(
    controller: str,
    of_version: tuple[Callable[[str], Any], Callable[[str], Any]],
    root: str | Path = "",
) -> Iterator[Any]:
    """Yield what limits this process in each of its groups that has a limit.

    ``of_version`` are functions of the folder of a group by versions 1 and 2, which return ``None`` if it has
    none.
    """
    limit_1, limit_2 = of_version
    for line in text(f"{root}/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            folder, limit_of = f"{root}/{MOUNTED_2}", limit_2
        elif controller in controllers.split(","):
            folder, limit_of = f"{root}/{MOUNTED_1.format(controller)}", limit_1
        else:
            continue
        folders = [folder]
        for name in filter(None, path.split("/")):
            folders.append(folder := f"{folder}/{name}")
        # in a container the path may be that of the host, of which only the mounted folder is there
        yield from (limit for limit in map(limit_of, reversed(folders)) if limit is not None)


def text(path: str | Path) -> str:
    """The text of a small file; nothing if it is not there or may not be read.

    Large calls ask for a dozen of them, so they are read without the layers of buffers and of text, which
    take several times as long as the system.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().decode()
    except (OSError, ValueError):
        return ""
