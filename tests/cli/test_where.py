"""``mensura where`` as people read it."""

import polars as pl

from mensura.cli.where import _for_people


def test_chances_are_words_and_the_model_itself_is_among_the_rows_printed():
    names = [f"m{number}" for number in range(20)]
    prices = pl.DataFrame({"subject": [*names, "mine"], "sticker_price": [*map(float, range(20)), None]})
    shown = _for_people(prices, "mine")["subject"].to_list()
    assert shown == [*names[:11], "mine", *names[11:]]
    near = pl.DataFrame({"subject": ["a", "mine", "b"], "chance_above": [0.001, None, 0.5]})
    assert _for_people(near, "mine")["chance_above"].to_list() == ["under 1%", "–", "50%"]
