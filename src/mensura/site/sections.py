"""Tables of the pages: people passed test by test, classes of people, the cheapest models, one model's scores."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.iq import EFFECTIVE_COST_NOTE
from mensura.site.study import Study

_FLOORS = range(90, 160, 5)
"""IQs for which the cheapest model is named, as far as any model reaches."""
_RIVALS = 2
"""Models of other providers offered for comparison on a model's page."""


def passing_section(study: Study) -> dict[str, Any]:
    """Test by test: the first model above each group of people, when, and how surely the best model is."""
    columns = [
        ("test", "test", None),
        ("group", "group of people", None),
        ("status", "their score is", None),
        ("score", "score", 2),
        ("first", "first model above", None),
        ("passed", "released", None),
        ("best", "best model", None),
        ("best_score", "its score", 2),
        ("chance", "P(best is above)", 2),
    ]
    names = study.models.select("subject", "name")
    titles = dict(names.iter_rows())
    rows = study.people.tests.with_columns(
        pl.col("first", "best").replace(titles), pl.col("benchmark").replace(study.benchmark_names).alias("test")
    )
    table = {"rows": rows.to_dicts(), "columns": columns, "id": "passing", "caption": "scores as shares of the range"}
    about = (
        "Who scored above this group first on this test, by release. Nobody took all tests, and what is hard for "
        "people is not what is hard for models, so each test speaks for itself. Judged scores were never measured; a "
        "panel is the union of its members; constructed ones are no people."
    )
    return {"id": "passing-table", "title": "People and models, test by test", "about": about, "table": table}


def people_section(study: Study) -> dict[str, Any]:
    """Where classes of people stand, and when the best model passed them."""
    columns = [
        ("group", "class of people", None),
        ("status", "score", None),
        ("capability", "capability", 2),
        ("low", "low", 2),
        ("high", "high", 2),
        ("passed", "passed by the best model", None),
        ("passed_low", "earliest", None),
        ("passed_high", "latest", None),
        ("probability", "P(passed by now)", 2),
    ]
    table = {"rows": study.groups.to_dicts(), "columns": columns, "id": "people", "caption": "90% intervals"}
    about = (
        "Where one number is wanted. The interval holds how much people's standing differs from test to test, which is "
        "a lot: read it, not the middle. A dash under a date means that the best model may not have passed them yet."
    )
    return {"id": "people-table", "title": "Classes of people on the scale", "about": about, "table": table}


def cheapest_section(study: Study) -> dict[str, Any]:
    """The cheapest model at or above each IQ."""
    priced = study.models.drop_nulls(["exact_iq", "effective_cost"])
    rows = []
    for floor in _FLOORS:
        able = priced.filter(pl.col("exact_iq") >= floor).sort("effective_cost")
        if able.height:
            rows.append({"floor": floor, "able": able.height, **able.row(0, named=True)})
    columns = [
        ("floor", "IQ at least", 0),
        ("name", "cheapest model", None),
        ("iq", "its IQ", 0),
        ("effective_cost", "effective cost, $", 2),
        ("sticker_price", "sticker price, $", 2),
        ("able", "models that qualify", 0),
    ]
    table = {"rows": rows, "columns": columns, "id": "cheapest", "caption": "Dollars per 1M tokens in + 1M out"}
    about = f"For each IQ the model with the lowest effective cost among those that reach it. {EFFECTIVE_COST_NOTE}"
    return {"id": "cheapest-at", "title": "Cheapest at IQ …", "about": about, "table": table}


def rivals(study: Study, subject: str) -> list[str]:
    """Return the two models of other providers nearest in IQ, to compare with."""
    ranked = study.models.drop_nulls("exact_iq")
    own = ranked.filter(subject=subject)
    if own.is_empty():
        return []
    others = ranked.filter(pl.col("provider") != own["provider"][0])
    gap = (pl.col("exact_iq") - own["exact_iq"][0]).abs()
    return others.sort(gap).unique("provider", keep="first", maintain_order=True)["subject"].head(_RIVALS).to_list()


def model_scores(study: Study, subject: str) -> list[dict[str, Any]]:
    """Return the scores of one model, second sources under their primary with the gap between them."""
    titles = study.evidence.benchmarks.select("benchmark", title="name")
    sources = study.evidence.sources.select("source", source_name="name")
    primary = pl.col("score").filter("primary").first().over("benchmark")
    return (
        study.evidence.scores.filter(subject=subject)
        .join(titles, on="benchmark", maintain_order="left")
        .join(sources, on="source", how="left", maintain_order="left")
        .with_columns(
            use=pl.when("primary").then(pl.lit("primary")).otherwise(pl.lit("second source")),
            gap=pl.when(~pl.col("primary")).then(pl.col("score") - primary),
        )
        .sort("title", "primary", descending=[False, True])
        .to_dicts()
    )
