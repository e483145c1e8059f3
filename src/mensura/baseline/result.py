"""The result of an estimated baseline, and its card for a README or a paper: Markdown, SVG and JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from mensura import __version__
from mensura.baseline.human_results import markdown_cell
from mensura.baseline.origin import MODEL_COLUMNS, PopulationPart, item_rows, model_row, population_row
from mensura.baseline.recordings import SIMULATED, is_recorded, shipped
from mensura.core.errors import listed_names
from mensura.core.folders import whole_folder
from mensura.core.frames import neutral_cells
from mensura.core.results import Result
from mensura.scale.ranking import say_chance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.baseline.inputs import BaselineItems

SENTENCE = "Estimated, not measured."


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(Result):
    """Contain what described people would score, estimated.

    Attributes
    ----------
    name : str
        The benchmark.
    items : pl.DataFrame
        item, population, rate with its 90% interval, level and rarity (level for the world only), status (estimated,
        anchored, remembered, missing), and at_least: whether the rarity is cut at the people of the study that an
        interval speaks of, or of the anchor.
    baseline : pl.DataFrame
        Per population the mean and the percentiles of persons' scores.
    models : pl.DataFrame
        The place of scores among the people.
    parts : tuple of PopulationPart
        What both were computed from.
    sampled : tuple[int, int]
        Number of items, and of all items of the benchmark.
    warnings : tuple of str
        What a reader must know.

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
        known_scores = [] if scores is None else scores.select("subject", "score").rows()
        rows = [model_row(part, *row) for part in parts for row in known_scores]
        return cls(
            items.name,
            pl.concat([item_rows(items, part) for part in parts]),
            pl.DataFrame([population_row(part) for part in parts]),
            pl.DataFrame(rows, schema=MODEL_COLUMNS, orient="row"),
            tuple(parts),
            (items.table.height, items.of),
            warnings,
        )

    @property
    def heading(self) -> str:
        """Who would score what on which items."""
        means = "; ".join(
            f"{row['population']} {row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            for row in self.baseline.iter_rows(named=True)
        )
        return f"{self.name}, {self.size}, estimated, not measured: {means}"

    @property
    def size(self) -> str:
        """Return the number of items, such as "49 of 50 items"."""
        used, whole = self.sampled
        return f"{used:,} items" if used == whole else f"{used:,} of {whole:,} items"

    @property
    def spans(self) -> dict[str, str]:
        """Per population, from which rarity to which the items go: "from 1 in 1.1 to 1 in 40 people"."""
        return {
            str(who): f"from 1 in {_short(rows['one_in'].min())} to {'at least ' * rows['at_least'].any()}"
            f"1 in {_short(rows['one_in'].max())} people"
            for (who,), rows in self.items.drop_nulls("one_in").group_by("population", maintain_order=True)
        }

    def with_minutes(self, minutes: pl.DataFrame) -> Baseline:
        """Add the minutes that a professional needs for each item: item, minutes, minutes_low, minutes_high."""
        timed = minutes.select("item", "minutes", "minutes_low", "minutes_high")
        return replace(self, items=self.items.join(timed, on="item", how="left", maintain_order="left"))

    @property
    def times(self) -> str:
        """Return how long a person needs for an item and for all, where minutes were estimated."""
        if "minutes" not in self.items.columns:
            return ""
        timed = self.items.unique("item").select("^minutes.*$").drop_nulls()
        middle = [_short(timed[name].median()) for name in timed.columns]
        hours = f"{timed['minutes'].sum() / 60:.1f} hours"
        return f"{middle[0]} minutes for the middle item ({middle[1]} to {middle[2]}), {hours} for {timed.height} items"

    def card(self) -> str:
        """Return the card as Markdown, for a README or a paper."""
        return card_markdown(self)

    def write(self, folder: str | Path) -> Path:
        """Write the tables as CSV files and the card as card.md, card.svg and card.json; return the folder."""
        place = Path(folder)
        with whole_folder(place, "baseline") as stage:
            for name, table in self.tables().items():
                neutral_cells(table).write_csv(stage / f"{name}.csv")
            for name, text in card_files(self).items():
                (stage / name).write_text(text, encoding="utf-8")
        return place

    def validation(self) -> dict[str, float]:
        """Return the errors of the method on pools left out, as the shipped file states them."""
        return dict(shipped()["validation"])


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
                "models_asked": list(part.origin.models),
                "anchors": len(part.origin.anchors),
                "known_mean": part.origin.known_mean,
                "published": list(part.origin.published),
                "validated_on": validated_on(part),
                "to_improve": part.origin.improvements(),
                "distance_told": part.kind.distance_words,
            }
            for row, part in zip(baseline.baseline.to_dicts(), baseline.parts, strict=True)
        ],
        "span": baseline.spans,
        "time": baseline.times,
        "models": baseline.models.to_dicts(),
        "method": "language models estimate each item; their learned bias is corrected; a shift per benchmark and an "
        "error per item widen the interval (mensura baseline)",
        "learned_on": shipped()["origin"],
        "validation": baseline.validation(),
        "warnings": list(baseline.warnings),
        "mensura": __version__,
    }


