"""Methods by name, and which of them a situation allows (the best one first)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.errors import MensuraError
from mensura.extrapolation.methods import ConstantShift, Described, Ensemble, Hierarchical, Identity, Linked, Method
from mensura.extrapolation.slices import Slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.extrapolation.line import Case

_ALLOWED = {
    "described": ("described", "identity"),
    "linked": ("linked", "ensemble", "shift", "described", "identity"),
    "slices": ("hierarchical", "hierarchical-strict", "ensemble", "linked", "shift", "described", "identity"),
}


def methods_of(situation: str) -> tuple[str, ...]:
    """Return the names of the methods that a situation gives enough to know, the best first."""
    return _ALLOWED[situation]


def method_for(name: str, situation: str, case: Case, cases: Sequence[Case]) -> Method:
    """Return a method by name for one focal group among the ``cases`` of its pool."""
    if name not in methods_of(situation):
        allowed = ", ".join(methods_of(situation))
        raise MensuraError(f"method {name!r} does not fit situation {situation!r}; it may be {allowed}")
    simple: dict[str, Method] = {
        "identity": Identity(),
        "shift": ConstantShift(),
        "described": Described(),
        "linked": Linked(),
    }
    if name in simple:
        return simple[name]
    if name == "ensemble" and situation == "linked":
        return Ensemble((Linked(), Described(), ConstantShift()))
    slices = Slices.around(case, cases)
    if name == "ensemble":
        return Ensemble((Hierarchical(slices), Hierarchical(slices, groupings=False), Linked()))
    return Hierarchical(slices, means=name == "hierarchical", name=name)
