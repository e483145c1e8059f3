"""A study on a frozen scale: models that are added find their place, and nothing that was there moves on any page.

The edition of the evidence that the scale is made of is studied as ever. A model that the edition does not have gets
its IQ beside the edition alone (:mod:`mensura.iq.frozen`), its capability from the frozen benchmarks
(:class:`mensura.stitching.FrozenScale`), its rank among the edition's models; the pace, the watch and the classes of
people are the edition's. Two users who add different models read the same numbers for all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from mensura.core.errors import listed_names
from mensura.core.frames import sort_highest
from mensura.core.results import set_computed
from mensura.evidence import Evidence
from mensura.evidence.passing import beyond_guessing, chance_over
from mensura.iq import FrozenIq, IqResult, frozen_evidence, kept_scores, left_out, place_iq
from mensura.scale import Calibration
from mensura.stitching import FrozenScale, load_scale
from mensura.study.lead import Lead, newest_score
from mensura.study.policy import apply_policy
from mensura.study.study import SLOW_PARTS, Study


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrozenStudy(Study):
    """The results of every instrument on a frozen scale; ``edition`` is the study of the scale's own evidence.

    ``left_out`` says which scores stay out of the scale, and why.
    """

    edition: Study
    standing: FrozenScale
    left_out: tuple[str, ...] = ()

    @property
    def scale(self) -> str:
        """The name of the scale."""
        return self.standing.name

    @property
    def placed(self) -> tuple[str, ...]:
        """The models that were placed on the scale."""
        return self.iq.placed if isinstance(self.iq, FrozenIq) else ()

    @property
    def scale_said(self) -> str:
        """Which frozen scale this is, and what stands still on it."""
        stand = f"the {self.edition.models.height} models of that edition stand where it has them, whatever is added"
        parts = [f"On the frozen scale {self.scale}: {stand}"]
        if self.placed:
            more = len(self.placed)
            added = "1 more was placed on it by its" if more == 1 else f"{more} more were placed on it, each by its"
            parts.append(f"{added} own scores alone ({listed_names(list(self.placed))})")
        return "; ".join(parts) + "." + "".join(f" {one}." for one in self.left_out)

    def place_said(self, subject: str) -> str:
        """Say whether a model stands on the scale as the edition has it, or was placed."""
        if subject in self.placed:
            return f"Placed on the frozen scale {self.scale} by its own scores alone; nobody moved for it."
        return f"Stands where the frozen scale {self.scale} has it."

    @cached_property
    def lead(self) -> Lead | None:
        """Who leads: as the edition says, unless a placed model has passed its leader."""
        best, ranked = self.iq.ranking.row(0, named=True), self.iq.ranking.height
        lead = self.edition.lead
        if lead is not None and lead.subject == best["subject"]:
            return replace(lead, ranked=ranked)
        return Lead(best["subject"], ranked, {"joint": best["p_first"]}, day=newest_score(self.evidence))

    @cached_property
    def capabilities(self) -> pl.DataFrame:
        """Models on the stitched scale: those of the edition where they stood, placed ones by their own scores."""
        kept = self.edition.capabilities
        if not self.placed:
            return kept
        added = self.standing.place(self._added).filter(status="placed").select(kept.columns)
        return sort_highest(pl.concat([kept, added]), "capability", "subject")

    @cached_property
    def _added(self) -> Evidence:
        """The evidence with the scores of placed models alone."""
        return replace(self.evidence, scores=self.evidence.scores.filter(self._is_placed))

    @property
    def _is_placed(self) -> pl.Expr:
        return pl.col("subject").is_in(self.placed)

    @cached_property
    def _own_scores(self) -> pl.DataFrame:
        """Scores of the placed models as :meth:`~mensura.stitching.FrozenScale.residuals_of` tells them."""
        return self.standing.residuals_of(self._added)

    def _charted(self, scored: pl.Series) -> pl.DataFrame:
        """Return which models charts show: a placed one takes nobody's place in its line."""
        kept = self.edition.models.select("subject", "generation", "charted", "on_timeline")
        added = apply_policy(self.evidence.models, scored, self.policy).filter(self._is_placed)
        return pl.concat([kept, added])

    @cached_property
    def over_people(self) -> dict[tuple[str, str], dict[str, float]]:
        """For each test and group of people, the chance that each model that took the test scores above them."""
        if not self.placed:
            return self.edition.over_people
        tests: dict[str, list[tuple[str, float, float]]] = {}
        telling = self._own_scores.join(beyond_guessing(self.evidence), on=["subject", "benchmark"], how="semi")
        for subject, benchmark, score, variance, _ in telling.iter_rows():
            tests.setdefault(benchmark, []).append((subject, score, variance))
        chances = {}
        for row in self.people.tests.drop_nulls("verdict").iter_rows(named=True):
            key = (row["benchmark"], row["group"])
            added = {
                subject: chance_over(score, variance, row["score"], row["stderr"])
                for subject, score, variance in tests.get(row["benchmark"], [])
            }
            chances[key] = self.edition.over_people[key] | added
        return chances

    @cached_property
    def residuals(self) -> pl.DataFrame:
        """Measured score minus what capability alone predicts: subject, benchmark, residual."""
        if not self.placed:
            return self.edition.residuals
        added = self._own_scores.select("subject", "benchmark", residual="above")
        return pl.concat([self.edition.residuals, added])


def open_frozen(
    evidence: Evidence,
    scale: str,
    lines: Calibration | None = None,
    advance: Callable[[], object] | None = None,
) -> FrozenStudy:
    """Study an evidence on a frozen scale; the edition's study and every placing are kept.

    ``advance`` is called after each model that is placed.
    """
    base = frozen_evidence(scale)
    edition = Study.open(base, lines)
    beside = kept_scores(edition.iq.n_draws, edition.iq.seed)

    def score(one: Evidence) -> IqResult:
        return edition.iq if one.fingerprint == base.fingerprint else beside(one)

    placed = place_iq(evidence, score, scale=scale, advance=advance)
    study = FrozenStudy(
        evidence=placed.evidence,
        lines=edition.lines,
        edition=edition,
        standing=load_scale(scale),
        left_out=left_out(evidence, scale),
    )
    shared = {name: getattr(edition, name) for name in ("fit", "people", "policy", *SLOW_PARTS)}
    return set_computed(study, iq=placed, **shared)
