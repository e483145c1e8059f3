"""The derivation of an IQ as nested, collapsible HTML."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from mensura.iq import Explanation

_MEASURED = ("source", "measured", "partly measured", "Full")


def derivation_html(node: Explanation, names: Mapping[str, str], *, depth: int = 0, listed: bool = False) -> Markup:
    """Return a node with its parts, benchmarks by name; the composite is open, the rest opens on demand.

    Parts that have none of their own are a list, unless others beside them open: then each is a line.
    """
    head = _heading(node, names)
    if not node.parts:
        return Markup("<li>{}</li>" if listed else '<p class="leaf">{}</p>').format(head)
    plain = not any(part.parts for part in node.parts)
    inner = Markup("").join(derivation_html(part, names, depth=depth + 1, listed=plain) for part in node.parts)
    return Markup("<details{}><summary>{}</summary>{}</details>").format(
        Markup(" open") if depth == 0 else "", head, Markup("<ul>{}</ul>").format(inner) if plain else inner
    )


def _heading(node: Explanation, names: Mapping[str, str]) -> Markup:
    value = "no value" if node.iq is None else f"{node.iq:.1f}"
    interval = ""
    if node.low is not None and node.high is not None:
        interval = Markup(' <span class="interval">{:.0f} to {:.0f}</span>').format(node.low, node.high)
    estimated = node.status not in _MEASURED
    kind = Markup(' <span class="tag{}">{}</span>').format(" estimated" if estimated else "", node.status)
    return Markup("<strong>{}</strong> {}{}{} <span class='soft'>{}</span>").format(
        names.get(node.label, node.label), value, interval, kind, escape(node.note)
    )
