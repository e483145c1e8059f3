"""The report on an exam as one page: tables, pictures and the checklist, without any other file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from mensura.charts import item_map, scatter
from mensura.exam.checklist import checklist
from mensura.exam.items import render_markdown
from mensura.exam.report import ExamReport
from mensura.exam.scoring import MODELS, PEOPLE
from mensura.exam.weights import LEAST_SHOWN
from mensura.site.templating import EARLY, EMBEDDED, Templates, style_sheet

_VOICE = ("What it shows", "What to see", "What to doubt")
_SHOWN_ITEMS = 10
_MOST_DRAWN = 400
Voice = tuple[tuple[str, str], ...]
"""What a picture shows, what to see in it and what to doubt, each with its heading."""


def exam_page(report: ExamReport) -> str:
    """Return the page as HTML; it asks nothing of any other place."""
    environment = Templates("mensura.site")
    environment.filters["markdown"] = render_markdown
    items = report.items
    facts: dict[str, Any] = {
        "report": report,
        "early": EARLY,
        "style": style_sheet(EMBEDDED),
        "comparison": report.comparison.to_dicts(),
        "outcomes": report.outcomes.to_dicts(),
        "groups": report.groups.filter(pl.col("n").is_not_null()).to_dicts(),
        "exclusions": report.exclusions.group_by("rule").agg(people=pl.len()).sort("rule").to_dicts(),
        "margins": report.margins.to_dicts(),
        "checklist": checklist(report).to_dicts(),
        "people_better": _apart(items, descending=False),
        "models_better": _apart(items, descending=True),
        "flagged": items.drop_nulls("favours").to_dicts() if "favours" in items.columns else [],
        "least": LEAST_SHOWN,
        "pictures": list(_pictures(report)),
    }
    return environment.get_template("exam_report.html").render(facts)


def _apart(items: pl.DataFrame, *, descending: bool) -> list[dict[str, Any]]:
    """Return the items on which one kind is furthest ahead, with their texts."""
    gap = items.with_columns(gap=pl.col("model_rate") - pl.col("rate")).drop_nulls("gap")
    ahead = gap.filter(pl.col("gap") > 0 if descending else pl.col("gap") < 0)
    return ahead.sort("gap", descending=descending).head(_SHOWN_ITEMS).to_dicts()


def _pictures(report: ExamReport) -> Iterable[tuple[str, Voice, str]]:
    """Yield title, three sentences and drawing of every picture that the data allow."""
    placed = report.takers.drop_nulls("ability")
    if placed.height:
        yield (
            "People and models on one scale",
            _voice(
                "Each mark is a taker with a 90% interval. 0 is the mean of these people, 1 their standard deviation.",
                "A model to the right of the people is abler than they are on these items.",
                "Where two intervals overlap, chance may have ordered the takers.",
            ),
            item_map(_marks(placed.head(_MOST_DRAWN))).html,
        )
        if "difficulty" in report.items.columns:
            items = report.items.drop_nulls("difficulty").head(_MOST_DRAWN)
            none = pl.lit(None, dtype=pl.Float64)
            of_items = items.select(
                pl.col("item").alias("name"),
                pl.lit("items").alias("kind"),
                pl.col("difficulty").alias("value"),
                none.alias("low"),
                none.alias("high"),
            )
            yield (
                "Item map",
                _voice(
                    "Items stand by their difficulty and models by their ability, on one axis.",
                    "A taker gets an item at its own place right half of the time.",
                    "The place of an item with few answers is uncertain.",
                ),
                item_map(pl.concat([of_items, _marks(placed.filter(pl.col("kind") == MODELS))])).html,
            )
    both = report.items.drop_nulls(["rate", "model_rate"])
    if both.height:
        points = both.select(
            pl.col("item").alias("subject"),
            pl.col("item").alias("name"),
            pl.lit(None, dtype=pl.String).alias("provider"),
            pl.col("rate").alias("x"),
            pl.col("model_rate").alias("y"),
            pl.lit("measured").alias("status"),
            pl.col("item").alias("label"),
        )
        yield (
            "Where each kind is better",
            _voice(
                "One dot per item: the share of people and of models who are right.",
                "Above the line models are right more often, below it people are.",
                "An item with few answers may be far from the line by chance.",
            ),
            scatter(points, x_title="People: share right", y_title="Models: share right", diagonal=True).html,
        )


def _marks(takers: pl.DataFrame) -> pl.DataFrame:
    name = pl.when(pl.col("kind") == PEOPLE).then(pl.lit("a person")).otherwise("subject")
    return takers.select(name.alias("name"), "kind", pl.col("ability").alias("value"), "low", "high")


def _voice(*sentences: str) -> Voice:
    return tuple(zip(_VOICE, sentences, strict=True))
