"""A study for one question: each part is computed when it is asked for, and the rest never."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from mensura.core.cache import find_kept
from mensura.core.results import set_computed
from mensura.evidence import Evidence
from mensura.iq import CostResult, IqResult, score_costs
from mensura.stitching import People, Stitch, place_people, stitch
from mensura.study.parts import compute_iq
from mensura.study.policy import load_policy
from mensura.study.study import STUDY, Study, study_inputs

if TYPE_CHECKING:
    from mensura.scale import Calibration


class PiecewiseStudy(Study):
    """A study whose IQs, costs and places on the stitched scale are computed on first use."""

    _method: str | None

    def __init__(self, evidence: Evidence, lines: Calibration, method: str | None) -> None:
        set_computed(self, evidence=evidence, policy=load_policy(evidence), lines=lines, _method=method)

    @cached_property
    def iq(self) -> IqResult:
        """The IQs."""
        return compute_iq(self.evidence, self._method)

    @cached_property
    def costs(self) -> CostResult:
        """The costs."""
        return score_costs(self.evidence)

    @cached_property
    def fit(self) -> Stitch:
        """The models on the stitched scale."""
        return stitch(self.evidence)

    @cached_property
    def people(self) -> People:
        """The classes of people on the stitched scale."""
        return place_people(self.fit, self.evidence)


def open_piecewise(evidence: Evidence, method: str | None = None) -> Study:
    """Return the kept study of an evidence; without one, a study that computes only what is asked of it."""
    lines, inputs = study_inputs(evidence, method=method)
    found = find_kept(STUDY, inputs)
    if found is None:
        return PiecewiseStudy(evidence, lines, method)
    kept: Study = found[0]
    return kept
