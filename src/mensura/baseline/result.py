"""The result of an estimated baseline, and its card for a README or paper in Markdown, SVG and JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura import __version__
from mensura.baseline.learning import shipped
from mensura.baseline.persons import QUANTILES
from mensura.baseline.registry import score_words
from mensura.core.results import Result
from mensura.people import WORLD
from mensura.scale.ranking import say_chance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.baseline.estimator import PoolEstimate
    from mensura.baseline.inputs import BaselineItems
    from mensura.baseline.kinds import PeopleKind
    from mensura.baseline.persons import PersonScores
    from mensura.baseline.registry import KnownBaseline
    from mensura.core.arrays import Floats
    from mensura.people import Population

SMALLEST = 1e-6
"""Least rate that gets a level and a rarity."""
MODEL_COLUMNS = {
    "subject": pl.String,
    "population": pl.String,
    "score": pl.Float64,
    "percentile": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "one_in": pl.Float64,
    "chance_passed": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class PopulationPart:
    """One population's share of a baseline.

    The joint estimate of its items, their table, draws of the mean, scores of persons, the models asked.
    """

    who: Population
    kind: PeopleKind
    estimate: PoolEstimate
    items: pl.DataFrame
    means: Floats
    persons: PersonScores
    models: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(Result):
    """What described people would score, estimated.

    ``items``: item, population, rate with its 90% interval, level and rarity (level for the world only), status
    (estimated, anchored, remembered, missing), at_least: whether the rarity is cut at the people of the study that an
    interval speaks of, or of the anchor. ``baseline``: per population the mean and the percentiles of persons'
    scores. ``models``: where scores stand among the people. ``parts``: what both were computed from.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("baseline", "items", "models")

    name: str
    items: pl.DataFrame
    baseline: pl.DataFrame
    models: pl.DataFrame
    parts: tuple[PopulationPart, ...]
    sampled: tuple[int, int]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        items: BaselineItems,
        parts: Sequence[PopulationPart],
        scores: pl.DataFrame | None,
        warnings: tuple[str, ...],
    ) -> Baseline:
        """Lay out the tables."""
        rows = [_model_row(part, *row) for part in parts for row in _score_rows(scores)]
        return cls(
            items.name,
            pl.concat([_item_rows(items, part) for part in parts]),
            pl.DataFrame([_population_row(part) for part in parts]),
            pl.DataFrame(rows, schema=MODEL_COLUMNS, orient="row"),
            tuple(parts),
            (items.table.height, items.of),
            warnings,
        )

    @property
    def heading(self) -> str:
        """Who would score what on which items."""
        told = "; ".join(
            f"{row['population']} {row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            for row in self.baseline.iter_rows(named=True)
        )
        return f"{self.name}, {self.sampled[0]:,} items, estimated, not measured: {told}"

    @property
    def spans(self) -> dict[str, str]:
        """Per population, from which rarity to which the items go: "from 1 in 1.1 to 1 in 40 people"."""
        return {
            str(who): f"from 1 in {_short(rows['one_in'].min())} to {'at least ' * rows['at_least'].any()}"
            f"1 in {_short(rows['one_in'].max())} people"
            for (who,), rows in self.items.drop_nulls("one_in").group_by("population", maintain_order=True)
        }

    def validation(self) -> dict[str, float]:
        """Return the errors of the method on pools left out, as the shipped file states them."""
        return dict(shipped()["validation"])


def _short(value: object) -> str:
    number = float(str(value))
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _item_rows(items: BaselineItems, part: PopulationPart) -> pl.DataFrame:
    table = items.table.select("item").join(part.items, on="item", how="left", maintain_order="left")
    rates = {name: pl.col(name).clip(SMALLEST, 1.0) for name in ("rate", "low", "high")}
    of_world = part.who.name == WORLD.name
    levels = {
        title: (0.5 - rates[name].log10()) if of_world else pl.lit(None, pl.Float64)
        for title, name in (("level", "rate"), ("level_low", "high"), ("level_high", "low"))
    }
    return table.with_columns(
        pl.lit(part.who.name).alias("population"),
        pl.col("status").fill_null("missing"),
        pl.col("remembered").fill_null(False),
        one_in=pl.min_horizontal(1 / rates["rate"], "tested"),
        at_least=rates["rate"] * pl.col("tested") < 1,
        **levels,
    ).select(
        "item",
        "population",
        "rate",
        "low",
        "high",
        "level",
        "one_in",
        "status",
        "remembered",
        "level_low",
        "level_high",
        "at_least",
    )


