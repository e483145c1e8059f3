"""Where a model stands, in words: people it passed, prices beside it, what to measure next, whether charts show it."""

import pytest

from mensura.evidence.passing import verdict_of
from mensura.site.pages.where import next_said, price_rows, price_said


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (1.0, "passed"),
        (0.95, "passed"),
        (0.949, "cannot be told"),
        (0.051, "cannot be told"),
        (0.05, "not passed"),
        (0.0, "not passed"),
        (None, "not known"),
    ],
)
def test_people_are_passed_from_a_chance_of_95_percent_on(chance, said):
    assert verdict_of(chance) == said


def priced(**prices):
    """Models near one another by their list prices, cheapest first."""
    return [
        {"subject": name, "name": name.title(), "sticker_price": price, "iq": 120} for name, price in prices.items()
    ]


def said_of(iq=120, **prices):
    return price_said(priced(**prices), {"subject": "mine", "iq": iq, "sticker_price": prices["mine"]})


def test_a_price_is_said_among_models_of_about_the_same_level():
    own = "$10 for a million tokens in and a million out"
    near = "within 3 IQ points of it"
    assert said_of(mine=10.0) == f"It lists at {own}; no other ranked model {near} has a price."
    assert said_of(mine=10.0, free=None) == f"It lists at {own}; no other ranked model {near} has a price."
    assert said_of(mine=10.0, dear=12.5) == f"At {own}, none of 1 other {near} list cheaper."
    assert said_of(mine=10.0, alike=10.0, dear=12.5) == f"At {own}, none of 2 others {near} list cheaper."
    assert said_of(small=1.0, less=2.0, mine=10.0, dear=12.5) == (
        f"At {own}, 2 of 3 others {near} list cheaper; the cheapest is Small at $1."
    )
    assert said_of(mine=None) == "It has no list price."
    assert said_of(mine=10.0, iq=None) == "Without an IQ it has no level to compare prices at."


def test_five_prices_are_listed_each_with_its_page():
    listed = price_rows(priced(**{f"m{place}": 1.0 + place for place in range(7)}, free=None))
    assert [row["name"] for row in listed] == ["M0", "M1", "M2", "M3", "M4"]
    assert listed[0]["iq_href"] == "models/m0.html#derivation"
    assert listed[0]["sticker_price_href"] == listed[0]["effective_cost_href"] == "models/m0.html#cost"


def test_what_would_tell_most_next():
    telling = [{"name": "HLE", "variance_explained": 0.237}, {"name": "GPQA", "variance_explained": 0.1}]
    said = next_said(telling, {"iq": 120})
    assert said.startswith("HLE would tell most next: knowing its score would take away about 23.7% of what is")
    assert next_said([], {"iq": 120}) == "Nothing: every benchmark of the composite is measured."
    assert next_said([], {"iq": None}).startswith("Too little is known of it")
