"""What ``exam.toml`` may contain. Unknown keys are refused.

Texts of the exam's pages and prompts in a language: catalogues of this package, and those of the exam's folder.
"""

from __future__ import annotations

import math
import string
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mensura.core.arrays import MARGIN
from mensura.core.errors import MensuraError, listed_names
from mensura.exam.items import LONG, SHORT, Word
from mensura.intake.tables import read_table
from mensura.responses import ItemBank
from mensura.responses.result import read_fit

Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Line = Annotated[str, Field(min_length=1, max_length=SHORT)]
Text = Annotated[str, Field(max_length=LONG)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class ConsentText(_Strict):
    """What people agree to before anything is stored.

    ``model_grading``: the text says that a language model may read the open answers to items with a rubric.
    """

    text: Annotated[str, Field(min_length=1, max_length=LONG)]
    model_grading: bool = False


class TimeRules(_Strict):
    """Limits; none where left out. An answer after its limit is kept and marked late, and does not count."""

    minutes: Annotated[float, Field(gt=0, le=1440)] | None = None
    seconds_per_item: Annotated[float, Field(gt=0, le=86_400)] | None = None


class ExamSection(_Strict):
    """A part of the exam; its items name it in their column ``section``."""

    name: Word
    title: Line
    text: Text = ""
    minutes: Annotated[float, Field(gt=0, le=1440)] | None = None


class PersonQuestion(_Strict):
    """A question about the person, with fixed answers. People may decline each."""

    name: Word
    text: Line
    options: Annotated[list[Line], Field(min_length=2, max_length=300)]

    @field_validator("options")
    @classmethod
    def _differ(cls, options: list[str]) -> list[str]:
        if len(set(options)) < len(options):
            raise ValueError("an option is there twice; remove one")
        return options


class TranslatedQuestion(_Strict):
    """A question about the person in another language; the options in the order of the exam's own."""

    text: Line
    options: list[Line]


class Translation(_Strict):
    """The texts of the exam in another language. Takers choose it on the first page.

    ``sections``: titles by name; ``section_texts`` and ``questions`` likewise. Items have columns such as ``text_fr``.
    """

    title: Line
    instructions: Annotated[str, Field(min_length=1, max_length=LONG)]
    consent: Annotated[str, Field(min_length=1, max_length=LONG)]
    tools: Line | None = None
    sections: dict[str, Line] = {}
    section_texts: dict[str, Text] = {}
    questions: dict[str, TranslatedQuestion] = {}


class AdaptiveRules(_Strict):
    """How items are chosen one by one: the bank with their parameters, and when a sitting ends.

    ``bank``: folder of a saved fit or table of items, beside ``exam.toml``. ``se``: standard error that is enough.
    ``exposure``: largest share of takers who may get one item.
    """

    bank: Line = "bank"
    exposure: Annotated[float, Field(gt=0, le=1)] = 0.6
    se: Annotated[float, Field(gt=0, le=2)] = 0.35
    least_items: Annotated[int, Field(ge=1)] = 5
    most_items: Annotated[int, Field(ge=1)] = 20

    def open_items(self, n: int) -> int:
        """Return how many of n items one sitting may choose from."""
        return math.floor(self.exposure * n + MARGIN)


class ExclusionRules(_Strict):
    """Rules by which the report leaves people out. They are stated before the answers come; each use is logged."""

    least_answered: Annotated[float, Field(ge=0, le=1)] = 0.5
    fastest_seconds: Annotated[float, Field(ge=0)] = 2.0
    most_failed_checks: Annotated[int, Field(ge=0)] = 0


class StudyFacts(_Strict):
    """What only the organiser knows; the checklist of the report says "not stated" for what is left out."""

    population: Line | None = None
    sampling: Line | None = None
    screening: Line | None = None
    training: Line | None = None
    pay: Line | None = None
    pay_per_hour: Annotated[float, Field(ge=0)] | None = None
    currency: Line = "US dollars"
    pilot: Line | None = None
    power: Line | None = None
    ethics: Line | None = None
    preregistration: Line | None = None
    authors_took_part: Line | None = None
    seen_before: Line | None = None
    tools_enforced: Line | None = None
    ai_use: Line | None = None
    data_available: Line | None = None
    materials: Line | None = None


class ExamSettings(_Strict):
    """Everything in ``exam.toml`` but inline items."""

    title: Line
    language: Language = "en"
    kind: Literal["knowledge", "capability", "agent"] = "capability"
    instructions: Annotated[str, Field(min_length=1, max_length=LONG)]
    items: str = "items.csv"
    items_per_person: Annotated[int, Field(ge=1)] | None = None
    form: Literal["balanced", "adaptive"] = "balanced"
    adaptive: AdaptiveRules = AdaptiveRules()
    order: Literal["shuffled", "fixed"] = "shuffled"
    shuffle_options: bool = True
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    tools: Line = "none"
    completion_code: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,60}$")] | None = None
    completion_address: Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$", max_length=500)] | None = None
    panel_parameter: Word | None = None
    shared_device: bool = False
    grading_sample: Annotated[int, Field(ge=1, le=100_000)] | None = None
    consent: ConsentText
    time: TimeRules = TimeRules()
    sections: list[ExamSection] = []
    questions: Annotated[list[PersonQuestion], Field(max_length=20)] = []
    exclude: ExclusionRules = ExclusionRules()
    study: StudyFacts = StudyFacts()
    translations: dict[Language, Translation] = {}

    def translated(self, language: str) -> ExamSettings:
        """Return the settings as takers in another language see them."""
        words = self.translations[language]
        sections = [
            one.model_copy(
                update={"title": words.sections[one.name], "text": words.section_texts.get(one.name, one.text)}
            )
            for one in self.sections
        ]
        questions = [one.model_copy(update={"text": words.questions[one.name].text}) for one in self.questions]
        consent = self.consent.model_copy(update={"text": words.consent})
        changed = {"title": words.title, "instructions": words.instructions, "tools": words.tools or self.tools}
        return self.model_copy(
            update=changed | {"consent": consent, "sections": sections, "questions": questions, "language": language}
        )

    def untranslated(self) -> list[str]:
        """Return what a translation lacks, each with its place."""
        wrong = []
        for code, words in self.translations.items():
            for section in self.sections:
                if section.name not in words.sections:
                    wrong.append(f"translations.{code}.sections: no title for {section.name!r}; add it")
                if section.text and section.name not in words.section_texts:
                    wrong.append(f"translations.{code}.section_texts: no text for {section.name!r}; add it")
            for question in self.questions:
                own = words.questions.get(question.name)
                if own is None or len(own.options) != len(question.options):
                    wrong.append(
                        f"translations.{code}.questions.{question.name}: expected a text and "
                        f"{len(question.options)} options; add them"
                    )
        return wrong


