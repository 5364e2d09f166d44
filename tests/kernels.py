"""Kernels that a process compiles, or would compile if they were not kept."""

import subprocess
import sys

NOTE = """
import sys
from edgewise.device import numba_internals

load, found = numba_internals.KernelCache.load_overload, set()


def note(self, signature, context):
    found.add((self.read.args[0], repr(signature)))
    return load(self, signature, context)


numba_internals.KernelCache.load_overload = note
{statement}
print(*map(repr, found), sep="\\n", file=sys.stderr)
"""


def needed(statement, *arguments, cwd):
    """Names and signatures of the kernels that a statement loads or compiles in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", NOTE.format(statement=statement), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=True,
    )
    return {*done.stderr.splitlines()}, done.stdout
