"""Access between the memories of devices, and the rounds in which workers exchange results in pairs."""

from edgewise.device import streams
from edgewise.errors import DeviceError, argument


def check_access(reader, owner):
    """Raise :class:`~edgewise.errors.DeviceError` unless ``reader`` can read the memory of ``owner``."""
    if not streams.peer_access(reader.device, owner.device):
        raise DeviceError(
            f"{reader.name} cannot read the memory of {owner.name}; "
            f"use {argument('merge', 'pairwise-rem')} or 'auto'"
        )


def all_access(team) -> bool:
    """Whether every worker can read the memory of every other."""
    return all(streams.peer_access(one, other) for one in team.devices for other in team.devices)


def groups(devices):
    """Numbers of the workers, in groups whose members have access to each other, in order."""
    groups: list[list[int]] = []
    for number, device in enumerate(devices):
        for group in groups:
            if all(streams.peer_access(device, devices[member]) for member in group):
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def rounds(devices):
    """Rounds of pairs ``(receiver, sender)`` after which the first worker has the results of all.

    Pairs are inside groups for as many rounds as possible (Hellås 2018, section 5.2.2 and Figure 5.1), since
    transfers between groups go through the host.
    """
    grouped = groups(devices)
    trees = [_tree(group) for group in grouped]
    depth = max(map(len, trees), default=0)
    inside = [[pair for tree in trees if turn < len(tree) for pair in tree[turn]] for turn in range(depth)]
    return inside + _tree([group[0] for group in grouped])


def _tree(members):
    """Rounds of a binary tree over ``members``, towards the first."""
    levels, step = [], 1
    while step < len(members):
        levels.append([(members[i], members[i + step]) for i in range(0, len(members) - step, 2 * step)])
        step *= 2
    return levels
