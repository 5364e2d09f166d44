"""``edgewise components --stream``: many files in, the same table out, and no pair held in memory."""

import sys

from edgewise.components.file_stream import READING, FileStream, stream_team
from edgewise.errors import OptionError


def check(reading, method, verify):
    """Raise :class:`~edgewise.errors.OptionError` for an option that does not apply to a stream."""
    for name in reading:
        if name not in READING:
            option = "--" + name.replace("_", "-")
            raise OptionError(f"{option} means nothing with --stream, which reads tables; leave it out")
    if method not in ("auto", "rem"):
        raise OptionError(f"--method {method} needs all pairs in memory; leave out it or --stream")
    if verify:
        raise OptionError("--verify needs all pairs in memory; leave out it or --stream")


def job(pairs, reading, vertices, checkpoint, run):
    """The stream to run, once files and options are checked."""
    columns = {"source": None, "target": None, "where": None, "null": "error"} | reading
    merge = run.get("merge", "auto")
    stream_team(None, run.get("devices"), merge)
    return FileStream([str(file) for file in pairs], columns, vertices, run["team"], merge, checkpoint)


def compute(job, stage, inputs):
    """Stream the files; at Ctrl-C say how to continue."""
    try:
        with stage("stream", f"streaming {inputs}") as progress:
            result = job.run(progress)
            result.count  # noqa: B018 -- counted in this step, not while writing
            return result
    except KeyboardInterrupt:
        if job.saved is not None:
            path = job.checkpoint.path
            print(
                f"edgewise: {job.saved:,} rows are in {path}; repeat the command to continue", file=sys.stderr
            )
        raise
