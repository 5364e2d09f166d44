"""What a command prints at the end: a table, a closing line, or one JSON object."""

import json
import sys

import edgewise
from edgewise.command.stages import seconds
from edgewise.command.standard import say
from edgewise.device import threads
from edgewise.files.destinations import goes_to_standard_output
from edgewise.ingest.representation import name_of_weights
from edgewise.printable import printable
from edgewise.result import counted
from edgewise.timer import Scope

#: Rows of a table that are shown when it is not written to a file.
SHOWN_ROWS = 10
#: Name of each step in the closing line.
PAST = {
    "read": "read",
    "open": "opened",
    "apply": "applied",
    "stream": "streamed",
    "make": "made",
    "prepare": "prepared",
    "compute": "computed",
    "measure": "measured",
    "verify": "verified",
    "write": "wrote",
    "plot": "drew",
}


def as_json(facts: dict):
    """Print ``facts`` as one JSON object."""
    print(json.dumps(facts))


def lines(words: dict):
    """Print names and values, one a line."""
    width = max(map(len, words))
    for name, value in words.items():
        say(f"{name:<{width}}  {value}")


def table(frame, rows=SHOWN_ROWS, file=None):
    """Print the first rows of an Arrow table, numbers to the right."""
    head(frame.slice(0, rows), frame.num_rows, file)


def head(frame, count, file=None):
    """Print an Arrow table, the first rows of ``count`` rows, numbers to the right."""
    lists = frame.to_pydict().items()
    cells = [[name, *("-" if one is None else one for one in values)] for name, values in lists]
    columns = [list(map(printable, column)) for column in cells]
    widths = [max(map(len, column)) for column in columns]
    text = [isinstance(column[0].as_py(), str) for column in frame.columns if len(column)]
    for row in zip(*columns):
        padded = (
            c.ljust(w) if t else c.rjust(w) for c, w, t in zip(row, widths, text or [True] * len(widths))
        )
        say("  ".join(padded).rstrip(), file)
    if count > frame.num_rows:
        say(f"... {count - frame.num_rows:,} more rows", file)


def facts(result, team, clock, own, verified, *files) -> dict:
    """The JSON object of a result: what all have, its ``own`` facts, and its output and its picture."""
    written = {name: None if path is None else str(path) for name, path in zip(("output", "plot"), files)}
    return {
        "vertices": result.graph.n_vertices,
        "edges": result.graph.n_edges,
        "columns": result.graph.assumed_columns,
        "left_out": result.graph.left_out,
        "weights": name_of_weights(result.graph) if result._uses_weights() else None,
        **own,
        "threads": threads.count() if "cpu" in team.devices else None,
        "verified": verified,
        "seconds": seconds(clock),
        **written,
        "version": edgewise.__version__,
    }


def devices(result, team) -> dict:
    """The one device of a result, or its several."""
    return {
        "device": team[0].device if len(team) == 1 else None,
        "devices": list(result.devices) if len(result.devices) > 1 else None,
    }


def closing_line(result, found, how, clock, output):
    """Print the graph, what was found in it, the times and where the result is."""
    taken = columns_in_words(result.graph)
    words = f"{graph_in_words(result.graph)}: {found}{result._along()}"
    close(f"{words}; {left_out_in_words(result.graph)}{taken}{times(clock)} ({how})", output)


def close(words, output):
    """Print the closing line, with the name of the output; to standard error if standard output is that."""
    if output is not None and goes_to_standard_output(output):
        say(words, sys.stderr)
    else:
        say(f"{words} -> {output}" if output else words)


def times(clock: Scope) -> str:
    """The seconds of each step in words: ``read 1.20 s, computed 0.04 s, wrote 0.31 s``."""
    return ", ".join(f"{PAST.get(name, name)} {scope.seconds:.2f} s" for name, scope in clock.inside.items())


def profile(clock: Scope):
    """Print the tree of scopes to standard error."""
    say(clock, sys.stderr, kept="\n")


def device_in_words(team) -> str:
    """``2 threads of the CPU``, ``cuda:0``, or the names of several devices."""
    if len(team) > 1:
        return ", ".join(team.names)
    device = team[0].device
    return f"{counted(threads.count(), 'thread')} of the CPU" if device == "cpu" else device


def columns_in_words(graph) -> str:
    """What was taken as the ids, if several columns could be and none was named: ``ids: 'l' and 'r', ``."""
    return "ids: {} and {}, ".format(*graph.assumed_columns) if graph.assumed_columns else ""


def left_out_in_words(graph) -> str:
    """How many pairs a condition left out for want of a number: ``2 pairs without 'score' left out, ``."""
    counts = (graph.left_out or {}).items()
    return printable("".join(f"{counted(n, 'pair')} without {name!r} left out, " for name, n in counts))


def graph_in_words(graph) -> str:
    """``5 vertices, 3 edges``."""
    return f"{counted(graph.n_vertices, 'vertex')}, {counted(graph.n_edges, 'edge')}"
