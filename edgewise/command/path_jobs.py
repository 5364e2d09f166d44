"""What ``edgewise paths`` searches for: its options, which of them go together, and files of ids."""

from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.command import options
from edgewise.command.cluster_options import id_of
from edgewise.errors import FileError, OptionError
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.records import records_of
from edgewise.files.streams import reading
from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
from edgewise.paths.apsp.output import FORMATS as MATRICES
from edgewise.paths.bfs import METHODS as OF_EDGES
from edgewise.paths.measures import METHODS as OF_MEASURES
from edgewise.paths.sssp import METHODS as OF_WEIGHTS

Kind = options.names_of("Kind", ("source", "all-pairs", "measures", "table", "isochrones", "nearest"))
ONE, ALL, MEASURES, TABLE, ISOCHRONES, NEAREST = Kind
#: What each option is for, if not for all.
ONLY_FOR = {
    "to": (ONE, TABLE),
    "targets": (ONE, TABLE),
    "cutoff": (ONE, NEAREST),
    "parents": (ONE,),
    "k": (NEAREST,),
    "direction": (ISOCHRONES, NEAREST),
    "scheduler": (ALL, MEASURES),
    "dtype": (ONE, ALL, MEASURES, TABLE),
    "prepare": (ONE, ALL, MEASURES, TABLE),
}
#: What kinds are called where an option is of no use.
IN_WORDS = {ONE: "a search from --source alone"} | {kind: f"--{kind}" for kind in Kind if kind is not ONE}
#: What is missing without a source.
WHERE_FROM = {
    ONE: "search from where? give --source ID; or --all-pairs or --measures",
    TABLE: "a table from where? give --source ID or --sources FILE",
    ISOCHRONES: "isochrones of what? give --source ID or --sources FILE",
}
HELP = "How to compute; each search has its own methods"
Method = options.choice("Method", HELP, OF_WEIGHTS, OF_EDGES, OF_MEASURES)
Direction = options.names_of("Direction", ("from", "to"))