def _population_row(part: PopulationPart) -> dict[str, object]:
    low, mid, high = np.quantile(part.means, [0.05, 0.5, 0.95])
    row: dict[str, object] = {
        "population": part.who.name,
        "mean": float(mid),
        "low": float(np.clip(low, 0, 1)),
        "high": float(np.clip(high, 0, 1)),
        "items": int(part.items.height),
        "remembered": int(part.items["remembered"].sum()),
        "distance": part.kind.distance,
    }
    for name, share in QUANTILES.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = part.persons.quantiles(share)
    return row


def _score_rows(scores: pl.DataFrame | None) -> list[tuple[str, float]]:
    return [] if scores is None else list(scores.select("subject", "score").iter_rows())


def _model_row(part: PopulationPart, subject: str, score: float) -> tuple[object, ...]:
    share, low, high = part.persons.share_below(score)
    passed = float(np.mean(score > part.means))
    rarest = 1 / part.persons.scores.shape[1]
    return (subject, part.who.name, score, 100 * share, 100 * low, 100 * high, 1 / max(1 - share, rarest), passed)


SENTENCE = "Estimated, not measured."
_LEFT, _WIDTH, _ROW, _TOP = 150, 440, 52, 64
_LETTERS = 84
"""Letters of a description that fit above a row of the picture."""
_PEOPLE, _WORDS = "#c8560f", "#b3470d"
"""Marks and words of people, as in all pictures (:data:`mensura.charts.theme.LIGHT`)."""


def card_facts(baseline: Baseline) -> dict[str, object]:
    """Return the facts of the card as plain values, as its JSON form has them."""
    return {
        "benchmark": baseline.name,
        "items": baseline.sampled[0],
        "items_of": baseline.sampled[1],
        "status": SENTENCE,
        "people": [
            {
                **row,
                "described_as": part.who.prose,
                "read_as": part.kind.read,
                "models_asked": list(part.models),
                "distance_told": part.kind.told,
            }
            for row, part in zip(baseline.baseline.to_dicts(), baseline.parts, strict=True)
        ],
        "span": baseline.spans,
        "models": baseline.models.to_dicts(),
        "method": "language models estimate each item; their learned bias is corrected; a shift per benchmark and an "
        "error per item widen the interval (mensura baseline)",
        "learned_on": shipped()["origin"],
        "validation": baseline.validation(),
        "warnings": list(baseline.warnings),
        "mensura": __version__,
    }


def card_json(baseline: Baseline) -> str:
    """Return the card as JSON."""
    return json.dumps(card_facts(baseline), ensure_ascii=False, indent=1) + "\n"


def card_markdown(baseline: Baseline) -> str:
    """Return the card as Markdown."""
    errors = baseline.validation()
    sampled, whole = baseline.sampled
    size = f"{sampled:,} items" if sampled == whole else f"{sampled:,} of {whole:,} items"
    lines = [
        f"## Human baseline: {_plain(baseline.name)}",
        "",
        f"**{SENTENCE}** {size}; 90% intervals in brackets.",
        "",
        "| people | mean score | median person | best 10% | best 1% |",
        "|---|---|---|---|---|",
    ]
    for row in baseline.baseline.iter_rows(named=True):
        cells = [_span(row, "mean", ("low", "high")), *(_span(row, name) for name in ("median", "top_10", "top_1"))]
        lines.append(f"| {_plain(row['population'])} | {' | '.join(cells)} |")
    if baseline.models.height:
        lines += ["", "| model | people | score | percentile | chance to be above the mean |", "|---|---|---|---|---|"]
        lines += [
            f"| {_plain(row['subject'])} | {_plain(row['population'])} | {row['score']:.1%} | "
            f"{row['percentile']:.0f} ({row['low']:.0f} to {row['high']:.0f}) | {row['chance_passed']:.0%} |"
            for row in baseline.models.iter_rows(named=True)
        ]
    lines += ["", *(f"- {who}: items {span}" for who, span in baseline.spans.items())]
    for part in baseline.parts:
        asked, told = ", ".join(part.models) or "nobody", part.kind.told
        described = _plain(part.who.prose).rstrip(".")
        lines.append(
            f"- Described as: {described}; read as: {part.kind.read}. Models asked: {_plain(asked)}. "
            f"{told[0].upper()}{told[1:]}."
        )
    lines += [
        f"- Method: language models estimate each item, and Mensura corrects their learned bias. Learned on "
        f"{shipped()['origin']}.",
        f"- On pools left out, items are off by {errors['item_error']:.3f} and means by {errors['mean_error']:.3f} on "
        f"average; {errors['item_held']:.0%} of the item intervals contain the true rate.",
        *(f"- Note: {_plain(text)}" for text in baseline.warnings),
        f"- Made with Mensura {__version__}.",
    ]
    return "\n".join(lines) + "\n"


