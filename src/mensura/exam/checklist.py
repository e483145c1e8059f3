"""What others take from a report: the reporting checklist of a human baseline, and a pool for ``mensura.people``.

The fields of the checklist restate what Wei, Paskov, Dev, Byun and others ask for in "Human baselines in model
evaluations need rigor and transparency" (ICML 2025).
"""

from pathlib import Path
from typing import Any

import polars as pl

from mensura.exam.design import rules_text
from mensura.exam.file import TAKERS
from mensura.exam.rates import MeanRate
from mensura.exam.report import ExamReport
from mensura.exam.scoring import MODELS, PEOPLE
from mensura.exam.settings import english
from mensura.exam.weights import count_people, hidden_groups
from mensura.people import ItemPool

FIELDS = Path(__file__).parent / "checklist.csv"
"""Stage, field and answer; names in braces are facts of :func:`_facts`."""
UNSTATED = "not stated"


def checklist(report: ExamReport) -> pl.DataFrame:
    """Return stage, field and answer; "not stated" where neither the exam nor its organiser says it."""
    facts = {name: UNSTATED if value is None else value for name, value in _facts(report).items()}
    fields = pl.read_csv(FIELDS, glob=False)
    return fields.with_columns(answer=pl.Series([answer.format_map(facts) for answer in fields["answer"]]))


def checklist_text(report: ExamReport) -> str:
    """Return the checklist as Markdown."""
    lines = [f"# Reporting checklist: {report.exam.settings.title}"]
    for (stage,), part in checklist(report).group_by("stage", maintain_order=True):
        lines += ["", f"## {str(stage).capitalize()}", "", "| field | answer |", "|---|---|"]
        rows = part.select("field", "answer").iter_rows()
        lines += [f"| {field} | {str(answer).replace('|', '/')} |" for field, answer in rows]
    return "\n".join(lines) + "\n"


def _facts(report: ExamReport) -> dict[str, Any]:
    """Return what the exam, its organiser and the answers say; None for what nobody does."""
    exam, settings, study = report.exam, report.exam.settings, report.exam.settings.study
    pictures = sum(bool(item.picture) for item in exam.scored)
    models = report.comparison.filter(pl.col("kind") == MODELS)
    runs = report.responses.filter(pl.col("group") == MODELS).group_by("subject", "item").len()["len"].max()
    margins = ", ".join(report.margins["question"].unique(maintain_order=True))
    shuffled = {"order of items": settings.order == "shuffled", "order of options": settings.shuffle_options}
    mixed = ", ".join(name for name, is_mixed in shuffled.items() if is_mixed)
    kept, everybody = report.facts["people_rate"], report.facts["rate_with_everybody"]
    seconds = report.takers.filter(pl.col("kind") == PEOPLE)["seconds"].median()
    silent = report.outcomes.filter((pl.col("subject") == PEOPLE) & pl.col("outcome").is_in(["blank", "late"]))
    per_hour = None if study.pay_per_hour is None else f"{study.pay_per_hour:g} {study.currency} per hour"
    by_model = any(item.scoring == "rubric" for item in exam.scored)
    return study.model_dump() | {
        "kind": settings.kind,
        "mode": f"text, {pictures} items with a picture" if pictures else "text",
        "language": ", ".join(exam.languages),
        "items": len(exam.scored),
        "items_of_models": models["n"].max() if models.height else "no model took part",
        "runs": runs or 0,
        "people": report.facts["people"],
        "per_person": exam.per_person,
        "sampling_of_items": "adaptive: each item by the answers before it"
        if exam.is_adaptive
        else "balanced forms: items and pairs about equally often"
        if exam.per_person < len(exam.scored)
        else "everybody got all items",
        "least_answers": report.items["n"].min(),
        "most_answers": report.items["n"].max(),
        "weights": f"raked to {margins}, design effect {report.facts['design_effect']:.2f}" if margins else "none",
        "attrition": ", ".join(f"{step} {people}" for step, people in report.attrition.iter_rows()),
        "left_out": count_people(report.exclusions["subject"].n_unique()),
        "pay": study.pay or per_hour,
        "per_sitting": exam.per_person + len(exam.checks),
        "randomised": f"{mixed} (seed {settings.seed})" if mixed else "no",
        "checks": len(exam.checks),
        "most_failed_checks": settings.exclude.most_failed_checks,
        "tools": settings.tools,
        "time_rules": rules_text(exam, english()),
        "graded_by": "a language model grades some items" if by_model else "keys only",
        "robust": f"rate {_interval(kept)} with the rules, {_interval(everybody)} without"
        if kept and everybody
        else "nobody to compare",
        "questions": ", ".join(question.name for question in settings.questions) or "not asked",
        "minutes": None if seconds is None else f"median {float(str(seconds)) / 60:.1f} minutes on items",
        "silent": silent["n"].sum(),
    }


def _interval(rate: MeanRate) -> str:
    return f"{rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f})"


# A pool


def to_pool(report: ExamReport, takers: pl.DataFrame) -> ItemPool:
    """Return the people of a report as a pool; those left out are in its log of exclusions.

    Partial credit counts as wrong below a half. A level of a covariate that is hidden as a small group is null.
    """
    exam = report.exam
    items = pl.DataFrame(
        {
            "item": [item.item for item in exam.scored],
            "domain": [item.domain or item.section or None for item in exam.scored],
            "text": [item.text for item in exam.scored],
            "n_options": [len(item.options) or None for item in exam.scored],
            "needs_picture": [bool(item.picture) for item in exam.scored],
            "language": [exam.settings.language] * len(exam.scored),
        },
        schema_overrides={"domain": pl.String, "n_options": pl.Int64},
    )
    answers = report.responses.filter((pl.col("group") == PEOPLE) & pl.col("correct").is_not_null()).select(
        pl.col("subject").alias("person"), "item", (pl.col("correct") >= 0.5).cast(pl.Int8).alias("correct")
    )
    covariates = [name for name in takers.columns if name not in TAKERS]
    kept = takers.filter(pl.col("subject").is_in(answers["person"].unique().to_list()))
    hidden = {name: hidden_groups(dict(kept[name].value_counts(name=" ").iter_rows())) - {None} for name in covariates}
    persons = kept.select(
        pl.col("subject").alias("person"),
        *(pl.when(~pl.col(name).is_in(list(hidden[name]))).then(name).alias(name) for name in covariates),
    )
    pool = ItemPool.from_answers(exam.settings.title, items, answers, persons)
    log = report.exclusions.select(
        pl.lit("person").alias("kind"), pl.col("subject").alias("id"), pl.col("rule").alias("reason")
    )
    return ItemPool(pool.name, pool.items, pool.rates, pool.persons, pool.responses, log)
