"""What the caller of :func:`edgewise.read` may say about a file."""

from dataclasses import dataclass, fields

from edgewise.errors import OptionError


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
            raise OptionError(f"null={self.null!r} is unknown; use 'error' or 'drop'")
        if self.ids not in (None, "string", "integer"):
            raise OptionError(f"ids={self.ids!r} is unknown; use 'string' or 'integer'")
        if (self.source is None) != (self.target is None):
            raise OptionError("source= and target= belong together; give both or neither")

    @property
    def names_columns(self) -> bool:
        """Whether columns are asked for by name."""
        asked = (self.source, self.target, self.weight)
        return any(isinstance(column, str) and not column.isdecimal() for column in asked)

    def only(self, what: str, *allowed: str) -> None:
        """Refuse the options that mean nothing for this kind of file.

        Raises
        ------
        OptionError
        """
        always = {"format", "directed", "progress", *allowed}
        for field in fields(self):
            if field.name not in always and getattr(self, field.name) != field.default:
                raise OptionError(f"{field.name}= means nothing for {what}; leave it out")
