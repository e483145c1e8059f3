"""Three plain sentences a journalist could quote, said from the numbers and never stronger than they are."""

from __future__ import annotations

import polars as pl

from mensura.site.leaders import leaders_beside_people
from mensura.site.study import Study

_NAMED = 2  # rivals by name; a third would make the sentence a list


def headline_sentences(study: Study) -> list[str]:
    """Return the sentences of the overview: who leads, how fast, and where people still stand."""
    return [leader_sentence(study), pace_sentence(study), people_sentence(study)]


def leader_sentence(study: Study) -> str:
    """Say who leads the composite, how sure that is, and who cannot be told apart."""
    ranked = study.ranked
    best = ranked.row(0, named=True)
    pairs = study.iq.drawn.pairs(best["subject"]).filter(~pl.col("told_apart")).select(subject="other")
    alike = ranked.join(pairs, on="subject", maintain_order="left")["name"].to_list()
    first = (
        f"{best['name']} has the highest composite IQ, {best['iq']} "
        f"(90% interval {best['iq_low']:.0f} to {best['iq_high']:.0f})"
    )
    if not alike:
        return f"{first}, and is told apart from every other model."
    return f"{first}; it cannot be told apart from {_some_of(alike)}."


def _some_of(names: list[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 0 else " and ".join(names)


def pace_sentence(study: Study) -> str:
    """Say how fast capability rises, with all releases and along the records, and whether it is speeding up."""
    pace, watch = study.pace, study.watch
    first = (
        f"Models released since {pace.since:%B %Y} gain {pace.slope:.2f} a year (90% interval {pace.low:.2f} to "
        f"{pace.high:.2f}; 1 is {pace.unit}), all releases counted; the line through the records rises by "
        f"{pace.records:.2f}"
    )
    if watch.alarm is None:
        return f"{first}; a watch for acceleration has found none that chance would not explain."
    return f"{first}; a watch for acceleration sounded on {watch.alarm.day} {watch.alarm:%B %Y}."


def people_sentence(study: Study) -> str:
    """Say on how many tests with measured people the best model is ahead, and where it is not."""
    table = leaders_beside_people(study.evidence).filter(pl.col("human_status") == "measured")
    behind = table.filter(pl.col("ahead") != "model")["title"].to_list()
    ahead = table.height - len(behind)
    where = f"; on {' and '.join(behind)} it does not" if behind else ""
    return (
        f"On {ahead} of the {table.height} tests with a measured group of people, "
        f"the best model scores above the best group on record{where}."
    )
