"""Tests of NetworkX that are expected to fail when this backend runs its functions, with the reasons."""

from typing import Any

#: Reasons by file and name of the test.
EXPECTED: dict[str, str] = {}


def mark(items: list[Any]) -> None:
    """Mark tests that pytest has collected."""
    import pytest

    for item in items:
        name = f"{item.fspath.basename}:{item.nodeid.partition('::')[2].replace('::', '.')}"
        reason = EXPECTED.get(name.partition("[")[0])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason))
