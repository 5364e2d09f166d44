import pytest

from edgewise.command import outputs

PAIRS = """left_id,right_id,score
ann,anne,0.97
anne,anna,0.91
bob,rob,0.95
ann,bob,0.40
carl,karl,0.99
"""


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """A small file of scored pairs, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


@pytest.fixture
def terminal(capsys, monkeypatch):
    """Standard output looks like a terminal; what is written to it can be read as from ``capsys``."""
    monkeypatch.setattr(outputs, "is_terminal", lambda: True)
    return capsys
