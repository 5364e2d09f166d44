"""Who reaches whose memory, read from the driver, and the order in which workers meet in pairs."""

from edgewise.device import streams
from edgewise.errors import DeviceError


def check_access(reader, owner):
    """Raise :class:`~edgewise.errors.DeviceError` unless ``reader`` can read the memory of ``owner``."""
    if not streams.peer_access(reader.device, owner.device):
        raise DeviceError(
            f"{reader.name} cannot read the memory of {owner.name}; use merge='pairwise-rem' or 'auto'"
        )


def all_access(team) -> bool:
    """Whether every worker can read the memory of every other."""
    return all(streams.peer_access(one, other) for one in team.devices for other in team.devices)


def groups(devices):
    """Numbers of the workers in groups whose members reach one another, in order."""
    found = []
    for number, position in enumerate(devices):
        for group in found:
            if all(streams.peer_access(position, devices[member]) for member in group):
                group.append(number)
                break
        else:
            found.append([number])
    return found


def rounds(devices):
    """Rounds of meetings ``(receiver, sender)`` after which the first worker has heard of all.

    Workers meet within their group for as long as they can (Hellås 2018, section 5.2.2 and Figure 5.1),
    since what crosses groups goes through the host.
    """
    inside = [_tree(group) for group in groups(devices)]
    longest = max(map(len, inside), default=0)
    within = [[pair for tree in inside if turn < len(tree) for pair in tree[turn]] for turn in range(longest)]
    return within + _tree([group[0] for group in groups(devices)])


def _tree(members):
    """Rounds of a binary tree over ``members``, towards the first."""
    found, step = [], 1
    while step < len(members):
        found.append([(members[i], members[i + step]) for i in range(0, len(members) - step, 2 * step)])
        step *= 2
    return found
