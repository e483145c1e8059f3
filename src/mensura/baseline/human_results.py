"""Human results in a form that others can take over: who, under which conditions, with which result, how sure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from mensura import __version__
from mensura.baseline.registry import FOLDER, SAME_SCORE, KnownBaseline, people_of, registry, score_words
from mensura.evidence import load
from mensura.evidence.passing import with_grades
from mensura.intake.figures import convert, convertible
from mensura.intake.names import spelling
from mensura.intake.shared_writing import portable
from mensura.scale.ranking import say_chance

if TYPE_CHECKING:
    from mensura.evidence import Evidence

VERSION = "mensura-human-results/1"
CHECKLIST = ("population", "n", "sampling", "conditions", "items", "scoring", "uncertainty", "availability")
"""Questions of the reporting checklist; each answer is yes, partly, no, not stated or not applicable."""
NOT_STATED = "not stated"


@cache
def human_results_schema() -> dict[str, Any]:
    """Return the JSON Schema of one human result."""
    schema: dict[str, Any] = json.loads((FOLDER / "human_results.schema.json").read_text(encoding="utf-8"))
    return schema


def to_human_results(people: pl.DataFrame) -> list[dict[str, Any]]:
    """Write human results in the shared form.

    Parameters
    ----------
    people : polars.DataFrame
        Rows of the registry with their kind and grade, as :func:`mensura.evidence.passing.with_grades` adds them.

    Returns
    -------
    list of dict
        One object per row, valid by the schema.

    Examples
    --------
    >>> from mensura.baseline import registry
    >>> from mensura.baseline.human_results import to_human_results
    >>> from mensura.evidence.passing import with_grades
    >>> to_human_results(with_grades(registry().head(1)))[0]["schema"]
    'mensura-human-results/1'

    """
    return [_document(row) for row in people.iter_rows(named=True)]


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    stated = {
        "population": "partly" if row["group"] else NOT_STATED,
        "n": "yes" if row["n"] is not None else NOT_STATED,
        "conditions": "partly" if row["conditions"] else NOT_STATED,
        "items": "partly" if row["part"] and row["part"] != "all" else NOT_STATED,
        "scoring": "yes" if row["metric"] else NOT_STATED,
        "uncertainty": "yes" if row["low"] is not None and row["high"] is not None else NOT_STATED,
        "availability": "yes" if row["grade"] == "A" else NOT_STATED,
    }
    return {
        "schema": VERSION,
        "benchmark": {key: row[name] for key, name in (("name", "benchmark"), ("part", "part"))},
        "people": {"population": row["group"], "n": row["n"], "recruitment": None, "expertise": None},
        "conditions": {"text": row["conditions"], **dict.fromkeys(("time", "aids", "pay", "language", "instructions"))},
        "result": {
            **{key: row[key] for key in ("score", "low", "high", "unit", "metric")},
            "distribution": None,
            "by_item": None,
        },
        "quality": {key: row[key] for key in ("kind", "grade", "raised_by", "status")},
        "source": {
            "text": row["source"],
            "url": row["source"] if "://" in (row["source"] or "") else None,
            "year": row["year"],
            "seen": row["seen"],
        },
        "checklist": {name: stated.get(name, NOT_STATED) for name in CHECKLIST},
    }


def grade_references(evidence: Evidence) -> pl.DataFrame:
    """Grade the people of the evidence; a row of the registry with the same score may be better.

    Parameters
    ----------
    evidence : Evidence
        The evidence.

    Returns
    -------
    polars.DataFrame
        benchmark, group, kind and grade.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline.human_results import grade_references
    >>> grade_references(mensura.load()).columns
    ['benchmark', 'group', 'kind', 'grade']

    """
    people = evidence.human_references.with_columns(seen=pl.lit("evidence"))
    names = dict(evidence.benchmarks.select("benchmark", "name").iter_rows())
    results = with_grades(registry()).filter(pl.col("kind").is_in(["measured", "quoted"]))
    places = [spelling(f"{name}{part or ''}") for name, part in results.select("benchmark", "part").iter_rows()]
    rows = []
    for row in with_grades(people).iter_rows(named=True):
        best = (row["grade"], row["kind"])
        if row["kind"] in ("measured", "quoted"):
            wanted = spelling(names[row["benchmark"]])
            near = pl.Series([place.startswith(wanted) for place in places]) & (
                results["score"] - row["score"]
            ).abs().le(SAME_SCORE)
            grades = results.filter(near & (results["unit"] == row["unit"])).select("grade", "kind").rows()
            best = min([best, *grades])
        rows.append((row["benchmark"], row["group"], best[1], best[0]))
    return pl.DataFrame(rows, schema=["benchmark", "group", "kind", "grade"], orient="row")


def graded_results(evidence: Evidence | None = None) -> pl.DataFrame:
    """Return all human results of the registry with their grades, and those that only this evidence has."""
    own = registry().head(0)
    if evidence is not None:
        own = people_of(evidence).join(people_of(load()), on=["benchmark", "group", "score"], how="anti")
    return with_grades(pl.concat([registry(), own]))


def people_rows(graded: pl.DataFrame) -> list[dict[str, Any]]:
    """Return graded human results as rows of records: one subject per group and benchmark."""
    rows = graded.filter(pl.col("score").is_not_null()).to_dicts()
    return [
        {
            **row,
            "subject": portable(f"{row['benchmark']} {row['group']}").replace(" ", "-").lower(),
            "name": row["group"],
            "provider": "people",
            "persons": row["n"],
            "n": None,
            "date": None if row["year"] is None else str(row["year"]),
            "organisation": row["source"],
        }
        for row in rows
    ]


def with_people(evidence: Evidence, own: pl.DataFrame, source: str) -> tuple[Evidence, pl.DataFrame]:
    """Add human baselines of one's own to the evidence.

    A row replaces the one of the same benchmark and group. Scores are turned into the unit of the benchmark.

    Parameters
    ----------
    evidence : Evidence
        The evidence.
    own : polars.DataFrame
        The baselines, as :func:`read_own` returns them.
    source : str
        Where they come from, for rows without a source.

    Returns
    -------
    tuple[Evidence, polars.DataFrame]
        The evidence with them, and the rows whose benchmark or unit it does not have.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import registry, with_people
    >>> evidence, left = with_people(mensura.load(), registry().head(0), "a study")
    >>> left.height
    0

    """
    find = evidence.names["benchmark"].ident
    matched = own.with_columns(benchmark=pl.col("benchmark").map_elements(find, return_dtype=pl.String)).join(
        evidence.benchmarks.select("benchmark", wanted="unit"), on="benchmark", how="left", maintain_order="left"
    )
    pairs = matched.select("unit", "wanted").iter_rows()
    usable = pl.Series([wanted is not None and convertible(unit, wanted) for unit, wanted in pairs], dtype=pl.Boolean)
    rows = matched.filter(usable).with_columns(
        *(convert(pl.col(name), pl.col("unit"), pl.col("wanted")) for name in ("score", "low", "high")),
        unit="wanted",
        remark=pl.col("conditions"),
        source=pl.col("source").fill_null(source),
    )
    references = evidence.human_references
    kept = references.join(rows, on=["benchmark", "group"], how="anti")
    added = rows.select([pl.col(name).cast(kind, strict=False) for name, kind in references.schema.items()])
    return replace(evidence, human_references=pl.concat([kept, added])), own.filter(~usable)


def known_markdown(baseline: KnownBaseline) -> str:
    """Write the card of a benchmark whose people were tested.

    Parameters
    ----------
    baseline : KnownBaseline
        The human scores of the benchmark, as :func:`find_known` gives them.

    Returns
    -------
    str
        Markdown: each group with its source, and the models above it.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import find_known, known_markdown
    >>> known_markdown(find_known("GPQA", mensura.load()))[:17]
    '## Human baseline'

    """
    lines = [f"## Human baseline: {markdown_cell(baseline.benchmark)}", "", f"{markdown_cell(baseline.heading)}.", ""]
    lines += ["| people | score | grade | kind | n | conditions | source |", "|---|---|---|---|---|---|---|"]
    for row in baseline.people.iter_rows(named=True):
        cells = (row["group"], score_words(row), row["grade"], row["kind"], row["n"] or "not stated")
        lines.append(
            f"| {' | '.join(markdown_cell(cell or '') for cell in (*cells, row['conditions'], row['source']))} |"
        )
    if baseline.passed.height:
        lines += [
            "",
            "| people | models above | first | date | best | chance to be above |",
            "|---|---|---|---|---|---|",
        ]
    for row in baseline.passed.iter_rows(named=True):
        counted = f"{row['passed_by']} of {row['of']}"
        models = (row["group"], counted, row["first"], row["date"], row["best"], say_chance(row["chance"]))
        lines.append(f"| {' | '.join(markdown_cell(cell or '') for cell in models)} |")
    notes = [f"- Note: {markdown_cell(text)}" for text in baseline.warnings]
    lines += ["", *notes, f"- Made with Mensura {__version__}."]
    return "\n".join(lines) + "\n"


def markdown_cell(text: object) -> str:
    """Return a text that cannot break a Markdown table or run as markup."""
    return escape(" ".join(str(text).split()), quote=False).replace("|", "\\|")
