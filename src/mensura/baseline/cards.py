"""The card of a baseline, for a README or a paper: Markdown, SVG and JSON."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Protocol

import polars as pl

from mensura import __version__
from mensura.baseline.recordings import shipped
from mensura.baseline.registry import score_words
from mensura.core.errors import listed_names
from mensura.scale.ranking import say_chance

if TYPE_CHECKING:
    from mensura.baseline.origin import PopulationPart
    from mensura.baseline.registry import KnownBaseline

SENTENCE = "Estimated, not measured."


class CardSource(Protocol):
    """An estimated baseline, as the card needs it."""

    @property
    def name(self) -> str:
        """The benchmark."""
        ...

    @property
    def baseline(self) -> pl.DataFrame:
        """One row per population."""
        ...

    @property
    def models(self) -> pl.DataFrame:
        """Models among these people."""
        ...

    @property
    def parts(self) -> tuple[PopulationPart, ...]:
        """What each population was estimated from."""
        ...

    @property
    def sampled(self) -> tuple[int, int]:
        """Items used, and all of them."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know."""
        ...

    @property
    def spans(self) -> dict[str, str]:
        """Rarities of the items, per population."""
        ...

    def validation(self) -> dict[str, float]:
        """Return the errors of the method on pools left out."""
        ...


def card_facts(baseline: CardSource) -> dict[str, object]:
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
        "models": baseline.models.to_dicts(),
        "method": "language models estimate each item; their learned bias is corrected; a shift per benchmark and an "
        "error per item widen the interval (mensura baseline)",
        "learned_on": shipped()["origin"],
        "validation": baseline.validation(),
        "warnings": list(baseline.warnings),
        "mensura": __version__,
    }


def validated_on(part: PopulationPart) -> str:
    """Return which check of the method applies to these people."""
    errors = shipped()["validation"]
    if part.kind.traits:
        return (
            f"AI benchmarks whose people answered as raters: on {errors['ai_benchmarks']} of them left out, means are "
            f"off by {errors['ai_error']:.3f} on average (raw estimates: {errors['ai_raw_error']:.3f})"
        )
    return (
        f"human tests: on pools left out, items are off by {errors['item_error']:.3f} and means by "
        f"{errors['mean_error']:.3f} on average; {errors['item_held']:.0%} of the item intervals contain the true rate"
    )


def card_files(baseline: CardSource) -> dict[str, str]:
    """Return the card in its three forms, by the names of their files."""
    return {"card.md": card_markdown(baseline), "card.svg": card_svg(baseline), "card.json": card_json(baseline)}


def card_json(baseline: CardSource) -> str:
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


def card_markdown(baseline: CardSource) -> str:
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
        distance, described = part.kind.distance_words, _plain(part.who.prose).rstrip(".")
        used, flagged = part.items.height, int(part.items["remembered"].sum())
        lines.append(
            f"- Described as: {described}; read as: {part.kind.read}. {distance[0].upper()}{distance[1:]}. Items used: "
            f"{used:,} of {whole:,}; remembered by a model: {flagged:,}."
        )
        lines += [f"- {_plain(text)}." for text in part.origin.sentences()]
        lines.append(f"- Checked on {validated_on(part)}.")
        if ways := part.origin.improvements():
            lines.append(f"- To improve it: {'; '.join(ways)}.")
    lines += [
        f"- Method: language models estimate each item, and Mensura corrects their learned bias. Learned on "
        f"{shipped()['origin']}.",
        *(f"- Note: {_plain(text)}" for text in baseline.warnings),
        f"- Made with Mensura {__version__}.",
    ]
    return "\n".join(lines) + "\n"


def known_markdown(known: KnownBaseline) -> str:
    """Write the card of a benchmark whose people were tested.

    Parameters
    ----------
    known : KnownBaseline
        The known human scores.

    Returns
    -------
    str
        Markdown: each group with its source, and the models above it.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import find_known, known_markdown
    >>> known_markdown(find_known("GPQA", mensura.load()))[:17]
    '## Human baseline'

    """
    lines = [f"## Human baseline: {_plain(known.benchmark)}", "", f"{_plain(known.heading)}.", ""]
    lines += ["| people | score | grade | kind | n | conditions | source |", "|---|---|---|---|---|---|---|"]
    for row in known.people.iter_rows(named=True):
        cells = (row["group"], score_words(row), row["grade"], row["kind"], row["n"] or "not stated")
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


def card_svg(baseline: CardSource) -> str:
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
    none = dict.fromkeys(("low", "high"), pl.lit(None, pl.Float64))
    models = baseline.models.unique("subject", maintain_order=True).select(
        "subject",
        name="subject",
        provider=pl.lit(None, pl.String),
        value=100 * pl.col("score"),
        **none,
        status=pl.lit("measured"),
    )
    return charts.bars(models, x_title=title, references=people).svg()


def _span(row: dict[str, object], name: str, ends: tuple[str, str] | None = None) -> str:
    low, high = ends or (f"{name}_low", f"{name}_high")
    return f"{row[name]:.0%} ({row[low]:.0%} to {row[high]:.0%})"


def _plain(text: object) -> str:
    """Return a text that cannot break a Markdown table or run as markup."""
    return escape(" ".join(str(text).split()), quote=False).replace("|", "\\|")
