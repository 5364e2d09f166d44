"""``edgewise plan``: what finding the clusters of tables needs, in memory, streamed and on disk."""

from edgewise import memory
from edgewise.command import options, report, streaming
from edgewise.errors import OutOfMemoryError


@options.subcommand(
    "memory.md",
    "edgewise plan pairs.parquet",
    "edgewise plan shards/ --where 'score >= 0.9' --memory 4GB",
    "edgewise plan pairs.csv --json",
    leave_out=("device", "devices", "profile", "quiet"),
)
def plan(pairs: options.Inputs, reading, run: options.Run):
    """Show how much memory the clusters of tables need, before anything is read but a sample."""
    from edgewise.streams import READING, ways

    streaming.check_stream(reading, READING, False)
    known = streaming.pairs_in(list(pairs), reading, None)
    found, most = ways.ways_of(known), memory.limit()
    try:
        chosen = ways.first_that_fits(found, streaming.preferred(ways.ALL, pairs), most).name
    except OutOfMemoryError:
        chosen = None
    if run.json:
        limit = {"memory_limit": most._asdict() | {"source": streaming.source_of(most)}}
        steps = {way.name: {"bytes": way.bytes, "disk_bytes": way.disk_bytes} for way in found}
        report.as_json(known._asdict() | {"ways": steps, "chosen": chosen} | limit)
        return
    report.lines(_in_words(known, found) | _limit_in_words(most, chosen))


def _in_words(known, found):
    about = "" if known.exact else "about "
    kinds = {"dense": "vertex numbers", "sparse": "integers", "strings": "strings"}
    return {
        "pairs": f"{about}{known.rows:,}",
        "ids": f"about {known.distinct:,} {kinds[known.ids]}",
        **{way.name: _way_in_words(way) for way in found},
    }


def _way_in_words(way):
    disk = f", and {memory.in_words(way.disk_bytes)} of disk" if way.disk_bytes else ""
    return f"{memory.in_words(way.bytes)}{disk}"


def _limit_in_words(most, chosen):
    words = "nothing fits" if chosen is None else f"the clusters are found {chosen}"
    return {"memory limit": f"{memory.in_words(most.bytes)} ({streaming.source_of(most)})", "so": words}
