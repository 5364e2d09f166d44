"""Writing clusters: one row a vertex, with its id as it came in and its component."""

from edgewise.files import formats


def write_clusters(path, result, *, format: str | None = None) -> None:
    """Write a result's table to a Parquet, Arrow, CSV or TSV file, whole or not at all.

    Parameters
    ----------
    path : path-like
    result : Components, or anything with ``to_frame()``
    format : str, optional
        By default what the suffix says.

    Raises
    ------
    FileError
    """
    formats.write(result, path, format)
