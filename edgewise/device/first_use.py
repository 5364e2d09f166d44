"""What waits for the first use of the compilers, and whether their private names are used."""

import os
from threading import RLock

#: Whether private names of the compilers are left alone (:mod:`~edgewise.device.numba_internals`).
PUBLIC_ONLY = os.environ.get("EDGEWISE_PUBLIC_ONLY", "0") not in ("", "0")

_one_registers = RLock()


class Compiler:
    """What waits for the first use of a compiler."""

    def __init__(self):
        self.waiting, self.is_ready = [], False

    def call(self, register):
        """Call ``register()`` when something is first compiled, or now if that has happened."""
        with _one_registers:
            if not self.is_ready:
                self.waiting.append(register)
                return
        register()

    def use(self):
        """Register all that waits."""
        if self.is_ready and not self.waiting:
            return
        with _one_registers:
            while self.waiting:
                self.waiting.pop(0)()
            self.is_ready = True


for_cpu, for_cuda = Compiler(), Compiler()
on_cpu_compiler, on_cuda = for_cpu.call, for_cuda.call
#: Registers every device function with the CPU compiler; called before something is compiled.
prepare_cpu_compiler = for_cpu.use


def private(module, *names):
    """Return attributes of a module, given by its name; ``None`` for each that is missing or not wanted."""
    try:
        found = __import__(module, fromlist=["*"])
    except ImportError:
        found = None
    return [None if PUBLIC_ONLY else getattr(found, name, None) for name in names]
