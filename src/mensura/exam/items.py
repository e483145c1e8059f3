"""One item of an exam, the reading of items from any file or table, and their media, numbers and Markdown."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from markdown_it import MarkdownIt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mensura.core.errors import listed_names
from mensura.intake.figures import read_figure
from mensura.intake.item_keys import LETTERS
from mensura.intake.items import TestItem, read_items

SHORT, LONG = 200, 20_000
"""Longest names and texts, in characters."""
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60)]
MOST_ITEMS = 20_000
_IN_LANGUAGE = re.compile(r"(text|options|key|picture_alt)_([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)")
_NEAR = 0.8  # how like the name of a column must be to a known one to be taken for a slip
Scoring = Literal["choice", "several", "number", "text", "rubric", "rating", "slider"]


class ItemTexts(BaseModel):
    """An item in another language: options in the order of the item's own, and further accepted texts as its key."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    text: Annotated[str, Field(min_length=1, max_length=LONG)]
    options: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = ()
    key: tuple[str, ...] = ()
    picture_alt: Annotated[str, Field(max_length=SHORT * 5)] = ""


class ExamItem(BaseModel):
    """One item of an exam.

    ``key``: the right options (their texts, or letters in the order of the table), the number, or the accepted texts;
    empty for a rubric and a rating. ``check``: an attention check, and ``practice``: an item to try; both are given to
    everybody and left out of scores. A slider goes from ``low`` to ``high``; without a key it is a rating.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    item: Word
    text: Annotated[str, Field(min_length=1, max_length=LONG)]
    options: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = ()
    key: tuple[str, ...] = ()
    scoring: Scoring
    tolerance: str = "0"
    points: Annotated[float, Field(gt=0, le=1000)] = 1.0
    section: str = ""
    picture: str = ""
    picture_alt: Annotated[str, Field(max_length=SHORT * 5)] = ""
    rubric: Annotated[str, Field(max_length=LONG)] = ""
    check: bool = False
    keep_order: bool = False
    domain: str = ""
    practice: bool = False
    media: str = ""
    transcript: Annotated[str, Field(max_length=LONG)] = ""
    low: float = 0.0
    high: float = 100.0
    step: Annotated[float, Field(gt=0)] = 1.0
    translations: dict[str, ItemTexts] = {}

    @model_validator(mode="before")
    @classmethod
    def _default_scoring(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.get("scoring"):
            several = len(given.get("key") or ()) > 1
            given = given | {"scoring": ("several" if several else "choice") if given.get("options") else "text"}
        return given

    @field_validator("picture", "media")
    @classmethod
    def _stays_inside(cls, name: str) -> str:
        if name and (Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name):
            raise ValueError("must lie in the folder of the exam; give a plain file name")
        return name

    @model_validator(mode="after")
    def _complete(self) -> ExamItem:
        chosen = self.scoring in ("choice", "several", "rating")
        if chosen and not 2 <= len(self.options) <= len(LETTERS):
            raise ValueError(f"options: {len(self.options)} given; give 2 to {len(LETTERS)}, separated by |")
        if not chosen and self.options:
            raise ValueError(f"options: not with scoring {self.scoring!r}; remove them or use choice")
        if len(set(self.options)) < len(self.options):
            raise ValueError("options: one is there twice; remove it")
        if self.scoring == "rubric" and not self.rubric:
            raise ValueError("rubric: empty; describe a right answer")
        if self.scoring == "rating" and self.key:
            raise ValueError("key: a rating has none; remove it, or use scoring choice")
        if not self.key and self.scoring not in ("rating", "rubric", "slider"):
            raise ValueError("key: empty; give the right answer")
        if self.scoring == "choice" and len(self.key) != 1:
            raise ValueError(f"key: {len(self.key)} given; give one, or use scoring several")
        if chosen:
            self.right_options()
        if self.scoring == "slider" and not self.low < self.high:
            raise ValueError(f"low, high: {self.low:g} and {self.high:g}; expected low below high")
        if self.media and not self.transcript:
            raise ValueError("transcript: empty; write what is heard and seen, for people who do not hear or see it")
        is_number = len(self.key) == 1 and read_number(self.key[0]) is not None
        if self.scoring in ("number", "slider") and self.key and not is_number:
            raise ValueError(f"key: {' | '.join(self.key)!r} is no number; expected one such as 12.5")
        for language, words in self.translations.items():
            if words.options and len(words.options) != len(self.options):
                raise ValueError(
                    f"options_{language}: {len(words.options)} given; give {len(self.options)} in the same order"
                )
        allowed = read_number(self.tolerance)
        if allowed is None or allowed < 0.0:
            raise ValueError(f"tolerance: {self.tolerance!r} is no number from 0; give one such as 0.01 or 2%")
        if self.picture and not self.picture_alt:
            raise ValueError("picture_alt: empty; describe the picture for people who do not see it")
        return self

    def translated(self, language: str) -> ExamItem:
        """Return the item as takers in another language see it. It is scored by the original."""
        words = self.translations[language]
        shown = {"text": words.text, "options": words.options or self.options}
        return self.model_copy(update=shown | {"picture_alt": words.picture_alt or self.picture_alt})

    @property
    def accepted(self) -> tuple[str, ...]:
        """The accepted texts in every language."""
        return (*self.key, *(key for words in self.translations.values() for key in words.key))

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
    def is_rating(self) -> bool:
        """Whether no answer is right or wrong."""
        return self.scoring in ("rating", "slider") and not self.key

    @property
    def counts(self) -> bool:
        """Whether the item goes into scores."""
        return not (self.check or self.practice or self.is_rating)

    @property
    def is_open(self) -> bool:
        """Whether people write the answer."""
        return not self.options


def read_exam_items(
    source: Path | list[Any], columns: str | None = None
) -> tuple[list[ExamItem], list[str], list[str]]:
    """Return the items of a file or of tables, every error with its place, and notes on the reading.

    Any layout of a benchmark is read (:func:`mensura.intake.items.read_items`). Columns that an exam does not know are
    left out, unless their names are nearly those of one that it knows.
    """
    file = read_items(source, columns=columns)
    items: list[ExamItem] = []
    faults: list[str] = []
    unknown: set[str] = set()
    first: dict[str, str] = {}
    for given in file.items:
        try:
            item = ExamItem.model_validate(_cells(given, unknown))
        except ValidationError as fault:
            for error in fault.errors():
                faults.append(f"{', '.join([given.place, *map(str, error['loc'])])}: {error_text(error)}")
            continue
        if item.item in first:
            faults.append(f"{given.place}, item: {item.item!r} is also in {first[item.item]}; give each its own name")
        first.setdefault(item.item, given.place)
        items.append(item)
    left_out = [f"columns left out: {listed_names(sorted(unknown))}"] if unknown else []
    return items, faults, [*file.notes, *left_out]


def _cells(given: TestItem, unknown: set[str]) -> dict[str, Any]:
    """Return what an exam takes of an item; names of columns that it does not take are added to ``unknown``."""
    text = f"{given.context}\n\n{given.text}" if given.context else given.text
    taken: dict[str, Any] = {"item": safe_name(given.item), "text": text, "domain": given.domain}
    taken |= {"options": list(given.options), "key": list(given.keys)}
    for title, cell in given.rest.items():
        if cell is None or str(cell).strip() == "":
            continue
        if in_language := _IN_LANGUAGE.fullmatch(title):
            field, language = in_language.groups()
            parts = [part.strip() for part in str(cell).split("|")] if field in ("options", "key") else str(cell)
            taken.setdefault("translations", {}).setdefault(language, {})[field] = parts
        elif title in ExamItem.model_fields or get_close_matches(title, ExamItem.model_fields, 1, _NEAR):
            taken[title] = cell if isinstance(cell, bool) else str(cell)
        else:
            unknown.add(title)
    return taken


def safe_name(raw: object) -> str:
    """Return an item's name that may stand in files and addresses."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "_.-") else "-" for char in str(raw))
    return kept.lstrip("-_.")[:60] or "item"


