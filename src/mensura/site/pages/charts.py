"""Pages of pictures: IQ, the stitched scale, cost, the ruler; and one page per picture, to link and to embed."""

from pathlib import Path
from typing import Any

from mensura.calibration import list_pools
from mensura.charts.canvas import scale
from mensura.charts.theme import lab_colour, lab_of, shape_of
from mensura.charts.values import round_ticks
from mensura.core.frames import read_csv
from mensura.evidence import slug
from mensura.extrapolation import published_distances, published_errors
from mensura.iq import EFFECTIVE_COST_NOTE
from mensura.site.pages.models import model_sentence
from mensura.site.pages.page import HEADS, Page, Shared, figures_of, page_of, section_of
from mensura.site.pictures import Figure, draw
from mensura.site.pictures.horizon import best_rows, table_rows, task_rows
from mensura.site.pictures.iq import dimension_bell
from mensura.site.pictures.standing import among_people
from mensura.site.pictures.stitched import harder_said
from mensura.study.headlines import (
    capability_leader_sentence,
    cheapest_rows,
    cheapest_said,
    leader_sentence,
    pace_sentence,
    ranked_sentence,
    say_lead,
    unit_sentences,
    unit_words,
)
from mensura.study.horizons import TASK_COST_NOTE, horizon_deck, horizon_sentence
from mensura.study.outlook import next_year_words
from mensura.study.study import Study
from mensura.study.units import show_column, show_range

LEADERS = 18
"""Models in the ranking of the IQ page; the list of models has all."""
_PUBLISHED = ("published-break", "published-difficulty", "published-horizons")
"""Pictures of the published stitched fit, which have no page of their own."""
_KEYS = ("subject", "dimension")
"""Columns of keys, which say no more than the names beside them."""
_VALIDATION = Path(__file__).parents[1] / "data" / "extrapolation_validation.csv"
_POOLS = _VALIDATION.with_name("pool_names.csv")


def iq(study: Study) -> Page:
    """IQ overall, by dimension, over time, against EQ, cost and time."""
    bells = [dimension_bell(study, key) for key in study.dimension_names]
    ranked, ticks = ranking_rows(study)
    best = study.rows.ranked_rows[0] if ranked else None
    context = {
        "kicker": f"IQ of {study.ranked.height:,} ranked models",
        "headline": say_lead(study)[0],
        "deck": model_sentence(study, best, short=True) if best else "",
        "among": among_people(study, best) if best else None,
        "leader": leader_sentence(study),
        "ranked": ranked,
        "ranked_count": f"{study.ranked.height:,}",
        "ticks": ticks,
        "too_new": study.too_new.to_dicts(),
        "benchmarks": len(study.iq.matrix.benchmarks),
        "ranked_said": ranked_sentence(study),
        "pictures": figures_of(study, "iq-bell", "iq-time", "iq-eq", "iq-cost", "iq-response"),
        "sections": [section_of("dimensions", pictures=bells)],
    }
    return page_of("iq.html", context)


def ranking_rows(study: Study) -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
    """Return the first rows of the ranking, and the ticks of the axis of IQ beside them, in percent of its width."""
    rows = study.ranked.head(LEADERS).to_dicts()
    low, high = min((row["iq_low"] for row in rows), default=0.0), max((row["iq_high"] for row in rows), default=1.0)
    at = scale(low - 1, high + 1, 0.0, 100.0)
    for row in rows:
        row["spot"] = [at(row[key]) for key in ("iq_low", "exact_iq", "iq_high")]
        row["ink"], row["shape"] = lab_colour(row["provider"]), shape_of(lab_of(row["provider"]))
    return rows, [(iq, at(iq)) for iq in round_ticks(low, high, 3, whole=True)]


def stitched(study: Study) -> Page:
    """Models, benchmarks and people on one scale, and what it says about time."""
    names = ("one-axis", "capability-time", "acceleration", "sensors", "residual-profiles", "algorithmic-progress")
    pictures = figures_of(study, *names)
    context = {
        "kicker": pictures[0].title,
        "headline": pictures[0].finding,
        "deck": f"{capability_leader_sentence(study)} {harder_said(study)}",
        "leader": leader_sentence(study),
        "pictures": pictures,
        "units": unit_sentences(study),
        "unit": unit_words(study),
        "pace": pace_sentence(study),
        "next_year": next_year_words(study),
        "sections": [section_of("published-fit", pictures=[draw(study, name) for name in _PUBLISHED])],
    }
    return page_of("stitched.html", context)


