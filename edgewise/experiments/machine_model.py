"""The threaded many-core memory model (TMM): the time of a step on a machine, and what a machine is in it.

With the work ``T1`` in steps, the span, the number of memory transfers ``mu``, ``p`` processors and a latency
of ``L`` that ``tau`` transfers of a processor share, a step takes ``max(T1 / p, span, mu * L / (tau * p))``.
The bandwidth bounds it from below as well.

L. Ma, K. Agrawal and R. D. Chamberlain, "A memory access model for highly-threaded many-core architectures",
Future Generation Computer Systems 30 (2014); S. Manoochehri (2017), chapter 4.
"""

from typing import NamedTuple

from edgewise.device import arrays, threads

#: Bytes of a memory transfer.
TRANSFER_BYTES = 32


class Machine(NamedTuple):
    """A machine in the model.

    Attributes
    ----------
    processors : int
        Cores of a CPU; lanes of all multiprocessors of a GPU.
    step : float
        Seconds of a step of a processor.
    latency : float
        Seconds of a memory transfer.
    in_flight : float
        Transfers of a processor at a time.
    bandwidth : float
        Bytes a second between the device and its memory.
    """

    processors: int
    step: float
    latency: float
    in_flight: float
    bandwidth: float


#: Machines by a word of the name of their GPU.  The bandwidth is that of a copy on the device, as measured;
#: the latency that of a dependent read while the device is busy.  A GPU has 128 lanes a multiprocessor, and
#: room for the transfers of 512 threads on each.
MACHINES = {
    "H200": Machine(132 * 128, 1e-9, 800e-9, 4, 4.3e12),
    "H100": Machine(132 * 128, 1e-9, 800e-9, 4, 3.0e12),
}
#: A core of a server, and the bandwidth of each.
CORE = Machine(1, 1e-9, 90e-9, 10, 10e9)


def machine_of(device):
    """The machine of a device; ``None`` for a GPU whose constants are not known."""
    if device == "cpu":
        count = threads.count()
        return CORE._replace(processors=count, bandwidth=count * CORE.bandwidth)
    if arrays.SIMULATED:
        return MACHINES["H200"]
    index = int(device.partition(":")[2] or 0)
    name = arrays.namespace(device).cuda.runtime.getDeviceProperties(index)["name"].decode()
    return next((machine for word, machine in MACHINES.items() if word in name), None)


def seconds(machine, *, work=0.0, span=0.0, transfers=0.0):
    """Seconds of a step of so much work, span and memory transfers.

    Examples
    --------
    >>> machine = Machine(processors=4, step=1.0, latency=8.0, in_flight=2, bandwidth=64.0)
    >>> seconds(machine, work=40)
    10.0
    >>> seconds(machine, span=3, transfers=10)
    10.0
    >>> seconds(machine, transfers=2, span=5)
    5.0
    """
    shared = transfers * machine.latency / (machine.in_flight * machine.processors)
    moved = transfers * TRANSFER_BYTES / machine.bandwidth
    return max(work * machine.step / machine.processors, span * machine.step, shared, moved)
