"""Names of the ways from tables of pairs to a result, from the fastest one on.

Commands on small files ask for no more than the names; :mod:`~edgewise.streams.ways` has the rest.
"""

IN_MEMORY, STREAMED, ON_DISK = "in memory", "streamed", "on disk"
ALL = (IN_MEMORY, STREAMED, ON_DISK)
