"""The options of :func:`edgewise.read`, and the formats that have them."""

from dataclasses import dataclass, fields

from edgewise.errors import OptionError, argument

#: Formats of the options that not all formats have.
FORMATS_WITH = {
    "source": "edge lists and tables",
    "target": "edge lists and tables",
    "weight": "formats with weights",
    "where": "tables",
    "null": "edge lists and tables",
    "one_based": "edge lists",
    "header": "edge lists and CSV",
    "ids": "edge lists and NCOL",
}


@dataclass(frozen=True)
class Options:
    """See :func:`edgewise.read` for the meaning of each."""

    source: str | int | None = None
    target: str | int | None = None
    weight: str | int | bool | None = None
    where: str | None = None
    null: str = "error"
    format: str | None = None
    directed: bool | None = None
    one_based: bool | None = None
    header: bool | None = None
    ids: str | None = None
    progress: object = None

    def __post_init__(self):
        if self.null not in ("error", "drop"):
            raise OptionError(f"{argument('null', self.null)} is unknown; use 'error' or 'drop'")
        if self.ids not in (None, "string", "integer"):
            raise OptionError(f"{argument('ids', self.ids)} is unknown; use 'string' or 'integer'")
        if (self.source is None) != (self.target is None):
            pair = f"{argument('source')} and {argument('target')}"
            raise OptionError(f"{pair} belong together; give both or neither")

    @property
    def names_columns(self) -> bool:
        """Whether columns are given by name."""
        columns = (self.source, self.target, self.weight)
        return any(isinstance(column, str) and not column.isdecimal() for column in columns)

    def only(self, what: str, *allowed: str) -> None:
        """Refuse the options that mean nothing for this kind of file."""
        always = {"format", "directed", "progress", *allowed}
        for field in fields(self):
            if field.name not in always and getattr(self, field.name) != field.default:
                problem = f"{argument(field.name)} means nothing for {what}"
                raise OptionError(f"{problem}; it is for {FORMATS_WITH[field.name]}, so leave it out")


def options_of(given: dict) -> Options:
    """The options of a call; unknown ones are refused."""
    known = [*(field.name for field in fields(Options)), "self_loops", "repeated"]
    for name in given:
        if name not in known:
            raise OptionError(f"read() has no option {name!r}; it has {', '.join(known)}")
    return Options(**given)
