"""The shapes of answers to agents: every number with its interval, its status and its source."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Detail = Literal["brief", "full"]
"""How much of an answer an agent wants to read."""
Unit = Literal["rate", "percentile", "one_in", "iq", "level"]


class Told(BaseModel):
    """An answer; what it does not say it does not know. Fields that have nothing to say are left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        settled = {name: field.get_default() for name, field in type(self).model_fields.items()}
        return {name: value for name, value in fields.items() if value != settled[name]}


class Quantity(Told):
    """A number with the interval around it, how it came about, and from where."""

    value: float | None = Field(description="The number; null where nothing supports one.")
    low: float | None = Field(default=None, description="Low end of the interval; null where there is none.")
    high: float | None = Field(default=None, description="High end of the interval; null where there is none.")
    interval: str = Field(default="", description="What the interval is about; empty where there is none.")
    status: str = Field(description="How the number came about: measured, estimated, judged, extrapolated, converted …")
    source: str = Field(description="Where it comes from.")


class ScoreFound(Told):
    """One score on one benchmark as its source printed it."""

    who: str = Field(description="The model or group of people.")
    benchmark: str
    score: Quantity
    unit: str
    primary: bool = Field(description="Whether this is the score the instruments use; others are second sources.")
    date: str | None = Field(default=None, description="When the source said so.")
    note: str = ""


class DimensionFound(Told):
    """One dimension of a model's IQ."""

    dimension: str
    iq: Quantity


class ModelFound(Told):
    """Where one model stands."""

    subject: str
    name: str
    provider: str
    released: date
    iq: Quantity
    rank: Quantity
    chance_of_being_first: float | None = Field(description="Among all ranked models, from joint draws.")
    capability: Quantity = Field(description="On the stitched scale of all benchmarks.")
    emotional: Quantity = Field(description="Emotional reasoning (EQ), a diagnostic beside the IQ.")
    measured: int = Field(description="Benchmarks of the composite the model was measured on.")
    estimated: int = Field(description="Benchmarks of the composite estimated from those.")
    dimensions: list[DimensionFound] = Field(default=[], description="In a comparison only with detail full.")
    scores: list[ScoreFound] = Field(default=[], description="Only with detail full.")
    prices: dict[str, Quantity] = Field(
        default={}, description="US dollars per million tokens; sticker: a million in and out. Not in a comparison."
    )


class BenchmarkFound(Told):
    """One benchmark, who leads on it, and the people who took it."""

    benchmark: str
    name: str
    dimension: str | None
    unit: str
    description: str
    chance: float | None = Field(description="Score by guessing, where known.")
    ladders: dict[str, dict[str, float]] = Field(
        description="Expected score at each IQ, by set of ladders; with detail brief the published ones."
    )
    best: list[ScoreFound] = Field(description="Highest primary scores, best first: 3, with detail full 10.")
    people: list[ScoreFound]
    models: int = Field(description="Models with a primary score.")


class GroupFound(Told):
    """One group of people: its scores, and the best model on the same tests."""

    group: str
    scores: list[ScoreFound]
    best_models: list[ScoreFound]
    note: str = "A group stands on the tests it took; it has no composite IQ."


class ChanceFound(Told):
    """How surely one stands above the other."""

    first: str
    second: str
    on: str = Field(description="IQ, or the benchmark both took.")
    chance_first_above: Quantity


class SharedTest(Told):
    """A test that at least two of those compared took."""

    benchmark: str
    unit: str
    scores: dict[str, float | None] = Field(description="Score by model or group.")
    judged: list[str] = Field(default=[], description="Groups whose score is a judgement; all others were measured.")


class Comparison(Told):
    """Models and groups side by side."""

    models: list[ModelFound] = Field(description="Without their single scores; see shared.")
    shared: list[SharedTest] = Field(description="Scores on tests that at least two of them took.")
    sources: list[ScoreFound] = Field(
        default=[], description="The same scores one by one, with their sources; only with detail full."
    )
    chances: list[ChanceFound]


class Converted(Told):
    """One place on the human ruler in every unit."""

    rate: Quantity
    percentile: Quantity
    one_in: Quantity
    iq: Quantity
    level: Quantity
    scale: str = Field(description="The scale of the level.")
    notes: list[str]


class Extrapolated(Told):
    """A success rate carried to another population."""

    observed: Quantity
    focal: str = Field(description="Who was observed.")
    reference: str = Field(description="Whose rate is wanted.")
    rate: Quantity
    hangs_on: list[str] = Field(description="The assumptions the rate hangs on most, largest first.")
    regions: dict[str, Quantity] = Field(default={}, description="Only with detail full.")
    warnings: list[str]


class Explained(Told):
    """A node of a derivation: what it is, how it came about, and what it is made of."""

    label: str
    iq: Quantity
    note: str = ""
    parts: list[Explained] = []
    more_parts: int = Field(default=0, description="Parts that detail full, or a question for this part, shows.")


class NamesFound(Told):
    """Names that can be asked for."""

    kind: str
    names: list[str] = Field(description="Ids; for people and populations the names themselves.")
    total: int
    note: str = ""
