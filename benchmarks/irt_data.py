"""Simulated responses with known items and abilities, on a processor or a GPU; needs NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SLOPE, INTERCEPT = (0.1, 0.35), (0.0, 1.2)
"""Of the simulated items: ln a and d, mean and standard deviation."""
_ROWS = 20_000


@dataclass(frozen=True)
class Truth:
    """What responses were drawn from."""

    slope: np.ndarray
    intercept: np.ndarray
    guessing: np.ndarray
    ability: np.ndarray


def items_of(items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw slopes and intercepts."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(*SLOPE, items)), rng.normal(*INTERCEPT, items)


def simulate(subjects: int, items: int, seed: int = 0, guessing: float = 0.0) -> tuple[np.ndarray, Truth]:
    """Return right answers (uint8, subjects × items) and what they were drawn from; little memory beside them."""
    slope, intercept = items_of(items, seed)
    rng = np.random.default_rng([seed, 1])
    floor = _guessing(items, guessing, rng)
    ability = rng.normal(size=subjects)
    right = np.empty((subjects, items), dtype=np.uint8)
    for start in range(0, subjects, _ROWS):
        logits = ability[start : start + _ROWS, None].astype(np.float32) * slope.astype(np.float32) + intercept
        chance = floor + (1.0 - floor) / (1.0 + np.exp(-logits))
        right[start : start + _ROWS] = rng.random(chance.shape, dtype=np.float32) < chance
    return right, Truth(slope, intercept, floor, ability)


def _guessing(items: int, around: float, rng: np.random.Generator) -> np.ndarray:
    """Chances of guessing right, spread about a middle by half a logit as real items are; none about zero."""
    if not around:
        return np.zeros(items)
    return 1.0 / (1.0 + np.exp(-(np.log(around / (1.0 - around)) + rng.normal(0.0, 0.5, items))))


def simulate_on(torch: Any, device: str, subjects: int, items: int, seed: int = 0) -> Any:  # noqa: ANN401
    """Return right answers drawn on a device, and the items they were drawn from."""
    slope, intercept = items_of(items, seed)
    a, d = (torch.tensor(values, dtype=torch.float32, device=device) for values in (slope, intercept))
    generator = torch.Generator(device=device).manual_seed(seed)
    right = torch.empty((subjects, items), dtype=torch.uint8, device=device)
    rows = max(1, 2**28 // items)
    for start in range(0, subjects, rows):
        stop = min(subjects, start + rows)
        ability = torch.randn(stop - start, generator=generator, device=device)
        chance = torch.sigmoid(ability[:, None] * a + d)
        right[start:stop] = torch.rand(chance.shape, generator=generator, device=device) < chance
    return right, slope, intercept
