"""``mensura responses fit`` and the comparisons of fits and of subjects."""

import json

import polars as pl
import pytest

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
