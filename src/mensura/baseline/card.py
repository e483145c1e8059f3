"""The baseline card: one page for a benchmark's README or paper, in Markdown, SVG and JSON."""

from __future__ import annotations

import json
from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING

from mensura import __version__
from mensura.baseline.learned import shipped
from mensura.baseline.registry import score_words
from mensura.scale.ranking import say_chance

if TYPE_CHECKING:
    from mensura.baseline.registry import KnownBaseline
    from mensura.baseline.result import Baseline

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
