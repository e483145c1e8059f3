"""The list of all benchmarks, and one page for each: what it asks, who took it, and how far to trust it."""

from collections.abc import Iterator
from functools import cache
from math import inf, sqrt
from pathlib import Path
from typing import Any

import polars as pl

from mensura.charts.values import counted
from mensura.core.frames import read_csv, sort_highest
from mensura.evidence import RATE_UNITS, slug
from mensura.evidence.passing import comparable_people
from mensura.site.pages.page import WORDS, Page, Shared, page_of
from mensura.site.pages.people import registry_rows
from mensura.site.pictures.benchmark import benchmark_scores, history_figure, ladder_figure, people_on, scores_figure
from mensura.site.texts import source_date, source_link
from mensura.study.headlines import KNOWN_BEST, Passed, passed_people
from mensura.study.study import Study
from mensura.study.units import chance, show, show_range, unit_name

_NOTES = Path(__file__).parents[1] / "data" / "benchmark_notes.csv"
_HOMES = _NOTES.with_name("benchmark_homes.csv")
_FULL = 0.95
"""Share of a benchmark's range beyond which the best model leaves little to tell."""
_GROUPS_SAID = 3
"""Groups of people that the first sentences of a benchmark name; the pictures have all."""


@cache
def benchmark_notes() -> dict[str, dict[str, str]]:
    """Return format, gameability and its reason per benchmark, in our own judgement."""
    return {row["benchmark"]: row for row in read_csv(_NOTES).iter_rows(named=True)}


@cache
def benchmark_homes() -> dict[str, str]:
    """Return the address of each benchmark's own home, where one is known."""
    return dict(read_csv(_HOMES).select("benchmark", "url").iter_rows())


