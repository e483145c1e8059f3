"""Extrapolation: from a focal to a reference population, and checks of how well that works."""

from mensura.extrapolation.protocol import Extrapolation, Extrapolator, empty_sensitivity

__all__ = ["Extrapolation", "Extrapolator", "empty_sensitivity"]
