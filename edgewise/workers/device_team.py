"""The devices that take part in a job: from what the caller names to a list of workers."""

from typing import NamedTuple

from edgewise import driver
from edgewise.device import arrays
from edgewise.errors import DeviceError, argument, one_of

#: What the devices of a team may be called.
DEVICES = ("all", "cpu+cuda", "cuda:N", "cpu:N")
#: Largest number of CPU workers: more than the cores of any machine, so a larger number is a typing error.
MAX_CPU_WORKERS = 256


class Worker(NamedTuple):
    """One device of a team: its name, unique in the team, and the device of its arrays.

    The name is such as ``"cuda:1"`` or ``"cpu:0"``; the device is ``"cpu"`` for every CPU worker.
    """

    name: str
    device: str


class DeviceTeam(tuple[Worker, ...]):
    """The workers of a job, in order; the first one holds the result."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(worker.name for worker in self)

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(worker.device for worker in self)

    def synchronize(self) -> None:
        """Wait until every worker has finished."""
        for device in set(self.devices):
            arrays.synchronize(device)


def device_team(devices) -> DeviceTeam:
    """Team of the devices that a caller names.

    They are ``"all"`` (every GPU), ``"cpu+cuda"`` (every GPU and a CPU worker), or devices such as
    ``"cuda:0"`` (or ``"gpu:0"``), ``"cpu:1"``, as a list or separated by commas.
    """
    if isinstance(devices, DeviceTeam):
        return devices
    if isinstance(devices, str):
        devices = [word.strip() for word in devices.split(",")]
    if not isinstance(devices, list | tuple):
        given = argument("devices", devices)
        raise DeviceError(f"{given} is neither a string nor a list; use 'all' or ['cuda:0', ...]")
    workers = [worker for name in devices for worker in _workers(name)]
    if not workers:
        raise DeviceError(f"{argument('devices')} names no device; use 'all' or ['cuda:0', ...]")
    for position, worker in enumerate(workers):
        if worker in workers[:position]:
            raise DeviceError(f"device {worker.name!r} is given twice; name every device once")
    return DeviceTeam(workers)


def _workers(name):
    """The workers that one word names."""
    if name in ("all", "cpu+cuda", "cuda+cpu"):
        gpus = [Worker(f"cuda:{number}", f"cuda:{number}") for number in range(arrays.gpu_count())]
        if not gpus:
            given = argument("devices", name)
            raise DeviceError(f"{given} needs a GPU ({arrays.why_no_gpu()}); use 'cpu:0,cpu:1'")
        return gpus if name == "all" else [*gpus, Worker("cpu:0", "cpu")]
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    is_numbered = number.isascii() and number.isdecimal() if colon else True
    kind = "cuda" if kind in driver.GPU else kind
    if kind not in ("cpu", "cuda") or not is_numbered:
        raise DeviceError(f"device {name!r} is unknown; {one_of(str(name).replace('gpu', 'cuda'), DEVICES)}")
    position = int(number or 0)
    if kind == "cuda":
        if position >= (count := arrays.gpu_count()):
            reason = arrays.why_no_gpu() or f"{count} GPUs, numbered from 0"
            raise DeviceError(
                f"device {name!r} is not there ({reason}); name devices that are, such as cpu:0"
            )
        return [Worker(f"cuda:{position}", f"cuda:{position}")]
    if position >= MAX_CPU_WORKERS:
        last = MAX_CPU_WORKERS - 1
        raise DeviceError(f"device {name!r} is one too many; CPU workers are cpu:0 to cpu:{last}")
    return [Worker(f"cpu:{position}", "cpu")]
