"""The reporting checklist of a human baseline, filled from what the exam knows.

The fields restate what Wei, Paskov, Dev, Byun and others ask for in "Human baselines in model evaluations need rigor
and transparency" (ICML 2025).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from mensura.exam.gathering import MODELS, PEOPLE, count_people
from mensura.exam.rates import MeanRate
from mensura.exam.report import ExamReport
from mensura.exam.timing import rules_text

UNSTATED = "not stated"


def checklist(report: ExamReport) -> pl.DataFrame:
    """Return stage, field and answer; "not stated" where neither the exam nor its organiser says it."""
    parts: dict[str, Mapping[str, str | None]] = {
        "evaluation": _evaluation(report),
        "design": _design(report),
        "recruiting": _recruiting(report),
        "running": _running(report),
        "analysis": _analysis(report),
        "reporting": _reporting(report),
    }
    rows = [(stage, field, answer or UNSTATED) for stage, fields in parts.items() for field, answer in fields.items()]
    return pl.DataFrame(rows, schema=["stage", "field", "answer"], orient="row")


def checklist_text(report: ExamReport) -> str:
    """Return the checklist as Markdown."""
    lines = [f"# Reporting checklist: {report.exam.settings.title}", ""]
    stage = ""
    for row in checklist(report).to_dicts():
        if row["stage"] != stage:
            stage = row["stage"]
            lines += ["", f"## {stage.capitalize()}", "", "| field | answer |", "|---|---|"]
        lines.append(f"| {row['field']} | {str(row['answer']).replace('|', '/')} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _evaluation(report: ExamReport) -> dict[str, str]:
    exam, models = report.exam, report.comparison.filter(pl.col("kind") == MODELS)
    pictures = sum(bool(item.picture) for item in exam.scored)
    runs = report.responses.filter(pl.col("group") == MODELS)
    per_item = runs.group_by("subject", "item").len()["len"].max() if runs.height else None
    return {
        "kind of evaluation": exam.settings.kind,
        "mode": f"text, {pictures} items with a picture" if pictures else "text",
        "language": exam.settings.language,
        "number of items": str(len(exam.scored)),
        "items given to models": str(models["n"].max()) if models.height else "no model took part",
        "runs per item and model": str(per_item or 0),
    }


def _design(report: ExamReport) -> dict[str, str | None]:
    exam, study, items = report.exam, report.exam.settings.study, report.items
    return {
        "number of people": str(report.facts["people"]),
        "items per person": str(exam.per_person),
        "sampling of items": "balanced forms: items and pairs about equally often"
        if exam.per_person < len(exam.scored)
        else "everybody got all items",
        "answers per item": " to ".join([str(items["n"].min()), str(items["n"].max())]),
        "comparison on the same items": "yes: people_rate is over the items that the model took",
        "piloted or reviewed before": study.pilot,
        "power analysis": study.power,
        "ethics review": study.ethics,
        "preregistered": study.preregistration,
        "effort of both kinds": "seconds and cost per right answer are in the comparison",
    }


def _recruiting(report: ExamReport) -> dict[str, str | None]:
    study, out = report.exam.settings.study, report.exclusions
    margins = ", ".join(report.margins["question"].unique(maintain_order=True)) if report.margins.height else ""
    return {
        "population meant": study.population,
        "sampling of people": study.sampling,
        "weights": f"raked to {margins}, design effect {report.facts['design_effect']:.2f}" if margins else "none",
        "screened out before": study.screening,
        "left out afterwards": f"{count_people(out['subject'].n_unique())}, by rules stated before (exclusions.csv)",
        "authors among the people": study.authors_took_part,
        "people who had seen the items": study.seen_before,
        "training": study.training,
        "pay": study.pay
        or (f"{study.pay_per_hour:g} {study.currency} per hour" if study.pay_per_hour is not None else None),
    }


def _running(report: ExamReport) -> dict[str, str | None]:
    exam, study, rules = report.exam, report.exam.settings.study, report.exam.settings.exclude
    mixed = ["order of items"] * (exam.settings.order == "shuffled") + [
        "order of options"
    ] * exam.settings.shuffle_options
    return {
        "items per sitting": str(exam.per_person + len(exam.checks)),
        "randomised": ", ".join(mixed) + f" (seed {exam.settings.seed})" if mixed else "no",
        "attention checks": f"{len(exam.checks)}; a person may fail {rules.most_failed_checks}",
        "same instructions for people and models": "yes; models are also told how to mark their answer",
        "interface": "people: a web page, one item at a time; models: one request per item",
        "tools allowed": exam.settings.tools,
        "limits on tools enforced": study.tools_enforced,
        "time rules": rules_text(exam),
        "explanations collected": "models: yes; people: no",
    }


def _analysis(report: ExamReport) -> dict[str, str]:
    kept, everybody = report.facts["people_rate"], report.facts["rate_with_everybody"]
    robust = (
        f"rate {_said(kept)} with the rules, {_said(everybody)} without" if kept and everybody else "nobody to compare"
    )
    return {
        "difference of people and models": "90% interval per model (comparison.csv)",
        "uncertainty of people": "90% intervals; people are the sample",
        "uncertainty of models": "90% intervals; items are the sample; spread over repeats where there are any",
        "kind of result": "rates, distribution of people, percentile of each model",
        "same scoring for both": "yes, one scorer; "
        + (
            "a language model grades some items"
            if any(item.scoring == "rubric" for item in report.exam.scored)
            else "keys only"
        ),
        "robust to the exclusion rules": robust,
    }


def _reporting(report: ExamReport) -> dict[str, str | None]:
    exam, study = report.exam, report.exam.settings.study
    seconds = report.takers.filter(pl.col("kind") == PEOPLE)["seconds"].median()
    silent = report.outcomes.filter((pl.col("subject") == PEOPLE) & pl.col("outcome").is_in(["blank", "late"]))
    minutes = f"median {float(str(seconds)) / 60:.1f} minutes on items" if seconds is not None else None
    return {
        "demographics of the sample": ", ".join(question.name for question in exam.settings.questions) or "not asked",
        "instructions": "in exam.toml, the same for both",
        "time to completion": minutes,
        "AI tools that people used": study.ai_use,
        "blank and late answers": str(int(silent["n"].sum())),
        "data available": study.data_available,
        "materials and code": study.materials,
    }


def _said(rate: MeanRate) -> str:
    return f"{rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f})"
