"""Kinds of tables: which library a table is of, and an Arrow table as one of that library.

A library is imported only where a table of it is wanted, and one that came in has imported it already.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from edgewise.errors import OptionError, argument, one_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    #: A table of any of the three libraries.
    Frame: TypeAlias = pyarrow.Table | pandas.DataFrame | polars.DataFrame

#: Name of a library of tables.
Kind = Literal["arrow", "pandas", "polars"]
KINDS: tuple[Kind, ...] = ("arrow", "pandas", "polars")


def kind_of(table: Any) -> Kind:
    """The library of a table: ``"arrow"`` for any that is neither pandas nor Polars.

    Examples
    --------
    >>> kind_of({"a": [1]})
    'arrow'
    """
    for kind in KINDS[1:]:
        library = sys.modules.get(kind)
        if library is not None and isinstance(table, library.DataFrame):
            return kind
    return "arrow"


def as_kind(table: pyarrow.Table, kind: Kind) -> Frame:
    """An Arrow table as one of a library.

    Raises
    ------
    OptionError
        The kind is unknown, or its library is not installed.
    """
    if kind not in KINDS:
        raise OptionError(f"{argument('kind', kind)} is unknown; {one_of(kind, KINDS)}")
    if kind == "arrow":
        return table
    try:
        if kind == "pandas":
            return table.to_pandas()
        import polars
    except ImportError:
        remedy = f"install it, or use {argument('kind', 'arrow')}"
        raise OptionError(
            f"{argument('kind', kind)} needs {kind}, which is not installed; {remedy}"
        ) from None
    return polars.from_arrow(table)
