"""A few cases of the campaign, and that it meets every graph of at most three vertices."""

from tests.campaigns import sliced_graphs


def test_slices_have_what_they_have_in_the_whole():
    assert len(sliced_graphs.SMALL) == 1 + 1 + 2 + 2 + 8 + 16 + 64 + 512
    outcomes = sliced_graphs.main(["--cases", "3", "--seed", "4", "--processes", "1"])
    assert set(outcomes) <= sliced_graphs.RIGHT and outcomes["right"] > 75
