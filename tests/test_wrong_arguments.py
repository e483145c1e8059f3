"""Each public function with a wrong kind, a wrong name and a wrong value: the message names the argument.

The tables are small and right, so that nothing but the argument is wrong. An error of polars or NumPy would fail here.
"""

import inspect

import polars as pl
import pytest

import mensura

ITEMS = [f"i{place}" for place in range(12)]
RATES = pl.DataFrame({"item": ITEMS, "rate": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.03]})
DEMANDS = pl.DataFrame({"item": ITEMS, "KNn": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]})
ANSWERS = pl.DataFrame(
    [(who, item, (at * place) % 2) for at, who in enumerate("abcd") for place, item in enumerate(ITEMS)],
    schema=["subject", "item", "correct"],
    orient="row",
)
RUNS = pl.DataFrame(
    [(who, f"t{at}", (at + place) % 2, 2**at) for place, who in enumerate("ab") for at in range(6)],
    schema=["subject", "task", "score", "human_minutes"],
    orient="row",
)
SCORES = pl.DataFrame(
    {
        "subject": ["a", "b", "c"] * 3,
        "benchmark": ["x"] * 3 + ["y"] * 3 + ["z"] * 3,
        "score": [0.1, 0.5, 0.9, 0.2, 0.4, 0.8, 0.3, 0.5, 0.7],
        "released": ["2024-01-01", "2024-06-01", "2025-01-01"] * 3,
    }
)
QUESTIONS = pl.DataFrame({"item": ["a", "b"], "question": ["1+1?", "2+2?"], "answer": ["2", "4"]})
ESTIMATES = pl.DataFrame({"item": ["a", "b"], "rate": [0.5, 0.4], "low": [0.3, 0.2], "high": [0.7, 0.6]})
COMPUTE = pl.DataFrame(
    {
        "subject": ["a", "b", "c"],
        "released": ["2024-01-01", "2024-06-01", "2025-01-01"],
        "capability": [0.0, 0.5, 1.0],
        "training_compute_flop": [1e24, 2e24, 4e24],
        "family": ["f", "f", "f"],
    }
)
ASKED = {"pool": "example", "model": "recorded/example"}
JUDGED = {"items": QUESTIONS, "people": "world", "estimates": ESTIMATES}
LEVELS = {"rates": RATES, "demands": DEMANDS}
TAKEN = {"outcomes": ANSWERS, "demands": DEMANDS}
RIGHT = {
    "annotate": (ASKED, {"protocol": 3, "dimensions": ["QQ"], "repeats": 0}),
    "calibrate": (LEVELS, {"draws": "many", "method": "zz", "level_error": -1}),
    "compare_iq": ({}, {"before": 3, "after": "zz"}),
    "estimate_baseline": (JUDGED, {"known_mean": 0.5, "people": [], "sample": 0, "anchors": 3}),
    "estimate_baseline, asked": ({"items": QUESTIONS, "people": "world"}, {"askers": ["gpt"]}),
    "extrapolate": ({"pool": "example"}, {"to": 3, "pool": "nowhere", "focal": 7}),
    "figure": ({"name": "iq-bell"}, {"evidence": 3, "name": 3}),
    "fit_horizons": ({"runs": RUNS}, {"method": "zz", "weights": "zz", "draws": -1, "penalty": "x", "score": 3}),
    "fit_responses": ({"responses": ANSWERS}, {"options": 3, "by": "zz", "model": "4pl", "reference": "zz"}),
    "forecast": ({}, {"to": "2030", "method": "zz", "level": 90}),
    "load": ({}, {"path": 3}),
    "measure_progress": ({"models": COMPUTE}, {"compute": 3, "method": "zz", "level": 9}),
    "profile": (TAKEN, {"draws": "x", "method": "zz", "calibration": "zz"}),
    "score_costs": ({"evidence": None}, {"evidence": "x", "rules": 3}),
    "score_iq": (
        {"evidence": None},
        {"weights": {"zz": 1}, "ladders": "zz", "selected": ["zz"], "draws": -1, "source": "zz"},
    ),
    "stitch": (
        {"scores": SCORES},
        {
            "anchor_subjects": 3,
            "anchor_benchmark": "zz",
            "dimensions": 0,
            "unit": "zz",
            "duplicates": "zz",
            "parts": "zz",
            "fewest_benchmarks": "x",
        },
    ),
    "validate": ({"pool": "example"}, {"situation": 3, "draws": -1, "pool": "nowhere"}),
    "watch_acceleration": ({"scores": SCORES}, {"rate": "x", "start": "x", "streams": 0}),
}
"""By function: arguments that are right (None: the embedded evidence), and a wrong value for each that is tried."""
CASES = [(name, wrong) for name, (_, all_wrong) in RIGHT.items() for wrong in all_wrong]


@pytest.fixture(scope="module")
def evidence():
    return mensura.load()


def test_every_public_function_is_tried():
    verbs = {name for name in mensura.__all__ if inspect.isfunction(getattr(mensura, name))}
    assert {name.partition(",")[0] for name in RIGHT} == verbs


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_the_message_names_the_argument_and_what_was_expected(name, argument, evidence):
    right, wrong = RIGHT[name]
    given = {one: evidence if value is None else value for one, value in right.items()} | {argument: wrong[argument]}
    if name == "compare_iq":
        given = {"before": 3, "after": 3} | given
    with pytest.raises(mensura.MensuraError) as refused:
        getattr(mensura, name.partition(",")[0])(**given)
    told = str(refused.value)
    assert argument in told or str(wrong[argument]) in told or (name, argument) == ("compare_iq", "after")
    assert len(told) > len(argument) + 15, "no word on what was expected"