CATALOGUES = Path(__file__).parent / "languages"
"""One TOML file per language; ``en.toml`` has every key."""
OWN = "languages"
"""Folder inside an exam with catalogues of its own."""
DIRECTIONS = ("ltr", "rtl")


@dataclass(frozen=True)
class ExamTexts:
    """The texts of one language by their keys; ``code`` as in ``exam.toml``."""

    code: str
    words: dict[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values filled in."""
        return self.words[key].format(**values)

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``."""
        return self.words["direction"]


@cache
def english() -> ExamTexts:
    """Return the English texts, the measure of every other catalogue."""
    return ExamTexts("en", tomllib.loads((CATALOGUES / "en.toml").read_text(encoding="utf-8")))


def read_texts(code: str, folder: Path) -> tuple[ExamTexts, list[str]]:
    """Return the texts of a language and what is wrong with them; the exam's own catalogue goes first.

    ``de-AT`` is served by ``de`` where it has no catalogue. A catalogue that lacks a text, or a value in one, is
    wrong: no page mixes two languages.
    """
    names = [f"{name}.toml" for name in dict.fromkeys((code, code.partition("-")[0].lower()))]
    files = [place / name for name in names for place in (folder / OWN, CATALOGUES) if (place / name).is_file()]
    if not files:
        shipped = listed_names(sorted(path.stem for path in CATALOGUES.glob("*.toml")))
        return english(), [
            f"language: {code!r} has no texts; expected one of {shipped}. For another, copy {CATALOGUES / 'en.toml'} "
            f"to {OWN}/{code}.toml in the exam's folder and translate it"
        ]
    try:
        words = tomllib.loads(files[0].read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as fault:
        return english(), [f"{OWN}/{files[0].name}: not TOML ({fault}); correct that place"]
    return ExamTexts(code, words), [f"{OWN}/{files[0].name}, {wrong}" for wrong in _wrong(words)]


def _wrong(words: dict[str, object]) -> list[str]:
    """Return each key that is missing, unknown, or has other values in braces than the English text."""
    expected = english().words
    wrong = [f"{key}: missing; translate {expected[key]!r}" for key in expected if key not in words]
    wrong += [f"{key}: unknown; remove it or correct its spelling" for key in words if key not in expected]
    for key in (key for key in expected if key in words):
        if _values(words[key]) != _values(expected[key]):
            wrong.append(f"{key}: expected the same words in braces as in {expected[key]!r}")
    if words.get("direction") not in (None, *DIRECTIONS):
        wrong.append(f"direction: {words['direction']!r}; expected {' or '.join(DIRECTIONS)}")
    return wrong


def _values(text: object) -> set[str] | None:
    """Return the names in braces of a text; None where it is no text to fill in."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(str(text)) if name is not None}
    except ValueError:
        return None


def read_bank(place: Path, items: list[str]) -> ItemBank:
    """Read these items of a saved fit (its folder), or of a table of item, discrimination and difficulty."""
    if not place.exists():
        raise MensuraError(f"{place}: no such bank. Fit it with mensura responses fit ANSWERS --out {place}")
    try:
        bank = read_fit(place).bank if place.is_dir() else ItemBank.from_table(read_table(place))
        if bank.categories:
            raise MensuraError(f"{place}: a bank of ratings; an adaptive exam needs right and wrong answers")
    except MensuraError as fault:
        raise MensuraError(f"{fault}. Restore {place}, or fit it again with mensura responses fit") from None
    places = {name: at for at, name in enumerate(bank.items)}
    missing = [name for name in items if name not in places]
    if missing:
        raise MensuraError(f"{place}: no item {missing[0]!r} ({len(missing)} such). Fit these items, or remove them")
    return bank.only([places[name] for name in items])
