"""People: who was passed and when, every published human result, and last the ladders of judged people."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

from mensura.baseline.registry import registry, score_words
from mensura.evidence import slug
from mensura.site.links import source_link
from mensura.site.pages.page import Page, figures_of
from mensura.site.pictures import beside_figure, human_ladder_figure
from mensura.site.pictures.passed import passed_figure, passed_words
from mensura.site.sections import passing_section, people_section
from mensura.study.headlines import passed_people, people_sentence
from mensura.study.study import Study
from mensura.study.units import rarity, show


def people(study: Study) -> Page:
    """Who was passed, when; then the registry; the ladders of judged people last."""
    names = (
        *("calibration-levels-published", "calibration-levels", "calibration-stages"),
        *("observed-world", "country-alignment"),
    )
    ladders = (human_ladder_figure(study), beside_figure(study))
    every = passed_people(study, ("measured", "panel"))
    sentence, deck = passed_words(study, every)
    passed = [passed_figure(study, every)] if every else []
    calibrations = figures_of(study, *names)
    return Page(
        "people.html",
        "People",
        "Who was passed, and when: measured groups of people on the tests they took, with the first model above each, "
        "the date and the chance; then every published human result.",
        "people.html",
        {
            "kicker": "Who was passed, and when",
            "sentence": sentence,
            "deck": deck,
            "pictures": [*passed, *ladders, *calibrations],
            "passed": passed,
            "ladders": ladders,
            "calibrations": calibrations,
            "registry": registry_rows(study),
            "beside_people": sorted(study.leaders.to_dicts(), key=lambda row: row["people"] is None),
            "beside_said": people_sentence(study),
            "anchors": anchor_rows(study),
            "sections": [passing_section(study), people_section(study)],
        },
        scripts=("charts", "table"),
        shared=(sentence, ()),
    )


def registry_rows(study: Study, benchmark: str | None = None) -> list[dict[str, Any]]:
    """Return every published human result with its source; the best model where the evidence has the same test.

    ``benchmark``: those of one benchmark alone.
    """
    names = {_plain(name): key for key, name in study.benchmark_names.items()}
    best = {row["benchmark"]: row for row in study.leaders.iter_rows(named=True)}
    rows = []
    for row in registry().iter_rows(named=True):
        part = row["part"] or ""
        own = names.get(_plain(row["benchmark"] + part.split(" ")[0]))
        key = own or names.get(_plain(row["benchmark"]))
        if benchmark is not None and key != benchmark:
            continue
        leader = best.get(key or "")
        same = leader is not None and leader["unit"] == row["unit"] and (own is not None or part in ("", "all"))
        rows.append(
            {
                **row,
                "part": "" if part == "all" else part,
                "year": None if str(row["year"]) in (row["source"] or "") else row["year"],
                "shown": score_words(row) if row["score"] is None else show(row["score"], row["unit"]),
                "size": "not stated" if row["n"] is None else f"{row['n']:,}",
                "url": source_link(row["seen"]) or source_link(row["source"]),
                "page": None if key is None else f"benchmarks/{slug(key)}.html",
                "best": f"{leader['model']} {show(leader['score'], leader['unit'])}" if same and leader else "",
                "best_subject": leader["subject"] if same and leader else None,
            }
        )
    return sorted(rows, key=lambda row: not row["best"])


@cache
def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def anchor_rows(study: Study) -> list[dict[str, object]]:
    """Return who stands on the ladder: test, how the score came about, items, dimensions in which they are placed."""
    table = (
        study.abilities.places.group_by("subject", "kind", "test", "origin", maintain_order=True)
        .agg(
            pl.col("items").sum().alias("items"),
            pl.col("one_in").count().alias("placed"),
            pl.col("one_in").max().alias("rarest"),
            pl.col("dimension", "at_least").sort_by("one_in", nulls_last=False).last().name.prefix("rarest_"),
        )
        .sort("kind", "test", descending=[True, False])
    )
    return [
        {
            **row,
            "kind": "people" if row["kind"] == "people" else "AI",
            "items": show(row["items"], "iq"),
            "rarest": "–" if row["rarest"] is None else _said_rarest(row),
        }
        for row in table.iter_rows(named=True)
    ]


def _said_rarest(row: dict[str, Any]) -> str:
    return f"{rarity(row['rarest'], row['rarest_at_least'])} in {row['rarest_dimension']}"
