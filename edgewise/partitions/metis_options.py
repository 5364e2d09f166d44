"""The options of METIS, as pymetis, nxmetis or a mapping has them: each is honoured, or refused by name.

An option of -1 or ``None`` is no request, as in METIS.  What METIS itself does not read for a partition, such
as the options of nested dissection, is accepted with any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from edgewise.errors import OptionError, argument, closest
from edgewise.method import is_number
from edgewise.partitions.presets import Settings

#: The imbalance that METIS allows by default in recursive bisection (``ufactor`` 1).
BISECTION_IMBALANCE = 0.001
#: The imbalance that METIS allows by default in k-way partitioning (``ufactor`` 30).
K_WAY_IMBALANCE = 0.03
#: Iterations of refinement in METIS by default, which correspond to the patience of the presets.
ITERATIONS = 10
#: Least value of each option that is honoured, and the largest one.
HONOURED = {
    "contig": (0, 1),
    "ncuts": (1, None),
    "niter": (1, None),
    "ptype": (0, 1),
    "seed": (0, None),
    "ufactor": (1, None),
}
#: Values that ask for what is done anyway, and why others are refused.
AS_IT_IS = {
    "dbglvl": ((0,), "there is no output of this kind; partition() has progress="),
    "dropedges": ((0,), "no edges are dropped"),
    "iptype": ((0, 4), "the first partition is by bisection and growing, iptype 4 (METISRB) and 0 (GROW)"),
    "minconn": ((0,), "parts are made for a small cut, whatever number of parts is beside a part"),
    "no2hop": ((0, 1), ""),
    "numbering": ((0,), "vertices are numbered from 0 (METIS numbering 0)"),
    "objtype": ((0,), "parts are made for a small cut, objtype 0 (CUT)"),
    "ondisk": ((0,), "nothing is stored on disk"),
}
#: Options of nested dissection, which METIS does not read for partitions.
NESTED_DISSECTION = ("ccorder", "compress", "nseps", "pfactor")
_OF_PROGRAMS = "it is of the programs of METIS, not of its functions"
#: Options that are refused with every value, and why.
REFUSED = {
    "balance": _OF_PROGRAMS,
    "ctype": "the graph is coarsened by clusters, not by a matching of METIS",
    "gtype": f"{_OF_PROGRAMS}; part_mesh() has gtype=",
    "help": _OF_PROGRAMS,
    "ncommon": f"{_OF_PROGRAMS}; part_mesh() has ncommon=",
    "niparts": "the number of first partitions depends on the preset",
    "nooutput": _OF_PROGRAMS,
    "rtype": "refinement is by Jet, which METIS does not have",
    "tpwgts": f"{_OF_PROGRAMS}; there is an argument tpwgts=",
    "ubvec": f"{_OF_PROGRAMS}; there is an option ufactor",
}
OPTIONS = (*HONOURED, *AS_IT_IS, *NESTED_DISSECTION, *REFUSED)


class Request(NamedTuple):
    """What is asked for by options of METIS, in the words of :func:`edgewise.partition`.

    Attributes
    ----------
    seed, tries : int
    patience : int or None
    contiguous : bool or None
    imbalance : float or None
    recursive : bool or None
        Whether recursive bisection is asked for; the imbalance by default depends on it.
    """

    seed: int = 0
    tries: int = 1
    patience: int | None = None
    contiguous: bool | None = None
    imbalance: float | None = None
    recursive: bool | None = None

    def arguments(self, imbalance, recursive, contiguous=None):
        """The arguments of :func:`edgewise.partition`; an imbalance that nobody gives is METIS' default."""
        if contiguous is not None and self.contiguous not in (None, bool(contiguous)):
            option = f"the option contig={int(self.contiguous)} of METIS"
            problem = argument("contiguous", contiguous)
            raise OptionError(f"{problem} and {option} contradict each other; give one")
        if imbalance is not None and self.imbalance not in (None, imbalance):
            ufactor = f"ufactor={round(1000 * self.imbalance)}"
            raise OptionError(f"{argument('imbalance', imbalance)} and {ufactor} differ; give one")
        recursive = recursive if self.recursive is None else self.recursive
        given = self.imbalance if imbalance is None else imbalance
        default = BISECTION_IMBALANCE if recursive else K_WAY_IMBALANCE
        return {
            "imbalance": default if given is None else given,
            "seed": self.seed,
            "tries": self.tries,
            "patience": self.patience,
            "contiguous": bool(self.contiguous if contiguous is None else contiguous),
        }


def requested(options: Any) -> Request:
    """Return what options of METIS ask for.

    Parameters
    ----------
    options : object or mapping, optional
        The options are its attributes (of an instance or a class, such as ``pymetis.Options``) or its items.

    Raises
    ------
    OptionError
        An option that is not honoured, or is unknown, with its name.

    Examples
    --------
    >>> requested({"seed": 5, "ufactor": 10, "niter": -1})
    Request(seed=5, tries=1, patience=None, contiguous=None, imbalance=0.01, recursive=None)
    """
    given = {name: value for name, value in _given(options).items() if value is not None}
    given = {name: value for name, value in given.items() if not (is_number(value, True) and value == -1)}
    for name, value in given.items():
        _check(name, value)
    niter, contig, ptype = given.get("niter"), given.get("contig"), given.get("ptype")
    return Request(
        seed=int(given.get("seed", 0)),
        tries=int(given.get("ncuts", 1)),
        patience=None if niter is None else -(-int(niter) * Settings().patience // ITERATIONS),
        contiguous=None if contig is None else bool(contig),
        imbalance=int(given["ufactor"]) / 1000 if "ufactor" in given else None,
        recursive=None if ptype is None else ptype == 0,
    )


def _given(options):
    """The options by name, of which some may be -1 or ``None``."""
    if options is None:
        return {}
    if isinstance(options, Mapping):
        return dict(options)
    if isinstance(options, (str, bytes, int, float, list, tuple)) or hasattr(options, "dtype"):
        problem = f"{argument('options')} is a {type(options).__name__}"
        raise OptionError(f"{problem}; use pymetis.Options or a mapping such as {{'seed': 1}}")
    names = [name for name in dir(options) if name[:1] != "_" and not callable(getattr(options, name, None))]
    return {name: getattr(options, name, None) for name in dict.fromkeys((*OPTIONS, *names))}


def _check(name, value):
    """Raise unless an option is honoured with this value, or has no meaning for a partition."""
    if name not in OPTIONS:
        meant = f"; did you mean {near}?" if (near := closest(name, OPTIONS)) else ""
        raise OptionError(f"METIS has no option {name!r}{meant}")
    if name in REFUSED:
        raise _refused(name, value, REFUSED[name])
    if not (is_number(value, True) or isinstance(value, bool)):
        raise OptionError(f"the option {name}={value!r} of METIS is no whole number")
    if name in AS_IT_IS and value not in AS_IT_IS[name][0]:
        raise _refused(name, value, AS_IT_IS[name][1] or "it is 0 or 1")
    if name in HONOURED:
        least, most = HONOURED[name]
        if value < least or (most is not None and value > most):
            span = f"{least} or more" if most is None else f"{least} or {most}"
            raise _refused(name, value, f"it is {span}")


def _refused(name, value, why):
    return OptionError(f"the option {name}={value} of METIS is refused: {why}; leave it out")
