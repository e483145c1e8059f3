"""The result of an estimated baseline, and its card for a README or a paper: Markdown, SVG and JSON."""

import json
import re
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.baseline import result
from mensura.baseline.origin import MODEL_COLUMNS, PartOrigin
from mensura.baseline.recordings import SIMULATED
from mensura.baseline.result import Baseline, card_markdown


@pytest.mark.parametrize(("one_in", "written"), [(1.14, "1.1"), (9.54, "9.5"), (10.4, "10"), (12345.0, "12,345")])
def test_a_rarity_below_ten_is_written_with_one_decimal(one_in, written):
    assert result._short(one_in) == written


def test_one_simulated_estimator_among_others_is_said_to_be_unchecked():
    part = SimpleNamespace(models=("my model", f"my model{SIMULATED}"), kind=SimpleNamespace(traits=()))
    assert result.validated_on(part).endswith("Nobody has measured the errors of simulated persons yet")
    asked = SimpleNamespace(models=("my model",), kind=part.kind)
    assert result.validated_on(asked).endswith(", not of my model")


ROWS = {
    "item": ["a", "b", "c", "a"],
    "population": ["world"] * 3 + ["pupils"],
    "one_in": [2.0, 40.0, None, 1.14],
    "at_least": [False, True, False, False],
}
MEANS = {"population": ["world"], **{name: [value] for name, value in (("mean", 0.5), ("low", 0.4), ("high", 0.62))}}
MEANS |= {
    f"{name}{end}": [value]
    for name, value in (("median", 0.5), ("top_10", 0.7), ("top_1", 0.9))
    for end in ("", "_low", "_high")
}


def baseline(models=None, sampled=(3, 50), warnings=(), parts=()):
    scores = pl.DataFrame([] if models is None else models, schema=MODEL_COLUMNS, orient="row")
    return Baseline("mine", pl.DataFrame(ROWS), pl.DataFrame(MEANS), scores, parts, sampled, warnings)


def test_a_baseline_says_its_size_its_means_and_its_span_of_rarities():
    assert baseline().size == "3 of 50 items"
    assert baseline(sampled=(1200, 1200)).size == "1,200 items"
    assert baseline().heading == "mine, 3 of 50 items, estimated, not measured: world 50% (40% to 62%)"
    assert baseline().spans == {
        "world": "from 1 in 2.0 to at least 1 in 40 people",
        "pupils": "from 1 in 1.1 to 1 in 1.1 people",
    }


def test_times_are_of_each_item_once():
    """Items a and b need 12 and 60 minutes: the middle one 36, both 1.2 hours; a has two populations."""
    assert baseline().times == ""
    minutes = {
        "item": ["a", "b"],
        "minutes": [12.0, 60.0],
        "minutes_low": [6.0, 30.0],
        "minutes_high": [24.0, 120.0],
        "note": ["x", "y"],
    }
    timed = baseline().with_minutes(pl.DataFrame(minutes))
    assert timed.items.columns[-3:] == ["minutes", "minutes_low", "minutes_high"]
    assert timed.items["item"].to_list() == ROWS["item"]
    assert timed.times == "36 minutes for the middle item (18 to 72), 1.2 hours for 2 items"


def part(models=("my model",), anchors=()):
    kind = SimpleNamespace(read="adults", distance_words="near well-described people", traits=())
    origin = PartOrigin(tuple({"model": name, "runs": 2, "date": None, "prompt": None} for name in models), anchors)
    items = pl.DataFrame({"item": ["a", "b"], "remembered": [True, False]})
    who = SimpleNamespace(name="world", prose="All | people.")
    return SimpleNamespace(who=who, kind=kind, origin=origin, items=items, models=models)


