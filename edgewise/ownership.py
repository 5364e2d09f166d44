"""Whose files are read: whether another user than this one, or than the administrator, can have written them.

Data may belong to anybody.  This is for files that are more than data: kernels, which are run; checkpoints
and saved streams, from which a run continues; and manifests, which say what else is read.  Where a system
does not know who owns a file, as on Windows, nothing is refused.
"""

import os
import stat

from edgewise.errors import FileError

#: The administrator, and the group of the administrator.
ROOT = 0


def of_another(file: str | os.PathLike | int) -> str | None:
    """Say that a file or folder belongs to another user, or return ``None``.

    Parameters
    ----------
    file : path-like or int
        A path, of which links are followed, or the descriptor of a file that is open, whose answer still
        holds when the file is read.

    Returns
    -------
    str or None
        ``"belongs to another user (bob)"``; ``None`` for files of this user and of the administrator.
    """
    return _owner(os.stat(file))


def open_to_others(file: str | os.PathLike | int) -> str | None:
    """Say that a file or folder belongs to another user or can be written by one, or return ``None``.

    The user's own group (with the number of the user) and that of the administrator may write.  A folder with
    the sticky bit, such as ``/tmp``, is no answer by itself, since nobody can replace the files of others in
    it: the files that are read there are to be asked for.

    Parameters
    ----------
    file : path-like or int
        As of :func:`of_another`.

    Returns
    -------
    str or None
        ``"belongs to another user (bob)"`` or ``"can be written by other users (mode 666)"``.
    """
    state = os.stat(file)
    others = state.st_mode & stat.S_IWOTH
    if state.st_gid not in (ROOT, state.st_uid):
        others |= state.st_mode & stat.S_IWGRP
    if others and _users() and not (stat.S_ISDIR(state.st_mode) and state.st_mode & stat.S_ISVTX):
        return _owner(state) or f"can be written by other users (mode {stat.S_IMODE(state.st_mode):o})"
    return _owner(state)


def check_owner(path: str | os.PathLike, file: str | os.PathLike | int, remedy: str) -> None:
    """Raise FileError, which ends with a ``remedy``, if a file of this path belongs to another user.

    ``file`` is as of :func:`of_another`.
    """
    problem = of_another(file)
    if problem is not None:
        raise FileError(path, f"{problem}; {remedy}")


def _users():
    """The users whose files are read, or nothing where the system does not know users."""
    return (os.geteuid(), ROOT) if hasattr(os, "geteuid") else ()


def _owner(state):
    users = _users()
    if users and state.st_uid not in users:
        return f"belongs to another user ({_name_of(state.st_uid)})"
    return None


def _name_of(user):
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"number {user}"
