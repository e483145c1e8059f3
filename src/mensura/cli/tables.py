"""Tables for people: columns that fit the terminal in parts, wide cells wrapped between words, none cut."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import HEAVY_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from mensura.cli.output import console, visible

if TYPE_CHECKING:
    import polars as pl

    from mensura.core.results import Result

PADDING, FRAME = 3, 4
"""Columns of the terminal that each column of a table takes beside its text, and the first with both edges."""


MISSING = "–"
"""A cell without a value."""
NEAR = 2
"""Rows shown above and below a user's own in a table that is sorted by rank."""


def own_first(frame: pl.DataFrame, own: Collection[str], rows: int | None) -> pl.DataFrame:
    """Return at most ``rows`` rows of a table sorted by rank: the ``own`` subjects, their neighbours, then the top.

    A first column ``whose`` says which is which, and ``rank`` the place of each in the table. Own rows are all there.
    """
    import polars as pl

    ranked = frame if "rank" in frame.columns else frame.with_row_index("rank", offset=1)
    mine = [place for place, subject in enumerate(frame["subject"]) if subject in own]
    near = [place + step for place in mine for step in range(-NEAR, NEAR + 1) if 0 <= place + step < frame.height]
    kinds = dict.fromkeys(mine, "yours")
    for kind, places in (("next to yours", sorted(near)), ("top", range(frame.height))):
        for place in places:
            if rows is None or len(kinds) < rows:
                kinds.setdefault(place, kind)
    order = list(kinds)
    return ranked[order].select(pl.Series("whose", [kinds[place] for place in order], dtype=pl.String), pl.all())


def print_own_first(
    frame: pl.DataFrame,
    own: Collection[str],
    *,
    title: str,
    rows: int | None = None,
    digits: int = 2,
    spare: Sequence[str] = (),
) -> None:
    """Print a table sorted by rank, a user's own subjects first; without any it is printed as it is."""
    if not set(own) & set(frame["subject"]):
        print_table(frame, title=title, rows=rows, digits=digits, spare=spare)
        return
    shown = own_first(frame, own, rows)
    print_table(shown, title=f"{title}; yours first", digits=digits, keys=3, spare=spare)
    _say_left_out(frame.height - shown.height)


def print_table(
    frame: pl.DataFrame,
    *,
    title: str,
    rows: int | None = None,
    digits: int = 2,
    keys: int | None = None,
    spare: Sequence[str] = (),
) -> None:
    """Print the first ``rows`` rows of a table, numbers to the right; wide cells wrap between words, none is cut.

    Where a table is too wide for the terminal, columns of ``spare`` stay out, the first of them first. One that is too
    wide even then is printed in parts, the first ``keys`` columns in each (default: as many as tell the rows apart). A
    rarity, percentile or IQ that is cut at what the data can tell (column ``at_least``) says so beside its number. A
    table without rows is one line, and columns without any value stay out.
    """
    if not frame.height:
        console.print(f"{visible(title)}: none")
        return
    shown = frame if rows is None else frame.head(rows)
    cells = {name: [_cell(value, digits) for value in shown[name]] for name in shown.columns}
    if "one_in" in cells and (cut := cells.pop("at_least", None)):
        for name in {"one_in", "percentile", "iq"} & cells.keys():
            pairs = zip(cells[name], cut, strict=True)
            cells[name] = [f"at least {text}" if word == "yes" else text for text, word in pairs]
    keys = _keys(shown) if keys is None else keys
    empty = [name for name in list(cells)[keys:] if not set(cells[name]) - {MISSING, ""}]
    words = {name: " ".join((visible(name), *cells[name])).split() for name in cells if name not in empty}
    least = {name: max(map(cell_len, column), default=1) for name, column in words.items()}
    left = [name for name in spare if name in least]
    without = []
    while left and len(_parts(least, console.width, keys)) > 1:
        without.append(left.pop(0))
        del least[without[-1]]
    for number, columns in enumerate(_parts(least, console.width, keys)):
        heading = "… further columns" if number else visible(title)
        console.print(Text(heading, style="table.title"), soft_wrap=False)
        grid = TerminalTable(
            [visible(name) for name in columns],
            [frame.schema[name].is_numeric() for name in columns],
            list(zip(*(cells[name] for name in columns), strict=True)),
        )
        least_widths = [least[name] for name in columns]
        console.print(grid if grid.fits(console.width) else _wrapping(grid, least_widths), soft_wrap=False)
    _say_left_out(frame.height - shown.height)
    if empty:
        console.print(f"Left out, as no row here has a value: {', '.join(empty)}")
    if without:
        names = ", ".join(name for name in frame.columns if name in without)
        console.print(f"Left out for want of width: {names} (all columns with --out or --json, or a wider terminal)")


