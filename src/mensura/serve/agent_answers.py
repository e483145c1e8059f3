"""The shapes of questions and answers of agents, and what an agent can read before it asks.

Every number has its interval, its status and its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Unit = Literal["rate", "percentile", "one_in", "iq", "level"]
Kind = Literal["model", "benchmark", "people", "population"]
Name = Annotated[str, Field(description="Id or name as people write it.", min_length=1, max_length=200)]
Level = Annotated[
    Literal["brief", "full"], Field(description='"brief", or "full" for every score, source, region and part.')
]
_POPULATION = 'A population that list_names lists ("world", "pisa"), or a country.'
Population = Annotated[str, Field(description=_POPULATION, min_length=1, max_length=100)]


class AgentAnswer(BaseModel):
    """An answer; what it does not say it does not know. Fields that have nothing to say are left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        settled = {name: field.get_default() for name, field in type(self).model_fields.items()}
        return {name: value for name, value in fields.items() if value != settled[name]}


class Quantity(AgentAnswer):
    """A number with the interval around it, how it came about, and from where."""

    value: float | None = Field(description="The number; null where nothing supports one.")
    low: float | None = Field(default=None, description="Low end of the interval; null where there is none.")
    high: float | None = Field(default=None, description="High end of the interval; null where there is none.")
    interval: str = Field(default="", description="What the interval is about; empty where there is none.")
    status: str = Field(description="How the number came about: measured, estimated, judged, extrapolated, converted …")
    source: str = Field(description="Where it comes from.")


def quantity_of(
    row: Mapping[str, Any], value: str, low: str = "low", high: str = "high", *, interval: str, status: str, source: str
) -> Quantity:
    """Return the number in a column of a row with the ends of its interval."""
    return Quantity(value=row[value], low=row[low], high=row[high], interval=interval, status=status, source=source)


class ScoreFound(AgentAnswer):
    """One score on one benchmark as its source printed it."""

    who: str = Field(description="The model or group of people.")
    benchmark: str
    score: Quantity
    unit: str
    primary: bool = Field(description="Whether this is the score the instruments use; others are second sources.")
    date: str | None = Field(default=None, description="Date of the source.")
    note: str = ""


class DimensionFound(AgentAnswer):
    """One dimension of a model's IQ."""

    dimension: str
    iq: Quantity


class ModelFound(AgentAnswer):
    """Where one model stands."""

    subject: str
    name: str
    provider: str
    released: date
    iq: Quantity
    rank: Quantity
    chance_of_being_first: float | None = Field(description="Among all ranked models, from joint draws.")
    leader: str = Field(default="", description="Who leads, how surely by all ways, and why. Not in a comparison.")
    capability: Quantity = Field(description="On the stitched scale of all benchmarks.")
    emotional: Quantity = Field(description="Emotional reasoning (EQ), a diagnostic beside the IQ.")
    measured: int = Field(description="Benchmarks of the composite the model was measured on.")
    estimated: int = Field(description="Benchmarks of the composite estimated from those.")
    dimensions: list[DimensionFound] = Field(default=[], description="In a comparison only with detail full.")
    scores: list[ScoreFound] = Field(default=[], description="Only with detail full.")
    prices: dict[str, Quantity] = Field(default={}, description="US dollars per million tokens. Not in a comparison.")


class BenchmarkFound(AgentAnswer):
    """One benchmark, who leads on it, and the people who took it."""

    benchmark: str
    name: str
    dimension: str | None
    unit: str
    description: str
    chance: float | None = Field(description="Score by guessing, where known.")
    ladders: dict[str, dict[str, float]] = Field(description="Expected score at each IQ, by set of ladders.")
    best: list[ScoreFound] = Field(description="Highest primary scores, best first: 3, with detail full 10.")
    people: list[ScoreFound]
    models: int = Field(description="Models with a primary score.")


class PassedFound(AgentAnswer):
    """Whether models passed a group of people on a test, by the rule of all pages and commands."""

    benchmark: str
    verdict: str | None = Field(description="passed, not passed or cannot be told; none where not comparable.")
    first: str | None = Field(description="The first model that was above them with a chance of 95%.")
    since: str | None = Field(description="The day on which it came out.")
    reason: str | None = Field(description="Why models and this group are not compared.")


