"""The derivation of an IQ as nested, collapsible HTML."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from mensura.iq import Explanation

_MEASURED = ("source", "measured", "partly measured", "Full")


def derivation_html(node: Explanation, names: Mapping[str, str]) -> Markup:
    """Return a node with its parts, benchmarks by name; the composite is open, the rest opens on demand.

    Parts that have none of their own are a list, unless others beside them open: then each is a line.
    """
    return Markup(_html(node, names, opened=" open"))


def _html(node: Explanation, names: Mapping[str, str], *, opened: str = "", listed: bool = False) -> str:
    """Return the node as HTML, every text in it escaped; plain strings, since a report has some 40 nodes a model."""
    head = _heading(node, names)
    if not node.parts:
        return f"<li>{head}</li>" if listed else f'<p class="leaf">{head}</p>'
    plain = not any(part.parts for part in node.parts)
    inner = "".join(_html(part, names, listed=plain) for part in node.parts)
    return f"<details{opened}><summary>{head}</summary>{f'<ul>{inner}</ul>' if plain else inner}</details>"


def _heading(node: Explanation, names: Mapping[str, str]) -> str:
    value = "no value" if node.iq is None else f"{node.iq:.1f}"
    interval = ""
    if node.low is not None and node.high is not None:
        interval = f' <span class="interval">{node.low:.0f} to {node.high:.0f}</span>'
    estimated = "" if node.status in _MEASURED else " estimated"
    return (
        f"<strong>{escape(names.get(node.label, node.label))}</strong> {value}{interval}"
        f' <span class="tag{estimated}">{escape(node.status)}</span>'
        f" <span class='soft'>{escape(node.note)}</span>"
    )
