"""How texts of other people are shown: ids, names of columns and files, and lines of files.

A terminal obeys control characters, and others turn the direction of the text or are invisible.  Everything
that is shown to people passes through :func:`printable`, and through :func:`in_html` on a page.  Data that
are written to a file or a pipe are never changed.
"""

from typing import Any

#: Rows of a table that a notebook shows.
SHOWN_ROWS = 8
#: Characters of a value that a notebook shows.
SHOWN_CHARACTERS = 60
#: Blanks that ``str.isprintable`` does not count as printable; names in Japanese have the last one.
_BLANKS = frozenset("\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))


def printable(text: Any, kept: str = "") -> str:
    r"""Return ``text`` with an escape, as Python writes it, for every character that is not seen as itself.

    These are control characters, line breaks, those that turn the direction of text or have no width,
    surrogates, and numbers without a character; those in ``kept`` remain.

    Examples
    --------
    >>> print(printable("a\x1b]0;b\x07"))
    a\x1b]0;b\x07
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in _BLANKS or one in kept else repr(one)[1:-1] for one in text
    )


def in_html(text: Any) -> str:
    r"""Return ``text`` as a page shows it: without tags, and :func:`printable`.

    Examples
    --------
    >>> print(in_html("<b>\x07"))
    &lt;b&gt;\x07
    """
    import html

    return html.escape(printable(text))


def html_of(table: Any) -> str:
    """The first rows of an Arrow table in HTML; one more row than is shown says that there are others."""
    names = "".join(f"<th>{in_html(name)}</th>" for name in table.column_names)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row.values())}</tr>"
        for row in table.slice(0, SHOWN_ROWS).to_pylist()
    )
    if table.num_rows > SHOWN_ROWS:
        rows += f"<tr>{'<td>…</td>' * table.num_columns}</tr>"
    return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value) -> str:
    """A value of a table in HTML, shortened if it is long."""
    text = f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
    return in_html(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")
