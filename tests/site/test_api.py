"""What is written once and stands in two files reads back as what was meant."""

import json
from collections import OrderedDict
from datetime import date

import numpy as np

from mensura.site.api import JsonText, listing, mapping_json, script_json, to_json


def test_numbers_dates_and_mappings_of_any_kind_are_plain() -> None:
    payload = OrderedDict(a=1 / 3, b=(float("nan"), np.float64(2 / 3), True, None, 7), c=date(2026, 11, 1), d={1: "é"})
    assert to_json(payload) == '{"a":0.333333,"b":[null,0.666667,true,null,7],"c":"2026-11-01","d":{"1":"é"}}'


def test_a_listing_of_texts_is_that_of_the_records() -> None:
    records = [{"subject": "a'\\b", "iq": 101.23456789}, {"subject": "__proto__", "iq": None}]
    texts = {str(row["subject"]): to_json(row) for row in records}
    assert listing("models", texts.values(), "2026-12") == listing("models", records, "2026-12")
    assert json.loads(listing("models", records)) == {
        "version": "v1",
        "models": [{"subject": "a'\\b", "iq": 101.235}, {"subject": "__proto__", "iq": None}],
    }
    assert json.loads(listing("models", [])) == {"version": "v1", "models": []}
    whole = mapping_json(texts)
    assert isinstance(whole, JsonText)
    assert whole == to_json({str(row["subject"]): row for row in records})
    assert script_json(whole) == script_json({str(row["subject"]): row for row in records})
