"""``mensura responses fit`` and the comparisons of fits and of subjects."""

import json

import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.response_fit import FitSettings, _refuse_unused
from mensura.cli.settings import read_settings
from tests.responses.conftest import draw


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--dimensions", 2, "--set", "density=estimated"), "--set density"),
        (("--bifactor",), "--bifactor"),
        (("--model", "nominal", "--dimensions", 2), "--dimensions"),
        (("--model", "graded", "--set", "rotation=none"), "--set rotation"),
        (("--model", "graded", "--dimensions", 2, "--explain", "answers.csv"), "--explain"),
        (("--dimensions", 2, "--people", "answers.csv"), "--people"),
        (("--set", "replication=brr"), "--set replication"),
        (("--dimensions", 2, "--set", "seed=3"), "--set seed"),
        (("--model", "graded", "--set", "seed=3"), "--set seed"),
    ],
)
def test_an_option_that_the_fit_would_leave_aside_is_refused(mensura_command, tmp_path, options, named):
    (tmp_path / "answers.csv").write_text("subject,q1,q2\na,1,0\nb,0,1\n", encoding="utf-8")
    options = [tmp_path / one if one == "answers.csv" else one for one in options]
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", *options)
    assert run.code == 2
    assert f"{named}: of no use here, because" in run.err


def test_an_unknown_model_is_answered_with_all_models(mensura_command, tmp_path):
    draw(20, 4).wide.write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "4pl")
    assert run.code == 2 and "3pl" in run.err and "rating-scale" in run.err


def test_two_models_are_compared_on_the_items_that_both_answered(mensura_command, tmp_path):
    """Of 20 common items the first solves 15, the second 10; an item that one of them skipped does not count."""
    rows = [("a", f"q{k}", int(k < 15)) for k in range(20)] + [("b", f"q{k}", int(k < 10)) for k in range(20)]
    rows.append(("a", "skipped", 1))
    pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row").write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "compare-subjects", tmp_path / "answers.csv", "--json")
    [pair] = json.loads(run.out)["pairs"]
    assert abs(pair["difference"]) == pytest.approx(0.25)
    assert pair["low"] < pair["difference"] < pair["high"]
    refused = mensura_command("responses", "compare-subjects", tmp_path / "answers.csv", "--subject", "nobody")
    assert (refused.code, "nobody" in refused.err) == (2, True)


def test_a_fit_of_persons_with_extreme_and_mixed_answers_names_the_highest(mensura_command, tmp_path):
    """Persons who solve more of the same items have higher abilities."""
    rows = {f"q{item}": [int((person + item) % 5 < person) for person in range(6)] for item in range(6)}
    pl.DataFrame({"subject": [f"p{person}" for person in range(6)], **rows}).write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "rasch", "--out", tmp_path / "fit")
    assert run.code == 0, run.err
    assert "p5 has the highest ability: " in run.out
    abilities = pl.read_csv(tmp_path / "fit" / "subjects.csv").sort("subject")["ability"].to_list()
    assert abilities == sorted(abilities)


USES = {
    "dimensions": ({"model": "nominal"}, {}),
    "bifactor": ({}, {"several": True}),
    "people": ({}, {"more": "regress"}),
    "explain": ({"several": True}, {}),
    "reference": ({"several": True}, {"is_rated": True}),
    "abilities": ({"several": True}, {}),
    "density=estimated": ({"is_rated": True}, {}),
    "replication=brr": ({}, {"set": "replicates=W*"}),
    "rotation=none": ({}, {"several": True}),
    "device=cpu": ({"several": True}, {"is_rated": True}),
    "ray=local": ({"is_rated": True}, {}),
    "fix=items.csv": ({"is_rated": True}, {}),
    "rater=who": ({"is_rated": True, "several": True}, {"is_rated": True}),
    "seed=3": ({"several": True}, {"several": True, "more": "regress"}),
}
"""Each option, a fit of no use for it, and one that takes it."""


@pytest.mark.parametrize("option", USES)
def test_an_option_is_refused_where_it_has_no_use_and_taken_elsewhere(monkeypatch, option):
    for taken, how in zip((False, True), USES[option], strict=True):
        is_setting = "=" in option
        given = [how[key] for key in ("more",) if key in how] + ([] if is_setting else [option])
        pairs = [option] if is_setting else []
        rare = read_settings([*pairs, *(how[key] for key in ("set",) if key in how)], FitSettings)
        monkeypatch.setattr("mensura.cli.response_fit.given_options", lambda given=given: given)
        call = (how.get("model", "2pl"), how.get("is_rated", False), how.get("several", False), rare)
        if taken:
            _refuse_unused(*call)
            continue
        name = f"--set {option.partition('=')[0]}" if is_setting else f"--{option}"
        with pytest.raises(MensuraError, match=f"{name}: of no use here, because"):
            _refuse_unused(*call)


def test_survey_weights_make_a_table_of_people_and_a_replication_useful(monkeypatch):
    monkeypatch.setattr("mensura.cli.response_fit.given_options", lambda: ["people", "weights"])
    _refuse_unused("2pl", False, False, read_settings(["replication=brr"], FitSettings))
    monkeypatch.setattr("mensura.cli.response_fit.given_options", list)
    _refuse_unused("2pl", False, False, read_settings(["replication=brr", "cluster=school"], FitSettings))
    _refuse_unused("nominal", True, False, read_settings(None, FitSettings))
