"""What the search box finds: models, tests, groups of people, makers, dimensions and pages, with their other names."""

from __future__ import annotations

from mensura.evidence import slug
from mensura.study.headlines import short_name
from mensura.study.study import Study

Entry = tuple[str, str, str, str, float]
"""Name, kind, page, other names, and how many points it is ahead of others that match as well."""

_PAGES = (
    ("Start", "index.html", "home overview bell curve first"),
    ("IQ", "iq.html", "intelligence ranking leaderboard best who leads rank"),
    ("People", "people.html", "humans human level passed baseline average person experts PhD graduates"),
    ("Human baselines of every benchmark", "people.html#registry", "registry people study n conditions"),
    ("All models", "models/index.html", "list table filter"),
    ("All benchmarks", "benchmarks/index.html", "tests evaluations list"),
    ("Pick a model", "pick.html", "choose recommend budget cheap fast which"),
    ("Compare models and people", "compare.html", "versus vs side by side"),
    ("Scale and time: capability, forecast", "stitched.html", "stitching trend progress future speed"),
    ("Is it speeding up?", "stitched.html#acceleration", "acceleration watch alarm faster"),
    ("Cost", "cost.html", "price dollars tokens cheap effective"),
    ("Cheapest at an IQ", "cost.html#cheapest-at", "price budget value money"),
    ("The ruler: rate, level, rarity, IQ", "human.html", "convert converter percentile calculator"),
    ("Data and downloads", "data.html", "csv json api parquet scores sources"),
    ("What changed", "changes.html", "news editions feed updates movers"),
    ("Method and limits", "method.html", "how rules formula limits caveats criticism"),
)
_SYNONYMS = {
    "mathematical": "maths math mathematics",
    "scientific": "science physics chemistry biology",
    "abstract": "puzzles patterns fluid reasoning",
    "app": "apps coding web design frontend code",
    "production": "software engineering coding programming code",
    "computer": "agents browser desktop tools",
    "reliability": "hallucination instructions trust honesty",
}
_PEOPLE = {
    "expert": "PhD doctorate specialist professor researcher",
    "public": "average person ordinary people everyone layperson adults",
    "crowd": "average person ordinary people Mechanical Turk laypeople",
    "ordinary": "average person",
    "graduate": "STEM university degree students",
    "student": "university undergraduates college operators",
    "top 500": "maths olympiad USAMO contest school students",
    "trainer": "annotators raters",
}


def people_words(benchmark: str, group: str) -> str:
    """Return the other names of a group of people on a test, such as PhD for experts."""
    said = f"{group} {short_name(benchmark, group)}".lower()
    return " ".join(text for part, text in _PEOPLE.items() if part in said)


def search_entries(study: Study) -> list[Entry]:
    """Return everything that can be found, best models first among equals."""
    found: list[Entry] = [(name, "page", href, words, 8.0) for name, href, words in _PAGES]
    for key, name in study.dimension_names.items():
        words = " ".join(text for part, text in _SYNONYMS.items() if part in f"{key} {name.lower()}")
        found.append((name, "dimension", f"iq.html#iq-bell-{slug(key)}", words, 9.0))
    count = max(1, study.models.height)
    for place, row in enumerate(study.models.iter_rows(named=True)):
        words = f"{row['provider']} {row['subject']}"
        found.append(
            (row["name"], row["provider"], f"models/{slug(row['subject'])}.html", words, 5 * (1 - place / count))
        )
    for provider in study.models["provider"].unique(maintain_order=True):
        found.append((str(provider), "maker", f"makers/{slug(str(provider))}.html", "provider lab company", 10.0))
    for row in study.evidence.benchmarks.iter_rows(named=True):
        named = study.dimension_names.get(row["dimension"] or "", "")
        words = f"{row['benchmark'].replace('_', ' ')} {named} benchmark test"
        found.append((row["name"], "test", f"benchmarks/{slug(row['benchmark'])}.html", words, 4.0))
    for row in study.rows.tested_people:
        name, test = short_name(row["benchmark"], row["group"]), study.benchmark_names[row["benchmark"]]
        words = people_words(row["benchmark"], row["group"])
        weight = 9.0 if row["status"] == "measured" else 1.0
        page = f"benchmarks/{slug(row['benchmark'])}.html#people"
        found.append((f"{name} on {test}", "people", page, f"{row['group']} {words}", weight))
    return found
