"""Ways to ask language models: how a reply becomes estimates."""

import json

import numpy as np
import pytest

from mensura.baseline.ways import fit_rates, read_persons
from mensura.core.arrays import expit


def test_marks_of_persons_may_be_text():
    persons = [{"person": "a cook", "answers": {"i1": str(n % 2), "i2": n % 2 == 0}} for n in range(20)]
    rows = read_persons(json.dumps({"persons": persons})).value
    assert [row["estimate"] for row in rows[:2]] == pytest.approx([50, 50])


def test_rates_of_simulated_persons_are_closer_than_their_shares():
    rng = np.random.default_rng(1)
    true = expit(rng.normal(0.5, 0.8, 400))
    right = rng.binomial(20, true)
    rate, low, high = fit_rates(right, np.full(400, 20))
    assert np.abs(rate - true).mean() < np.abs(right / 20 - true).mean()
    assert 0.85 < ((low < true) & (true < high)).mean() < 0.95
