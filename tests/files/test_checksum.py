"""Checksums show every change, and do not depend on the number of threads."""

import numpy as np
import pytest

from edgewise.device import threads
from edgewise.files import checksum

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("size", (0, 1, 1000, 4096, 4097, 20_000))
def test_of_a_file(size, tmp_path, monkeypatch):
    monkeypatch.setattr(checksum, "PIECE", 4096)
    monkeypatch.setattr(checksum, "BUFFER", 512)
    content = np.random.default_rng(size).bytes(size)
    path = tmp_path / "file"
    path.write_bytes(content)
    found = checksum.of_file(path)
    assert found == checksum.of_bytes([content])
    monkeypatch.setattr(threads, "count", lambda: 7)
    assert found == checksum.of_file(path)
    for place in {0, size // 2, size - 1} if size else ():
        changed = bytearray(content)
        changed[place] ^= 16
        path.write_bytes(changed)
        assert found != checksum.of_file(path)
    path.write_bytes(content + b"\0")
    assert found != checksum.of_file(path)


def test_where_a_part_ends_counts():
    assert checksum.of_bytes([b"ab", b"c"]) != checksum.of_bytes([b"a", b"bc"])
    assert checksum.of_bytes([b"", b"a"]) != checksum.of_bytes([b"a"])
