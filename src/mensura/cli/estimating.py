"""What ``extrapolate`` and ``validate`` share when a language model estimates: settings, the method, the dry run."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

import polars as pl

from mensura import extrapolation, llm, people
from mensura.cli.asking import Asking, AskingSettings
from mensura.cli.options import check_input
from mensura.core.errors import MensuraError

ASKING_METHODS = ("whole-pool", "item-by-item")
LONGEST_ANSWER = 4096
"""Tokens an answer may have: 45 items with intervals take about 1,600, and some models reason before."""

NEAREST = 1e-6  # to 0 and 1, of rates that are averaged on the logit scale
REASONING, ROW = 200, 36
"""Tokens that answers usually take: for reasons, and for each item of several."""


@dataclass(frozen=True, kw_only=True)
class MethodSettings(AskingSettings):
    """The rarer settings of commands whose method can ask a language model."""

    repeats: Annotated[int | None, "How often everything is asked."] = None
    width: Annotated[float | None, "Ask about an item until its interval is this narrow (item-by-item)."] = None
    budget: Annotated[float | None, "Most calls per item on average, with width (item-by-item)."] = None
    variants: Annotated[int | None, "Variants of the prompt, of 27 (item-by-item)."] = None
    template: Annotated[Path | None, "TOML file that replaces parts of the prompt."] = None
    chunk: Annotated[int | None, "Items in one prompt (whole-pool)."] = None

    @property
    def of_method(self) -> dict[str, object]:
        """The settings of the method itself that were given."""
        names = ("repeats", "width", "budget", "variants", "template", "chunk")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class Estimating:
    """A language model's method as the options give it: its name, who is asked, and the settings that were given."""

    method: str
    asking: Asking
    settings: Mapping[str, object]

    @contextmanager
    def open(self, label: str) -> Iterator[extrapolation.ItemByItem | extrapolation.WholePool]:
        """Open the model and yield the method that asks it."""
        self._method(NotingAsker(self.asking.name), self.settings)  # wrong settings are refused before a model opens
        with self.asking.open(label) as asker:
            yield self._method(asker, self.settings)

    def print_estimate(self, run: Callable[[extrapolation.ItemByItem | extrapolation.WholePool], object]) -> None:
        """Print what ``run`` would ask, at most; nobody is asked."""
        noting = NotingAsker(self.asking.name)
        self._method(noting, self.settings)
        most = {name: value for name, value in self.settings.items() if name not in ("width", "budget")}
        run(self._method(noting, {**most, "rounds": 1} if self.method == "whole-pool" else most))
        self.asking.print_estimate(noting.questions, noting.usual_tokens)

    def _method(
        self, asker: llm.Asker, settings: Mapping[str, object]
    ) -> extrapolation.ItemByItem | extrapolation.WholePool:
        return cast(
            "extrapolation.ItemByItem | extrapolation.WholePool",
            extrapolation.make_method(self.method, asker=asker, **settings),
        )


@dataclass
class NotingAsker:
    """Answers nothing and notes what it was asked."""

    model: str
    questions: list[llm.Question] = field(default_factory=list)

    @property
    def usual_tokens(self) -> int:
        """How long answers to these questions usually are, in tokens, on average."""
        rows = sum(len(json.loads(question.about.get("items", "[]"))) for question in self.questions)
        return REASONING + round(ROW * rows / max(len(self.questions), 1))

    def ask(self, questions: Sequence[llm.Question], read: llm.Reader) -> list[llm.Answer]:
        """Note the questions."""
        self.questions.extend(questions)
        return [llm.Answer(question, error="not asked") for question in questions]


def stack_models(results: Mapping[str, Mapping[str, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """Return the tables of several models below each other, with a column ``model``; those of one model as they are."""
    if len(results) == 1:
        return dict(next(iter(results.values())))
    names = dict.fromkeys(name for tables in results.values() for name in tables)
    marked = {
        name: [
            tables[name].select(pl.lit(model).alias("model"), pl.all().exclude("model"))
            for model, tables in results.items()
            if name in tables
        ]
        for name in names
    }
    return {name: pl.concat(parts, how="diagonal_relaxed") for name, parts in marked.items()}


def pool_models(rates: pl.DataFrame) -> pl.DataFrame:
    """Return the mean of several models per item on the logit scale: item, rate, low, high, models."""

    def logit(name: str) -> pl.Expr:
        rate = pl.col(name).clip(NEAREST, 1 - NEAREST)
        return (rate / (1 - rate)).log().mean()

    columns = {name: 1 / (1 + (-logit(name)).exp()) for name in ("rate", "low", "high")}
    by_item = rates.drop_nulls("rate").group_by("item", maintain_order=True)
    return by_item.agg(**columns, models=pl.col("model").n_unique())


def choose_estimating(
    method: str | None, asking: Asking, out: Path | None, rare: MethodSettings, more: Mapping[str, object]
) -> list[Estimating]:
    """Return the method of each language model, the default one with ``--model``; empty for methods that ask nobody.

    ``more``: settings of statistical methods, None where left out; a method that asks refuses them.
    """
    check_input(rare.template)
    settings = rare.of_method
    if not asking.model:
        if settings or asking.dry_run:
            options = ", ".join([*(f"--set {name}" for name in settings), *(["--dry-run"] if asking.dry_run else [])])
            raise MensuraError(f"{options}: only with --model, for a method that asks a language model")
        if method in ASKING_METHODS:
            raise MensuraError(f"method {method!r} asks a language model: give --model NAME (recorded/example-rates)")
        return []
    name = method or ASKING_METHODS[0]
    if name not in ASKING_METHODS:
        other = " or ".join(ASKING_METHODS)
        raise MensuraError(f"method {name!r} asks no language model: leave --model out, or take {other}")
    settings |= {name: value for name, value in more.items() if value is not None}
    return [Estimating(name, one, settings) for one in asking.each(out, LONGEST_ANSWER)]


def read_pool(place: Path) -> tuple[people.ItemPool, str]:
    """Return a pool and what its folder says of it; ``example`` is the shipped one, unless there is such a folder."""
    from mensura.extrapolation.descriptions import read_description
    from mensura.extrapolation.methods import EXAMPLE, EXAMPLE_NAME, example_pool

    if str(place) == EXAMPLE_NAME and not place.exists():
        return example_pool(), read_description(EXAMPLE)
    return people.ItemPool.read(place), read_description(place)
