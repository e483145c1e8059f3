"""Reading an exam from its folder or file; every error is found at once, each with its place."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mensura.core.errors import MensuraError
from mensura.exam.items import MOST_ITEMS, ExamItem, error_text, read_exam_items
from mensura.exam.pictures import check_picture
from mensura.exam.settings import ExamSettings

FILE = "exam.toml"
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Exam:
    """An exam as it was read. ``folder`` contains its pictures."""

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
        """The items that count; attention checks are left out."""
        return tuple(item for item in self.items if not item.check)

    @property
    def checks(self) -> tuple[ExamItem, ...]:
        """The attention checks."""
        return tuple(item for item in self.items if item.check)

    @property
    def per_person(self) -> int:
        """Scored items that each person gets."""
        return min(self.settings.items_per_person or len(self.scored), len(self.scored))

    @cached_property
    def digest(self) -> str:
        """Hash of what takers see. Keys and tolerances may change without a new exam; a text may not."""
        seen = [
            item.model_dump(include={"item", "text", "options", "scoring", "section", "picture", "check"})
            for item in self.items
        ]
        rules = self.settings.model_dump(
            include={"instructions", "consent", "time", "questions", "tools", "sections", "items_per_person", "seed"}
        )
        text = json.dumps([seen, rules], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def read_exam(path: str | Path) -> Exam:
    """Read an exam: its folder, its ``exam.toml``, or ``example`` for the one in the package.

    Raises :class:`MensuraError` with all that is wrong, each with its place.
    """
    exam, faults = inspect_exam(path)
    if exam is None:
        more = [f"… and {len(faults) - _SHOWN} more; see mensura exam check"] if len(faults) > _SHOWN else []
        raise MensuraError(
            "\n".join([f"{path}: the exam has {len(faults)} errors. Correct them:", *faults[:_SHOWN], *more])
        )
    return exam


def inspect_exam(path: str | Path) -> tuple[Exam | None, list[str]]:
    """Return the exam and what is wrong with it; no exam where anything is."""
    file = _file_of(Path(__file__).parent / "example" if str(path) == "example" else Path(path))
    told, faults = _toml(file)
    if told is None:
        return None, faults
    inline = told.pop("items") if isinstance(told.get("items"), list) else None
    settings = None
    try:
        settings = ExamSettings.model_validate(told)
    except ValidationError as fault:
        faults += [f"{file.name}, {'.'.join(map(str, error['loc']))}: {error_text(error)}" for error in fault.errors()]
    items, wrong, notes = _items(file, told, inline)
    faults += wrong
    if settings is not None:
        faults += _joint_faults(file, settings, items)
    if faults or settings is None:
        return None, faults
    return Exam(file.parent, settings, tuple(items), (*notes, *_warnings(settings, items))), []


def _file_of(path: Path) -> Path:
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise MensuraError(f"{path}: no exam there; expected a folder with {FILE}. Make one: mensura exam new {path}")
    return file


def _toml(file: Path) -> tuple[dict[str, Any] | None, list[str]]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig")), []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as fault:
        return None, [f"{file.name}: not TOML ({fault}); correct that place"]


def _items(file: Path, told: dict[str, Any], inline: list[Any] | None) -> tuple[list[ExamItem], list[str], list[str]]:
    try:
        items, faults, notes = read_exam_items(
            file.parent / str(told.get("items", "items.csv"))
            if inline is None
            else [row if isinstance(row, dict) else {"item": row} for row in inline]
        )
    except MensuraError as fault:
        return [], [str(fault)], []
    if len(items) + len(faults) > MOST_ITEMS:
        return [], [f"{file.name}: {len(items):,} items; expected at most {MOST_ITEMS:,}. Split the exam"], []
    return items, faults, notes


def _joint_faults(file: Path, settings: ExamSettings, items: list[ExamItem]) -> list[str]:
    """Return what is wrong with settings and items together."""
    faults = []
    scored = sum(not item.check for item in items)
    if not scored:
        faults.append(f"{file.name}: no item that counts; add at least one")
    if settings.items_per_person and settings.items_per_person > scored:
        faults.append(
            f"{file.name}, items_per_person: {settings.items_per_person} is above the {scored} items that count; "
            "lower it or leave it out"
        )
    sections = {section.name for section in settings.sections}
    for item in items:
        if item.section not in sections | {""}:
            known = ", ".join(sorted(sections)) or "none"
            faults.append(f"item {item.item}, section: {item.section!r} is unknown; expected one of {known}")
        if item.section == "" and sections and not item.check:
            faults.append(f"item {item.item}, section: empty; give one of {', '.join(sorted(sections))}")
        faults += [f"item {item.item}, picture: {wrong}" for wrong in check_picture(file.parent, item.picture)]
    names = [question.name for question in settings.questions]
    faults += [
        f"{file.name}, questions: {name!r} is there twice; rename one" for name in set(names) if names.count(name) > 1
    ]
    return faults


def _warnings(settings: ExamSettings, items: list[ExamItem]) -> tuple[str, ...]:
    found = []
    if any(item.scoring == "rubric" for item in items) and not settings.consent.model_grading:
        found.append(
            "items with a rubric are graded by a language model, but consent.model_grading is not set: "
            "people's answers to them stay ungraded"
        )
    if settings.completion_address and not settings.panel_parameter:
        found.append("completion_address is set without panel_parameter: the panel's ids will not be kept")
    return tuple(found)
