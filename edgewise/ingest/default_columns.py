"""The columns of a table of pairs: which hold the ids and the weights where the caller names none.

The same rule holds for files of every kind, data frames and streams.  It goes by the names of the columns
alone, so that a table without rows, or one whose first rows are unusual, is read like any other:

1. a known pair of names, such as ``source`` and ``target``; a table with two such pairs is refused;
2. of two or three columns, the first two;
3. otherwise the table is refused, and the message lists its columns.

The third of three columns is the weight if it holds numbers and is no id.

Splink gives the datasets of linked records names of their own, and ids that are unique only within a dataset.
It joins the two as ``dataset-__-id`` before it clusters, and so does edgewise: a name such as
``source_dataset_l-__-unique_id_l``, where no column has this name, is that of the two columns joined.  Other
columns that may be part of the ids are named in an error.  To take ``id_l`` alone where ``ds_l`` and ``ds_r``
say which dataset a record is from would join the records of two datasets that have the same id, without a
word.  The rows of one table do not tell, since the next one may have the other dataset only, so the names of
the columns decide.  These are columns of one record of a pair that have a twin for the other record:

1. ``source_dataset_l`` and ``source_dataset_r`` are part of the ids, as in Splink;
2. twins that describe the records that are compared are no part of them: those with a usual word for this
   (:data:`DESCRIBING`), those that another column compares (``gamma_name``, ``name_score``), and those of
   predictions of Splink;
3. twins with a word for a dataset (:data:`OF_DATASETS`), and all others, may be part of the ids: the table is
   refused, and the message says how to include them or leave them out.
"""

import re
from itertools import product
from numbers import Integral
from typing import NamedTuple

from edgewise.errors import GraphError, OptionError, argument, warn

#: What Splink writes between the name of a dataset and an id in it.
JOINT = "-__-"
#: Names of columns with an id, the pairs of words before and behind these, and pairs of names without them.
_IDS = ("id", "unique_id", "record_id", "rec_id", "doc_id", "node_id")
_BEFORE = "l r", "left right", "ltable rtable", "source target", "src dst", "from to", "start end"
_BEHIND = "l r", "left right", "1 2", "a b"
_OTHERS = (
    *("source target", "src dst", "from to", "u v", "head tail", "subject object", "id1 id2", "node1 node2"),
    *("sourceid targetid", "fromid toid", "leftid rightid", "fromnodeid tonodeid", "start_node end_node"),
)
#: Pairs of names of the two ids, in lower case, with ``_`` for other separators.
KNOWN_PAIRS = (
    *(tuple(pair.split()) for pair in _OTHERS),
    *(tuple(f"{word}_{name}" for word in pair.split()) for pair, name in product(_BEFORE, _IDS)),
    *(tuple(f"{name}_{word}" for word in pair.split()) for pair, name in product(_BEHIND, _IDS)),
)
#: Columns with the dataset of each record in Splink's predictions.
DATASETS = ("source_dataset_l", "source_dataset_r")
#: Pairs of words that tell the two records of a pair apart, before or behind the name of a column.
SIDES = "l r", "left right", "ltable rtable", "lhs rhs", "1 2", "a b", "x y"
#: Those of the two ends of an edge; tables of edges may have their own words, and the first two above.
ENDS = "source target", "src dst", "from to", "start end", "u v", "head tail", "subject object"
#: Words in the names of columns that tell which dataset a record is from.
OF_DATASETS = (
    "dataset datasets ds source src system sys table tbl file filename origin database db",
    "provider vendor feed schema tenant org site namespace ns registry catalog instance repo",
)
#: Words in the names of columns that describe a record.
DESCRIBING = (
    "name names firstname forename surname lastname fullname given family email mail phone",
    "telephone mobile fax address addr street city town postcode zip zipcode dob birth",
    "birthdate age sex gender title text description desc content body price amount value lat",
    "lon lng latitude longitude x y z weight tf count cluster label component",
)
#: Columns that only Splink's predictions have.
SPLINK = "match_weight", "match_probability", "match_key"
#: Names of columns that are listed in a message.
LISTED = 20


class Columns(NamedTuple):
    """Names of the columns with the two ids of each pair, and of the weights or ``None``.

    ``assumed`` tells whether the ids were found among more than three columns without being named, and
    ``alone`` whether there are no other columns.
    """

    source: str
    target: str
    weight: str | None = None
    assumed: bool = False
    alone: bool = False


