"""Chances between every pair of models, from draws: packed as the pages read them, against plain counting."""

import base64
from types import SimpleNamespace

import numpy as np

from mensura.site.subjects import chance_layers


def layers_of(composites, dimensions):
    drawn = SimpleNamespace(
        subjects=tuple(map(str, range(composites.shape[1]))), composites=composites, dimensions=dimensions
    )
    found = chance_layers(
        SimpleNamespace(iq=SimpleNamespace(drawn=drawn, matrix=SimpleNamespace(dimensions=("d", "e"))))
    )
    return {name: list(base64.b64decode(packed)) for name, packed in found["layers"].items()}


def plainly(draws):
    """P(i above j) in whole percent for i < j; 255 where one has no value in some draw."""
    known, count = np.isfinite(draws).all(axis=0), draws.shape[1]
    return [
        round(100 * float(np.mean(draws[:, i] > draws[:, j]))) if known[i] and known[j] else 255
        for i in range(count)
        for j in range(i + 1, count)
    ]


def test_every_pair_is_counted_over_all_draws_in_each_layer():
    """More models than are compared at once, more draws than a byte counts, ties, and gaps in single draws."""
    rng = np.random.default_rng(2)
    composites = np.round(rng.normal(100, 3, (300, 70)) + np.arange(70) / 9, 1)
    dimensions = rng.normal(100, 3, (300, 70, 2))
    composites[0, 5] = np.nan
    dimensions[:, 66, 1] = np.nan
    found = layers_of(composites, dimensions)
    assert list(found) == ["composite", "d", "e"]
    assert found["composite"] == plainly(composites)
    assert found["d"] == plainly(dimensions[:, :, 0])
    assert found["e"] == plainly(dimensions[:, :, 1])


def test_equal_values_are_above_neither():
    draws = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 3.0]])
    assert layers_of(draws, np.stack([draws, -draws], axis=2)) == {
        "composite": [0, 50, 50],
        "d": [0, 50, 50],
        "e": [0, 50, 50],
    }
