"""``--method``: how IQs are scored, the same for every command that shows them."""

from __future__ import annotations

from typing import Annotated

import typer

from mensura.core.errors import MensuraError


def _check(method: str | None) -> str | None:
    """Refuse an unknown method before anything is computed."""
    from mensura.iq.scoring import METHODS

    if method is not None and method not in METHODS:
        raise MensuraError(f"--method: {method!r} is unknown; expected one of {', '.join(METHODS)}")
    return method


Method = Annotated[
    str | None,
    typer.Option(
        help="joint (default: gaps from one model of all scores, ladders recut) or published: to the digit.",
        metavar="NAME",
        callback=_check,
    ),
]
