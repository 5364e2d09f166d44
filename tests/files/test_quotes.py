"""Fields in double quotes: rows are cut where Arrow ends them, and a quote without its end is refused."""

import random

import pyarrow as pa
import pyarrow.csv
import pytest

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files import text_blocks
from edgewise.files.quotes import Quotes, UnclosedQuote
from edgewise.files.text_blocks import normalise, whole_lines
from tests.files.test_parsing import Trickle

LONG = 60_000
NOTE = '"first line\nsecond line, with comma, and more to fill a whole block of lines' + "." * 40 + '"'


def rows_of_arrow(text):
    parsing = pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip", newlines_in_values=True)
    reading = pyarrow.csv.ReadOptions(use_threads=False, column_names=["a", "b"], block_size=len(text) + 1)
    strings = pyarrow.csv.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()})
    return pyarrow.csv.read_csv(pa.BufferReader(text), reading, parsing, strings).to_pylist()


def test_rows_end_where_arrow_ends_them():
    chance, quotes, refused = random.Random(1), Quotes(","), 0
    for _ in range(1500):
        text = "".join(chance.choices('",\n\rax ', [6, 3, 3, 1, 3, 1, 1], k=chance.randint(1, 30)))
        text = b"x,y\n" + text.encode() + b"\n"
        try:
            blocks = [block for _, block in whole_lines(Trickle(text, 7), 0, quotes)]
        except UnclosedQuote as error:
            assert 2 <= error.line <= text.count(b"\n")
            refused += 1
            continue
        assert b"".join(blocks) == text
        rows = quotes.rows(text)
        assert b"\n".join(rows) == text and not any(b"\n" in row and b'"' not in row for row in rows)
        apart = [row + b"\n" for row in rows if row.strip(b"\r")]
        for parts in blocks, apart:
            found = [row for part in parts if part.strip(b"\r\n") for row in rows_of_arrow(part)]
            assert found == rows_of_arrow(text), text
    assert 200 < refused < 1300


@pytest.mark.parametrize("count", [1, 5, 1000])
@pytest.mark.parametrize(
    "text, line",
    [
        (b'x,y\na,"b\nc,d\n', 2),
        (b'x,y\n"a\n\nb",c\nd,"""e\n', 5),
        (b'x,y\na"b,c\n"d,e', 3),
        (b'x,y\na,"b\nc,d\ne,"f"\n', 2),  # the quote of another field closes it
        (b'"a\nb","c\n', 2),
        (b'# "\nx,y\n# a,"b\n"\n', 4),
    ],
)
def test_a_quoted_field_without_an_end_has_a_line(text, line, count):
    with pytest.raises(UnclosedQuote) as caught:
        list(whole_lines(Trickle(text, count), 0, Quotes(",", b"#")))
    assert caught.value.line == line


def test_comments():
    text = b'# "\na,"b\n# no comment"\n# c,"d\n#\ne,f\n'
    quotes = Quotes(",", b"#")
    assert quotes.rows(text) == [b'# "', b'a,"b\n# no comment"', b'# c,"d', b"#", b"e,f", b""]
    assert normalise(text, b"", b"#", quotes) == b'a,"b\n# no comment"\ne,f\n'


@pytest.mark.parametrize("header", [True, False])
def test_line_ends_inside_quotes(tmp_path, header):
    path = tmp_path / "a.csv"
    with open(path, "w") as file:
        file.write("from,to,note\n" * header)
        file.writelines(f"a{row},b{row},{NOTE}\n" for row in range(LONG))
    options = {} if header else {"source": 0, "target": 1}
    for read in ew.read(path, header=header, **options), header and ew.stream_components(path).graph:
        if read:
            assert (read.n_edges, read.n_vertices) == (LONG, 2 * LONG)
    with open(path, "a") as file:
        file.write(f"c,d,{NOTE}\n" + "e\n" + f"f,g,{NOTE}\n")
    with pytest.raises(FileError) as caught:
        ew.read(path, header=header, **options)
    assert caught.value.line == 2 * (LONG + 1) + 1 + header


def test_line_ends_inside_ids(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "from,to\n" + "".join(f'"name\n{row:060}","name\n{row + 1:060}"\n' for row in range(LONG))
    )
    names = {f"name\n{row:060}" for row in range(LONG + 1)}
    assert set(ew.read(path).ids.to_pylist()) == names
    assert set(ew.stream_components(path).graph.ids.to_pylist()) == names
    path.write_text('"Doe, Jane","x\ny"\n"Roe, Ann",b\n')
    assert ew.read(path, header=False).ids.to_pylist() == ["Doe, Jane", "x\ny", "Roe, Ann", "b"]


@pytest.mark.parametrize(
    ("above", "names"),
    [(0, "from,to\n"), (0, '\n\nfrom,"to"\n'), (1000, "from,to\n"), (LONG, '\n\nfrom,"to"\n')],
)
@pytest.mark.parametrize("below", ["c,d\n" * 3, "c,d\n" * 300_000 + "e,f\n", 'c,d\n"e","f"\n'])
def test_an_unclosed_quote_is_refused(tmp_path, monkeypatch, above, below, names):
    path = tmp_path / "a.csv"
    path.write_text(names + "a,b\n" * above + 'x,"y\n' + below)
    monkeypatch.setattr(text_blocks, "LINE_BYTES", 1 << 20)
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError) as caught:
            read(path)
        assert caught.value.line == names.count("\n") + above + 1
        assert "quoted field that begins here is not closed" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_quotes_inside_fields_are_letters(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("from,to\n" + 'a"b,5" pipe\n"c"d,"e ""f"""\n' * 3)
    assert ew.read(path).ids.to_pylist() == ['a"b', '5" pipe', "cd", 'e "f"']
    path = tmp_path / "a.txt"
    path.write_text('# a "comment,"\na;b\n#;"\nc;"d\n#e"\n')
    assert ew.read(path, header=False).ids.to_pylist() == ["a", "b", "c", "d\n#e"]


def test_an_unclosed_quote_in_the_row_of_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('\nfrom,"to\na,b\nc,d\n')
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError, match=r"a\.csv:2: a quote in the row of names has no end"):
            read(path)


@pytest.mark.parametrize("comment", ["", '# a,"comment\n'])
def test_rows_without_names(tmp_path, comment):
    path = tmp_path / "a.txt"
    path.write_text("1,2\n2,3\n" + comment + '3,"4"\n')
    assert ew.read(path).n_edges == 3
    path.write_text("1,2\n2,3\n" + comment + '3,"4\n4,5\n')
    with pytest.raises(FileError, match=rf"a\.txt:{4 if comment else 3}: the quoted field"):
        ew.read(path)
