"""A few cases of the campaigns of mutated files and of interrupted streams."""

import pytest

from edgewise.device.target import SIMULATED
from tests.campaigns import interrupted_streams, mutated_files

pytestmark = pytest.mark.skipif(SIMULATED, reason="nothing runs on a GPU")


@pytest.mark.parametrize(("mode", "cases"), (("footers", 12), ("others", 30)))
def test_mutated_files(mode, cases, tmp_path):
    arguments = [
        "--mode",
        mode,
        "--cases",
        str(cases),
        "--seed",
        "7",
        "--processes",
        "1",
        "--keep",
        str(tmp_path),
    ]
    counts = mutated_files.main(arguments)
    assert set(counts) == {"accepted", "refused"} and sum(counts.values()) == cases


@pytest.mark.parametrize(
    "kind", (["--seed", "3"], ["--seed", "18", "--stream", "components by tasks", "--signal", "SIGINT"])
)
def test_interrupted_streams(kind):
    assert interrupted_streams.main(["--cases", "1", *kind]) == {"equal": 1}
