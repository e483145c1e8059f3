"""Pairwise votes become strengths whose intervals count judges and prompts."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from benchmarks.votes import simulate
from mensura.core.errors import MensuraError
from mensura.intake.votes import read_votes
from mensura.stitching.votes import fit_votes


def table(rows, columns=("model_a", "model_b", "winner")):
    return pl.DataFrame(rows, schema=list(columns), orient="row")


@pytest.mark.parametrize(
    ("columns", "row", "outcome"),
    [
        (("model_a", "model_b", "winner", "judge"), ("x", "y", "model_b", "j"), 1),
        (("model_a", "model_b", "winner", "judge_hash"), ("x", "y", "tie (bothbad)", "j"), 3),
        (("left", "right", "winner", "worker"), ("x", "y", "right", "j"), 1),
        (("agent_a", "agent_b", "winner", "rater"), ("x", "y", "draw", "j"), 2),
        (("model", "opponent", "winner", "grader"), ("x", "y", "expert", "j"), 1),
    ],
)
def test_every_layout_of_votes_is_read(columns, row, outcome):
    votes = read_votes(table([row], columns))
    assert votes.select("first", "second", "outcome", "judge").row(0) == ("x", "y", outcome, "j")


def test_flags_of_the_winner_and_lengths_are_read():
    columns = ("model_a", "model_b", "response_a", "response_b", "winner_model_a", "winner_model_b", "winner_tie")
    votes = read_votes(table([("x", "y", "ab", "abcd", 0, 0, 1)], columns))
    assert votes["outcome"].to_list() == [2] and votes["length"][0] == pytest.approx(np.log(0.5))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("x", "y", "model_a"), ("x", "y", "model_c")], r"row 3, winner: 'model_c'; expected model_a"),
        ([("x", "x", "tie")], "row 2, model_a and model_b: the same contestant"),
        ([("x", None, "tie")], "row 2, model_a or model_b: blank"),
        ([("x", "y", "tie"), ("u", "v", "tie")], "2 groups of contestants never met"),
        ([("x", "y", "tie")], "did not converge in 60 steps, because 'tie' still moves"),
    ],
)
def test_votes_that_say_nothing_are_refused_with_row_and_field(rows, message):
    with pytest.raises(MensuraError, match=message):
        fit_votes(table(rows))


def test_a_fit_that_does_not_converge_is_refused_with_what_moves():
    rows = [("x", "y", "model_a", "longer", "short")] * 3 + [("y", "x", "model_b", "short", "longer")] * 3
    rows += [("x", "y", "model_b", "short", "longer"), ("y", "x", "model_a", "longer", "short")]
    votes = table(rows, ("model_a", "model_b", "winner", "response_a", "response_b"))
    with pytest.raises(MensuraError, match="did not converge in 60 steps, because 'length' still moves"):
        fit_votes(votes)


def test_a_length_that_is_no_number_is_refused():
    rows = [("x", "y", "tie", float("nan"), 4.0)]
    with pytest.raises(MensuraError, match="response_a: a length that is negative or no number"):
        read_votes(table(rows, ("model_a", "model_b", "winner", "response_a", "response_b")))


def test_without_ties_strengths_are_those_of_bradley_and_terry():
    rng = np.random.default_rng(0)
    theta = np.array([-0.8, 0.0, 0.8])
    a = rng.integers(3, size=4000)
    b = (a + rng.integers(1, 3, size=4000)) % 3
    wins = rng.random(4000) < 1 / (1 + np.exp(theta[b] - theta[a]))

    def loss(value):
        sign = np.where(wins, 1, -1)
        return np.logaddexp(0, -sign * (value[a] - value[b] + value[3])).sum() + 5e-4 * (value[:3] ** 2).sum()

    best = minimize(loss, np.zeros(4), tol=1e-10).x
    words = np.where(wins, "model_a", "model_b")
    fit = fit_votes(table([(f"m{one}", f"m{two}", word) for one, two, word in zip(a, b, words, strict=True)]))
    strengths = fit.contestants.sort("contestant")["strength"].to_numpy()
    assert strengths == pytest.approx(best[:3] - best[:3].mean(), abs=1e-4)
    assert fit.effects.filter(effect="side")["value"][0] == pytest.approx(best[3], abs=1e-4)


def test_the_quality_of_both_bad_is_counted_from_the_mean_strength_and_so_is_its_interval():
    rows = [(*pair, word) for pair in (("x", "y"), ("y", "x")) for word in ("model_a", "model_b") for _ in range(50)]
    rows += [("x", "y", "both_bad")] * 25 + [("y", "x", "both_bad")] * 25
    bad = fit_votes(table(rows)).effects.filter(effect="both bad").row(0, named=True)
    half = 1.645 * np.sqrt(1 / 50 + 1 / 200)  # of the logarithm of two counts' ratio
    assert bad["value"] == pytest.approx(np.log(50 / 100), abs=1e-6)
    assert [bad["low"], bad["high"]] == pytest.approx([bad["value"] - half, bad["value"] + half], rel=0.01)


def test_votes_without_a_judge_make_no_row_of_judges():
    votes = simulate(np.linspace(-1, 1, 4), 300, 10, 10, np.random.default_rng(6))
    fit = fit_votes(votes.with_columns(judge=pl.when(pl.col("judge") > 3).then("judge")))
    assert fit.judges["judge"].to_list() == [str(judge) for judge in range(4, 10)]


@pytest.mark.slow
def test_intervals_hold_the_strengths_of_all_judges_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    theta = np.linspace(-1, 1, 8)
    truth = fit_votes(simulate(theta, 150_000, 5000, 5000, rng)).contestants.sort("contestant")["strength"]
    inside = []
    for _ in range(40):
        fit = fit_votes(simulate(theta, 1500, 40, 40, rng)).contestants.sort("contestant")
        inside.append(((fit["low"] <= truth) & (truth <= fit["high"])).mean())
    assert 0.83 <= np.mean(inside) <= 0.97


def test_who_wins_or_loses_every_vote_has_an_open_end_and_no_strength():
    """One vote once made its winner the strongest with an interval of 2.21 to 3.62."""
    even = [("x", "y", "model_a"), ("x", "y", "model_b")] * 3
    fit = fit_votes(
        table([*even, *[("best", "x", "model_a")] * 2, ("y", "best", "model_b"), ("worst", "y", "model_b")])
    )
    rows = {row["contestant"]: row for row in fit.contestants.iter_rows(named=True)}
    assert fit.contestants["contestant"].to_list()[::3] == ["best", "worst"]
    assert (
        (rows["best"]["strength"], rows["best"]["high"])
        == (None, None)
        == (rows["worst"]["strength"], rows["worst"]["low"])
    )
    assert rows["x"]["strength"] + rows["y"]["strength"] == pytest.approx(0)
    against = np.array([rows[name]["strength"] for name in "xxy"])
    assert np.prod(1 / (1 + np.exp(against - rows["best"]["low"]))) == pytest.approx(0.05)
    assert 1 / (1 + np.exp(rows["worst"]["high"] - rows["y"]["strength"])) == pytest.approx(0.05)
    assert fit.warnings == ("best, worst won or lost every vote, so one end is open",)


def test_votes_of_one_judge_bound_the_winner_like_one_vote():
    rows = [("x", "y", "model_a", "j1"), ("x", "y", "model_b", "j2"), *[("best", "x", "model_a", "j3")] * 5]
    fit = fit_votes(table(rows, ("model_a", "model_b", "winner", "judge")))
    low = fit.contestants.filter(contestant="best")["low"][0]
    x = fit.contestants.filter(contestant="x")["strength"][0]
    assert 1 / (1 + np.exp(x - low)) == pytest.approx(0.05)


def test_real_votes_of_crowd_workers_order_the_models(shared):
    fit = fit_votes(shared / "data" / "pairwise" / "llmfao_votes.csv")
    assert fit.contestants["contestant"].to_list()[0] == "GPT 4"
    assert fit.clusters == "124 judges and 13 prompts are clusters"
    assert fit.effects.filter(effect="side")["low"][0] > 0


def test_the_command_fits_votes_that_stand_alone(mensura_command, tmp_path):
    simulate(np.linspace(-1, 1, 4), 300, 10, 10, np.random.default_rng(5)).write_csv(tmp_path / "votes.csv")
    run = mensura_command("stitch", "--votes", tmp_path / "votes.csv", "--out", tmp_path / "fit")
    assert run.code == 0 and "the votes stand alone" in run.out and "is strongest" in run.out
    assert pl.read_csv(tmp_path / "fit" / "contestants.csv").height == 4


def test_the_command_says_when_the_strongest_cannot_be_told(mensura_command, tmp_path):
    (tmp_path / "votes.csv").write_text("Model A,Model B,Winner\nx,y,left\n", encoding="utf-8")
    run = mensura_command("stitch", "--votes", tmp_path / "votes.csv")
    assert "x is ahead; its interval reaches that of y, so who is strongest cannot be told." in run.out
    rows = ["x,y,left"] * 40 + ["y,x,left"] * 2
    (tmp_path / "votes.csv").write_text("\n".join(["Model A,Model B,Winner", *rows]), encoding="utf-8")
    assert "x is strongest." in mensura_command("stitch", "--votes", tmp_path / "votes.csv").out
    unsure = ["x,z,left", "z,x,left", "z,y,left", "y,z,left"]
    (tmp_path / "votes.csv").write_text("\n".join(["Model A,Model B,Winner", *rows, *unsure]), encoding="utf-8")
    assert "its interval reaches that of z" in mensura_command("stitch", "--votes", tmp_path / "votes.csv").out
