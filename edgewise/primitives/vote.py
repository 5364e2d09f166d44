"""The most frequent label, as a small sample of all labels finds it.

Labels of components are voted for: once most edges are joined, a sample finds the label of a giant component.
The outcome stays on the device, so that the host need not wait for it.
"""

import numpy as np

from edgewise.device import each, fetch_max

#: Number of labels that vote.
VOTERS = 256
#: Number of labels that each voter is compared with.
COMPARED = 64
#: A vote is the count of equal labels above these bits, and the label below.
LABEL_BITS = 54
LABEL = (1 << LABEL_BITS) - 1


@each
def vote(voter, labels, n_labels, outcome):
    """Count how many of the compared labels equal the voter's; the most frequent label wins."""
    label = labels[voter * n_labels // VOTERS]
    count = 0
    for other in range(COMPARED):
        if labels[other * n_labels // COMPARED] == label:
            count += 1
    fetch_max(outcome, 0, (np.int64(count) << LABEL_BITS) | np.int64(label))
