"""Reading descriptions: what assessment a pool is, what a covariate is about, what a label says."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WORDS = tomllib.loads((Path(__file__).parent / "data" / "descriptions.toml").read_text(encoding="utf-8"))
KINDS: dict[str, str] = _WORDS["kinds"]
"""Kinds of covariates and the words they are known by; the first that fits counts, none is ``other``."""
OTHER = "other"
ABROAD = r"foreign|abroad|immigrant|(first|second) gen|(an)?other country"
NATIVE = r"nativ|this country|same|domestic|\blocal"
NEWCOMERS = r"migra|foreign|abroad"  # covariates whose plain yes means born elsewhere
ACADEMIC = r"gymnasium|grammar|academic|lyceum|lycee|college prep"
OTHER_TRACK = r"vocation|technical|hauptschule|realschule|secondary modern|apprentice"


@dataclass(frozen=True)
class Assessment:
    """The international assessment a pool comes from: TIMSS, PISA or PIRLS, school level, year and subject."""

    test: str
    level: str
    year: int | None = None
    subject: str | None = None

    def subject_of(self, domain: str | None) -> str | None:
        """Return the subject of an item: by its domain, else the one of the whole assessment."""
        return subject_of(domain) or self.subject


def read_description(folder: str | Path) -> str:
    """Return what a pool folder says of itself: its name, and the title and first paragraph of its README."""
    folder = Path(folder)
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8", errors="replace") if readme.is_file() else ""
    blocks = [" ".join(block.split()).lstrip("# ") for block in text.split("\n\n") if block.strip()]
    return " ".join([folder.resolve().name, *blocks[:2]])


def assessment_of(description: str) -> Assessment | None:
    """Recognise the assessment in a pool's description, or return None."""
    text = words(description)
    test = re.search(r"(?<![a-z])(timss|pisa|pirls)", text)
    if test is None:
        return None
    year = re.search(r"(19|20)\d\d", text)
    fourth = re.search(r"grade ?4|\bg4|4th|fourth|primary", text)
    primary = test[1] == "pirls" or (test[1] == "timss" and fourth is not None)
    subject = "reading" if test[1] == "pirls" else subject_of(text)
    return Assessment(test[1].upper(), "pri" if primary else "sec", int(year[0]) if year else None, subject)


def subject_of(domain: str | None) -> str | None:
    """Return reading, math or science, where the item's domain says so."""
    return _first(_WORDS["subjects"], domain)


def kind_of(covariate: str) -> str:
    """Return what kind of covariate a name speaks of."""
    return _first(KINDS, covariate) or OTHER


def schooling_of(label: str) -> str | None:
    """Return the level of schooling a label names, or None."""
    text = words(label)
    return next((one["level"] for one in _WORDS["schooling"] if re.search(one["words"], text)), None)


def age_of(label: str) -> float | None:
    """Return the age in the middle of a band such as ``18-24``, ``50+`` or ``under 20``, or None."""
    ages = [int(number) for number in re.findall(r"\d+", label)]
    if not ages or max(ages) > 120:
        return None
    if len(ages) > 1:
        return (ages[0] + ages[1]) / 2
    return ages[0] - 4 if re.search(r"under|below|<|younger", label.lower()) else ages[0] + 8


def truth_of(label: str, *, yes: str, no: str, bare: bool = True) -> bool | None:
    """Read a label as true or false by two patterns; plain yes and no count only where ``bare``."""
    text = words(label)
    if re.search(no, text) or (bare and re.fullmatch(r"no?|0|false", text)):
        return False
    if re.search(yes, text) or (bare and re.fullmatch(r"y(es)?|1|true", text)):
        return True
    return None


def percentile_of(label: str) -> float | None:
    """Return the share below which a label such as ``p25`` or ``75th percentile`` puts its people, or None."""
    match = re.fullmatch(r"p ?(\d\d?)|(\d\d?)(th|st|nd|rd)?( percentile)", words(label))
    share = int(match[1] or match[2]) / 100 if match else 0.0
    return share if share > 0 else None


def rank_of(label: str, n_levels: int) -> int | None:
    """Return which of ``n_levels`` ordered groups a label such as ``Q1_low`` or ``high`` names, or None."""
    text = words(label)
    number = re.search(r"\d+", text)
    ends = {"low": 1, "bottom": 1, "high": n_levels, "top": n_levels}
    rank = int(number[0]) if number else next((end for word, end in ends.items() if word in text), 0)
    return rank if 1 <= rank <= n_levels else None


def split_crossing(covariate: str, label: str, levels: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Take a crossing such as ``country_sex=AUS_female`` apart into its covariates and labels.

    ``levels``: the labels of every covariate of the pool. What is no crossing of them is returned whole.
    """
    for first, labels in levels.items():
        if covariate.startswith(f"{first}_"):
            for start in sorted(labels, key=len, reverse=True):
                if label.startswith(f"{start}_"):
                    rest = covariate[len(first) + 1 :], label[len(start) + 1 :]
                    return [(first, start), *split_crossing(*rest, levels)]
    return [(covariate, label)]


def words(text: str) -> str:
    """Return lower-case words with single spaces, underscores read as spaces."""
    return re.sub(r"[\s_]+", " ", text).strip().lower()


def _first(patterns: Mapping[str, str], text: str | None) -> str | None:
    plain = words(text or "")
    return next((name for name, pattern in patterns.items() if re.search(pattern, plain)), None)
