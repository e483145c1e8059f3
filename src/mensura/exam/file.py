"""An exam: reading it from its folder, and making a new one. Every error is reported at once, each with its place."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.core.folders import whole_folder
from mensura.exam.items import MOST_ITEMS, ExamItem, check_media, error_text, read_exam_items
from mensura.exam.settings import ExamSettings, ExamTexts, read_bank, read_texts
from mensura.responses import ItemBank

FILE = "exam.toml"
WRITER = "exam new"
EXAMPLE = Path(__file__).parent / "example"
_SHOWN = 20
_SEEN = {"item", "text", "options", "scoring", "section", "picture", "check", "translations", "practice", "media"}
_SEEN |= {"low", "high", "step"}
_RULES = {"instructions", "consent", "time", "questions", "tools", "sections", "items_per_person", "seed"}
_RULES |= {"translations", "form", "adaptive"}
PERSON = "person"
"""The column of a pool's answers that names who gave them."""
TAKERS = {
    "subject": pl.String,
    "items": pl.Int64,
    "answered": pl.Int64,
    "late": pl.Int64,
    "finished": pl.Boolean,
    "seconds": pl.Float64,
    "left": pl.Int64,
    "failed_checks": pl.Int64,
    "sat_in": pl.String,
}
"""Columns of the table of takers, which has one more for each question about the person."""