class Wanted(NamedTuple):
    """What is searched for."""

    sources: options.option(list[str], "Vertex to start from, or several.", "--source", metavar="ID") = None
    targets: options.option(
        list[str], "Vertex to show the path to; may be repeated.", "--to", metavar="ID"
    ) = None
    sources_in: options.option(
        str,
        "File of more of them: one id a line, or a table with a column of ids.",
        "--sources",
        metavar="FILE",
        **options.PATH,
    ) = None
    targets_in: options.option(
        str, "File of more vertices as of --to.", "--targets", metavar="FILE", **options.PATH
    ) = None
    cutoff: options.option(float, "Largest distance that counts.", metavar="X", min=0) = None
    bfs: options.option(bool, "Ignore the weights: distances are numbers of edges.") = False
    table: options.option(bool, "Distances from every source to every vertex of --to or --targets.") = False
    isochrones: options.option(
        str, "The vertices within these distances of every source, such as 5,10,15.", metavar="X,Y,..."
    ) = None
    nearest: options.option(
        str,
        "File of places: the nearest ones to every vertex, or every --source.",
        metavar="FILE",
        **options.PATH,
    ) = None
    k: options.option(int, "How many places --nearest finds for each; 1 by default.", "--k", min=1) = None
    direction: options.option(
        Direction,
        "Whether one-way streets lead from the sources or places, or to them. By default --isochrones are "
        "those from the sources, and --nearest is the way to a place.",
        metavar="from|to",
    ) = None
    id_column: options.option(
        str, "Column of the ids in tables of --sources, --targets and --nearest.", metavar="NAME"
    ) = None
    prepare: options.option(
        str,
        "File of what makes searches of this graph fast; made if it is not there, and used by the next run.",
        metavar="FILE",
        **options.PATH,
    ) = None
    all_pairs: options.option(bool, "Distances from every vertex, or every --source, to every vertex.") = (
        False
    )
    measures: options.option(bool, "Eccentricities, diameter, radius and centralities of all vertices.") = (
        False
    )
    parents: options.option(bool, "Show the vertex before each on a shortest path.") = False
    method: Method = "auto"
    dtype: options.option(
        str, "Type of the distances, if not the weights': int32, int64, float32, float64.", metavar="TYPE"
    ) = None
    scheduler: options.scheduler("the sources of --all-pairs or --measures") = None

    @property
    def kind(self) -> Any:
        """What is searched for; OptionError if that is more than one job."""
        flags = {ALL: self.all_pairs, MEASURES: self.measures, TABLE: self.table}
        flags |= {ISOCHRONES: self.isochrones is not None, NEAREST: self.nearest is not None}
        given = [kind for kind, is_given in flags.items() if is_given]
        if len(given) > 1:
            raise OptionError(f"--{given[0]} and --{given[1]} are two jobs; give one of the two")
        return given[0] if given else ONE

    @property
    def from_some(self) -> bool:
        """Whether sources are given."""
        return bool(self.sources or self.sources_in)

    @property
    def shows_paths(self) -> bool:
        """Whether paths to vertices are shown."""
        return self.kind is ONE and bool(self.targets or self.targets_in)

    def matrix(self, output) -> str | None:
        """The output if it is a matrix."""
        if self.kind is ALL:
            return None if output == "-" else output
        is_matrix = self.kind is TABLE and output is not None and Path(output).suffix in MATRICES
        return output if is_matrix else None

    def call(self, matrix) -> tuple[str, dict]:
        """Problem and options of the call, as of :meth:`Graph.estimate`, or those of one of its searches."""
        method = {} if self.kind is MEASURES else {"method": str(self.method)}
        if self.kind is ALL:
            return "apsp", method | {"sources": self.sources, "dtype": self.dtype, "output": matrix}
        return "bfs" if self.bfs else "sssp", method

    def check(self, output, run):
        """Refuse options that mean nothing together."""
        kind = self.kind
        self._check_ends(output)
        for option, kinds in ONLY_FOR.items():
            if self._has(option) and kind not in kinds:
                instead = (
                    "leave it out" if option in ("scheduler", "k", "direction") else f"leave out --{kind}"
                )
                raise OptionError(f"--{option} is for {_listed(kinds)}; {instead}")
        if self.cutoff is not None and isnan(self.cutoff):
            raise OptionError("--cutoff nan is no distance; give a number, 0 or more")
        if kind is ONE and self.bfs and self.prepare:
            raise OptionError("--prepare means nothing with --bfs and --source; leave it out")
        if kind is ONE and self.bfs and self.dtype:
            raise OptionError("--dtype means nothing with --bfs, whose distances are int32; leave it out")
        methods: Any = OF_MEASURES if kind is MEASURES else OF_ALL_PAIRS
        if kind in (ISOCHRONES, NEAREST):
            methods = ()
        elif kind is ONE:
            methods = OF_EDGES if self.bfs else OF_WEIGHTS
        if self.method not in ("auto", *methods):
            others = f" or one of {', '.join(methods)}" if methods else ""
            raise OptionError(f"method {self.method} is of another search; use auto{others}")
        if kind is not ALL and run.device is None and run.devices is not None:
            raise OptionError("--devices is for --all-pairs; use --device")

    def _check_ends(self, output):
        """Refuse a search without what it begins or ends with."""
        kind = self.kind
        if kind in WHERE_FROM and not self.from_some:
            raise OptionError(WHERE_FROM[kind])
        if kind is TABLE and not (self.targets or self.targets_in):
            raise OptionError("a table to where? give --to ID or --targets FILE; or --all-pairs")
        if self.shows_paths and output is not None and goes_to_standard_output(output):
            given = "to" if self.targets else "targets"
            raise OptionError(f"--{given} and -o {output} both need standard output; give one of the two")
        if self.isochrones is not None:
            self.cutoffs()

    def _has(self, option):
        """Whether an option is given."""
        name = {"to": "targets", "targets": "targets_in"}.get(option, option)
        return getattr(self, name, None) not in (None, (), [], False)

    def cutoffs(self) -> list[float]:
        """The distances of isochrones."""
        assert self.isochrones is not None
        try:
            found = [
                int(word) if word.strip().isdecimal() else float(word) for word in self.isochrones.split(",")
            ]
        except ValueError:
            found = [-1]
        if not all(one >= 0 for one in found):
            problem = f"--isochrones {self.isochrones} are no distances"
            raise OptionError(f"{problem}; give numbers of 0 or more such as 5,10,15")
        return found


def _listed(kinds):
    """Kinds of searches in words."""
    words = [IN_WORDS[kind] for kind in kinds]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def ids_in(graph, words, file=None, column=None) -> list:
    """Ids given as words, and those in a file, in the type that the graph's have."""
    return [id_of(graph, word) for word in [*(words or ()), *(_words_of(file, column) if file else ())]]


def _words_of(file, column):
    """The ids in a file as text: those in its lines, or in a column of a table."""
    path = Path(file)
    if path.suffix == ".txt":
        with reading(path), path.open(encoding="utf-8") as lines:
            words = [line.strip() for line in lines]
    else:
        records = records_of(file, column)
        batches = records.batches([records.id_column])
        words = [str(one) for batch in batches for one in batch.column(0).to_pylist() if one is not None]
    words = [word for word in words if word]
    if not words:
        raise FileError(file, "has no ids; give one a line, or a table with a column of them")
    return words