def cost(study: Study) -> Page:
    """What capability costs."""
    lists = [cheapest_section(study, "cheapest-at"), cheapest_section(study, "cheapest-list", "sticker_price")]
    further = figures_of(study, "cost-bars", "task-efficiency", "iq-response")
    sections = [*lists, section_of("cheaper-than-people", task_rows(study), facts={"note": TASK_COST_NOTE})]
    sections.append(section_of("misleading-prices", pictures=further))
    pictures = figures_of(study, "iq-cost", "iq-price")
    headline = f"{pictures[0].finding}."
    context = {"kicker": "What does it cost?", "headline": headline, "pictures": pictures, "sections": sections}
    cheapest = f"Effective cost: {prices}, per 1M tokens in and out. " if (prices := cheapest_said(study)) else ""
    return page_of("cost.html", context, shared=Shared(headline), cheapest=cheapest)


def cheapest_section(study: Study, key: str = "cheapest-at", by: str = "effective_cost") -> dict[str, Any]:
    """The cheapest model at or above each IQ, by one basis."""
    rows, priced = cheapest_rows(study, by)
    for row in rows:
        row["iq_range"] = show_range(row["iq_low"], row["iq_high"], "iq")
        row["iq_href"] = f"models/{slug(row['subject'])}.html#derivation"
        row["cost_href"] = f"models/{slug(row['subject'])}.html#cost"
    facts = {"priced": priced, "without": study.models["iq"].count() - priced, "note": EFFECTIVE_COST_NOTE}
    return section_of(key, rows, facts=facts)


def horizon(study: Study) -> Page:
    """How long a task AI does alone, how fast that grows, and how good the times are."""
    context = {
        "kicker": "How long a task can AI do alone?",
        "sentence": horizon_sentence(),
        "deck": horizon_deck(),
        "best": best_rows(study),
        "pictures": figures_of(study, "horizon", "horizon-trend", "horizon-judged"),
        "sections": [section_of("horizons", table_rows(study))],
    }
    return page_of("horizon.html", context, shared=Shared(horizon_sentence()))


def human(study: Study) -> Page:
    """The ruler, the published bases, and how rates carry to the world."""
    own = read_csv(_VALIDATION).join(read_csv(_POOLS), on="pool", maintain_order="left")
    context = {
        "pictures": figures_of(study, "bases", "demand-curves", "world-regions", "world-drivers"),
        "calibration": list(study.lines),
        "pools": list_pools().to_dicts(),
        "validations": published_errors(study.evidence.validations).to_dicts(),
        "distances": published_distances(study.evidence.validations).to_dicts(),
        "own_validations": own.to_dicts(),
    }
    return page_of("human.html", context)


def chart_page(figure: Figure) -> Page:
    """Return the page of one picture: its permalink, what an embedding shows, and its table."""
    shown = dict(sorted(figure.shown_columns, key=lambda column: column[0] != "name"))  # names lead their rows
    columns = {key: [row.get(key) for row in figure.points] for key in shown}
    keys = _KEYS if "name" in shown else ()
    shown = {key: head for key, head in shown.items() if key not in keys and any(x is not None for x in columns[key])}
    # measurements: numbers or nothing, not all of them whole
    numeric = {key for key, cells in columns.items() if float in {*map(type, cells)} <= {int, float, type(None)}}
    texts = {key: show_column(cells) if key in numeric else cells for key, cells in columns.items()}
    rows = [
        (_page_of(row), [(columns[key][at], texts[key][at]) for key in shown]) for at, row in enumerate(figure.points)
    ]
    heads = [(key, HEADS.get(head, head), key in numeric) for key, head in shown.items()]
    finding = figure.finding or figure.title
    words: dict[str, Any] = {"title": figure.title, "finding": finding, "caption": figure.caption}
    context = {"figure": figure, "columns": heads, "rows": rows}
    return page_of("charts/", context, of=figure.name, listed=False, **words)


def _page_of(row: dict[str, Any]) -> str | None:
    """Return the page of who or what a mark stands for: a model, or as ``benchmark:ID`` or ``people:CLASS``."""
    kind, colon, key = str(row.get("subject") or "").partition(":")
    if not colon:
        return f"models/{slug(kind)}.html" if kind else None
    return {"benchmark": f"benchmarks/{slug(key)}.html", "people": "people.html#people-table"}.get(kind)
