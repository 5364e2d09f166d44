"""Every interleaving of the small cases with up to three preemptions has the right outcome."""

import pytest

from edgewise.device.explorer import explore
from tests.campaigns.exhaustive import CASES, join, union

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
#: Interleavings with up to three preemptions.
INTERLEAVINGS = {
    "Rem's union, two threads": 107,
    "Rem's union, a cycle": 748,
    "Rem's union with shortening, two threads": 619,
    "hooking, two threads": 44,
    "put_below_root beside a union": 196,
    "ecl-cc, rows of a diamond": 1120,
    "wound-wait, two transactions": 3086,
    "matching, a path": 2902,
}


@pytest.mark.parametrize("name", [name for name, (_, is_small) in CASES.items() if is_small])
def test_all_interleavings_are_right(name):
    run, _ = CASES[name]
    assert explore(run, preemptions=3) == INTERLEAVINGS[name]


def test_a_lost_hook_is_found(monkeypatch):
    """The union without comparing and swapping loses an edge with one preemption."""
    from tests import jitter
    from tests.campaigns import exhaustive

    careless = jitter.jittery(union, cas=jitter.careless_cas)
    monkeypatch.setitem(exhaustive._ours, union, careless)
    with pytest.raises(AssertionError) as caught:
        explore(lambda order: join(union, exhaustive.PAIR, order), preemptions=1)
    assert "of 1 preemptions" in caught.value.__notes__[0]
