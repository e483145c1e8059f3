"""Extrapolation: from a focal to a reference population, and checks of how well that works."""

from mensura.extrapolation.extrapolate import METHODS, extrapolate
from mensura.extrapolation.extrapolators import Statistical, extrapolator
from mensura.extrapolation.poststratification import PostStratification
from mensura.extrapolation.protocol import Extrapolation, Extrapolator, empty_sensitivity
from mensura.extrapolation.validation import Validation, validate

__all__ = [
    "METHODS",
    "Extrapolation",
    "Extrapolator",
    "PostStratification",
    "Statistical",
    "Validation",
    "empty_sensitivity",
    "extrapolate",
    "extrapolator",
    "validate",
]
