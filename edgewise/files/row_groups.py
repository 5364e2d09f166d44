"""Files of pairs read once and in order, several row groups at a time.

The footer of a Parquet file describes its row groups, so that each can be decoded on its own: threads decode
and filter a few at once, and what they choose is yielded in order.  Other tables are read ahead by one
thread.  A file is opened while the one before is still being decoded.
"""

import os
from contextlib import closing
from functools import partial

from edgewise.files.contents import MARK
from edgewise.files.formats import Options
from edgewise.files.layout import has_names, look
from edgewise.files.pair_tables import pieces_of, rows_first, table_of, with_joined
from edgewise.files.parquet_footer import integer_range
from edgewise.files.read_ahead import AHEAD_IN_PIECE, read_in_parallel
from edgewise.files.sniffing import sniff
from edgewise.files.store import is_store
from edgewise.files.streams import Source, reading, styled
from edgewise.files.tables import ALLOWED, TABLES, facts_of
from edgewise.files.text_table import AS_INFERRED, Mismatch, by_attempts
from edgewise.ingest.arrow import value_type
from edgewise.ingest.default_columns import choose_columns


class PairFiles:
    """Files of pairs with the same columns, and the :class:`~edgewise.files.formats.Options` to read them.

    ``stamps`` are (path, bytes, time of the last change) of each file; ``facts`` is the dict that edgewise
    wrote into the metadata, if it wrote the only file or the whole store, else ``None``.  ``where`` is the
    condition on the rows, with the threshold; ``assumed`` are the columns of the ids if the caller did not
    name them.
    """

    def __init__(self, paths, **given):
        options = Options(**given)
        self.style = options.style
        self.paths = rows_first([os.fspath(path) for path in paths], self.style)
        self.stamps = [self._stamp(path) for path in self.paths]
        self.facts = None
        first = self.source_of(0)
        with reading(first.path):
            kind = self._kind(first, options)
            schema = table_of(first).schema
            whole = len(paths) == 1 or is_store(self.paths)
            if options == self._plain(options) and whole and kind != "csv":
                self.facts = facts_of(first, schema.metadata) if MARK in (schema.metadata or {}) else None
            chosen = choose_columns(schema.names, None, options.source, options.target, False)
            self.where = options.kept.condition(schema.names)
        self.id_columns, self.assumed = chosen[:2], chosen[:2] if chosen.assumed else None

    @staticmethod
    def _plain(options):
        """Options that say nothing but how text is written."""
        return Options(sep=options.sep, decimal=options.decimal, encoding=options.encoding)

    def source_of(self, part):
        """The file of a number, to be read."""
        return Source(styled(self.paths[part], self.style))

    @staticmethod
    def _stamp(path):
        with reading(path):
            state = os.stat(path)
        return path, state.st_size, state.st_mtime_ns

    @staticmethod
    def _kind(source, options):
        """Kind of table; an error for anything else."""
        kind = sniff(source, options)
        if kind not in TABLES:
            raise source.error(f"holds {kind}, and only tables can be streamed; read it into a graph")
        text = kind in ("csv", "tsv")
        options.check_text(kind)
        written = ["sep", "decimal"] if text else []
        options.only("JSON Lines" if kind == "jsonl" else "a table", *ALLOWED, *written)
        if source.compression is not None and not text and kind != "jsonl":
            raise source.error(f"is a table inside {source.compression}; decompress it")
        if text and not (options.names_columns or has_names(look(source), source.suffix)):
            raise source.error("has no row of names, so it cannot be streamed; add one")
        return kind

    def survey(self, begin):
        """Rows of all files, and least and largest id, as far as footers state them, else ``None``.

        ``begin`` is called with the schema of every Parquet file, and raises where it is unlike the first.
        """
        from pyarrow import types

        rows, ranges = 0, []
        for part, path in enumerate(self.paths):
            source = self.source_of(part)
            with reading(path, passing=Mismatch):
                if not source.head.startswith(b"PAR1"):
                    return None, None, None
                table = self._settled(table_of(source))
                begin(table.schema)
                rows += table.rows
                kinds = {name: value_type(table.schema.field(name).type) for name in self.id_columns}
                whole = all(map(types.is_integer, kinds.values()))
                signed = {name: types.is_signed_integer(kind) for name, kind in kinds.items()}
                ranges.append(integer_range(path, signed) if whole else None)
        if None in ranges:
            return rows, None, None
        ends = [one for one in ranges if one]
        return rows, min((one[0] for one in ends), default=0), max((one[1] for one in ends), default=-1)

    def first_schema(self):
        """Schema of the first file by the first attempt that its beginning fits; there may be no row."""
        return by_attempts(self.schema)

    def schema(self, attempt):
        """Schema of the first file."""
        first = self.source_of(0)
        with reading(first.path, passing=Mismatch):
            return self._settled(table_of(first, attempt)).schema

    def _settled(self, table):
        table = with_joined(table, self.id_columns)
        table.settle(self.id_columns)
        return table

    def has_pieces(self, wanted, first):
        """Whether the files from a number on have so many row groups, which threads can decode at once."""
        count = 0
        for part in range(first, len(self.paths)):
            source = self.source_of(part)
            with reading(source.path, passing=Mismatch):
                if not source.head.startswith(b"PAR1"):
                    return False
                count += len(table_of(source).groups)
            if count >= wanted:
                return True
        return False

    def chosen(self, pairs, workers, *, attempt=AS_INFERRED, after=(0, 0), ahead=AHEAD_IN_PIECE):
        """Yield ``(part, row, chosen)``: what ``pairs.choose`` yields of the batches, in order.

        ``pairs.begin`` is called at each file, and ``workers`` row groups are decoded and chosen from at
        once, while ``pairs.prepare`` is called; ``ahead`` is that of
        :func:`~edgewise.files.read_ahead.read_in_parallel`.  Without workers the caller does all of this.
        ``after`` is the number of the first file, and the rows of it that are skipped.
        """
        pieces = self._pieces(pairs, attempt, after)
        if not workers:
            found = (item for _, piece in pieces for item in piece())
        else:
            if not self.source_of(0).head.startswith(b"PAR1"):
                workers = 1  # text is parsed on all cores
            found = read_in_parallel(pieces, workers, pairs.prepare, ahead=ahead)
        with closing(found):
            for part, row, schema, chosen in found:
                if chosen is None:
                    with reading(self.paths[part], passing=Mismatch):
                        pairs.begin(schema, row)
                else:
                    yield part, row, chosen

    def _pieces(self, pairs, attempt, after):
        """Yield the bytes of each piece of all files, and a function that reads it, in order."""
        schema = self.schema(attempt) if after[0] else None
        for part in range(after[0], len(self.paths)):
            with reading(self.paths[part], passing=Mismatch):
                table = self._settled(table_of(self.source_of(part), attempt, schema=schema))
                schema = schema or table.schema
                skip = after[1] if part == after[0] else 0
                for number, (row, size, read) in enumerate(pieces_of(table, pairs.columns, skip)):
                    schema_here = None if number else table.schema
                    yield size, partial(self._chosen_of, part, row, schema_here, read, pairs.choose)

    def _chosen_of(self, part, row, schema, read, choose):
        """Yield number of the file, row and what is chosen; first the ``schema``, if a file begins."""
        if schema is not None:
            yield part, row, schema, None
        with reading(self.paths[part], passing=Mismatch):
            for batch in read():
                for chosen in choose(batch):
                    yield part, row, None, chosen
                    row += chosen.rows