def error_text(error: Any) -> str:
    """Return what is wrong in a few words; a message of our own as it is."""
    text = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return "unknown; remove it or correct its spelling"
    return text if "; " in text else f"{text} (got {str(error.get('input'))[:60]!r}); correct it"


# Pictures, sounds and films: small ones, of kinds that every browser shows and that have no script.

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MEDIA = {".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".m4a": "audio/mp4"}
MEDIA |= {".mp4": "video/mp4", ".webm": "video/webm"}
_MOST_MEGABYTES = {"picture": 2, "sound or film": 50}
_STARTS = {".png": b"\x89PNG\r\n\x1a\n", ".gif": b"GIF8", ".webp": b"RIFF"}
_STARTS |= dict.fromkeys((".jpg", ".jpeg"), b"\xff\xd8\xff")


def media_of(name: str) -> str | None:
    """Return the media type of a picture, sound or film by its ending, None where it is none."""
    ending = Path(name).suffix.lower()
    return f"image/{ending[1:].replace('jpg', 'jpeg')}" if ending in PICTURES else MEDIA.get(ending)


def check_media(folder: Path, name: str, kind: str) -> list[str]:
    """Return what is wrong with the ``picture``, or the ``sound or film``, of an item; nothing where it has none."""
    path, endings, most = folder / name, PICTURES if kind == "picture" else tuple(MEDIA), _MOST_MEGABYTES[kind]
    ending = path.suffix.lower()
    if not name:
        return []
    if ending not in endings:
        return [f"{name!r} is no {kind}; expected one of {', '.join(endings)}. Convert it"]
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return [f"{name!r} is not in the folder of the exam; copy it there"]
    if path.stat().st_size > most * 2**20:
        return [f"{name!r} has {path.stat().st_size / 2**20:.1f} MB; expected at most {most} MB. Shrink it"]
    if not path.read_bytes().startswith(_STARTS.get(ending, b"")):
        return [f"{name!r} is no {ending[1:].upper()} file; save it in that format"]
    return []


# Numbers as people write them: 1,234.5 and 0,5 and 3/4 and 50%.

_FRACTION = re.compile(r"([+-]?\d{1,15})/(\d{1,15})")
_LONGEST = 60
_PLAIN = str.maketrans("\u2212\u00a0\u202f\u066b\u066c", "-  .,")  # a minus, blanks, and the signs of Arabic numbers


def read_number(text: str) -> float | None:
    """Return the number that a text is, None where it is none; a percent sign after it does not count."""
    text = text.strip().translate(_PLAIN)[: _LONGEST + 1]
    if fraction := _FRACTION.fullmatch(text.removesuffix("%").strip()):
        below = int(fraction[2])
        return int(fraction[1]) / below if below else None
    figure = read_figure(text) if len(text) <= _LONGEST else None
    return None if figure is None or figure.error is not None else figure.value


# Markdown as HTML: the usual marks, tables and code; no HTML of the author's, no link out, no picture.


@cache
def _parser() -> MarkdownIt:
    """Return the reader. Raw HTML is shown as text. Links and pictures are off: a taker stays in the exam."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return parser.enable("table").disable(["link", "image", "autolink"])


@lru_cache(maxsize=4096)
def render_markdown(text: str) -> str:
    """Return a text of the exam as safe HTML."""
    return str(_parser().render(text))


@lru_cache(maxsize=16_384)
def render_line(text: str) -> str:
    """Return a text of one line, such as an option, as safe HTML."""
    return str(_parser().renderInline(text))
