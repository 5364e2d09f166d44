"""What ``edgewise components`` may be asked of scores: thresholds, clusters of bounded size, decisions."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import edgewise
from edgewise.command import report
from edgewise.command.cluster_options import option
from edgewise.errors import OptionError
from edgewise.files import formats
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.inputs import is_local
from edgewise.files.sniffing import format_of
from edgewise.files.streams import Source, styled
from edgewise.files.streams import reading as reading_of


class Scores(NamedTuple):
    """The options about scores: texts as they come, or ``parsed``."""

    thresholds: option(
        str,
        "Clusters at several thresholds of the score, such as 0.8,0.9,0.95, in one table.",
        metavar="T,T,...",
    ) = None
    max_size: option(int, "Cut larger clusters at their weakest pairs, by the score.", min=1, metavar="N") = (
        None
    )
    must: option(str, "Table of pairs that are in one cluster, whatever their scores.", metavar="FILE") = None
    cannot: option(
        str,
        "Table of pairs that cannot be in one cluster: the weakest pair between them is cut.",
        metavar="FILE",
    ) = None
    one_to_one: option(
        str,
        "Join clusters by their best pairs, with one record at most of each of these datasets: of "
        "source_dataset, of ids of two columns, or left and right.",
        metavar="all|DATASET,...",
    ) = None
    ties: option(
        str,
        "With --one-to-one: of pairs of equal score take the lowest ids, or none.",
        metavar="lowest_id|drop",
    ) = None

    def parsed(self):
        """The same with a tuple of thresholds, and a list of datasets, which is empty for all."""
        numbers, sets = None if self.thresholds is None else numbers_of(self.thresholds), self.one_to_one
        if sets is not None:
            sets = [] if sets == "all" else [word.strip() for word in sets.split(",")]
        return self._replace(thresholds=numbers, one_to_one=sets)

    @property
    def wanted(self) -> bool:
        """Whether anything is asked of scores."""
        return self != (None,) * len(self)

    @property
    def streams(self) -> bool:
        """Whether thresholds are all that is asked, which need no pairs in memory."""
        return self.thresholds is not None and not self.splits

    @property
    def splits(self) -> bool:
        """Whether clusters are cut, by their size or by decisions."""
        return self.max_size is not None or self.decides

    @property
    def decides(self) -> bool:
        """Whether there are decisions."""
        return self.must is not None or self.cannot is not None

    def check(self, stream, update):
        """Refuse options that mean nothing together."""
        asked = {"thresholds": self.thresholds, "max-size": self.max_size}
        asked |= {"must": self.must, "cannot": self.cannot, "one-to-one": self.one_to_one}
        given = [name for name, value in asked.items() if value is not None]
        if self.ties is not None and self.one_to_one is None:
            raise OptionError("--ties are those of --one-to-one; give that too")
        if self.one_to_one is not None and len(given) > 1:
            raise OptionError(f"--{given[0]} and --one-to-one are two choices; give one of the two")
        name = given[0] if given else ""
        if self.wanted and stream and not self.streams:
            raise OptionError(f"--{name} needs all pairs in memory; leave out it or --stream")
        if self.wanted and update is not None:
            raise OptionError(f"--{name} needs all pairs, not those of an update; leave out it or --update")

    def reading(self, reading, pairs, records, shown=False):
        """The options of reading, with the scores as weights; of a table no pair below all thresholds.

        Decisions may name records all of whose pairs are below, so that these are read, unless there are
        records.  The scores of a local table that nothing uses or shows are not read, unless an option names
        weights or nulls.
        """
        if not self.wanted and shown and {"threshold", "score"} & set(reading):
            return {"weight": True} | reading
        if not self.wanted:
            plain = not shown and not {"weight", "null"} & set(reading) and all(map(is_local, pairs))
            return reading | ({"weight": False} if plain and _are_tables(pairs, reading) else {})
        if "weight" in reading:
            raise OptionError("--weight names other weights than the scores; name their column with --score")
        reading = reading | {"weight": True}
        least = self.least(reading)
        if self.decides and records is None:
            reading.pop("threshold", None)
        elif least is not None and _are_tables(pairs, reading):
            reading["threshold"] = least
        return reading

    def least(self, reading):
        """The least score of a pair that counts; ``None`` if all do."""
        if self.thresholds is None:
            return reading.get("threshold")
        if "threshold" in reading:
            raise OptionError("--threshold and --thresholds are two choices; give one of the two")
        return self.thresholds[0]

    def of_tables(self, reading):
        """The options of reading tables that are streamed: no pair below all thresholds."""
        return reading | {"threshold": self.least(reading)} if self.streams else reading

    def check_stream(self, plan, where):
        """Refuse what several thresholds of a stream cannot be found with."""
        if plan.by_tasks:
            other = "scheduler" if plan.source.scheduler else "memory"
            raise OptionError(f"--thresholds needs all ids in one process; leave out it or --{other}")
        if plan.source.checkpoint is not None:
            raise OptionError("--thresholds are not saved in a checkpoint; leave out it or --checkpoint")
        if where.get("device") != "cpu":
            raise OptionError(
                "--thresholds of a stream are found on one CPU; leave out --stream or the devices"
            )

    def solve(self, graph, method, least, **where):
        """The components, at the thresholds and of the sizes that are wanted."""
        if self.one_to_one is not None:
            return self._best_links(graph, method, **where)
        if not self.splits:
            own: dict[str, Any] = {} if self.thresholds is None else {"thresholds": self.thresholds}
            return edgewise.connected_components(graph, **own, method=method, **where)
        asked = "max-size" if not self.decides else "must" if self.cannot is None else "cannot"
        if method != "auto":
            raise OptionError(f"--method {method} is not for --{asked}, which cuts a spanning forest")
        if where.pop("merge", "auto") != "auto":
            raise OptionError(f"--merge is not for --{asked}, which cuts a spanning forest; leave it out")
        forest = edgewise.minimum_spanning_forest(graph, maximum=True, **where)
        split = forest.split(
            max_size=self.max_size,
            must=self.must,
            cannot=self.cannot,
            threshold=least if self.decides else None,
        )
        if self.thresholds is None:
            return split
        return edgewise.connected_components(split.kept, thresholds=self.thresholds)

    def _best_links(self, graph, method, device="cpu", devices=None, merge="auto"):
        """The clusters by best links, which one core finds."""
        given = {"method": method != "auto", "devices": devices, "merge": merge != "auto"}
        for name, is_given in given.items():
            if is_given:
                raise OptionError(f"--{name} is not for --one-to-one, which follows the scores; leave it out")
        ties = self.ties or "lowest_id"
        return edgewise.best_links(graph.to(device), duplicate_free=self.one_to_one or None, ties=ties)

    def facts(self, result) -> dict:
        """What the JSON object says of the thresholds, or of what was cut."""
        if self.thresholds is not None:
            return {"thresholds": result.summary().to_pylist(), "max_size": self.max_size}
        if self.one_to_one is not None:
            return {"one_to_one": list(result.duplicate_free), "links": result.n_links}
        if not self.splits:
            return {}
        own = {"max_size": self.max_size, "cut": result.n_cut}
        return own | ({"conflicts": result.conflicts().to_pylist()} if self.decides else {})

    def show(self, result, output):
        """Print what was found at each threshold; to standard error if the table goes to standard output."""
        if self.thresholds is None:
            return
        elsewhere = output is not None and goes_to_standard_output(output)
        if output is None:
            report.say("")
        report.table(result.summary(), len(self.thresholds), sys.stderr if elsewhere else sys.stdout)

    def found(self, result) -> str:
        """The number of components and the largest in words, or those of the first and the last threshold."""
        if self.thresholds is None:
            return f"{report.counted(result.count, 'component')}, the largest of {result.largest:,}"
        counts, sizes = result.counts.tolist(), result.largest.tolist()
        if len(counts) == 1:
            return f"{report.counted(counts[0], 'component')}, the largest of {sizes[0]:,}"
        span = f"{counts[0]:,} to {counts[-1]:,} components at {len(counts)} thresholds"
        return f"{span}, the largest of {sizes[0]:,} to {sizes[-1]:,}"

    def in_words(self, result) -> str:
        """What the closing line says of what was cut."""
        if self.one_to_one is not None:
            return f" (by {report.counted(result.n_links, 'best link')})"
        if not self.splits or self.thresholds is not None:
            return ""
        return f" ({report.counted(result.n_cut, 'edge')} cut)"


def _are_tables(pairs, reading):
    """Whether the inputs are tables, not one file of a graph, all of whose vertices and weights count."""
    if len(pairs) > 1 or not Path(pairs[0]).is_file():
        return True
    names = ("format", "header", "sep", "decimal", "encoding")
    options = formats.Options(**{name: reading[name] for name in names if name in reading})
    with reading_of(pairs[0]):
        name = format_of(Source(styled(pairs[0], options.style)), options)
    return formats.FORMATS[name].is_table


def numbers_of(words):
    """The numbers of ``0.8,0.9``, which ascend."""
    from edgewise.components.threshold_limits import checked

    return checked([_number(word.strip()) for word in words.split(",")])


def _number(word):
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    raise OptionError(f"--thresholds holds {word!r}, which is no number; write them as 0.8,0.9,0.95")