@dataclass(frozen=True, eq=False)
class Exam:
    """Contain an exam as it was read.

    Attributes
    ----------
    folder : Path
        Its folder, with the pictures.
    settings : ExamSettings
        What ``exam.toml`` says.
    items : tuple of ExamItem
        The items, attention checks included.
    warnings : tuple of str
        What an organiser should know.

    """

    folder: Path
    settings: ExamSettings
    items: tuple[ExamItem, ...]
    warnings: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, ExamItem]:
        """The items by their names."""
        return {item.item: item for item in self.items}

    @cached_property
    def scored(self) -> tuple[ExamItem, ...]:
        """The items that count; attention checks, practice and ratings are left out."""
        return tuple(item for item in self.items if item.counts)

    @property
    def checks(self) -> tuple[ExamItem, ...]:
        """The attention checks."""
        return tuple(item for item in self.items if item.check)

    @property
    def ratings(self) -> tuple[ExamItem, ...]:
        """The items whose answers are neither right nor wrong."""
        return tuple(item for item in self.items if item.is_rating and not item.practice)

    @property
    def per_person(self) -> int:
        """Scored items that each person gets; in an adaptive exam the most."""
        wanted = self.settings.adaptive.most_items if self.is_adaptive else self.settings.items_per_person
        return min(wanted or len(self.scored), len(self.scored))

    @property
    def is_adaptive(self) -> bool:
        """Whether the items of a sitting are chosen one by one."""
        return self.settings.form == "adaptive"

    @cached_property
    def bank(self) -> ItemBank:
        """The parameters of the items that count, for an adaptive exam."""
        return read_bank(self.folder / self.settings.adaptive.bank, [item.item for item in self.scored])

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which people may take the exam, its own first."""
        return (self.settings.language, *self.settings.translations)

    def translated(self, language: str | None) -> Exam:
        """Return the exam as takers in a language see it; the exam itself for its own or an unknown one."""
        if language not in self.settings.translations:
            return self
        if language not in self._translated:
            items = tuple(item.translated(language) for item in self.items)
            self._translated[language] = Exam(self.folder, self.settings.translated(language), items)
        return self._translated[language]

    @cached_property
    def _translated(self) -> dict[str, Exam]:
        return {}

    @cached_property
    def texts(self) -> ExamTexts:
        """The texts of the pages in the exam's language."""
        return read_texts(self.settings.language, self.folder)[0]

    @cached_property
    def digest(self) -> str:
        """Hash of what takers see. Keys and tolerances may change without a new exam; a text may not."""
        items = [item.model_dump(include=_SEEN) for item in self.items]
        text = json.dumps([items, self.settings.model_dump(include=_RULES)], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def read_exam(path: str | Path) -> Exam:
    """Read an exam.

    Parameters
    ----------
    path : str or Path
        Its folder, its ``exam.toml``, or ``example`` for the one in the package.

    Returns
    -------
    Exam
        The exam.

    Raises
    ------
    MensuraError
        With every error, each with its place.

    Examples
    --------
    >>> read_exam("example").settings.title
    'Everyday reasoning'

    """
    exam, faults = inspect_exam(path)
    if exam is None:
        more = [f"… and {len(faults) - _SHOWN} more; see mensura exam check"] if len(faults) > _SHOWN else []
        title = f"{path}: the exam has {len(faults)} errors. Correct them:"
        raise MensuraError("\n".join([title, *faults[:_SHOWN], *more]))
    return exam


def inspect_exam(path: str | Path) -> tuple[Exam | None, list[str]]:
    """Check an exam.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_exam`.

    Returns
    -------
    tuple[Exam or None, list[str]]
        The exam and its errors; no exam where there is one.

    Examples
    --------
    >>> inspect_exam("example")[1]
    []

    """
    place = EXAMPLE if str(path) == "example" else Path(path)
    file = place / FILE if place.is_dir() else place
    if not file.is_file():
        raise MensuraError(f"{path}: no exam there; expected a folder with {FILE}. Make one: mensura exam new {path}")
    try:
        keys = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as fault:
        return None, [f"{file.name}: not TOML ({fault}); correct that place"]
    inline = keys.pop("items") if isinstance(keys.get("items"), list) else None
    settings, faults = None, []
    try:
        settings = ExamSettings.model_validate(keys)
    except ValidationError as fault:
        faults += [f"{file.name}, {'.'.join(map(str, error['loc']))}: {error_text(error)}" for error in fault.errors()]
    items, wrong, notes = _items(file.parent / str(keys.get("items", "items.csv")), file.name, inline)
    faults += wrong
    if settings is not None:
        faults += _joint_faults(file, settings, items)
    if faults or settings is None:
        return None, faults
    return Exam(file.parent, settings, tuple(items), (*notes, *_warnings(settings, items))), []


def _items(table: Path, name: str, inline: list[Any] | None) -> tuple[list[ExamItem], list[str], list[str]]:
    """Return the items of a table, or of rows in the file of this name, with errors and notes."""
    try:
        rows = [row if isinstance(row, dict) else {"item": row} for row in inline or ()]
        items, faults, notes = read_exam_items(table if inline is None else rows)
    except MensuraError as fault:
        return [], [str(fault)], []
    if len(items) + len(faults) > MOST_ITEMS:
        return [], [f"{name}: {len(items):,} items; expected at most {MOST_ITEMS:,}. Split the exam"], []
    return items, faults, notes


def _joint_faults(file: Path, settings: ExamSettings, items: list[ExamItem]) -> list[str]:
    """Return what is wrong with settings and items together."""
    faults = []
    scored = sum(item.counts for item in items)
    if not scored:
        faults.append(f"{file.name}: no item that counts; add at least one")
    if settings.items_per_person and settings.items_per_person > scored:
        faults.append(
            f"{file.name}, items_per_person: {settings.items_per_person} is above the {scored} items that count; "
            "lower it or leave it out"
        )
    if settings.form == "adaptive":
        faults += [f"{file.name}, {wrong}" for wrong in _adaptive_faults(file.parent, settings, items)]
    for code in (settings.language, *settings.translations):
        faults += [f"{file.name}, {wrong}" for wrong in read_texts(code, file.parent)[1]]
    faults += [f"{file.name}, {wrong}" for wrong in settings.untranslated()]
    sections = {section.name for section in settings.sections}
    for item in items:
        if sections and item.section not in sections and (item.section or item.counts):
            wrong = f"{item.section!r} is unknown" if item.section else "empty"
            faults.append(f"item {item.item}, section: {wrong}; give one of {', '.join(sorted(sections))}")
        for field, kind, name in (("media", "sound or film", item.media), ("picture", "picture", item.picture)):
            faults += [f"item {item.item}, {field}: {wrong}" for wrong in check_media(file.parent, name, kind)]
        for code in settings.translations:
            if code not in item.translations:
                faults.append(f"item {item.item}, text_{code}: missing; translate it, or remove translations.{code}")
        if item.item == PERSON:
            faults.append(f"item {PERSON}: a table of answers calls a column of its own so; rename the item")
    names = Counter(question.name for question in settings.questions)
    faults += [f"{file.name}, questions: {name!r} is there twice; rename one" for name in names if names[name] > 1]
    own = [name for name in names if name in (*TAKERS, PERSON)]
    faults += [f"{file.name}, questions: {name!r} is a column of the takers; rename the question" for name in own]
    return faults


def _adaptive_faults(folder: Path, settings: ExamSettings, items: list[ExamItem]) -> list[str]:
    """Return what an adaptive exam cannot have or lacks."""
    rules, scored = settings.adaptive, [item for item in items if item.counts]
    faults = [
        f'{name}: not with form = "adaptive"; {advice}'
        for name, is_set, advice in (
            ("items_per_person", settings.items_per_person, "set adaptive.most_items instead"),
            ("sections", settings.sections, "remove the sections"),
            ("items", any(item.scoring == "rubric" for item in scored), "remove items with a rubric, graded later"),
        )
        if is_set
    ]
    if rules.least_items > rules.most_items:
        faults.append(f"adaptive.least_items: {rules.least_items} is above most_items, {rules.most_items}; lower it")
    most, room = min(rules.most_items, len(scored)), rules.open_items(len(scored))
    if room < most:
        faults.append(
            f"adaptive.exposure: {rules.exposure:g} of {len(scored)} items are {room}, below the {most} that a sitting "
            f"may need; raise it to {math.ceil(100 * most / len(scored)) / 100:g}, or lower most_items"
        )
    try:
        read_bank(folder / rules.bank, [item.item for item in scored])
    except MensuraError as fault:
        faults.append(f"adaptive.bank: {fault}")
    return faults


def _warnings(settings: ExamSettings, items: list[ExamItem]) -> tuple[str, ...]:
    warnings = []
    if any(item.scoring == "rubric" for item in items) and not settings.consent.model_grading:
        warnings.append(
            "items with a rubric are graded by a language model, but consent.model_grading is not set: "
            "people's answers to them stay ungraded"
        )
    if settings.completion_address and not settings.panel_parameter:
        warnings.append("completion_address is set without panel_parameter: the panel's ids will not be kept")
    return tuple(warnings)


def new_exam(folder: Path) -> Exam:
    """Write the example into a folder, to start from."""
    with whole_folder(folder, WRITER, certain=[FILE, "items.csv"]) as stage:
        for name in (FILE, "items.csv"):
            shutil.copyfile(EXAMPLE / name, stage / name)
    return read_exam(folder)


def exam_from(source: Path, folder: Path, columns: str | None = None) -> tuple[Exam, list[str]]:
    """Write an exam whose items come from a pool's folder or any file of items; return what was left out.

    Texts, options and keys are taken as they are, from ``columns`` such as ``text=stem,key=answer:1``. Consent,
    instructions and rules are those of the example: edit them.
    """
    tables = [source / name for name in ("items.csv", "items.parquet") if (source / name).is_file()]
    items, left, _ = read_exam_items(tables[0] if tables else source, columns)
    if not items:
        raise MensuraError(f"{source}: no item with a text and a key ({left[0]}); give a pool, a benchmark or a log")
    unique = {item.item: item.model_dump(exclude_defaults=True, mode="json") for item in reversed(items)}
    settings = _settings(source)
    with whole_folder(folder, WRITER, certain=[FILE, "items.jsonl"]) as stage:
        write_text(stage / FILE, settings)
        lines = [json.dumps(row, ensure_ascii=False) for row in reversed(unique.values())]
        write_text(stage / "items.jsonl", "\n".join(lines) + "\n")
    return read_exam(folder), left


def _settings(source: Path) -> str:
    text = (EXAMPLE / FILE).read_text(encoding="utf-8").replace('items = "items.csv"', 'items = "items.jsonl"')
    text = text.replace('title = "Everyday reasoning"', f"title = {json.dumps(source.stem)}")
    start, end = text.index("[[sections]]"), text.index("[[questions]]")
    lines = [line for line in (text[:start] + text[end:]).splitlines() if not line.startswith("items_per_person")]
    return "\n".join(lines) + "\n"
