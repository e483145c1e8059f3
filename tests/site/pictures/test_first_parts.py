"""Parts of the first screen: short answers, people as landmarks, the jagged view, signs for lines of text."""

from datetime import date
from types import SimpleNamespace

import polars as pl

from mensura.site.pictures.first_parts import how_fast, said_share


def test_a_share_of_people_is_said_in_people():
    assert said_share(137) == "7 in 1,000 people"
    assert said_share(100) == "50 in 100 people"


def test_the_pace_without_a_known_test_is_said_as_a_gain_with_its_interval():
    """A pace of about zero would be any number of years, of either sign."""
    study = SimpleNamespace(
        pace=SimpleNamespace(slope=0.1, low=-0.05, high=0.3, unit="the distance from a to b", since=date(2023, 11, 1)),
        watch=None,
        fit=SimpleNamespace(
            capabilities=pl.DataFrame({"capability": [1.0]}), data=SimpleNamespace(benchmarks=("own_test",))
        ),
        evidence=SimpleNamespace(models=pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]})),
    )
    assert "A year brings 0.10 (-0.05 to 0.30) of the distance from Ay to Bee." in how_fast(study)["answer"]
