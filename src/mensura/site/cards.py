"""What readers find and open: entries of the search box, and the cards of marks of people.

A mark names its card by its subject: ``people:CLASS`` on the stitched scale, ``people:BENCHMARK/GROUP`` on a test.
A card says which people, on which test, how many, measured or judged.
"""

import tomllib
from pathlib import Path
from typing import Any

import polars as pl

from mensura.baseline.registry import registry
from mensura.charts.values import counted
from mensura.evidence import slug
from mensura.site.pictures.benchmark import group_subject, people_on
from mensura.site.pictures.stitched import class_subject
from mensura.site.texts import source_date, source_link
from mensura.study.headlines import short_name
from mensura.study.study import Study
from mensura.study.units import show, show_range

Entry = tuple[str, str, str, str, float, str, str]
"""Name, kind, page, other names, points ahead of others that match as well, a line of state, and a number."""
_SEARCHED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "data" / "search.toml").read_text(encoding="utf-8"))
CardLine = tuple[str, str, str | None]
"""A label, a text, and where it leads: an address, a page of the report, or nowhere."""


def people_cards(study: Study) -> dict[str, dict[str, Any]]:
    """Return the card of every mark of people, by its subject: name, page, and lines of label, text and link."""
    cards = {class_subject(row["group"]): _class_card(study, row) for row in study.groups.iter_rows(named=True)}
    for benchmark in study.evidence.human_references["benchmark"].unique(maintain_order=True):
        for row in people_on(study, benchmark):
            cards[group_subject(benchmark, row["group"])] = _group_card(study, benchmark, row)
    return cards


def said_size(n: int | None) -> str:
    """Say how many people took a test."""
    return "not given" if n is None else f"{n:,}"


def _group_card(study: Study, benchmark: str, row: dict[str, Any]) -> dict[str, Any]:
    unit, page = row["unit"], f"benchmarks/{slug(benchmark)}.html"
    lines: list[CardLine] = [
        ("Test", study.benchmark_names[benchmark], page),
        ("Score", show(row["score"], unit), None),
        ("Range", show_range(row["low"], row["high"], unit) or "not given", None),
        ("Their score is", row["status"], None),
        ("n", said_size(row["n"]), None),
        ("Source", row["source"] or "not given", source_link(row["source"]) or None),
        ("Date", source_date(row["source"]), None),
        ("To know", row["remark"] or "", None),
    ]
    return {"name": row["group"], "page": f"{page}#people", "lines": [line for line in lines if line[1]]}


def _class_card(study: Study, row: dict[str, Any]) -> dict[str, Any]:
    """Return the card of a class: its place, then each test with its people, their number and how they are known."""
    name = row["group"].rpartition(", ")[0] or row["group"]
    lines: list[CardLine] = [
        ("Their scores are", row["status"], None),
        ("Capability", show(row["capability"], "capability"), None),
        ("90% interval", show_range(row["low"], row["high"], "capability"), None),
    ]
    for one in study.people.tests.filter((pl.col("class") == name) & (pl.col("status") == row["status"])).to_dicts():
        printed = study.rows.printed_people[one["benchmark"], one["group"]]
        score = show(printed["score"], printed["unit"])
        words = f"{one['group']}: {score}, {one['status']}, n {said_size(printed['n'])}"
        page = f"benchmarks/{slug(one['benchmark'])}.html#people"
        lines.append((study.benchmark_names[one["benchmark"]], words, page))
    return {"name": study.class_names[row["group"]], "page": "people.html#people-table", "lines": lines}


def people_words(benchmark: str, group: str) -> str:
    """Return the other names of a group of people on a test, such as PhD for experts."""
    name = f"{group} {short_name(benchmark, group)}".lower()
    return " ".join(text for part, text in _SEARCHED["people"].items() if part in name)


