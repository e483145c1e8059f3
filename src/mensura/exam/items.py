"""One item of an exam, and the reading of item tables: CSV, Parquet, JSONL, or tables inside ``exam.toml``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mensura.exam.numbers import read_number
from mensura.exam.settings import LONG, SHORT, Word
from mensura.intake.packed import read_bytes
from mensura.intake.tables import read_noted

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_ITEMS = 20_000
_LISTS = ("options", "key")
Scoring = Literal["choice", "several", "number", "text", "rubric"]


class ExamItem(BaseModel):
    """One item of an exam.

    ``key``: the right options (their texts, or letters in the order of the table), the number, or the accepted texts;
    empty for a rubric. ``check``: an attention check, given to everybody and left out of scores.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    item: Word
    text: Annotated[str, Field(min_length=1, max_length=LONG)]
    options: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = ()
    key: tuple[str, ...] = ()
    scoring: Scoring
    tolerance: Annotated[str, Field(pattern=r"^\d+(\.\d+)?%?$")] = "0"
    points: Annotated[float, Field(gt=0, le=1000)] = 1.0
    section: str = ""
    picture: str = ""
    picture_alt: Annotated[str, Field(max_length=SHORT * 5)] = ""
    rubric: Annotated[str, Field(max_length=LONG)] = ""
    check: bool = False
    keep_order: bool = False
    domain: str = ""

    @model_validator(mode="before")
    @classmethod
    def _default_scoring(cls, given: Any) -> Any:  # noqa: ANN401
        if isinstance(given, dict) and not given.get("scoring"):
            several = len(given.get("key") or ()) > 1
            given = given | {"scoring": ("several" if several else "choice") if given.get("options") else "text"}
        return given

    @field_validator("picture")
    @classmethod
    def _stays_inside(cls, name: str) -> str:
        if name and (Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name):
            raise ValueError("must lie in the folder of the exam; give a plain file name")
        return name

    @model_validator(mode="after")
    def _complete(self) -> ExamItem:
        chosen = self.scoring in ("choice", "several")
        if chosen and not 2 <= len(self.options) <= len(LETTERS):
            raise ValueError(f"options: {len(self.options)} given; give 2 to {len(LETTERS)}, separated by |")
        if not chosen and self.options:
            raise ValueError(f"options: not with scoring {self.scoring!r}; remove them or use choice")
        if len(set(self.options)) < len(self.options):
            raise ValueError("options: one is there twice; remove it")
        if self.scoring == "rubric":
            if not self.rubric:
                raise ValueError("rubric: empty; describe a right answer")
        elif not self.key:
            raise ValueError("key: empty; give the right answer")
        if self.scoring == "choice" and len(self.key) != 1:
            raise ValueError(f"key: {len(self.key)} given; give one, or use scoring several")
        if chosen:
            self.right_options()
        if self.scoring == "number" and (len(self.key) != 1 or read_number(self.key[0]) is None):
            raise ValueError(f"key: {' | '.join(self.key)!r} is no number; expected one such as 12.5")
        if self.picture and not self.picture_alt:
            raise ValueError("picture_alt: empty; describe the picture for people who do not see it")
        return self

    def right_options(self) -> frozenset[int]:
        """Return the places of the right options in the table's order."""
        return frozenset(map(self._place, self.key))

    def _place(self, key: str) -> int:
        if key in self.options:
            return self.options.index(key)
        letters = LETTERS[: len(self.options)]
        if len(key) == 1 and key.upper() in letters:
            return letters.index(key.upper())
        raise ValueError(f"key: {key!r} is no option; give the text of an option or a letter from A to {letters[-1]}")

    @property
    def is_open(self) -> bool:
        """Whether people write the answer."""
        return not self.options


def parse_rows(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[ExamItem], list[str]]:
    """Return the items and every error, each with its place; ``rows`` are places and cells."""
    items: list[ExamItem] = []
    faults: list[str] = []
    first: dict[str, str] = {}
    for place, row in rows:
        try:
            item = ExamItem.model_validate(_cells(row))
        except ValidationError as fault:
            faults += [f"{place}{_where(error)}: {error_text(error)}" for error in fault.errors()]
            continue
        if item.item in first:
            faults.append(f"{place}, item: {item.item!r} is also in {first[item.item]}; give each item its own name")
        first.setdefault(item.item, place)
        items.append(item)
    return items, faults


def read_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return place and cells of every row of a table of items."""
    if path.suffix.lower() == ".jsonl":
        return list(_lines(path))
    frame = read_noted(path, infer=False, row="row").frame
    return [(f"{path.name}, row {row.pop('row')}", row) for row in frame.to_dicts()]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig", errors="replace").splitlines(), start=1):
        if line.strip():
            place = f"{path.name}, line {number}"
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield place, row if isinstance(row, dict) else {"not_json": "give one JSON object per line"}


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filled cells of a row; lists may be JSON or separated by | or line ends."""
    filled = {name: cell for name, cell in row.items() if cell is not None and str(cell).strip() != ""}
    cells = {name: cell if isinstance(cell, bool | list) else str(cell) for name, cell in filled.items()}
    return {name: _listed(cell) if name in _LISTS else cell for name, cell in cells.items()}


def _listed(cell: Any) -> list[str]:  # noqa: ANN401
    if isinstance(cell, str) and cell.strip().startswith("["):
        with suppress(ValueError):
            cell = json.loads(cell)
    if isinstance(cell, list):
        return [str(part).strip() for part in cell]
    parts = str(cell).split("\n" if "\n" in str(cell).strip() else "|")
    return [part.strip() for part in parts if part.strip()]


def _where(error: Any) -> str:  # noqa: ANN401
    return "".join(f", {part}" for part in error["loc"])


def error_text(error: Any) -> str:  # noqa: ANN401
    """Return what is wrong in a few words; a message of our own as it is."""
    text = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return "unknown; remove it or correct its spelling"
    return text if "; " in text else f"{text} (got {str(error.get('input'))[:60]!r}); correct it"