def choose_columns(names, is_number, source=None, target=None, weight=None) -> Columns:
    """Choose the columns that are given by name or position, and the others by default.

    The parameters are those of :func:`default_columns` and :func:`edgewise.read`.
    """
    if source is None:
        chosen = default_columns(names, is_number if weight is None else lambda position: False)
    else:
        chosen = Columns(name_of(source, names), name_of(target, names))
        _check_parts(chosen, names)
        _warn_of_datasets(chosen[:2], names)
    return chosen if weight is None or weight is False else chosen._replace(weight=name_of(weight, names))


def _check_parts(ids, names):
    """Raise unless both ids are joined from the same number of columns."""
    source, target = (1 if name in names else len(joined_names(name, names)) for name in ids[:2])
    if source != target and 0 not in (source, target):  # a column that is not there is refused later
        choice = f"{argument('source')} and {argument('target')}"
        raise OptionError(f"{choice} are {source} and {target} columns; give as many for both ids")


def _warn_of_datasets(ids, names):
    """Warn if given columns hold ids of Splink that are unique within a dataset only."""
    if set(ids) <= set(names) and (joined := _with_datasets(ids, names)) != ids:
        problem = f"the ids are {ids[0]!r} and {ids[1]!r} without {DATASETS[0]!r} and {DATASETS[1]!r}"
        remedy = f"if they repeat in several datasets, use {joined[0]!r} and {joined[1]!r}"
        warn(f"{problem}; {remedy}, the default")


def default_columns(names, is_number) -> Columns:
    """Choose the columns of a table where the caller names none.

    Parameters
    ----------
    names : list of str
    is_number : function
        Whether the column at a position holds numbers; it is called for the third of three columns.

    Raises
    ------
    GraphError
        The names do not say which columns hold the ids.

    Examples
    --------
    >>> splink = ["match_probability", "unique_id_l", "unique_id_r", "name_l", "name_r"]
    >>> default_columns(splink, is_number=lambda position: position == 0)
    Columns(source='unique_id_l', target='unique_id_r', weight=None, assumed=True, alone=False)
    """
    listed = [name for name in names if not is_index(name)]
    pairs = known_pairs(listed)
    if len(pairs) > 1:
        found = " or ".join(f"{left!r} and {right!r}" for left, right in pairs[:3])
        raise GraphError(f"the ids may be in {found}; {choose_with()}")
    if len(listed) < 2:
        held = f"only one column ({', '.join(listed)})" if listed else "no column"
        raise GraphError(f"{held}; a table of pairs needs two ids in each row")
    if not pairs and len(listed) > 3:
        raise GraphError(f"{len(listed)} columns: {listing(listed)}; {choose_with()}")
    ids = pairs[0] if pairs else (listed[0], listed[1])
    weight = default_weight(names, is_number, ids)
    source, target = _with_datasets(ids, names)
    if pairs and (source, target) == ids:
        _refuse_twins(ids, listed)
    return Columns(source, target, weight, len(listed) > 3, len(listed) == 2)


def default_weight(names, is_number, ids=()):
    """The third of three columns, if it holds numbers and is not among the ``ids``; else ``None``."""
    shown = [position for position, name in enumerate(names) if not is_index(name)]
    third = shown[2] if len(shown) == 3 else None
    return None if third is None or names[third] in ids or not is_number(third) else names[third]


def _refuse_twins(ids, names):
    """Raise if there are columns that may be part of the ids."""
    twins = doubtful_twins(names, ids)
    if not twins:
        return
    sides = [",".join([*(pair[side] for pair in twins), ids[side]]) for side in (0, 1)]
    whole = f"{argument('source', sides[0])} {argument('target', sides[1])}"
    alone = f"{argument('source', ids[0])} {argument('target', ids[1])}"
    which = " and ".join(f"{left!r} and {right!r}" for left, right in twins[:3])
    raise GraphError(
        f"the columns {which} may be part of the ids; give {whole}, "
        f"or {alone} if {ids[0]!r} and {ids[1]!r} alone tell records apart"
    )


def _with_datasets(ids, names):
    """The columns of the ids, joined with those of Splink's datasets, if there are any."""
    sides = [name.lower()[-2:] for name in ids]
    if sides != ["_l", "_r"] or not set(DATASETS) <= set(names):
        return ids
    return tuple(f"{dataset}{JOINT}{name}" for dataset, name in zip(DATASETS, ids))


def known_pairs(names):
    """Pairs of columns whose names are those of the two ids."""
    alike: dict = {}
    for name in dict.fromkeys(names):
        alike.setdefault(re.sub(r"[ .:-]", "_", name.lstrip("#").strip().lower()), []).append(name)
    found = [product(alike.get(left, ()), alike.get(right, ())) for left, right in KNOWN_PAIRS]
    return [pair for pairs in found for pair in pairs]


