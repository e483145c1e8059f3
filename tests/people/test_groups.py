"""Groups of people: bands of covariates, and the population that a pool or one of its groups stands for."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people import parse_ages
from mensura.people.groups import banded


def test_bands_and_ages():
    ages = banded(pl.Series([10.0, 18.0, 24.9, None]), [18, 25], ["under 18", "18-24", "25+"])
    assert ages.to_list() == ["under 18", "18-24", "18-24", None]
    assert [parse_ages(text) for text in ("18-24", "50+", "under 18", "37")] == [(18, 24), (50, 120), (0, 17), (37, 37)]
    with pytest.raises(MensuraError, match="expected a form such as 18-24"):
        parse_ages("young")
