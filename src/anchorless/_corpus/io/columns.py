"""Choose the column of the text and that of the ids, and turn chunks of rows into batches of documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import Batch, Chunk, SeenIds, SkipLog, make_names_unique
from anchorless._corpus.io.formats import guess_format_by_name
from anchorless.errors import UsageError, suggest

# fmt: off
TEXT_NAMES = frozenset((
    "text", "texts", "body", "content", "contents", "document", "documents", "doc", "abstract", "message", "review",
    "reviewtext", "review_text", "post", "comment", "description", "article", "tweet", "full_text", "fulltext",
    "raw_text", "clean_text", "selftext", "story", "transcript",
    "texto", "texte", "testo", "tekst", "inhalt", "contenido", "contenu", "текст", "النص",
    "正文", "文本", "内容", "评论", "內容", "評論", "本文", "テキスト", "본문", "텍스트", "내용", "ข้อความ",
))
# fmt: on
#: The most certain first.
ID_NAMES = ("id", "_id", "doc_id", "docid", "document_id", "uuid", "guid", "key", "docno", "filename", "file", "name")
#: Characters that a text has on average; names and dates have fewer. A longer name of a column is a document.
MIN_MEAN_TEXT_LENGTH, MAX_NAME_LENGTH = 60, 100
ID = "id"


def choose_text_column(table: pa.Table, given: str | None, name: str) -> str:
    """Return the text column: the given one, or the only obvious one by the names and the first rows."""
    columns = table.column_names
    if given is not None:
        validate_column_choice("text", given, table, name)
        return given
    longest = max(columns, key=len, default="")
    if len(longest) > MAX_NAME_LENGTH:
        problem = f"{name}: its first row must name the columns, but holds {longest[:30]!r}…"
        is_sheet = guess_format_by_name(name) == "excel"
        lines = "" if is_sheet else ", or set {format} to lines for one document per line"
        raise UsageError(problem, remedy=f"add a row of names{lines}")
    textual = [column for column in columns if is_string_type(table.schema.field(column).type)]
    named = [column for column in textual if column.strip().lower() in TEXT_NAMES]
    exact = [column for column in named if column.strip().lower() == "text"]
    long = [column for column in named or textual if has_long_text(table[column])]
    for candidates in (exact, named, textual if len(columns) == 1 else [], long):
        if len(candidates) == 1:
            return str(candidates[0])
    remedy = f"set {{text_column}} to one of {format_column_names(columns)}"
    raise UsageError(f"{name}: it is not obvious which column holds the text", remedy=remedy)


def choose_id_column(table: pa.Table, given: str | None, text: str, name: str) -> str | None:
    """Return the id column: the given one, or one with a usual name and a different value in each row, or None."""
    if given is not None:
        validate_column_choice("id", given, table, name)
        return given
    by_name = {column.strip().lower(): column for column in table.column_names if column != text}
    table = table.filter(pc.invert(find_blank_texts(table[text])))  # such rows are skipped: their ids do not count
    for wanted in ID_NAMES:
        if wanted in by_name and has_distinct_values(table[by_name[wanted]]):
            return str(by_name[wanted])
    # A column called id is one, even if a few values repeat: those are warned about, and an error if strict.
    return by_name["id"] if "id" in by_name and has_distinct_values(table[by_name["id"]], 0.51) else None


def validate_column_choice(role: str, given: str, table: pa.Table, name: str) -> None:
    """Refuse a column that does not exist or, for the text, that holds no text."""
    if given not in table.column_names:
        columns = table.column_names
        problem = f"{name} has no such column; its columns are {format_column_names(columns)}{suggest(given, columns)}"
        raise UsageError(problem, parameter=f"{role}_column", value=given)
    kind = table.schema.field(given).type
    if role == "text" and not is_string_type(kind):
        raise UsageError(f"this column of {name} holds {kind} values, not texts", parameter="text_column", value=given)


def format_column_names(columns: Sequence[str]) -> str:
    """Return the names of columns for a message, at most thirty."""
    shown = ", ".join(map(repr, columns[:30]))
    return shown + (f" and {len(columns) - 30} more" if len(columns) > 30 else "")


def is_string_type(kind: pa.DataType) -> bool:
    """Tell whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def has_long_text(column: pa.ChunkedArray) -> bool:
    """Tell whether the values are long on average, and mostly more than one word."""
    lengths = pc.mean(pc.utf8_length(column)).as_py() or 0.0
    words = pc.mean(pc.match_substring(column, " ").cast(pa.float64())).as_py() or 0.0
    return lengths >= MIN_MEAN_TEXT_LENGTH and words > 0.5