def is_index(name) -> bool:
    """Whether a column without a name of its own is the index that pandas writes."""
    return name == "" or re.fullmatch(r"Unnamed: \d+|__index_level_\d+__", name) is not None


def name_of(column, names):
    """Name of a column that is given by name or position, or of several that are joined.

    Several are a list, or names with commas between them.

    Examples
    --------
    >>> name_of(["ds", 1], ["ds", "id"]), name_of("ds,id", ["ds", "id"]), name_of("1", ["ds", "id"])
    ('ds-__-id', 'ds-__-id', 'id')
    """
    if column is None or (isinstance(column, str) and column in names):
        return column
    if isinstance(column, list | tuple):
        parts = [name_of(part, names) for part in column]
        for part in parts:
            if part not in names:
                raise GraphError(f"no column {part!r}; there are {listing(names)}")
        if not parts:
            raise OptionError("an empty list names no column; give the name of one")
        return JOINT.join(parts)
    if "," in str(column):
        parts = [name_of(part.strip(), names) for part in str(column).split(",")]
        return JOINT.join(parts) if set(parts) <= set(names) else column
    if not str(column).isdecimal() or int(column) >= len(names):
        return column
    return names[int(column)]


def is_several(column) -> bool:
    """Whether what is given as a column of ids is a list of columns, or names with commas between them."""
    return isinstance(column, list | tuple) or (isinstance(column, str) and "," in column)


def check_given(name, given) -> None:
    """Raise unless ``given`` for the argument ``name`` is a column, or a list of columns of ids."""
    for column in given if name != "weight" and isinstance(given, list | tuple) else [given]:
        number = isinstance(column, Integral) and (name == "weight" or not isinstance(column, bool))
        if not (number or isinstance(column, str) or given is None):
            raise OptionError(f"{argument(name, column)} is no column; give a name or a position")


def choose_with() -> str:
    """The remedy where the columns of the ids are not clear."""
    return f"choose the columns of the ids with {argument('source')} and {argument('target')}"


def listing(names) -> str:
    """Names of columns, for a message."""
    return ", ".join(names[:LISTED]) + (" ..." if len(names) > LISTED else "")


def joined_names(name, names):
    """Names of the columns that ``name`` joins; none if it is that of a column, or joins no columns."""
    parts = name.split(JOINT) if isinstance(name, str) and name not in names else []
    return parts if len(parts) > 1 and set(parts) <= set(names) else []


def doubtful_twins(names, ids):
    """Pairs of columns of ``names``, beside the ``ids`` of the pairs, that may be part of these.

    Examples
    --------
    >>> doubtful_twins(["ds_l", "id_l", "ds_r", "id_r", "name_l", "name_r"], ("id_l", "id_r"))
    [('ds_l', 'ds_r')]
    """
    plain = {_plain(name): name for name in names if name not in ids}
    own = [pair for pair in ENDS if _plain(ids[0]).startswith(pair.split()[0])]
    sides = [*own[:1], *SIDES[:2]] if own else SIDES
    found = {
        (plain[name], plain[twin]): _words(stem)
        for left, right in map(str.split, sides)
        for name in plain
        for stem, twin in _stems(name, left, right)
        if twin in plain and not (right == "2" and f"{twin[:-1]}3" in plain)  # more than two are no twins
    }
    paired = {name for pair in found for name in pair}
    others = [_words(name) for name in plain if plain[name] not in paired]
    datasets, describing = (frozenset(" ".join(lines).split()) for lines in (OF_DATASETS, DESCRIBING))
    of_splink = any(name in names for name in SPLINK)

    def describes(words):
        if datasets.intersection(words):
            return False
        compared = any(set(words) < set(other) for other in others)
        return of_splink or compared or bool(describing.intersection(words))

    return [pair for pair, words in found.items() if not describes(words)]


def _plain(name):
    """A name in lower case, with ``_`` between its words."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.lstrip("#").strip())
    return re.sub(r"[ .:-]", "_", parted).lower()


def _words(name):
    return [word.rstrip("0123456789") or word for word in name.split("_") if word]


def _stems(name, left, right):
    """What remains of a name without the word ``left``, and the name with ``right`` in its place."""
    parted = len(left) == 1 and not left.isdecimal()  # one letter is a word only behind or before ``_``
    before, behind = (f"{left}_", f"_{left}") if parted else (left, left)
    if name.startswith(before) and name != left and not left.isdecimal():
        yield name[len(left) :].strip("_"), right + name[len(left) :]
    if name.endswith(behind) and name != left:
        yield name[: -len(left)].strip("_"), name[: -len(left)] + right
