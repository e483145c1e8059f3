"""Pictures of abilities on the calibrated scales: AI systems and people, as rare as 1 in so many people."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.calibration import ProfileResult, open_demands, open_outcomes, profile, profile_counts
from mensura.site.pictures.registry import Picture, picture
from mensura.site.study import Study

SYSTEMS = {
    "gpt4o": "GPT-4o",
    "o1-mini": "o1-mini",
    "llama3d1-405b": "Llama 3.1 405B",
    "llama3d2-1b": "Llama 3.2 1B",
}
TOGETHER = (
    "gpt-4",
    "gpt-3.5-turbo",
    "candidates of Brazil's national exam",
    "Qwen2.5-72B",
    "US pupils in grade 12",
)
"""On the open items: those of ENEM (first three) and of NAEP (last two)."""


def profile_rows(made: ProfileResult, kinds: dict[str, str], names: dict[str, str]) -> pl.DataFrame:
    """Return the rows of a picture of abilities among people."""
    return made.profile.join(made.positions, on=["subject", "dimension"], maintain_order="left").select(
        subject=pl.col("subject").replace(names),
        dimension="name",
        one_in="one_in",
        low="one_in_low",
        high="one_in_high",
        kind=pl.col("subject").replace_strict(kinds, default="AI"),
        note="note",
    )


@picture("abilities")
def abilities(study: Study) -> Picture:
    """Language models on the calibrated scales."""
    counts = study.evidence.demand_outcomes.filter(pl.col("subject").is_in(list(SYSTEMS)))
    made = profile_counts(counts)
    return Picture(
        "abilities",
        "Language models on human scales",
        "The ability of each model (published recipe) read off the calibrated line of its dimension: as rare as 1 in "
        "so many people of the world who solve such items. Bars: 90%, errors of ability and line together. Dashed: "
        "the median person. Derived from the ADeLe project page, CC BY-SA 4.0.",
        charts.among_people(profile_rows(made, {}, SYSTEMS)),
    )


@picture("abilities-together")
def abilities_together(study: Study) -> Picture:
    """AI systems and people on the same items."""
    told = open_outcomes().filter(pl.col("subject").is_in(list(TOGETHER)))
    order = pl.DataFrame({"subject": list(TOGETHER)})
    made = profile(order.join(told, on="subject", maintain_order="left"), open_demands())
    kinds = dict(told.select("subject", "kind").unique().iter_rows())
    return Picture(
        "abilities-together",
        "AI systems and people on the same items",
        "Items of Brazil's national exam and of NAEP that both answered, levels judged by a language model. A group "
        "stands where it solves half of the items, guessing taken off. Hollow: people. Bars: 90%, errors of ability "
        "and line together. Dashed: the median person.",
        charts.among_people(profile_rows(made, kinds, {})),
    )