def test_a_card_has_the_means_the_models_and_every_note_once():
    models = [("m|1", "world", 0.625, 90.4, 80.0, 97.0, 10.0, 0.995)]
    warnings = ("Few items.", "world: near well-described people")
    text = card_markdown(baseline(models, warnings=warnings, parts=(part(), part())))
    lines = text.splitlines()
    assert lines[0] == "## Human baseline: mine"
    assert "**Estimated, not measured.** 3 of 50 items; 90% intervals in brackets." in lines
    assert "| world | 50% (40% to 62%) | 50% (50% to 50%) | 70% (70% to 70%) | 90% (90% to 90%) |" in lines
    assert r"| m\|1 | world | 62.5% | 90 (80 to 97) | over 99% |" in lines
    assert "- world: items from 1 in 2.0 to at least 1 in 40 people." in lines
    described = r"- Described as: All \| people; read as: adults. Near well-described people."
    assert lines.count(f"{described} Items used: 2 of 50; remembered by a model: 1.") == 1
    assert "- Note: Few items." in lines
    assert sum(line.startswith("- Note") for line in lines) == 1, "the distance is said already"
    assert "Time of a professional" not in text
    assert any(line.startswith("- To improve it: collect human rates") for line in lines)


def test_the_facts_of_a_card_are_those_of_its_tables():
    facts = json.loads(result.card_json(baseline(warnings=("w",), parts=(part(("gpt", "claude"), (30.0, 50.0)),))))
    assert (facts["benchmark"], facts["items"], facts["items_of"], facts["warnings"]) == ("mine", 3, 50, ["w"])
    (who,) = facts["people"]
    assert (who["mean"], who["anchors"], who["known_mean"], who["described_as"]) == (0.5, 2, None, "All | people.")
    assert [one["model"] for one in who["models_asked"]] == ["gpt", "claude"]
    assert facts["status"] == "Estimated, not measured."


def test_a_baseline_is_written_with_its_card_in_three_forms(tmp_path):
    known = baseline(parts=(part(),))
    place = known.write(tmp_path / "out")
    assert place == tmp_path / "out"
    assert sorted(file.name for file in place.iterdir() if file.suffix != ".json" or file.name == "card.json")[:3] == [
        "baseline.csv",
        "card.json",
        "card.md",
    ]
    assert (place / "card.md").read_text(encoding="utf-8") == known.card()
    assert (place / "card.svg").read_text(encoding="utf-8").startswith("<svg")
    assert pl.read_csv(place / "items.csv").height == 4


def test_the_facts_of_a_card_have_every_name_that_readers_rely_on():
    facts = json.loads(result.card_json(baseline(parts=(part(anchors=(30.0,)),))))
    assert set(facts) == {
        *("benchmark", "items", "items_of", "status", "people", "span", "time", "models", "method", "learned_on"),
        *("validation", "warnings", "mensura"),
    }
    (who,) = facts["people"]
    assert who["read_as"] == "adults" and who["distance_told"] == "near well-described people"
    assert {"described_as", "published", "validated_on", "to_improve"} <= set(who)
    assert facts["span"]["world"] == "from 1 in 2.0 to at least 1 in 40 people"
    assert facts["validation"] == baseline().validation() != {}


@pytest.mark.parametrize(
    ("traits", "words"),
    [
        ((), "human tests: on pools left out, items are off by "),
        (("rater",), "AI benchmarks whose people answered as raters: on 13 of them left out"),
    ],
)
def test_a_check_is_of_the_same_kind_of_people(traits, words):
    of_people = SimpleNamespace(models=("claude-9",), kind=SimpleNamespace(traits=traits))
    assert result.validated_on(of_people).startswith(words)
    assert "with estimates of" not in result.validated_on(of_people), "a recorded model needs no remark"


def test_a_picture_of_models_names_each_once_from_best_to_worst():
    models = [(name, who, score, 90.0, 80.0, 97.0, 10.0, 0.9) for who in ("world", "pupils") for name, score in SCORES]
    drawn = result.card_svg(baseline(models, parts=(part(("gpt", "claude")),)))
    labels = re.findall(r'aria-label="(\w+): ([\d.]+), measured"', drawn)
    assert labels == [("best", "91.2"), ("middle", "50"), ("worst", "7.5")]
    assert "world: 50, 40 to 62, estimated" in drawn
    assert "Mean score on mine in percent. Estimated, not measured. By: claude, gpt" in drawn


SCORES = [("middle", 0.5), ("best", 0.912), ("worst", 0.075)]
