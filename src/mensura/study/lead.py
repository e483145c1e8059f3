"""How sure it is who leads: the chance of being first by three ways of reckoning, and the score on which it hangs most.

The ways: the joint model of the IQ, the same without the correction of scores that makers chose, and the stitched
scale. Beside them stands the model that the published method puts first.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.evidence import Evidence
from mensura.iq import IqResult, score_iq
from mensura.iq.joint import draw_without_each
from mensura.scale.ranking import say_chance, say_leader


@dataclass(frozen=True)
class Lead:
    """The leading model, its chances of being first by each way, and what they rest on."""

    subject: str
    ranked: int
    chances: dict[str, float]
    mover: str | None = None  # the benchmark whose score moves the chance by the joint model most
    without: float | None = None  # that chance without this score
    published: str | None = None  # who leads by the published method, where it is another model
    day: date | None = None  # of the newest score

    def headline(self, evidence: Evidence) -> str:
        """Say who leads and how surely, by the range over all ways."""
        return say_leader(_name(evidence.models, self.subject), list(self.chances.values()), self.ranked)

    def basis(self, evidence: Evidence) -> str:
        """Say on which score that hangs most, who leads by the published method, and of which day the evidence is."""
        parts = []
        if self.mover is not None and self.without is not None:
            name, test = _name(evidence.models, self.subject), _name(evidence.benchmarks, self.mover)
            without = f"without it the chance is {say_chance(self.without)}"
            parts.append(f"{name}'s score on {test} moves this most: {without}.")
        if self.published is not None:
            parts.append(f"The published method puts {_name(evidence.models, self.published)} first.")
        if self.day is not None:
            parts.append(f"The newest score is of {self.day.day} {self.day:%B %Y}.")
        return " ".join(parts)

    def to_dict(self, evidence: Evidence) -> dict[str, object]:
        """Return all of it as plain values, the sentences among them."""
        facts = {"sentence": self.headline(evidence), "basis": self.basis(evidence)}
        return facts | vars(self) | {"day": None if self.day is None else self.day.isoformat()}


def find_lead(result: IqResult, stitched: Callable[[], pl.DataFrame]) -> Lead | None:
    """Return who leads and how surely; None where nobody is ranked or nothing was drawn.

    ``stitched`` returns the ranks on the stitched scale (:attr:`mensura.Stitch.laplace`); it is called last, so that
    another process may compute them meanwhile. By the published method there is one way alone.
    """
    if not result.n_draws or result.ranking.is_empty():
        return None
    best, ranked = result.ranking.row(0, named=True), result.ranking.height
    subject, day = best["subject"], newest_score(result.evidence)
    if result.method == "published":
        return Lead(subject, ranked, {"published": best["p_first"]}, day=day)
    mover, without = _most_moving(result, subject)
    by_stitching = dict(stitched().select("subject", "p_first").iter_rows())
    chances = {
        "joint": best["p_first"],
        "uncorrected": _chance(result, subject, uncorrected_draws(result)),
        "stitched": by_stitching.get(subject) or 0.0,
    }
    published = _first_published(result)
    return Lead(subject, ranked, chances, mover, without, None if published == subject else published, day)


def newest_score(evidence: Evidence) -> date | None:
    """Return the day of the newest score that has one."""
    days = evidence.scores["date"].str.to_date("%Y-%m-%d", strict=False).max()
    return days if isinstance(days, date) else None


def _name(table: pl.DataFrame, key: str) -> str:
    """Return the name for people of a model or benchmark, whose id is in the first column."""
    return str(table.filter(pl.nth(0) == key)["name"][0])


def _chance(result: IqResult, subject: str, draws: Floats, move: float = 0.0) -> float:
    """Return the leader's chance of being first by these draws, its own moved; it wins where draws are equal."""
    row, ranked = result.matrix.row(subject), result.ranked_by()
    others = draws[:, ranked & (np.arange(len(ranked)) != row)].max(axis=1, initial=-np.inf)
    return float((draws[:, row] + move >= others).mean())


def _most_moving(result: IqResult, subject: str) -> tuple[str | None, float | None]:
    """Return the benchmark without whose score the chance changes most, and that chance.

    A quick reckoning of all scores finds the benchmark; then everything is scored anew without it.
    """
    draws = np.asarray(result.drawn.composites, dtype=np.float64)
    now, moves = _chance(result, subject, draws), moves_without(result, subject).items()
    changes = {benchmark: abs(_chance(result, subject, draws, move) - now) for benchmark, move in moves}
    if not changes:
        return None, None
    mover = max(changes, key=lambda name: (round(changes[name], 9), name))
    dropped = (pl.col("subject") == subject) & (pl.col("benchmark") == mover)
    evidence = replace(result.evidence, scores=result.evidence.scores.filter(~dropped))
    again = score_iq(evidence, draws=result.n_draws, seed=result.seed)
    left = dict(again.ranking.select("subject", "p_first").iter_rows())
    return mover, left.get(subject) or 0.0


def _first_published(result: IqResult) -> str | None:
    """Return the model with the highest composite by the published method, of those that it ranks."""
    ranked = (result.measured_share >= result.rules.status.partial) & ~np.isnan(result.published)
    if not ranked.any():
        return None
    return result.matrix.subjects[int(np.argmax(np.where(ranked, result.published, -np.inf)))]


def uncorrected_draws(result: IqResult) -> Floats:
    """Return the drawn composites (draws × models) without what was taken off for scores that makers chose."""
    return np.asarray(result.drawn.composites + result.lowered, dtype=np.float64)


def moves_without(result: IqResult, subject: str) -> dict[str, float]:
    """Return for each score of a model, by benchmark, how far its composite moves where that score is not there.

    The model is entered again with all its scores and with all but one, in a fit that has not seen it.
    """
    matrix = result.matrix
    row = matrix.row(subject)
    own = np.flatnonzero(matrix.measured[row])
    composites = draw_without_each(matrix, row, own) @ result.shares
    return {matrix.benchmarks[place]: float(composites[1 + i] - composites[0]) for i, place in enumerate(own)}