def known_markdown(known: KnownBaseline) -> str:
    """Return the card of a benchmark whose people were tested: each group with its source, and the models above it."""
    lines = [f"## Human baseline: {_plain(known.benchmark)}", "", f"{_plain(known.heading)}.", ""]
    lines += ["| people | score | status | n | conditions | source |", "|---|---|---|---|---|---|"]
    for row in known.people.iter_rows(named=True):
        cells = (row["group"], score_words(row), row["status"], row["n"] or "not stated")
        lines.append(f"| {' | '.join(_plain(cell or '') for cell in (*cells, row['conditions'], row['source']))} |")
    if known.passed.height:
        lines += [
            "",
            "| people | models above | first | date | best | chance to be above |",
            "|---|---|---|---|---|---|",
        ]
    for row in known.passed.iter_rows(named=True):
        counted = f"{row['passed_by']} of {row['of']}"
        models = (row["group"], counted, row["first"], row["date"], row["best"], say_chance(row["chance"]))
        lines.append(f"| {' | '.join(_plain(cell or '') for cell in models)} |")
    lines += ["", *(f"- Note: {_plain(text)}" for text in known.warnings), f"- Made with Mensura {__version__}."]
    return "\n".join(lines) + "\n"


def card_svg(baseline: Baseline) -> str:
    """Return the card as a picture: one row per population, the mean with its interval, models as strokes.

    The colours are those of all pictures: warm for people, with a hollow mark because they are estimated.
    """
    rows = baseline.baseline.to_dicts()
    height = _TOP + _ROW * len(rows) + 56
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="620" height="{height}" viewBox="0 0 620 {height}" role="img" '
        'font-family="Inter,system-ui,sans-serif" font-size="12" fill="#16181d">',
        f"<title>Human baseline of {escape(baseline.name)}: {SENTENCE}</title>",
        f'<rect width="620" height="{height}" fill="#fcfbf8"/>',
        f'<text x="16" y="26" font-size="16" font-weight="600">Human baseline: {escape(baseline.name[:50])}</text>',
        f'<text x="16" y="46" fill="#474c56">{SENTENCE} Mean score of people, 90% interval.</text>',
    ]
    bottom = _TOP + _ROW * len(rows)
    for tick in range(0, 101, 25):
        x = _LEFT + _WIDTH * tick / 100
        parts.append(f'<line x1="{x:g}" y1="{_TOP - 6}" x2="{x:g}" y2="{bottom}" stroke="#e3e0d8"/>')
        parts.append(f'<text x="{x:g}" y="{bottom + 16}" text-anchor="middle" fill="#474c56">{tick}%</text>')
    for at, row in enumerate(rows):
        y = _TOP + _ROW * (at + 0.5) + 10
        low, mid, high = (_LEFT + _WIDTH * float(row[name]) for name in ("low", "mean", "high"))
        name = shorten(str(row["population"]), _LETTERS, placeholder=" …")
        parts.append(f'<text x="16" y="{y - 16:g}" fill="{_WORDS}" font-weight="600">{escape(name)}</text>')
        parts.append(f'<text x="16" y="{y + 4:g}">{_span(row, "mean", ("low", "high"))}</text>')
        parts.append(
            f'<path d="M{low:.1f} {y:g}H{high:.1f}" stroke="{_PEOPLE}" stroke-width="3" stroke-linecap="round" '
            'opacity="0.7"/>'
        )
        parts.append(
            f'<rect x="{mid - 3:.1f}" y="{y - 7:g}" width="6" height="14" rx="1" fill="#fcfbf8" stroke="{_PEOPLE}" '
            'stroke-width="1.5"/>'
        )
        for model in baseline.models.filter(baseline.models["population"] == row["population"]).iter_rows(named=True):
            x = _LEFT + _WIDTH * model["score"]
            told = escape(f"{model['subject']}: {model['score']:.0%}")
            parts.append(
                f'<path d="M{x:.1f} {y - 9:g}v18" stroke="#474c56" stroke-width="2"><title>{told}</title></path>'
            )
    parts.append(f'<text x="16" y="{bottom + 40}" fill="#474c56">Mensura {__version__}</text></svg>')
    return "\n".join(parts) + "\n"


def _span(row: dict[str, object], name: str, ends: tuple[str, str] | None = None) -> str:
    low, high = ends or (f"{name}_low", f"{name}_high")
    return f"{row[name]:.0%} ({row[low]:.0%} to {row[high]:.0%})"


def _plain(text: object) -> str:
    """Return a text that cannot break a Markdown table or run as markup."""
    return escape(" ".join(str(text).split()), quote=False).replace("|", "\\|")
