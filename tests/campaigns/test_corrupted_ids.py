"""A few cases of the campaign."""

from tests.campaigns import corrupted_ids


def test_corrupted_ids_make_right_clusters_or_one_clear_line():
    outcomes = corrupted_ids.main(["--cases", "5", "--seed", "5", "--processes", "1"])
    assert set(outcomes) <= corrupted_ids.RIGHT
    assert sum(outcomes.values()) == 30 and outcomes["equal"] > 5 and outcomes["refused"] > 5
