"""The unit of capability in time: the distance between two fixed models, so that it does not shrink as models join.

A fit without an anchor takes the standard deviation among its subjects for one. Every model that is added changes that
unit, and with it the pace. Two models that stay in the evidence do not move with those that come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mensura.stitching import Stitch
from mensura.stitching.positions import Scale

REFERENCES = ("gpt-4o", "gpt-5")
"""Zero and one: two widely tested models, nine months and a generation apart."""


def anchor_unit(fit: Stitch, references: Sequence[str] = REFERENCES) -> Stitch:
    """Put a fit on the scale on which the first reference is 0 and the second 1, every draw by itself.

    A fit that was anchored when it was made, or that lacks one of the references, is returned as it is.
    """
    if is_anchored(fit) or not set(references) <= set(fit.data.subjects):
        return fit
    low, high = (fit.data.subjects.index(name) for name in references)
    settings = dict(fit.settings) | {"anchor_subjects": {references[0]: 0.0, references[1]: 1.0}}
    return replace(fit, scale=Scale(subjects=(low, high)), settings=settings)


def is_anchored(fit: Stitch) -> bool:
    """Whether subjects or a benchmark fix the unit; rosetta always has a benchmark for it."""
    return fit.scale.subjects is not None or fit.scale.benchmark is not None


def unit_of(fit: Stitch) -> str:
    """Say in words what one unit of a fit's capability is."""
    if fit.scale.subjects is not None:
        low, high = (fit.data.subjects[i] for i in fit.scale.subjects)
        steps = abs(fit.scale.values[1] - fit.scale.values[0])
        return f"the step from {low} to {high}" + ("" if steps == 1 else f" is {steps:g}")
    if fit.scale.benchmark is not None:
        return f"a logit on {fit.data.benchmarks[fit.scale.benchmark]}"
    return f"the standard deviation among {len(fit.data.subjects)} subjects"