def validated_on(part: PopulationPart) -> str:
    """Return which check of the method applies to these people, and whose estimates it was about."""
    errors, others = shipped()["validation"], [name for name in part.models if not is_recorded(name)]
    whose = f"; with estimates of {listed_names(shipped()['estimators'])}, not of {listed_names(others)}"
    if any(name.endswith(SIMULATED) for name in others):
        whose += ". Nobody has measured the errors of simulated persons yet"
    return _checked_on(part, errors) + (whose if others else "")


def _checked_on(part: PopulationPart, errors: Mapping[str, float]) -> str:
    if part.kind.traits:
        return (
            f"AI benchmarks whose people answered as raters: on {errors['ai_benchmarks']} of them left out, means are "
            f"off by {errors['ai_error']:.3f} on average (raw estimates: {errors['ai_raw_error']:.3f})"
        )
    return (
        f"human tests: on pools left out, items are off by {errors['item_error']:.3f} and means by "
        f"{errors['mean_error']:.3f} on average; {errors['item_held']:.0%} of the item intervals contain the true rate"
    )


def card_files(baseline: Baseline) -> dict[str, str]:
    """Return the card in its three forms, by the names of their files."""
    return {"card.md": card_markdown(baseline), "card.svg": card_svg(baseline), "card.json": card_json(baseline)}


def card_json(baseline: Baseline) -> str:
    """Write the card as JSON.

    Parameters
    ----------
    baseline : Baseline
        The estimated baseline.

    Returns
    -------
    str
        The facts of the card as one JSON object.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import card_json
    >>> items = {"item": ["sum", "prime"], "question": ["2 + 2 = ?", "Is 91 a prime number?"]}
    >>> rates = {"item": ["sum", "prime"], "rate": [0.96, 0.41]}
    >>> card = mensura.estimate_baseline(items, people="world", estimates=rates)
    >>> "Estimated, not measured." in card_json(card)
    True

    """
    return json.dumps(card_facts(baseline), ensure_ascii=False, indent=1) + "\n"