def _work_entries() -> list[Entry]:
    """Return people by their work: the studies that measured them, or the plain sentence that none did.

    The state of that sentence is how they are called. People who were tested for such work follow.
    """
    results = registry().with_columns(pl.col("group", "part").fill_null(""))
    entries: list[Entry] = []
    for work in _SEARCHED["work"]:
        page, words = "people.html#registry", f"{work['name']} {work['words']}"
        studies = int(results["group"].str.to_lowercase().str.contains(work["stem"], literal=True).sum())
        sentence, state = f"{work['name'].capitalize()}: {studies} results in the list of studies", ""
        if not studies:
            sentence, state = f"No study measured {work['name']} on a test that an AI model took", work["name"]
        entries.append((sentence, "people", page, words, 12.0, state, ""))
        tested = results.filter(pl.col("part").str.contains(work.get("exam", "^$"))).unique(
            "part", keep="first", maintain_order=True
        )
        for row in tested.iter_rows(named=True):
            name = f"{row['group'].capitalize()}, {row['part']}"
            entries.append((name, "people", page, words, 11.0, "not comparable", show(row["score"], row["unit"])))
    return entries


def search_entries(study: Study) -> list[Entry]:
    """Return everything that can be found, best models first among equals."""
    entries: list[Entry] = [(name, "page", href, words, 8.0, "", "") for name, href, words in _SEARCHED["pages"]]
    for key, name in study.dimension_names.items():
        words = " ".join(text for part, text in _SEARCHED["dimensions"].items() if part in f"{key} {name.lower()}")
        entries.append((name, "page", f"iq.html#iq-bell-{slug(key)}", words, 9.0, "a kind of work", ""))
    count = max(1, study.models.height)
    for place, row in enumerate(study.models.iter_rows(named=True)):
        words, iq = f"{row['provider']} {row['subject']}", row["iq"]
        page, weight = f"models/{slug(row['subject'])}.html", 5 * (1 - place / count)
        said = "" if iq is None else f"IQ {show(iq, 'iq')}"
        entries.append((row["name"], "model", page, words, weight, row["provider"], said))
    for provider, models in study.models["provider"].value_counts(sort=True).iter_rows():
        words = f"provider lab company {_SEARCHED['makers'].get(provider, '')}"
        page = f"makers/{slug(provider)}.html"
        entries.append((provider, "model", page, words, 10.0, "maker", counted(models, "model")))
    entries += _work_entries()
    leaders = {row["benchmark"]: row for row in study.leaders.iter_rows(named=True)}
    for row in study.evidence.benchmarks.iter_rows(named=True):
        named, best = study.dimension_names.get(row["dimension"] or "", ""), leaders.get(row["benchmark"])
        near = (
            f"{one['name']} {one['words']}" for one in _SEARCHED["work"] if row["benchmark"] in one.get("tests", ())
        )
        words = " ".join((row["benchmark"].replace("_", " "), named, "benchmark test", *near))
        leads = (f"best {best['model']}", show(best["score"], best["unit"])) if best else ("", "")
        entries.append((row["name"], "test", f"benchmarks/{slug(row['benchmark'])}.html", words, 4.0, *leads))
    for row in study.people.tests.filter(pl.col("reason").is_null()).iter_rows(named=True):
        name, test = short_name(row["benchmark"], row["group"]), study.benchmark_names[row["benchmark"]]
        words = people_words(row["benchmark"], row["group"])
        weight = 9.0 if row["status"] == "measured" else 1.0
        printed = study.rows.printed_people[row["benchmark"], row["group"]]
        verdict = f"passed in {row['passed']:%B %Y}" if row["passed"] else row["verdict"] or "not known"
        state = verdict if row["status"] == "measured" else f"{row['status']}, {verdict}"
        page, shown = f"benchmarks/{slug(row['benchmark'])}.html#people", show(printed["score"], printed["unit"])
        entries.append((f"{name} on {test}", "people", page, f"{row['group']} {words}", weight, state, shown))
    return entries
