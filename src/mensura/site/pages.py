"""The pages of the report: which there are, and what each is given to show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from mensura.evidence import TABLES, Evidence, slug
from mensura.extrapolation import published_distances, published_errors
from mensura.frames import read_csv
from mensura.iq import EFFECTIVE_COST_NOTE
from mensura.site.derivation import derivation_html
from mensura.site.leaders import leaders_beside_people
from mensura.site.method import method_parts
from mensura.site.pictures import (
    Figure,
    benchmark_bars,
    dimension_bell,
    draw,
    profile,
)
from mensura.site.sections import cheapest_section, model_scores, passing_section, people_section, rivals
from mensura.site.sentences import headline_sentences
from mensura.site.study import Study

LEADERS = 25
"""Models in the table of the overview."""
_COMPARED = 3
"""Providers whose best models open the compare page: a picture that is still easy to read."""
_VALIDATION = Path(__file__).parent / "data" / "extrapolation_validation.csv"


@dataclass(frozen=True)
class Page:
    """One page: where it goes, how it is drawn, and what it shows."""

    file: str
    title: str
    summary: str
    template: str
    context: dict[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()
    charts: bool = True

    @property
    def figures(self) -> Iterator[Figure]:
        """Every figure on the page."""
        yield from self.context.get("pictures", [])
        for section in self.context.get("sections", []):
            yield from section.get("pictures", [])
        if "picture" in self.context:
            yield self.context["picture"]

    @property
    def root(self) -> str:
        """The way back to the folder of the report."""
        return "../" * self.file.count("/")


NAVIGATION = (
    ("index.html", "Overview"),
    ("iq.html", "IQ"),
    ("stitched.html", "Stitched scale"),
    ("human.html", "Human scales"),
    ("cost.html", "Cost"),
    ("compare.html", "Compare"),
    ("data.html", "Data"),
    ("method.html", "Method"),
)


def count_pages(evidence: Evidence) -> int:
    """Return how many pages a report on this evidence has."""
    return len(NAVIGATION) + evidence.models.height


def pages(study: Study) -> Iterator[Page]:
    """Yield every page."""
    yield overview(study)
    yield iq(study)
    yield stitched(study)
    yield human(study)
    yield cost(study)
    yield compare(study)
    yield data(study)
    yield method()
    for row in study.models.iter_rows(named=True):
        yield model(study, row)


def _figures(study: Study, *names: str) -> list[Figure]:
    return [draw(study, name).figure for name in names]


def overview(study: Study) -> Page:
    """Who leads, on the bell curve, and in three sentences."""
    return Page(
        "index.html",
        "Overview",
        "AI models, benchmarks and groups of people on common, human-anchored scales, with intervals and a source "
        "for every number.",
        "index.html",
        {
            "sentences": headline_sentences(study),
            "leaders": study.ranked.head(LEADERS).to_dicts(),
            "benchmarks": len(study.iq.matrix.benchmarks),
            "left_out": study.iq.left_out,
            "least": study.iq.rules.status.partial,
            "pictures": _figures(study, "iq-bell"),
            "beside_people": leaders_beside_people(study.evidence).to_dicts(),
        },
        scripts=("table",),
    )


def iq(study: Study) -> Page:
    """IQ overall, by dimension, over time, against EQ, cost and time, and on each benchmark."""
    names = ("iq-bell", "iq-time", "iq-eq", "iq-cost", "iq-response")
    with_scores = study.benchmarks.filter(pl.col("models") > 0)["benchmark"]
    return Page(
        "iq.html",
        "IQ",
        "Seven dimensions, each averaged over its benchmarks; gaps are estimated from all scores and shown as such.",
        "charts.html",
        {
            "pictures": _figures(study, *names),
            "sections": [
                {
                    "id": "dimensions",
                    "title": "By dimension",
                    "about": "The same curve for each of the seven dimensions.",
                    "pictures": [dimension_bell(study, key).figure for key in study.dimension_names],
                },
                {
                    "id": "benchmarks",
                    "title": "By benchmark, from hardest to easiest",
                    "about": "Ordered by difficulty on the stitched scale. Lines are people, dashed where judged.",
                    "pictures": [benchmark_bars(study, name).figure for name in with_scores],
                },
            ],
        },
    )


def stitched(study: Study) -> Page:
    """Models, benchmarks and people on one scale, and what it says about time."""
    names = ("one-axis", "capability-time", "acceleration", "sensors", "residual-profiles", "algorithmic-progress")
    return Page(
        "stitched.html",
        "Stitched scale",
        "One capability per model and one difficulty per benchmark, fitted to all scores at once; people stand beside "
        "it, test by test.",
        "charts.html",
        {"pictures": _figures(study, *names), "sections": [passing_section(study), people_section(study)]},
        scripts=("table",),
    )


def human(study: Study) -> Page:
    """The ruler, the calibrated dimensions, and how rates carry to the world."""
    names = ("bases", "demand-curves", "world-regions", "world-drivers")
    return Page(
        "human.html",
        "Human scales",
        "A success rate in a stated population is a level, a rarity, a percentile and an IQ-equivalent, and back.",
        "human.html",
        {
            "pictures": _figures(study, *names),
            "calibration": list(study.lines),
            "validations": published_errors(study.evidence.validations).to_dicts(),
            "distances": published_distances(study.evidence.validations).to_dicts(),
            "own_validations": read_csv(_VALIDATION).to_dicts(),
        },
        scripts=("converter", "table"),
    )


def cost(study: Study) -> Page:
    """What capability costs."""
    names = ("iq-cost", "sticker-effective", "cost-bars", "task-efficiency", "iq-response")
    return Page(
        "cost.html",
        "Cost",
        "List prices, corrected by how much work a model needs for the same tasks.",
        "charts.html",
        {"pictures": _figures(study, *names), "sections": [cheapest_section(study)]},
        scripts=("table",),
    )


def compare(study: Study) -> Page:
    """Two to five models or groups side by side."""
    top = study.ranked
    first = top.unique("provider", keep="first", maintain_order=True)["subject"].head(_COMPARED).to_list()
    picture = profile(study, first, name="compare", title="Dimension by dimension")
    return Page(
        "compare.html",
        "Compare",
        "Two to five models or groups of people side by side; the address keeps your choice.",
        "compare.html",
        {"compared": first, "picture": picture, "names": study.subject_names},
        scripts=("groups", "compare"),
    )


def data(study: Study) -> Page:
    """Every score, sortable and filterable, and the downloads."""
    names = study.evidence.models.select("subject", "name", "provider")
    titles = study.evidence.benchmarks.select("benchmark", title="name")
    scores = study.evidence.scores.join(names, on="subject", maintain_order="left").join(
        titles, on="benchmark", maintain_order="left"
    )
    tables = [(name, table.about, getattr(study.evidence, name).height) for name, table in TABLES.items()]
    return Page(
        "data.html",
        "Data",
        "Every score with its source; second sources are kept to show how far they disagree.",
        "data.html",
        {"tables": tables, "scores": scores.to_dicts(), "sources": study.evidence.sources.to_dicts()},
        scripts=("table",),
    )


def method() -> Page:
    """Every rule with its formula, and our departures."""
    return Page(
        "method.html",
        "Method",
        "Every rule with its formula, where it comes from, and where we depart from the source and why.",
        "method.html",
        {"parts_of_method": method_parts()},
        charts=False,
    )


def model(study: Study, row: dict[str, Any]) -> Page:
    """Everything known about one model."""
    subject = row["subject"]
    scored = row["iq"] is not None
    return Page(
        f"models/{slug(subject)}.html",
        row["name"],
        f"{row['name']} of {row['provider']}: what was measured, what was estimated, and how each number came about.",
        "model.html",
        {
            "row": row,
            "rivals": rivals(study, subject),
            "pictures": [profile(study, [subject], name=f"profile-{slug(subject)}")] if scored else [],
            "tree": derivation_html(study.iq.explain(subject), study.benchmark_names),
            "scores": model_scores(study, subject),
            "cost_note": EFFECTIVE_COST_NOTE,
        },
        scripts=("table",),
    )