def show(tables: Mapping[str, pl.DataFrame] | Result, layout: str, **words: object) -> None:
    """Print the tables that a layout of ``tables.toml`` names, in its order; ``words`` fill its titles."""
    available = tables if isinstance(tables, Mapping) else tables.tables()
    for name, how in _layouts()[layout].items():
        frame = available.get(name)
        if frame is not None and (frame.height or not how.get("optional")):
            shown = frame.select(how.get("columns", frame.columns)).drop(how.get("drop", ()), strict=False)
            rest = {key: how[key] for key in how.keys() - {"title", "columns", "drop", "optional"}}
            print_table(shown, title=how["title"].format(**words), **rest)


@cache
def _layouts() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "tables.toml").read_text(encoding="utf-8"))


def _keys(frame: pl.DataFrame) -> int:
    """Return how many of the first columns tell the rows apart; one where texts alone do not."""
    import polars as pl

    for count, name in enumerate(frame.columns, start=1):
        if count > 1 and frame.schema[name] != pl.String:
            break
        if frame.select(frame.columns[:count]).is_unique().all():
            return count
    return 1


def _say_left_out(count: int) -> None:
    if count:
        console.print(f"… and {count} more row{'s' * (count > 1)} (all of them with --out or --json)")


@dataclass(frozen=True)
class TerminalTable:
    """A table of which every cell stands on one line, as a wrapping table of rich would show it, many times faster."""

    names: Sequence[str]
    right: Sequence[bool]
    rows: Sequence[Sequence[str]]

    @property
    def widths(self) -> list[int]:
        """Columns of the terminal that the widest cell of each column takes."""
        return [max(map(cell_len, (name, *(row[at] for row in self.rows)))) for at, name in enumerate(self.names)]

    def fits(self, width: int) -> bool:
        """Whether no cell has to be wrapped."""
        return sum(self.widths) + PADDING * len(self.names) + 1 <= width

    def __rich_console__(self, on: Console, options: ConsoleOptions) -> Iterator[Segment]:
        widths = self.widths
        box, spread = HEAVY_HEAD.substitute(options, safe=True), [width + PADDING - 1 for width in widths]
        yield Segment(f"{box.get_top(spread)}\n")
        for at, text in enumerate(_padded(self.names, widths, self.right)):
            yield Segment(box.head_vertical if at else box.head_left)
            yield Segment(text, on.get_style("bold"))
        yield Segment(f"{box.head_right}\n{box.get_row(spread, 'head')}\n")
        for row in self.rows:
            line = box.mid_vertical.join(_padded(row, widths, self.right))
            yield Segment(f"{box.mid_left}{line}{box.mid_right}\n")
        yield Segment(f"{box.get_bottom(spread)}\n")


def _padded(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    blanks = (" " * (width - cell_len(text)) for text, width in zip(texts, widths, strict=True))
    return [
        f" {blank}{text} " if aligned else f" {text}{blank} "
        for text, blank, aligned in zip(texts, blanks, right, strict=True)
    ]


def _wrapping(grid: TerminalTable, least: Sequence[int]) -> RenderableType:
    """Return a table that breaks its cells between words."""
    from rich.table import Table  # here: most tables fit

    table = Table(header_style="bold")
    for name, right, width in zip(grid.names, grid.right, _narrowed(grid.widths, least, console.width), strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold", width=width)
    for row in grid.rows:
        table.add_row(*row)
    return table


def _narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return widths that fit: what can wrap gives way, the widest of it first; one word alone may break."""
    fitted = list(widths)
    while sum(fitted) + PADDING * len(fitted) + 1 > room:
        spare = [width - need for width, need in zip(fitted, least, strict=True)]
        if max(spare) <= 0:
            return [min(width, room - FRAME) for width in fitted]
        widest = max((at for at, free in enumerate(spare) if free > 0), key=fitted.__getitem__)
        fitted[widest] -= 1
    return fitted


def _parts(least: Mapping[str, int], width: int, keys: int) -> list[list[str]]:
    """Pack columns into as few parts as fit the width with every word whole; the first ``keys`` open each part."""
    if not least:
        return []
    first, rest = list(least)[:keys], list(least)[keys:]
    opening = sum(least[name] for name in first) + PADDING * (len(first) - 1) + FRAME
    parts, used = [list(first)], opening
    for name in rest:
        needed = least[name] + PADDING
        if used + needed > width and len(parts[-1]) > len(first):
            parts.append(list(first))
            used = opening
        parts[-1].append(name)
        used += needed
    return parts


def _cell(value: object, digits: int) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{digits}f}" if math.isfinite(value) else f"{'-' * (value < 0)}∞"
    return visible(str(value))
