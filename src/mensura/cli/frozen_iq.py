"""IQs on a frozen scale, for the commands that take ``--scale``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cache import keep
from mensura.cli.progress import progress_bar

if TYPE_CHECKING:
    from mensura.evidence import Evidence
    from mensura.iq import FrozenIq, IqResult

Scale = Annotated[
    str | None,
    typer.Option(
        help="Frozen scale, such as 2026-11: new models are placed on it one by one and nobody else moves.",
        metavar="NAME",
    ),
]


def place(evidence: Evidence, scale: str, *, draws: int, seed: int, only: list[str] | None = None) -> FrozenIq:
    """Put the models of an evidence on a frozen scale; every scoring on the way is kept."""
    from mensura.iq import frozen_evidence, new_subjects, place_iq, score_iq

    def score(one: Evidence) -> IqResult:
        def compute() -> IqResult:
            found = score_iq(one, draws=draws, seed=seed)
            _ = found.composites, found.dimensions, found.drawn  # kept with it
            return found

        return keep("iq-beside", one, {"draws": draws, "seed": seed}, compute)

    new = [name for name in new_subjects(frozen_evidence(scale), evidence) if only is None or name in only]
    with progress_bar("models placed", len(new)) as advance:
        return place_iq(evidence, score, scale=scale, only=new, advance=advance)
