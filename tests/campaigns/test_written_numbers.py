"""A few cases of the campaign."""

from tests.campaigns import written_numbers


def test_odd_weights_are_read_as_they_were_written():
    outcomes = written_numbers.main(["--cases", "60", "--seed", "2", "--processes", "1"])
    assert set(outcomes) <= written_numbers.RIGHT
    assert sum(outcomes.values()) == 60 and outcomes["equal"] > 20