def has_distinct_values(column: pa.ChunkedArray, share: float = 1.0) -> bool:
    """Tell whether no value is missing, and the distinct values are at least this share of all."""
    return bool(column.null_count == 0 and pc.count_distinct(column).as_py() >= share * len(column))


def find_blank_texts(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return which texts are missing, empty or only white space."""
    return pc.or_(pc.equal(pc.fill_null(pc.binary_length(texts), 0), 0), pc.fill_null(pc.utf8_is_space(texts), True))


class ColumnSelection:
    """The chosen columns, which turn chunks of rows into batches of documents."""

    def __init__(self, text: str, id_column: str | None, skips: SkipLog) -> None:
        self.text, self.id_column, self.skips = text, id_column, skips
        self.seen = SeenIds()

    def make_batch(self, chunk: Chunk) -> Batch | None:
        """Return the documents of a chunk; None if there is no text in it."""
        chunk = self.drop_blank_rows(chunk._replace(table=replace_nul(chunk.table)))
        if not chunk.places:
            return None
        ids = chunk.ids
        if self.id_column is not None:  # row numbers and file names need no check
            own = chunk.table[self.id_column].cast(pa.string()).to_pylist()
            ids = [value or place for value, place in zip(own, chunk.ids, strict=True)]
            for place in self.seen.mark_repeated(ids).nonzero()[0].tolist():
                self.skips.add("duplicate id", chunk.places[place], repr(ids[place]))
        others = [chunk.table[name] for name in self.list_others(chunk.table)]
        columns = pa.table([pa.array(ids, pa.string()), *others], names=self.list_columns(chunk.table).names)
        return Batch(pa.concat_arrays(chunk.table[self.text].chunks), columns)

    def list_others(self, table: pa.Table) -> list[str]:
        """Return the columns that are neither text nor ids."""
        return [name for name in table.column_names if name not in (self.text, self.id_column)]

    def list_columns(self, table: pa.Table) -> pa.Schema:
        """Return the columns that go with the documents, the ids first."""
        others = self.list_others(table)
        names = make_names_unique([ID, *("input_id" if name == ID else name for name in others)])
        types = [pa.string(), *(table.schema.field(name).type for name in others)]
        return pa.schema([*zip(names, types, strict=True)])

    def drop_blank_rows(self, chunk: Chunk) -> Chunk:
        """Return the rows with a text, and count the others."""
        kept = pc.invert(find_blank_texts(chunk.table[self.text]))
        if pc.all(kept).as_py():
            return chunk
        mask = kept.to_pylist()
        for place, keep in zip(chunk.places, mask, strict=True):
            if not keep:
                self.skips.add("empty", place)
        return Chunk([*compress(chunk.ids, mask)], [*compress(chunk.places, mask)], chunk.table.filter(kept))


def replace_nul(table: pa.Table) -> pa.Table:
    """Return a table with a space for each NUL in its texts: other programs would stop reading at a NUL."""
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if is_string_type(column.type) and pc.any(pc.match_substring(column, "\0")).as_py():
            table = table.set_column(place, name, pc.replace_substring(column, "\0", " "))
    return table
