"""People: who was passed and when, every published human result, and last the ladders of judged people."""

from collections import Counter
from functools import cache
from operator import itemgetter
from typing import Any

from mensura.baseline.registry import registry, score_words
from mensura.calibration import bases_beside
from mensura.charts.theme import lab_colour, lab_of, shape_of
from mensura.evidence import RATE_UNITS, slug
from mensura.evidence.passing import GRADES, SURELY, with_grades
from mensura.site.pages.page import Page, Shared, figures_of, page_of, section_of
from mensura.site.pictures.passed import human_ladder, passed_figure, passed_judged, passed_words, percent_of
from mensura.site.texts import source_link
from mensura.study.headlines import LEVEL, passed_people, short_name
from mensura.study.study import Study
from mensura.study.units import chance, show, show_range

_COUNTED = ("A", "B")
"""Grades of results whose people were counted."""
_ENDS = ("score", "low", "high")
_ALONE = 8
"""Results of people on tests that no model took, the best of which are named; the registry has all."""


def people(study: Study) -> Page:
    """Who was passed, when; then the registry; the ladders of judged people last."""
    names = (*("calibration-levels-published", "calibration-levels", "observed-world", "country-alignment"),)
    ladder = human_ladder(study)
    every = passed_people(study, ("measured", "panel"))
    sentence, deck = passed_words(study, every)
    passed = [passed_figure(study, every)] if every else []
    judged = [passed_judged(study)] if passed_people(study, ("judged",)) else []
    registered, tested = registry_rows(study), passing_rows(study)
    calibrations = figures_of(study, *names)
    context = {
        "kicker": "Who was passed, and when",
        "sentence": sentence,
        "deck": deck,
        "pictures": [*passed, *judged, ladder, *calibrations],
        "passed": passed,
        "judged": judged,
        "ahead": [ahead_section(study, tested), untaken_section(registered)],
        "incomparable": incomparable_section(tested),
        "ladder": ladder,
        "doubt": study.abilities.doubt,
        "bases": base_rows(),
        "calibrations": calibrations,
        "registry": registered,
        "grades": list(GRADES.items()),
        "by_letter": Counter(row["grade"] for row in registered),
        "sections": [section_of("passing-table", tested, facts={"surely": SURELY}), people_section(study)],
    }
    return page_of("people.html", context, shared=Shared(sentence))


def registry_rows(study: Study) -> list[dict[str, Any]]:
    """Return every published human result with its source; the best model where the evidence has the same test."""
    names = {_plain(name): key for key, name in study.benchmark_names.items()}
    best = {row["benchmark"]: row for row in study.leaders.iter_rows(named=True)}
    rows = []
    for row in with_grades(registry()).iter_rows(named=True):
        part = row["part"] or ""
        own = names.get(_plain(row["benchmark"] + part.split(" ")[0]))
        key = own or names.get(_plain(row["benchmark"]))
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
                "key": key,
                "page": None if key is None else f"benchmarks/{slug(key)}.html",
                "best": f"{leader['model']} {show(leader['score'], leader['unit'])}" if same and leader else "",
                "best_subject": leader["subject"] if same and leader else None,
            }
        )
    return sorted(rows, key=lambda row: not row["best"])


@cache
def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def base_rows() -> list[dict[str, Any]]:
    """Return the published bases beside those of the open items, with their interval in words."""
    table = bases_beside()
    return [{**row, "interval": f"{row['low']:.2f}–{row['high']:.2f}"} for row in table.iter_rows(named=True)]


def ahead_section(study: Study, tested: list[dict[str, Any]]) -> dict[str, Any]:
    """Groups of people whom the best model is more likely below than above, surest first."""
    ahead = [{**row} for row in tested if row["chance"] is not None and row["chance"] < LEVEL]
    providers = dict(study.models.select("name", "provider").iter_rows())
    for row in ahead:
        maker = providers.get(row["best"])
        row |= {"page": row["shown_href"], "ink": lab_colour(maker), "shape": shape_of(lab_of(maker), 6.0)}
        row["group"] = short_name(row["benchmark"], row["group"])
        row["about"] = f"{row['test']}, chance above {chance(row['chance'])}; best: {row['best']}"
    return section_of("people-ahead", facts={"groups": len(ahead)}, groups=sorted(ahead, key=itemgetter("chance")))


def untaken_section(registered: list[dict[str, Any]]) -> dict[str, Any]:
    """Tests that counted people took and no model here, each with its best result."""
    rows = [row for row in registered if row["page"] is None and row["grade"] in _COUNTED and row["unit"] in RATE_UNITS]
    ordered = sorted(rows, key=lambda row: (row["grade"], -(row["n"] or 0)))
    tests: dict[str, dict[str, Any]] = {}
    for row in ordered:
        tests.setdefault(row["benchmark"], row)
    groups = [
        {**row, "page": "#registry", "spots": [percent_of(row[key], row["unit"]) for key in _ENDS]}
        | {"group": f"{row['benchmark']} {row['part']}".strip(), "about": f"{row['group']}; n = {row['size']}"}
        for row in tests.values()
    ]
    return section_of("people-alone", groups=groups[:_ALONE])


def incomparable_section(tested: list[dict[str, Any]]) -> dict[str, Any]:
    """Groups whose score looks comparable with a model's and is not, each with the reason."""
    rows = [row for row in tested if row["reason"] and not row["status"].startswith(("judged", "constructed", "panel"))]
    return section_of("not-comparable", rows, facts={"groups": len(rows)})


def passing_rows(study: Study) -> list[dict[str, Any]]:
    """Test by test: the first model above each group of people, when, and how surely the best model is."""
    titles = dict(study.models.select("subject", "name").iter_rows())
    grades = study.rows.human_grades
    rows = []
    for row in study.people.tests.iter_rows(named=True):
        group, on = study.rows.printed_people[row["benchmark"], row["group"]], slug(row["benchmark"])
        unit, ends = group["unit"], show_range(group["low"], group["high"], group["unit"])
        size = f", n = {group['n']:,}" if group["n"] is not None else ""
        best = study.rows.own_scores.get(row["best"], {}).get(row["benchmark"])
        rows.append(
            {
                **row,
                "test": study.benchmark_names[row["benchmark"]],
                "status": f"{row['status']}{size}, grade {grades[row['benchmark'], row['group']] or 'none'}",
                "shown": ("at most " if row["bound"] else "") + show(group["score"], unit) + (ends and f" ({ends})"),
                "first": titles.get(row["first"], row["first"]),
                "best": titles.get(row["best"], row["best"]),
                "grade": grades[row["benchmark"], row["group"]],
                "spots": [percent_of(value, unit) for value in (*(group[key] for key in _ENDS), best)],
                "best_shown": show(best, unit) if best is not None else "expected from its level",
                "shown_href": f"benchmarks/{on}.html#people",
                "best_shown_href": None if best is None else f"models/{slug(row['best'])}.html#on-{on}",
            }
        )
    return rows


def people_section(study: Study) -> dict[str, Any]:
    """Where classes of people stand on the stitched scale."""
    rows = [
        {
            **row,
            "group": row["group"].rpartition(", ")[0] or row["group"],
            "tests": ", ".join(study.benchmark_names.get(one, one) for one in row["benchmarks"].split(", ")),
            "interval": show_range(row["low"], row["high"], "capability"),
        }
        for row in study.groups.iter_rows(named=True)
    ]
    return section_of("people-table", rows)