def card_markdown(baseline: Baseline) -> str:
    """Write the card as Markdown.

    Parameters
    ----------
    baseline : Baseline
        The estimated baseline.

    Returns
    -------
    str
        The card, for a README or a paper.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import card_markdown
    >>> items = {"item": ["sum", "prime"], "question": ["2 + 2 = ?", "Is 91 a prime number?"]}
    >>> rates = {"item": ["sum", "prime"], "rate": [0.96, 0.41]}
    >>> card = mensura.estimate_baseline(items, people="world", estimates=rates)
    >>> card_markdown(card).splitlines()[0]
    '## Human baseline: items'

    """
    lines = [
        f"## Human baseline: {markdown_cell(baseline.name)}",
        "",
        f"**{SENTENCE}** {baseline.size}; 90% intervals in brackets.",
        "",
        "| people | mean score | median person | best 10% | best 1% |",
        "|---|---|---|---|---|",
    ]
    for row in baseline.baseline.iter_rows(named=True):
        cells = [_span(row, "mean", ("low", "high")), *(_span(row, name) for name in ("median", "top_10", "top_1"))]
        lines.append(f"| {markdown_cell(row['population'])} | {' | '.join(cells)} |")
    if baseline.models.height:
        lines += ["", "| model | people | score | percentile | chance to be above the mean |", "|---|---|---|---|---|"]
        lines += [
            f"| {markdown_cell(row['subject'])} | {markdown_cell(row['population'])} | {row['score']:.1%} | "
            f"{row['percentile']:.0f} ({row['low']:.0f} to {row['high']:.0f}) | {say_chance(row['chance_passed'])} |"
            for row in baseline.models.iter_rows(named=True)
        ]
    facts = [f"- {who}: items {span}." for who, span in baseline.spans.items()]
    facts += [f"- Time of a professional, estimated: {baseline.times}."] if baseline.times else []
    for part in baseline.parts:
        distance, described = part.kind.distance_words, markdown_cell(part.who.prose).rstrip(".")
        used, flagged = part.items.height, int(part.items["remembered"].sum())
        facts.append(
            f"- Described as: {described}; read as: {part.kind.read}. {distance[0].upper()}{distance[1:]}. Items used: "
            f"{used:,} of {baseline.sampled[1]:,}; remembered by a model: {flagged:,}."
        )
        facts += [f"- {markdown_cell(text)}." for text in part.origin.sentences()]
        facts.append(f"- Checked on {validated_on(part)}.")
        if ways := part.origin.improvements():
            facts.append(f"- To improve it: {'; '.join(ways)}.")
    distances = [part.kind.distance_words for part in baseline.parts]
    notes = [text for text in baseline.warnings if not text.endswith(tuple(distances))]
    facts += [
        f"- Method: language models estimate each item, and Mensura corrects their learned bias. Learned on "
        f"{shipped()['origin']}.",
        *(f"- Note: {markdown_cell(text).rstrip('.')}." for text in notes),
        f"- Made with Mensura {__version__}.",
    ]
    lines += ["", *dict.fromkeys(facts)]
    return "\n".join(lines) + "\n"


def card_svg(baseline: Baseline) -> str:
    """Draw the card: the mean score of each population with its interval, and the models beside it.

    Parameters
    ----------
    baseline : Baseline
        The estimated baseline.

    Returns
    -------
    str
        The picture as SVG, in the look of all pictures.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import card_svg
    >>> items = {"item": ["sum", "prime"], "question": ["2 + 2 = ?", "Is 91 a prime number?"]}
    >>> rates = {"item": ["sum", "prime"], "rate": [0.96, 0.41]}
    >>> card = mensura.estimate_baseline(items, people="world", estimates=rates)
    >>> card_svg(card)[:4]
    '<svg'

    """
    from mensura import charts

    ends = {"value": "mean", "low": "low", "high": "high"}
    people = baseline.baseline.select(
        group="population", status=pl.lit("estimated"), **{name: 100 * pl.col(column) for name, column in ends.items()}
    )
    asked = listed_names(sorted({name for part in baseline.parts for name in part.models}))
    title = f"Mean score on {baseline.name} in percent. {SENTENCE} By: {asked}"
    if not baseline.models.height:
        return charts.estimates(people, label="group", value="value", x_title=title).svg()
    scores = baseline.models.unique("subject", maintain_order=True).sort("score", descending=True, maintain_order=True)
    models = [
        charts.Strip(name, 100 * score, provider="", text=f"{100 * score:.3g}")
        for name, score in scores.select("subject", "score").iter_rows()
    ]
    groups = [
        charts.Reference(f"{group}: {mean:.3g}, {low:.3g} to {high:.3g}, estimated", mean, low, high, "estimated")
        for group, mean, low, high in people.select("group", "value", "low", "high").iter_rows()
    ]
    about = f"{title}. {'; '.join(group.label for group in groups)}."
    return charts.draw_forest(
        models, axis=title, tick=lambda value: f"{value:.3g}", description=about, references=groups
    ).svg()


def _span(row: dict[str, object], name: str, ends: tuple[str, str] | None = None) -> str:
    low, high = ends or (f"{name}_low", f"{name}_high")
    return f"{row[name]:.0%} ({row[low]:.0%} to {row[high]:.0%})"


def _short(value: object) -> str:
    number = float(str(value))
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"
