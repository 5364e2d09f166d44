"""Columns that may be part of the ids: those of one record of a pair that have a twin for the other record.

An id may be unique only together with another column, such as that of the dataset: ``ds_l`` and ``id_l`` on
one side of a pair, ``ds_r`` and ``id_r`` on the other.  To take ``id_l`` alone would join the records of two
datasets that have the same id, without a word.  The rows of one table do not tell, since the next one may
have the other dataset only, so the names of the columns decide:

1. ``source_dataset_l`` and ``source_dataset_r`` are part of the ids, as in Splink;
2. twins that describe the records that are compared are no part of them: those with a usual word for this
   (:data:`DESCRIBING`), those that another column compares (``gamma_name``, ``name_score``), and those of
   predictions of Splink;
3. twins with a word for a dataset (:data:`DATASETS`), and all others, may be part of the ids: the table is
   refused, and the message says how to include them or leave them out.
"""

import re

#: Pairs of words that tell the two records of a pair apart, before or behind the name of a column.
SIDES = "l r", "left right", "ltable rtable", "lhs rhs", "1 2", "a b", "x y"
#: Those of the two ends of an edge; tables of edges may have their own words, and the first two above.
ENDS = "source target", "src dst", "from to", "start end", "u v", "head tail", "subject object"
#: Words in the names of columns that tell which dataset a record is from.
DATASETS = (
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
    datasets, describing = (frozenset(" ".join(lines).split()) for lines in (DATASETS, DESCRIBING))
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
