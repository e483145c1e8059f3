"""The report on an exam as one page: tables, pictures and the checklist, without any other file."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from mensura.charts import item_map, scatter
from mensura.exam.checklist import checklist
from mensura.exam.items import render_markdown
from mensura.exam.report import ExamReport
from mensura.exam.scoring import MODELS, PEOPLE
from mensura.exam.weights import LEAST_SHOWN
from mensura.site.pictures.registry import Figure, worded
from mensura.site.templating import EARLY, EMBEDDED, Templates, style_sheet

_SHOWN_ITEMS = 10
_SHOWN_LANGUAGES = 40
_MOST_DRAWN = 400


def exam_page(report: ExamReport) -> str:
    """Return the page as HTML; it asks nothing of any other place."""
    environment = Templates("mensura.site")
    environment.filters["markdown"] = render_markdown
    items = report.items
    facts: dict[str, Any] = {
        "report": report,
        "early": EARLY,
        "style": style_sheet(EMBEDDED),
        **{name: getattr(report, name).to_dicts() for name in ("comparison", "outcomes", "margins", "attrition")},
        "groups": report.groups.filter(pl.col("n").is_not_null()).to_dicts(),
        "exclusions": report.exclusions.group_by("rule").agg(people=pl.len()).sort("rule").to_dicts(),
        "languages": report.languages.sort("q", "item", nulls_last=True).head(_SHOWN_LANGUAGES).to_dicts(),
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


def _pictures(report: ExamReport) -> Iterable[Figure]:
    """Yield every picture that the data allow, with its words."""
    placed = report.takers.drop_nulls("ability")
    if placed.height:
        yield worded("exam-takers", item_map(_marks(placed.head(_MOST_DRAWN))))
        if "difficulty" in report.items.columns:
            none = pl.lit(None, dtype=pl.Float64)
            items = report.items.drop_nulls("difficulty").head(_MOST_DRAWN)
            of_items = items.select(name="item", kind=pl.lit("items"), value="difficulty", low=none, high=none)
            models = _marks(placed.filter(pl.col("kind") == MODELS))
            yield worded("exam-items", item_map(pl.concat([of_items, models])))
    both = report.items.drop_nulls(["rate", "model_rate"])
    if both.height:
        points = both.select(
            subject="item",
            name="item",
            provider=pl.lit(None, dtype=pl.String),
            x="rate",
            y="model_rate",
            status=pl.lit("measured"),
            label="item",
        )
        drawing = scatter(points, x_title="People: share right", y_title="Models: share right", diagonal=True)
        yield worded("exam-rates", drawing)


def _marks(takers: pl.DataFrame) -> pl.DataFrame:
    name = pl.when(pl.col("kind") == PEOPLE).then(pl.lit("a person")).otherwise("subject")
    return takers.select(name.alias("name"), "kind", pl.col("ability").alias("value"), "low", "high")
