"""The page of Mensura's own claims: how often they came true, the worst misses, and what is sealed."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.site.pages.page import Page, figures_of, page_of, section_of
from mensura.study.grading import KIND_WORDS, SHOWN_SIGNS, sealed_claims, shipped_record
from mensura.study.study import Study

_OUTCOMES = {True: "came true", False: "did not", None: "still open"}


def record(study: Study) -> Page:
    """How often Mensura was right, good or bad."""
    graded, sealed = shipped_record(), sealed_claims()
    kinds = graded.claims.group_by("came_true").len()
    counts = {_OUTCOMES[value]: count for value, count in kinds.iter_rows()}
    context = {
        "kicker": "How often were we right?",
        "sentence": graded.sentence,
        "counts": [(word, counts.get(word, 0)) for word in _OUTCOMES.values()],
        "sealed_count": sum(len(one["claims"]) for one in sealed),
        "pictures": figures_of(study, "record-known", "record-reconstructed"),
        "sections": [
            section_of("record-intervals", _shares(graded.intervals)),
            section_of("record-forecasts", _shares(graded.forecasts)),
        ],
        "misses": graded.misses.head(8).to_dicts(),
        "groups": [(words, _claims(graded.claims.filter(kind=kind))) for kind, words in KIND_WORDS.items()],
        "sealed": [{**one, "signs": _signs(one["sha256"])} for one in sealed],
    }
    return page_of("record.html", context, shared=(graded.sentence, ()))


def _shares(table: pl.DataFrame) -> list[dict[str, Any]]:
    return table.with_columns(pl.col("coverage").map_elements(lambda one: f"{one:.0%}", pl.String)).to_dicts()


def _claims(claims: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the claims of a kind with their outcome in words, newest first, those as known then before the others."""
    rows = claims.sort("record", "made", descending=[False, True]).to_dicts()
    return [{**row, "outcome": _OUTCOMES[row["came_true"]]} for row in rows]


def _signs(seal: str) -> str:
    """Return the first signs of a seal in groups of eight."""
    return " ".join(seal[start : start + 8] for start in range(0, SHOWN_SIGNS, 8))
