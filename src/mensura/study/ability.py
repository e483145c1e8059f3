"""AI systems and people on the calibrated human scales: who they are, which test they took, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from mensura.calibration import (
    CalibrationResult,
    ProfileResult,
    calibrate,
    calibration_name,
    chosen_lines,
    open_demands,
    open_items,
    open_outcomes,
    open_rates,
    profile,
    profile_counts,
    say_quality,
)
from mensura.calibration.open_pool import READERS
from mensura.core.cache import recall
from mensura.core.results import Result
from mensura.evidence import Evidence, load
from mensura.scale import Calibration

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
_MAKERS = {
    "GPT-4o": "OpenAI",
    "o1-mini": "OpenAI",
    "gpt-4": "OpenAI",
    "gpt-3.5-turbo": "OpenAI",
    "Llama 3.1 405B": "Meta",
    "Llama 3.2 1B": "Meta",
    "Qwen2.5-72B": "Alibaba",
}
_TESTS = {
    "candidates of Brazil's national exam": ("ENEM", "implied by the official item parameters"),
    "gpt-4": ("ENEM", "measured"),
    "gpt-3.5-turbo": ("ENEM", "measured"),
    "US pupils in grade 12": ("NAEP", "measured, share of pupils per item"),
    "Qwen2.5-72B": ("NAEP", "measured"),
}
_ADELE = ("ADeLe", "measured, counts by level")


@dataclass(frozen=True, eq=False, repr=False)
class PlacedAbilities(Result):
    """Subjects among people: ``places``, and the profiles and calibrations that it is made of.

    ``places``: subject, dimension, one_in, low, high, percentile, kind, provider, test, origin, at_least, note, items.
    ``beside``: the same by the lines of the other calibration, open or published; ``quality``: the two names, each with
    the sentence on how well that calibration predicts people.
    ``language``: the profile of language models on the ADeLe battery; ``together``: of models and people on the same
    open items; ``published`` and ``ours``: the open calibration by the published procedure and by ours.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("places",)

    places: pl.DataFrame
    beside: pl.DataFrame
    quality: tuple[tuple[str, str], tuple[str, str]]
    language: ProfileResult
    together: ProfileResult
    published: CalibrationResult
    ours: CalibrationResult

    @property
    def heading(self) -> str:
        """How many subjects in how many dimensions."""
        known = self.places.drop_nulls("one_in")
        return f"{known['subject'].n_unique()} subjects placed in {known['dimension'].n_unique()} dimensions"


def place_abilities(evidence: Evidence, lines: Calibration) -> PlacedAbilities:
    """Place language models and people among all people, on the calibrated lines.

    The models are systems with published counts; an evidence of one's own that has none of them takes the embedded.
    """
    published_systems = pl.col("subject").is_in(list(SYSTEMS))
    counts = evidence.demand_outcomes.filter(published_systems)
    if counts.is_empty():
        counts = load().demand_outcomes.filter(published_systems)
    language = profile_counts(counts, calibration=lines)
    told = open_outcomes().filter(pl.col("subject").is_in(list(TOGETHER)))
    order = pl.DataFrame({"subject": list(TOGETHER)})
    together = profile(order.join(told, on="subject", maintain_order="left"), open_demands(), calibration=lines)
    kinds = dict(told.select("subject", "kind").unique().iter_rows())
    other = chosen_lines("published" if calibration_name(lines) == "open" else "open", evidence.calibration)
    places, beside = (_named(language.placed_by(which), together.placed_by(which), kinds) for which in (lines, other))
    first, second = ((calibration_name(which), say_quality(which)) for which in (lines, other))
    published, ours = recall("open-calibrations", (), calibrate_open_pool)
    return PlacedAbilities(places, beside, (first, second), language, together, published, ours)


def _named(language: ProfileResult, together: ProfileResult, kinds: dict[str, str]) -> pl.DataFrame:
    """Return the places of both profiles with who made each system, which test it took and how its score arose."""
    places = pl.concat([ability_rows(language, {}, SYSTEMS), ability_rows(together, kinds, {})])
    tests = {name: _TESTS.get(name, _ADELE) for name in places["subject"].unique()}
    return places.with_columns(
        provider=pl.col("subject").replace_strict(_MAKERS, default=None, return_dtype=pl.String),
        test=pl.col("subject").replace_strict({name: test for name, (test, _) in tests.items()}),
        origin=pl.col("subject").replace_strict({name: how for name, (_, how) in tests.items()}),
    )


def calibrate_open_pool() -> tuple[CalibrationResult, CalibrationResult]:
    """Calibrate on the open items by the published procedure and by ours: the same for every evidence."""
    rates, demands = open_rates(), open_demands()
    means, hierarchical = (
        calibrate(rates, demands, method=method, groups=True, readers=READERS) for method in ("means", "hierarchical")
    )
    return means, hierarchical


def ability_rows(made: ProfileResult, kinds: dict[str, str], names: dict[str, str]) -> pl.DataFrame:
    """Return the rows of a picture of abilities among people."""
    return made.profile.join(made.positions, on=["subject", "dimension"], maintain_order="left").select(
        subject=pl.col("subject").replace(names),
        dimension="name",
        one_in="one_in",
        low="one_in_low",
        high="one_in_high",
        percentile="percentile",
        kind=pl.col("subject").replace_strict(kinds, default="AI"),
        at_least="at_least",
        note="note",
        items="items",
    )


def observed_and_world() -> pl.DataFrame:
    """Return item, observed, world, low, high, dimension of the open items: the dominant dimension, or "several"."""
    from mensura.extrapolation import dominant_dimensions  # here: reading kept abilities does not need it

    demands = open_demands().drop("annotator").group_by("item", maintain_order=True).mean()
    long = demands.unpivot(index="item", variable_name="dimension", value_name="level")
    dominant = dominant_dimensions(long)
    world = open_rates().select("item", "low", "high", world="rate")
    items = open_items().select("item", observed="rate")
    return items.join(world, on="item", maintain_order="left").join(dominant, on="item", maintain_order="left")
