"""Keep the marked items."""


def pack(marked, *columns):
    """Return each column's items where ``marked`` is true, in order.

    Parameters
    ----------
    marked : (n,) bool array
    *columns : (n,) arrays or None
        ``None`` stays ``None``.

    Returns
    -------
    tuple of arrays
    """
    return tuple(None if column is None else column[marked] for column in columns)