def _rungs(study: Study, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the steps of a benchmark's ladder, the highest value that it can tell, and why the steps are there."""
    name, unit = row["benchmark"], row["unit"]
    scale, ladder = "IQ", next((one for one in study.iq.matrix.ladders if one.benchmark == name), None)
    scores = {} if ladder is None else {key.removeprefix("iq"): score for key, score in ladder.to_dict().items()}
    if ladder is None:
        scale, curve = "EQ", study.evidence.eq_ladders.filter(benchmark=name).sort("score")
        scores = {f"{value:g}": score for value, score in curve.select("eq", "score").iter_rows()}
    if not scores:
        return None
    ceiling = {"percent": 100.0, "fraction": 1.0}.get(unit) if row["ceiling"] is None else row["ceiling"]
    top = None if ceiling is None or ladder is None else float(ladder.iq(ceiling))  # type: ignore[arg-type]
    lowest, highest = (0.0 if unit in RATE_UNITS else -inf), (inf if ceiling is None else ceiling)
    return {
        "scale": scale,
        "scores": [
            (value, "below any score" if score < lowest else show(score, unit) if score <= highest else "out of reach")
            for value, score in scores.items()
        ],
        "ceiling": "not bounded by the test" if top is None else f"IQ {top:.0f} at {show(ceiling, unit)}",
        "why": benchmark_notes().get(name, {}).get("ladder") or "",
    }


def benchmark_list(study: Study) -> Page:
    """All benchmarks, hardest first."""
    leaders = {row["benchmark"]: row for row in study.leaders.iter_rows(named=True)}
    rows = []
    for row in study.benchmarks.iter_rows(named=True):
        leader = leaders.get(row["benchmark"], {})
        people = f"{leader['people']}, {leader['human_status']}" if leader.get("people") else ""
        row |= {"dimension_name": _dimension(study, row, "–"), "people": people}
        row |= {"leader": leader.get("model"), "leader_subject": leader.get("subject")}
        row["leader_score"] = show(leader["score"], row["unit"]) if leader else "–"
        row["gameability"] = benchmark_notes().get(row["benchmark"], {}).get("gameability", "not judged")
        rows.append(row)
    taken = (one for one in rows if one["leader"])
    hardest = next((f"{one['name']} is the hardest: the best model has {one['leader_score']}. " for one in taken), "")
    shared = Shared(f"{len(rows)} benchmarks: what each asks, who leads, and how far to trust it.")
    return page_of("benchmarks/index.html", {"rows": rows}, shared=shared, hardest=hardest, count=len(rows))


def benchmark_pages(study: Study) -> Iterator[Page]:
    """Yield the page of each benchmark, one at a time."""
    registered = registry_rows(study)
    for row in study.benchmarks.iter_rows(named=True):
        yield benchmark(study, row, [one for one in registered if one["key"] == row["benchmark"]])


def benchmark(study: Study, row: dict[str, Any], registered: list[dict[str, Any]]) -> Page:
    """Everything known about one benchmark; ``registered``: its published human results."""
    name, unit = row["benchmark"], row["unit"]
    scores, people = benchmark_scores(study, name), people_on(study, name)
    pictures = [] if scores.is_empty() else [scores_figure(study, name, scores, people)]
    if not scores.is_empty():
        made = (ladder_figure(study, name, scores, people), history_figure(study, name, scores, people))
        pictures += [one for one in made if one is not None]
    best = None if scores.is_empty() else scores.row(0, named=True)
    size = counted(scores.height, "model")
    leads = f"{best['name']} leads {size} with {show(best['score'], unit)}." if best else "No scores yet."
    context = {
        "row": row,
        "sentence": benchmark_sentence(study, name, leads, bool(people)),
        "facts": benchmark_facts(study, row, best),
        "validity": benchmark_validity(study, row),
        "pictures": pictures,
        "home": benchmark_homes().get(name),
        "rungs": _rungs(study, row),
        "known": registered,
        "people": people_rows(people, name, unit),
        "scores": scores.to_dicts(),
        "sources": dict(study.evidence.sources.select("source", "name").iter_rows()),
        "disagreements": disagreements(study, name, unit),
        "unit": unit_name(unit),
    }
    shared = Shared(f"{row['name']}: {leads}" if name == KNOWN_BEST else "")
    return page_of("benchmarks/", context, of=slug(name), shared=shared, name=row["name"])


def benchmark_sentence(study: Study, benchmark: str, leads: str, has_people: bool) -> str:
    """Say who leads a benchmark, and which measured people were passed on it, when and by which model."""
    groups = [one for one in passed_people(study) if one.benchmark == benchmark] if has_people else []
    sentences = [_passed_said(study, one) for one in groups[:_GROUPS_SAID]]
    return " ".join([leads, *(sentences or ["No model can be set beside people who were measured on it."])])


def _passed_said(study: Study, one: Passed) -> str:
    who = f"{one.short} ({show(one.score, one.unit)})"
    if one.verdict == "passed" and one.first:
        subject, day, _ = one.first
        return f"{who} were passed in {day:%B %Y}, by {study.rows.by_subject[subject]['name']}."
    ahead = f", with a chance of {chance(one.best[1])} that the best model is above them" if one.best else ""
    return f"{who} {'are still ahead' if one.verdict == 'not passed' else 'cannot be told apart yet'}{ahead}."


def benchmark_facts(study: Study, row: dict[str, Any], best: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the facts of a benchmark, each with its title."""
    note = benchmark_notes().get(row["benchmark"], {})
    described = row["description"] or "no description"
    items = f"{row['items'] or 0:,}" + (f", {row['repeats']} tries each" if row["repeats"] else "")
    items += f" ({note['other_count']})" if note.get("other_count") else ""
    facts = [
        ("What it asks", described[0].upper() + described[1:]),
        ("Format", note.get("format", "not recorded")),
        ("Dimension", _dimension(study, row, "none")),
        ("Items", items if row["items"] else "not recorded"),
        ("Chance and ceiling", _range(row)),
        ("Frontier or saturating", f"{WORDS['kinds'].get(row['kind'], row['kind'])}. {_saturation(row, best)}".strip()),
    ]
    if row["difficulty"] is not None:
        place = f"difficulty {show(row['difficulty'], 'capability')}, slope {show(row['slope'], 'capability')}"
        meaning = "a model of that capability is halfway from chance to ceiling"
        facts.append(("On the stitched scale", f"{place}: {meaning}"))
    return facts


def benchmark_validity(study: Study, row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what speaks for and against reading a score as ability: leaks, fit to one scale, and who measured whom."""
    name = row["benchmark"]
    note = benchmark_notes().get(name)
    by = study.evidence.scores.filter(benchmark=name, primary=True)["measured_by"].value_counts().rows()
    kinds = sorted(((count, WORDS["measured_by"][kind or "unknown"]) for kind, count in by), reverse=True)
    took = [
        f"{group} (grade {grade})"
        for (test, group), grade in study.rows.human_grades.items()
        if test == name and grade not in (None, "E")
    ]
    spread = study.residuals.filter(benchmark=name)["residual"].to_list()
    size = sqrt(sum(value**2 for value in spread) / max(len(spread), 1))
    fit = f"scores differ by {show(size, 'fraction')} of the range from what one capability predicts"
    differ = f"{fit} (root mean square over {len(spread)} models)" if spread else "too few models took it to say"
    measured = ", ".join(f"{count:,} {kind}" for count, kind in kinds) or "nobody yet"
    people = "; ".join(took) or "nobody, as far as we know: a place among people here is a judgement"
    return [
        ("Can it be gamed? (our judgement)", f"{note['gameability']}: {note['why']}" if note else "not judged"),
        ("Does it measure what others measure?", differ),
        ("Who measured the models?", measured),
        ("Who measured people?", people),
    ]


def _dimension(study: Study, row: dict[str, Any], none: str) -> str:
    """Return the name of a benchmark's dimension; for one outside the composite its key, as words."""
    key = row["dimension"]
    return study.dimension_names.get(key, key.replace("-", " ").capitalize()) if key else none


def _range(row: dict[str, Any]) -> str:
    if row["chance"] is None:
        return "not recorded"
    return f"{show(row['chance'], row['unit'])} by guessing, {show(row['ceiling'], row['unit'])} at most"


def _saturation(row: dict[str, Any], best: dict[str, Any] | None) -> str:
    if best is None or row["chance"] is None or row["ceiling"] is None:
        return ""
    share = (best["score"] - row["chance"]) / (row["ceiling"] - row["chance"])
    full = "; little is left to tell models apart" if share > _FULL else ""
    return f"The best model has gone {show(share, 'fraction')} of the way from chance to ceiling{full}."


def people_rows(people: list[dict[str, Any]], benchmark: str, unit: str) -> list[dict[str, Any]]:
    """Return the groups of people on a benchmark as its table shows them."""
    judged = {row["group"]: row for row in comparable_people().filter(benchmark=benchmark).iter_rows(named=True)}
    return [
        {
            **row,
            "shown": show(row["score"], unit),
            "range": show_range(row["low"], row["high"], unit),
            "size": f"{row['n']:,}" if row["n"] is not None else "not given",
            "comparable": "yes"
            if judged.get(row["group"], {"comparable": row["status"] in ("measured", "judged")})["comparable"]
            else "no",
            "why": judged.get(row["group"], {}).get("reason") or row["remark"] or "",
            "url": source_link(row["source"]),
            "date": source_date(row["source"]),
        }
        for row in people
    ]


def disagreements(study: Study, benchmark: str, unit: str) -> list[dict[str, Any]]:
    """Return models with several sources on this benchmark, the largest gap first."""
    names = study.models.select("subject", "name")
    sources = study.evidence.sources.select("source", source_name="name")
    shown = pl.col("score").map_elements(lambda score: show(score, unit), return_dtype=pl.String)
    rows = (
        study.evidence.scores.filter(benchmark=benchmark)
        .join(names, on="subject", maintain_order="left")
        .join(sources, on="source", how="left", maintain_order="left")
        .with_columns(said=shown, source_name=pl.coalesce("source_name", "source"))
        .group_by("subject", "name", maintain_order=True)
        .agg(
            pl.len().alias("sources"),
            (pl.col("score").max() - pl.col("score").min()).alias("gap"),
            pl.format("{} ({})", pl.col("said"), pl.col("source_name")).str.join("; ").alias("said"),
        )
        .filter((pl.col("sources") > 1) & (pl.col("gap") > 0))
    )
    ranked = sort_highest(rows, "gap", "subject").to_dicts()
    rows_shown = [{**row, "gap_shown": show(row["gap"], unit)} for row in ranked]
    return [row for row in rows_shown if any(digit in row["gap_shown"] for digit in "123456789")]
