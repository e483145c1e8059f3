"""IQs on a frozen scale, for the commands that take ``--scale``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.progress import progress_bar

if TYPE_CHECKING:
    from mensura.evidence import Evidence
    from mensura.iq import FrozenIq

Scale = Annotated[
    str | None,
    typer.Option(
        help="Frozen scale, such as 2026-11: new models are placed on it one by one and nobody else moves.",
        metavar="NAME",
    ),
]


def place(evidence: Evidence, scale: str, *, draws: int, seed: int, only: list[str] | None = None) -> FrozenIq:
    """Put the models of an evidence on a frozen scale; every scoring on the way is kept."""
    from mensura.iq import frozen_evidence, kept_scores, new_subjects, place_iq

    new = [name for name in new_subjects(frozen_evidence(scale), evidence) if only is None or name in only]
    with progress_bar("models placed", len(new)) as advance:
        return place_iq(evidence, kept_scores(draws, seed), scale=scale, only=new, advance=advance)
