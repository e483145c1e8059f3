"""Rows of an HTML table: Python's own parser separates markup from text and drops it; nothing of it is run."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from mensura.core.errors import MensuraError
from mensura.intake.documents import MOST_CELLS, MOST_COLUMNS, SourceRow, clean_text, refuse_twins, titled
from mensura.intake.score_columns import LONGEST_CELL
from mensura.intake.text import plain_cell

DEEPEST = 20
"""Tables within tables."""
_SILENT = {"script", "style", "template", "noscript", "svg", "head", "title"}
_BLOCKS = {"p", "div", "li"}
_BREAKS = {*_BLOCKS, "br", "span", "td", "th"}
_FLUSH = "\n<p></p>"  # text at the very end is handed over only before a tag


@dataclass
class _Table:
    """A table as it is read: rows with their line; ``below`` holds cells that reach down into the next rows."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    below: dict[int, tuple[int, str]] = field(default_factory=dict)
    cell: list[str] | None = None
    span: tuple[int, int] = (1, 1)
    length: int = 0


class _Tables(HTMLParser):
    """Collects the text of every cell of every table; rows and columns that a cell spans repeat it."""

    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=True)
        self._name = name
        self._open: list[_Table] = []
        self._silent: list[str] = []
        self._cells = 0
        self.tables: list[_Table] = []

    @property
    def unfinished(self) -> bool:
        """Whether a table or a part that is not shown was never closed: what follows the break is not known."""
        return bool(self._open or self._silent)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.append(tag)
            return
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag == "table":
            if len(self._open) >= DEEPEST:
                raise MensuraError(
                    f"{self._name}: tables nested deeper than {DEEPEST} levels; keep only the leaderboard table"
                )
            self._open.append(_Table())
            self.tables.append(self._open[-1])
        elif self._open:
            self._inside(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SILENT:
            self.handle_starttag(tag, attrs)

    def _inside(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        table = self._open[-1]
        if tag == "tr":
            self._end_row()
            table.rows.append((self.getpos()[0], []))
        elif tag in ("td", "th"):
            self._end_cell()
            if not table.rows:
                table.rows.append((self.getpos()[0], []))
            table.cell, table.length = [], 0
            spans = dict(attrs)
            table.span = self._span(spans.get("colspan")), self._span(spans.get("rowspan"))
        if tag in _BREAKS and table.cell is not None:
            table.cell.append(" ")

    def _span(self, attribute: str | None) -> int:
        text = (attribute or "1").strip()
        if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= MOST_COLUMNS:
            raise MensuraError(
                f"{self._name}, line {self.getpos()[0]}: a cell spans {text[:20]!r}; expected 1 to {MOST_COLUMNS}"
            )
        return int(text)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
        elif tag in ("td", "th") and self._open:
            self._end_cell()
        elif tag == "tr" and self._open:
            self._end_row()
        elif tag == "table" and self._open:
            self._end_row()
            self._open.pop()
        elif tag in _BLOCKS and self._open and (cell := self._open[-1].cell) is not None:
            cell.append(" ")

    def handle_data(self, data: str) -> None:
        table = self._open[-1] if self._open else None
        if self._silent or table is None or table.cell is None:
            return
        table.length += len(data)
        if table.length > 10 * LONGEST_CELL:
            raise MensuraError(
                f"{self._name}, line {self.getpos()[0]}: a cell of more than {table.length:,} characters; keep only "
                "the leaderboard table"
            )
        table.cell.append(data)

    def _end_row(self) -> None:
        """Close a row: cells above may reach down into its last columns."""
        self._end_cell()
        table = self._open[-1]
        if table.rows:
            self._fill(table, table.rows[-1][1])

    def _end_cell(self) -> None:
        """Put a finished cell into its row, after those that reach down from above."""
        table = self._open[-1]
        if table.cell is None:
            return
        text, (wide, high) = clean_text("".join(table.cell)), table.span
        table.cell = None
        row = table.rows[-1][1]
        self._fill(table, row)
        for _ in range(wide):
            self._cells += 1
            if len(row) >= MOST_COLUMNS or self._cells > MOST_CELLS:
                raise MensuraError(
                    f"{self._name}: a table of more than {MOST_COLUMNS} columns or {MOST_CELLS:,} cells; keep only "
                    "the leaderboard table"
                )
            if high > 1:
                table.below[len(row)] = (len(table.rows) + high - 1, text)
            row.append(text)

    def _fill(self, table: _Table, row: list[str]) -> None:
        """Repeat in a row the cells above that reach down into it."""
        while (reach := table.below.get(len(row))) is not None and reach[0] >= len(table.rows):
            if len(row) >= MOST_COLUMNS:
                return
            row.append(reach[1])


def html_rows(text: str, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Return the rows of the one table that has every column of the mapping in a row of its own, the header."""
    parser = _Tables(name)
    try:
        parser.feed(text + _FLUSH)
    except (AssertionError, ValueError) as fault:
        if isinstance(fault, MensuraError):
            raise
        raise MensuraError(f"{name}: not readable as HTML ({fault}); save the page again") from fault
    if parser.rawdata.strip() or parser.unfinished:
        line = parser.getpos()[0]
        raise MensuraError(f"{name}, line {line}: the page breaks off inside a table, comment or script; take it anew")
    matches = [(table, place) for table in parser.tables if (place := _header(table, columns)) is not None]
    if len(matches) != 1:
        count = "no table has" if not matches else f"{len(matches)} tables have"
        raise MensuraError(f"{name}: {count} the columns {', '.join(sorted(columns))}; expected one")
    table, place = matches[0]
    header = table.rows[place][1]
    refuse_twins(header, columns, name)
    rows: list[SourceRow] = []
    for line, cells in table.rows[place + 1 :]:
        if len(cells) > len(header):
            raise MensuraError(
                f"{name}, line {line}: {len(cells)} cells under a header of {len(header)}; check the capture, a row "
                "must match its header"
            )
        if any(cells):
            rows.append(SourceRow(line, titled(header, [plain_cell(cell) or "" for cell in cells])))
    return rows


def _header(table: _Table, columns: frozenset[str]) -> int | None:
    return next((place for place, (_, cells) in enumerate(table.rows) if columns <= set(cells)), None)
