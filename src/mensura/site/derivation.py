"""The derivation of an IQ as nested, collapsible HTML."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from mensura.iq import Explanation

_MEASURED = ("source", "measured", "partly measured", "Full")


def derivation_html(node: Explanation, names: Mapping[str, str], *, depth: int = 0) -> Markup:
    """Return a node with its parts, benchmarks by name; the composite is open, the rest opens on demand."""
    head = _heading(node, names)
    if not node.parts:
        alone = Markup("<li>{}</li>").format(head)
        return alone if depth else Markup("<ul>{}</ul>").format(alone)
    inner = Markup("").join(derivation_html(part, names, depth=depth + 1) for part in node.parts)
    listed = inner if any(part.parts for part in node.parts) else Markup("<ul>{}</ul>").format(inner)
    return Markup("<details{}><summary>{}</summary>{}</details>").format(
        Markup(" open") if depth == 0 else "", head, listed
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
