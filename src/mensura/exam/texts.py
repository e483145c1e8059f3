"""Texts of the exam's pages and prompts in a language: catalogues of this package, and those of the exam's folder."""

from __future__ import annotations

import string
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mensura.core.errors import listed_names

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
