"""Pairwise votes become strengths whose intervals count judges and prompts."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import t as student

from benchmarks.votes import simulate
from mensura.core.errors import MensuraError
from mensura.intake.votes import read_votes
from mensura.stitching import votes as votes_module
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


class Written:
    """The model of votes as its documentation writes it, one vote after the other, with numerical derivatives."""

    def __init__(self, frame):
        self.votes = read_votes(frame)
        self.names = sorted({*self.votes["first"], *self.votes["second"]})
        self.judges, self.prompts = (self.votes[name].unique().sort().to_list() for name in ("judge", "prompt"))
        self.size, self.kept = len(self.names), len(self.names) + 4

    def likely(self, values):
        """Log-likelihood of each vote given strengths, side, length, tie, both bad and judges."""
        theta, (side, length, tie, bad), own = np.split(values, [self.size, self.kept])
        a, b = (theta[[self.names.index(name) for name in self.votes[side]]] for side in ("first", "second"))
        judge = own[[self.judges.index(name) for name in self.votes["judge"]]]
        ahead = (a - b + side + length * self.votes["length"].to_numpy()) / 2
        utility = np.stack([ahead, -ahead, tie + judge, bad - (a + b) / 2], axis=1)
        return log_softmax(utility, axis=1)[np.arange(len(a)), self.votes["outcome"].to_numpy()]

    def prior(self, values):
        return (1e-3 * (values[: self.size] ** 2).sum() + (values[self.kept :] ** 2).sum()) / 2

    def best(self, start):
        return minimize(lambda values: self.prior(values) - self.likely(values).sum(), start, tol=1e-9).x

    def slopes(self, values, step=1e-5):
        """Derivatives of each vote in each parameter (votes, parameters)."""
        moves = step * np.eye(values.size)
        return np.stack([(self.likely(values + m) - self.likely(values - m)) / (2 * step) for m in moves], axis=1)

    def covariance(self, values):
        """The sandwich of judges and prompts, less what both share, for differences from the mean strength."""
        step = 1e-4 * np.eye(values.size)
        slope = [self.slopes(values + m).sum(axis=0) - self.slopes(values - m).sum(axis=0) for m in step]
        ridge = np.r_[np.full(self.size, 1e-3), np.zeros(4), np.ones(len(self.judges))]
        plain = np.linalg.inv(np.diag(ridge) - np.stack(slope) / 2e-4)
        centre = np.eye(values.size)
        centre[: self.size, : self.size] -= 1 / self.size
        centre[self.kept - 1, : self.size] -= 1 / self.size
        bread, own = centre @ plain, self.slopes(values)
        judges, prompts = (self.votes[name].to_list() for name in ("judge", "prompt"))

        def spread(labels):
            sums = np.stack(
                [own[[i for i, one in enumerate(labels) if one == name]].sum(axis=0) for name in set(labels)]
            )
            return bread @ sums.T @ sums @ bread.T * len(sums) / (len(sums) - 1)

        both = spread(judges), spread(prompts)
        less = both[0] + both[1] - spread(list(zip(judges, prompts, strict=True)))
        summed = less if np.diag(less)[: self.kept].min() > 0 else both[0] + both[1]
        variance = np.max([np.diag(one) for one in (bread @ centre.T, summed, *both)], axis=0)
        return variance[: self.kept]


def votes_of_all_kinds(seed):
    """Votes of every outcome with judges, prompts and lengths."""
    rng = np.random.default_rng(seed)
    frame = simulate(np.array([-0.6, 0.0, 0.7]), 260, 8, 6, rng)
    sizes = rng.integers(50, 400, (2, 260))
    return frame.with_columns(response_a=pl.Series(sizes[0]), response_b=pl.Series(sizes[1]))


@pytest.fixture(scope="module")
def all_kinds():
    return votes_of_all_kinds(8)


@pytest.mark.parametrize("seed", [8, 9])
def test_strengths_effects_and_judges_are_the_best_of_the_written_model(seed):
    """With the first seed, the sum less what judges and prompts share is no variance, so nothing is taken off."""
    all_kinds = votes_of_all_kinds(seed)
    written, fit = Written(all_kinds), fit_votes(all_kinds)
    values = [fit.contestants.sort("contestant")["strength"], fit.effects["value"], fit.judges["tie"]]
    best = written.best(np.concatenate([np.round(one.to_numpy(), 1) for one in values]))
    middle = best[:3].mean()
    strengths = fit.contestants.sort("contestant")
    assert strengths["strength"].to_numpy() == pytest.approx(best[:3] - middle, abs=1e-4)
    assert fit.effects["effect"].to_list() == ["side", "length", "tie", "both bad"]
    assert fit.effects["value"].to_numpy() == pytest.approx(best[3:7] - [0, 0, 0, middle], abs=1e-4)
    assert fit.judges["judge"].to_list() == [str(judge) for judge in range(8)]
    assert fit.judges["tie"].to_numpy() == pytest.approx(best[7:], abs=1e-4)
    assert fit.judges["votes"].to_list() == all_kinds["judge"].value_counts().sort("judge")["count"].to_list()
    assert fit.heading == "260 votes on 3 contestants; 8 judges and 6 prompts are clusters"
    halves = fit.effects.select((pl.col("high") - pl.col("low")) / 2).to_series().to_numpy()
    half = student.ppf(0.95, 5) * np.sqrt(written.covariance(best))
    assert halves == pytest.approx(half[3:], rel=1e-3)
    assert ((strengths["high"] - strengths["low"]) / 2).to_numpy() == pytest.approx(half[:3], rel=1e-3)
    assert (strengths["high"] + strengths["low"]).to_numpy() / 2 == pytest.approx(best[:3] - middle, abs=1e-4)


def test_points_count_a_win_as_one_and_a_tie_as_half():
    rows = [("x", "y", "model_a")] * 2 + [("y", "x", "model_a"), ("x", "z", "tie"), ("z", "y", "both_bad")]
    rows += [("z", "y", "model_b")]
    table_of = fit_votes(table(rows)).contestants.sort("contestant").select("contestant", "kind", "votes", "points")
    assert table_of.rows() == [
        ("x", "model", 4, pytest.approx(2.5 / 4)),
        ("y", "model", 5, pytest.approx(2.5 / 5)),
        ("z", "model", 3, pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize("limits", [{"_AT_ONCE": 1}, {"_MOST_CELLS": 0, "_AT_ONCE": 20}, {"_FEW": 0, "_MOST_CELLS": 0}])
def test_a_table_too_large_to_keep_whole_gives_the_same_fit(all_kinds, monkeypatch, limits):
    whole = fit_votes(all_kinds)
    for name, limit in limits.items():
        monkeypatch.setattr(votes_module, name, limit)
    parts = fit_votes(all_kinds)
    for name in ("contestants", "effects", "judges"):
        assert_frame_equal(getattr(parts, name), getattr(whole, name), check_exact=False, rel_tol=1e-6)


def test_people_among_contestants_are_named_as_people():
    rows = [("human experts", "x", "model_a"), ("x", "human experts", "model_a")]
    fit = fit_votes(table(rows))
    assert dict(fit.contestants.select("contestant", "kind").iter_rows()) == {"human experts": "people", "x": "model"}
    assert fit.clusters == "each vote counts by itself"


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
