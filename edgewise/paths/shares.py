"""How warps and teams share out rows, and put together what they found.

Counters lie :data:`APART` words apart, so that they do not share a cache line, and a queue is a stretch of
one array: queue ``which`` begins at ``which * capacity`` and is as long as counter ``which`` says.
"""

from edgewise.device import device, fetch_add
from edgewise.device.warps import from_lane, meet_team, team_size, ticket

#: Words between two counters.
APART = 16
#: Entries of a row that one warp takes at a time; longer rows are cut into pieces.
PIECE = 1024


@device
def put(queue, counts, which, capacity, vertex):
    """Append a vertex to one of the queues; what does not fit is counted only."""
    place = ticket(counts, which * APART)
    if place < capacity:
        queue[which * capacity + place] = vertex


@device
def owner_of(entry, ends, lanes):
    """Number of the lane in whose share ``entry`` lies; ``ends`` are where the lanes' shares end."""
    owner, step = 0, lanes // 2
    while step > 0:
        if from_lane(ends, owner + step - 1) <= entry:
            owner += step
        step //= 2
    return owner


@device
def add_up(me, words, own, counts, which, found):
    """Add what the team's workers have found to a counter, by way of the team's word ``own``."""
    team = team_size()
    meet_team()
    if me % team == 0:
        words[own] = 0
    meet_team()
    if found > 0:
        fetch_add(words, own, found)
    meet_team()
    if me % team == 0 and words[own] > 0:
        fetch_add(counts, which * APART, words[own])
