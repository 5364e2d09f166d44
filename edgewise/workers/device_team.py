"""Which devices take part: from what a user writes to a list of workers."""

from typing import NamedTuple

from edgewise.device import arrays
from edgewise.errors import DeviceError

#: More CPU workers than any machine has cores are a slip of the pen.
MOST_CPU_WORKERS = 256


class Worker(NamedTuple):
    """One device of a team.

    Attributes
    ----------
    name : str
        ``"cuda:1"`` or ``"cpu:0"``; unique in its team.
    device : str
        Where its arrays lie; ``"cpu"`` for every CPU worker.
    """

    name: str
    device: str


class DeviceTeam(tuple[Worker, ...]):
    """The workers of a job, in order; results end up with the first."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the workers."""
        return tuple(worker.name for worker in self)

    @property
    def devices(self) -> tuple[str, ...]:
        """Place of each worker."""
        return tuple(worker.device for worker in self)

    def synchronize(self) -> None:
        """Wait until every worker is done."""
        for device in set(self.devices):
            arrays.synchronize(device)


def device_team(devices) -> DeviceTeam:
    """DeviceTeam that a user's words stand for.

    Parameters
    ----------
    devices : str or sequence of str
        ``"all"`` (every GPU), ``"cpu+cuda"`` (every GPU and a CPU worker), or devices such as ``"cuda:0"``,
        ``"cpu:1"``, as a list or with commas between.

    Returns
    -------
    DeviceTeam

    Raises
    ------
    DeviceError
        A device is unknown, not there, or given twice; ``"all"`` without a GPU; no device at all.
    """
    if isinstance(devices, DeviceTeam):
        return devices
    if isinstance(devices, str):
        named = [word.strip() for word in devices.split(",")]
    elif isinstance(devices, list | tuple):
        named = devices
    else:
        raise DeviceError(f"devices={devices!r} is neither a string nor a list; use 'all' or ['cuda:0', ...]")
    workers = [worker for name in named for worker in _workers(name)]
    if not workers:
        raise DeviceError("devices= names no device; use 'all' or ['cuda:0', ...]")
    for position, worker in enumerate(workers):
        if worker in workers[:position]:
            raise DeviceError(f"device {worker.name!r} is given twice; name every device once")
    return DeviceTeam(workers)


def _workers(name):
    """The workers one word stands for."""
    if name in ("all", "cpu+cuda", "cuda+cpu"):
        gpus = [Worker(f"cuda:{number}", f"cuda:{number}") for number in range(arrays.gpu_count())]
        if not gpus:
            raise DeviceError(f"devices={name!r} needs a GPU ({arrays.why_no_gpu()}); use 'cpu:0,cpu:1'")
        return gpus if name == "all" else [*gpus, Worker("cpu:0", "cpu")]
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    counted = number.isascii() and number.isdecimal() if colon else True
    if kind not in ("cpu", "cuda") or not counted:
        raise DeviceError(f"device {name!r} is unknown; use all, cpu+cuda, cuda:N or cpu:N")
    number = int(number or 0)
    if kind == "cuda":
        _check_gpu(name, number)
        return [Worker(f"cuda:{number}", f"cuda:{number}")]
    if number >= MOST_CPU_WORKERS:
        raise DeviceError(
            f"device {name!r} is one too many; CPU workers are cpu:0 to cpu:{MOST_CPU_WORKERS - 1}"
        )
    return [Worker(f"cpu:{number}", "cpu")]


def _check_gpu(name, number):
    count = arrays.gpu_count()
    if number >= count:
        there = arrays.why_no_gpu() or f"{count} GPUs, numbered from 0"
        raise DeviceError(f"device {name!r} is not there ({there}); name devices that are, such as cpu:0")
