"""Extrapolation: from a focal to a reference population, and checks of how well that works."""

from mensura.extrapolation.extrapolate import METHODS, extrapolate
from mensura.extrapolation.poststratification import PostStratification
from mensura.extrapolation.protocol import Extrapolation, Extrapolator, empty_sensitivity

__all__ = ["METHODS", "Extrapolation", "Extrapolator", "PostStratification", "empty_sensitivity", "extrapolate"]
