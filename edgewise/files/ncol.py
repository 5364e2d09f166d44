"""NCOL: ``name name [weight]`` in each row, separated by blanks; rows without a weight have weight 1.

The format of Adai et al., "LGL: creating a map of protein function with an algorithm for visualizing very
large biological networks", J. Mol. Biol. 340 (2004), as igraph reads it.
"""

import numpy as np

from edgewise.errors import FileError
from edgewise.files.record import Edges
from edgewise.files.rows import line_of_row, read_rows

COMMENTS = b"#"


def read(source, options) -> Edges:
    """Read an undirected graph with names; the weights are missing only if no row has one."""
    options.only("NCOL", "weight", "ids")
    fields, lengths = read_rows(source, 0, COMMENTS, "string")
    wrong = np.flatnonzero((lengths != 0) & (lengths != 2) & (lengths != 3))
    if len(wrong):
        line = line_of_row(source, 0, COMMENTS, int(wrong[0]))
        problem = f"two names and perhaps a weight expected, but found {lengths[wrong[0]]} fields"
        raise FileError(source.path, problem, line)
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    weights = None
    if options.weight is not False and (lengths == 3).any():
        weights = _weights(source, fields, starts, lengths)
    return Edges(fields.take(starts), fields.take(starts + 1), weights)


def _weights(source, fields, starts, lengths):
    import pyarrow as pa

    heavy = lengths[lengths > 0] == 3
    weights = np.ones(len(starts))
    try:
        weights[heavy] = fields.take(starts[heavy] + 2).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise FileError(source.path, f"a weight is not a number ({error}); correct it") from error
    return weights