class GroupFound(AgentAnswer):
    """One group of people: its scores, the best model on the same tests, and whether models passed it."""

    group: str
    scores: list[ScoreFound]
    best_models: list[ScoreFound]
    passed: list[PassedFound]
    note: str = "A group stands on the tests it took; it has no composite IQ."


class ChanceFound(AgentAnswer):
    """How surely one stands above the other."""

    first: str
    second: str
    on: str = Field(description="IQ, or the benchmark both took.")
    chance_first_above: Quantity


class SharedTest(AgentAnswer):
    """A test that at least two of those compared took."""

    benchmark: str
    unit: str
    scores: dict[str, float | None] = Field(description="Score by model or group.")
    judged: list[str] = Field(default=[], description="Groups whose score is a judgement; all others were measured.")


class Comparison(AgentAnswer):
    """Models and groups side by side."""

    models: list[ModelFound] = Field(description="Without their single scores; see shared.")
    shared: list[SharedTest] = Field(description="Scores on tests that at least two of them took.")
    sources: list[ScoreFound] = Field(default=[], description="These scores with their sources, with detail full.")
    chances: list[ChanceFound]


class Converted(AgentAnswer):
    """One place on the human ruler in every unit."""

    rate: Quantity
    percentile: Quantity
    one_in: Quantity
    iq: Quantity
    level: Quantity
    scale: str = Field(description="The scale of the level.")
    notes: list[str]


class Extrapolated(AgentAnswer):
    """A success rate carried to another population."""

    observed: Quantity
    focal: str = Field(description="Who was observed.")
    reference: str = Field(description="Whose rate is wanted.")
    rate: Quantity
    hangs_on: list[str] = Field(description="The assumptions that matter most for the rate, largest first.")
    regions: dict[str, Quantity] = Field(default={}, description="Only with detail full.")
    warnings: list[str]


class Explained(AgentAnswer):
    """A node of a derivation: what it is, how it came about, and what it is made of."""

    label: str
    iq: Quantity
    note: str = ""
    parts: list[Explained] = []
    more_parts: int = Field(default=0, description="Parts that detail full, or a question for this part, shows.")


class PeopleScore(AgentAnswer):
    """What one group of people scored, or would score."""

    people: str
    score: Quantity
    unit: str
    n: str = Field(default="", description="Number of people, where stated.")
    conditions: str = ""
    grade: str = Field(default="", description="A to E: how well a published result was obtained and reported.")


class BaselineFound(AgentAnswer):
    """The human baseline of a benchmark."""

    benchmark: str
    people: list[PeopleScore]
    notes: list[str] = []
    card: str = Field(default="", description="The card of an estimate as Markdown, with detail full.")


class HorizonFound(AgentAnswer):
    """How long a task a model does alone, in minutes that a professional needs, by kind of work."""

    model: str
    half_of_the_time: dict[str, Quantity] = Field(description="Length at which it succeeds half of the time.")
    four_times_in_five: dict[str, Quantity] = Field(default={}, description="Length for four times in five.")
    expected: Quantity | None = Field(default=None, description="Only for a model that was never run: no measurement.")
    words: str


class NamesFound(AgentAnswer):
    """Names that can be asked for."""

    kind: str
    names: list[str] = Field(description="Ids; for people and populations the names themselves.")
    total: int
    note: str = ""


GUIDE = (Path(__file__).parent / "static" / "guide.md").read_text(encoding="utf-8")
"""How to read the numbers."""


def place_model(model: str) -> str:
    """Say how good a model is compared with people, and how sure that is."""
    return (
        f"How good is the AI model {model!r}, compared with people? Call look_up_model, then explain. Report the IQ "
        "with its 90% interval and rank, the strongest and weakest dimension, and how many benchmarks were measured "
        "and estimated. Say what would be most worth measuring next. Give every number its interval, status and source."
    )


def compare_models(first: str, second: str) -> str:
    """Say which of two models is better, at what, and how sure that is."""
    return (
        f"Which is better, {first!r} or {second!r}, and at what? Call compare with both. Report the chance that the "
        "first is above the second, the tests on which they differ most, and what the answer does not cover."
    )


def check_human_level(model: str, benchmark: str) -> str:
    """Check a claim that a model is at human level on a benchmark."""
    return (
        f"Is {model!r} at human level on {benchmark!r}? Call look_up_benchmark for the people who took it, then "
        "compare with the model and each of those groups. Say which people are meant, whether their score was measured "
        "or judged, and how sure the answer is."
    )


PROMPTS = (place_model, compare_models, check_human_level)
