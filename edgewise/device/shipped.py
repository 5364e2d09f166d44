"""Kernels that come with the package, so that a first call compiles nothing.

A wheel that ``make kernels`` has built has them beside the sources, in a folder whose name is the same digest
as that of the user's folder (:mod:`~edgewise.device.cache`): of the sources, and of the versions of Python,
Numba and llvmlite.  Where one of them differs, the folder is not found, and kernels are compiled.

Code for CPU cores is compiled for the usual levels of processors, not for one processor.  Kernels of GPUs are
there for some compute capabilities.

What is in the folder is trusted as the sources are that lie beside it.
"""

import os
import stat
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
#: Folder of the package that has a folder of kernels for each digest.
FOLDER = PACKAGE / "kernels"
#: Levels by architecture, as LLVM names them, the newest first; and what a processor of a level must have.
LEVELS = {
    "x86_64": {
        "x86-64-v3": "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse4.2 xsave",
        "x86-64": "",
    },
    "aarch64": {"generic": ""},
}
#: Compute capabilities that GPU kernels are made for; newer GPUs run the code of older ones.
CAPABILITIES = ((9, 0), (8, 0))
#: Permissions to write of others than the owner.
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def levels(triple: str, features: dict[str, bool]) -> list[str]:
    """Levels whose code runs on a processor.

    Parameters
    ----------
    triple : str
        LLVM's name of the system, such as ``"x86_64-unknown-linux-gnu"``.
    features : dict
        By name of a feature, as LLVM has it, whether the processor has it.
    """
    of_architecture = LEVELS.get(triple.partition("-")[0], {})
    return [level for level, needs in of_architecture.items() if all(map(features.get, needs.split()))]


def is_as_safe_as_sources(file: int, path: os.PathLike) -> bool:
    """Whether those who can write a file, given as its descriptor, can also write the package's sources."""
    found, source = os.stat(file), os.stat(__file__)
    mode = stat.S_IMODE(found.st_mode) & _BY_OTHERS
    is_no_wider = mode & ~source.st_mode == 0 and (not mode or found.st_gid == source.st_gid)
    return found.st_uid in (source.st_uid, 0) and is_no_wider
