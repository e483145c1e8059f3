"""Profiles item by item: outcomes of any origin, the joint model, and the command."""

import json
import zipfile

import numpy as np
import polars as pl
import pytest

import mensura
from benchmarks.profile_models import Compensatory, compare_models, held_out_chances
from mensura.calibration import open_demands, open_outcomes, profile, read_outcomes
from mensura.calibration.joint import LevelGrid, NonCompensatory, OneSubject, chance, evaluate, fit_joint
from mensura.calibration.outcomes import line_up
from mensura.core.errors import MensuraError

CODES = ["AS", "QLl", "KNn"]
TRUE = np.array([2.0, 3.0, 4.0])


@pytest.fixture(scope="module")
def simulated():
    """Two subjects, one able as TRUE and one a level less, on 3,000 items; solved if every demand is met."""
    rng = np.random.default_rng(8)
    levels = rng.integers(0, 6, (3000, 3))
    items = [f"t:{k}" for k in range(3000)]
    rows = []
    for name, able in (("able", TRUE), ("less", TRUE - 1)):
        met = 1 / (1 + np.exp(-2.0 * (able - levels)))
        solved = rng.random(3000) < np.where(levels > 0, met, 1.0).prod(axis=1)
        rows += [(name, item, int(one)) for item, one in zip(items, solved, strict=True)]
    demands = pl.DataFrame({"item": items} | {code: levels[:, at] for at, code in enumerate(CODES)})
    return pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row"), demands


def test_the_joint_model_finds_what_each_demand_takes(simulated):
    found = profile(*simulated).positions
    for name, true in (("able", TRUE), ("less", TRUE - 1)):
        own = found.filter(subject=name)
        assert own["alone"].to_numpy() == pytest.approx(true, abs=0.2)
        assert ((own["alone_low"] < true) & (own["alone_high"] > true)).all()


def test_more_able_is_higher_everywhere_by_either_method(simulated):
    for method in ("joint", "adele"):
        table = profile(*simulated, method=method).profile.pivot("subject", index="dimension", values="ability")
        assert (table["able"] > table["less"]).all()


def test_guessing_counts_as_such(simulated):
    """Four options lift rates; an ability that knows of them comes out as without them."""
    outcomes, demands = simulated
    rng = np.random.default_rng(1)
    lifted = outcomes.with_columns(
        correct=pl.max_horizontal("correct", pl.Series(rng.random(outcomes.height) < 0.25).cast(pl.Int64)), options=4
    )
    plain, guessed, unaware = (
        profile(table, demands).positions["alone"].to_numpy() for table in (outcomes, lifted, lifted.drop("options"))
    )
    assert np.abs(guessed - plain).max() < 0.3
    assert (unaware - plain).min() > 0.3


def test_a_new_item_is_predicted_from_its_demands(simulated):
    made = profile(*simulated)
    new = {"item": ["easy", "hard", "one"], "AS": [0, 3, 2], "KNn": [1, 5, 0], "QLl": [0, 4, 0]}
    told = made.predict(new).filter(subject="able")
    assert told["chance"][0] > 0.95
    assert told["chance"][1] < 0.05
    assert told["chance"][2] == pytest.approx(0.5, abs=0.06)
    assert ((told["low"] < told["chance"]) & (told["chance"] < told["high"])).all()
    guessed = made.predict(new, options=4).filter(subject="able")
    assert guessed["chance"].to_numpy() == pytest.approx(0.25 + 0.75 * told["chance"].to_numpy())


def test_the_model_that_made_the_data_predicts_them_better(simulated):
    table = compare_models(line_up(*simulated))
    scores = {row["model"]: row for row in table.filter(subject="all").iter_rows(named=True)}
    assert scores["non-compensatory"]["log_loss"] < scores["compensatory"]["log_loss"] < scores["share"]["log_loss"]
    assert scores["non-compensatory"]["auroc"] > 0.9
    assert scores["non-compensatory"]["calibration_error"] < 0.03
    assert scores["share"]["auroc"] == pytest.approx(0.58, abs=0.08)


def test_the_plain_share_counts_half_a_solved_and_half_an_unsolved_item_more(simulated):
    """So that it is never 0 or 1: of two items kept, both solved, 2.5 / 3."""
    outcomes, demands = simulated
    few = outcomes.filter(subject="able").head(4).with_columns(correct=pl.lit(1))
    told = held_out_chances(line_up(few, demands), folds=2)
    assert told["share"] == pytest.approx([2.5 / 3] * 4)


@pytest.mark.parametrize("model", [NonCompensatory(3), Compensatory(3)], ids=["non-compensatory", "compensatory"])
def test_gradients_agree_with_finite_differences(model):
    rng = np.random.default_rng(0)
    grid = LevelGrid.of(rng.integers(0, 6, (50, 3)).astype(float))
    solved, floor = rng.random(50), np.full(50, 0.2)
    at = model.mean + 0.2
    subject = OneSubject(grid, solved, floor, 1.7)
    step = 1e-6 * np.eye(4)
    ahead, behind = ([evaluate(model, at + s * one, subject).height for one in step] for s in (1, -1))
    assert evaluate(model, at, subject).score == pytest.approx((np.array(ahead) - behind) / 2e-6, rel=1e-4, abs=1e-4)
    ahead, behind = ([np.log(model.solving(at + s * one, grid)) for one in step] for s in (1, -1))
    slopes = model.slopes(at, grid, model.solving(at, grid))
    assert slopes == pytest.approx((np.array(ahead) - behind).T / 2e-6, rel=1e-4, abs=1e-4)


def test_people_and_systems_stand_on_the_same_items():
    told = open_outcomes()
    assert {"gpt-4", "candidates of Brazil's national exam", "US pupils in grade 8"} <= set(told["subject"])
    chosen = told.filter(pl.col("subject").is_in(["Qwen2.5-72B", "Qwen2.5-0.5B", "US pupils in grade 12"]))
    made = profile(chosen, open_demands())
    ability = made.profile.filter(dimension="KNs").select("subject", "ability").rows_by_key("subject", unique=True)
    assert ability["Qwen2.5-0.5B"] < ability["US pupils in grade 12"] < ability["Qwen2.5-72B"]


def test_shares_are_surer_than_single_answers(simulated):
    """A subject asked forty times per item is known better than one asked once."""
    outcomes, demands = simulated
    first = outcomes.filter(subject="able").head(300)
    levels = demands.head(300).select(CODES).to_numpy()
    p = np.where(levels > 0, 1 / (1 + np.exp(-2.0 * (TRUE - levels))), 1.0).prod(axis=1)
    shares = first.with_columns(correct=pl.Series(np.random.default_rng(2).binomial(40, p) / 40))
    single, often = (profile(table, demands).positions for table in (first, shares))
    assert ((often["alone_high"] - often["alone_low"]) < 0.5 * (single["alone_high"] - single["alone_low"])).all()
    assert often["alone"].to_numpy() == pytest.approx(TRUE, abs=0.25)


def test_a_share_of_twenty_tries_weighs_as_much_as_twenty_answers():
    """The same tries give the same variances as 40 shares and as 800 answers, on average over subjects."""
    rng = np.random.default_rng(12)
    model, tries = Compensatory(3), 20
    surer = []
    for _ in range(40):
        grid = LevelGrid.of(rng.integers(0, 6, (40, 3)).astype(float))
        solved = rng.binomial(tries, chance(model, np.array([0.3, 0.4, 0.5, 3.0]), grid, np.zeros(40)))
        shares = fit_joint(model, grid, solved / tries, np.zeros(40))
        again = grid.rows(np.repeat(np.arange(40), tries))
        single = (np.arange(tries) < solved[:, None]).ravel().astype(float)
        answers = fit_joint(model, again, single, np.zeros(40 * tries))
        surer.append(np.diag(shares.covariance) / np.diag(answers.covariance))
    assert np.mean(surer) == pytest.approx(1.0, abs=0.08)


def test_outcomes_of_unknown_items_are_left_out_and_counted(simulated):
    outcomes, demands = simulated
    made = profile(outcomes, demands.head(2000))
    assert made.warnings == ("2,000 outcomes on 1,000 items without demands are left out (such as 't:2000')",)


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ({"subject": ["a"], "item": ["other"], "correct": [1]}, "no item has demands"),
        ({"subject": ["a"], "item": ["t:1"], "correct": ["maybe"]}, "'maybe'; expected 0 or 1"),
        ({"subject": ["a"], "item": ["t:1"], "correct": [1.5]}, "is 1.5; expected"),
        ({"subject": ["a"], "item": ["t:1"], "correct": [None]}, "is None; expected"),
        ({"subject": [None], "item": ["t:1"], "correct": [1]}, "lacks its subject"),
        ({"subject": ["a"], "item": ["t:1"], "correct": [1], "options": [1]}, "options of item 't:1' is 1"),
        ({"subject": ["a"], "item": ["t:1"]}, "missing column 'correct'"),
        ({"subject": [], "item": [], "correct": []}, "empty"),
        ({"subject": ["a", "b"], "item": ["t:1", "zz"], "correct": [1, 1]}, "subject 'b' has no item"),
    ],
)
def test_wrong_outcomes_are_refused(simulated, outcomes, message):
    with pytest.raises(MensuraError, match=message):
        profile(outcomes, simulated[1])


def test_an_unknown_dimension_is_refused():
    demands = {"item": ["i"], "dimension": ["KNN"], "level": [1]}
    with pytest.raises(MensuraError, match="unknown dimension 'KNN'; did you mean KNn"):
        profile({"subject": ["a"], "item": ["i"], "correct": [1]}, demands)


def write_inspect(path, values):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "openai/m", "task": "suite/mmlu"}}))
        for sample, value in values:
            text = {"id": sample, "epoch": 1, "scores": {"match": {"value": value}} if value is not None else {}}
            archive.writestr(f"samples/{sample}_epoch_1.json", json.dumps(text))


def test_an_inspect_log_is_read_sample_by_sample(tmp_path):
    write_inspect(tmp_path / "run.eval", [(1, "C"), (2, "I"), (3, 0.25), (4, None)])
    found = read_outcomes(tmp_path / "run.eval")
    assert found.rows() == [("openai/m", "mmlu:1", 1.0), ("openai/m", "mmlu:2", 0.0), ("openai/m", "mmlu:3", 0.25)]


def test_an_inspect_log_meets_demands_by_id_alone(mensura_command, tmp_path):
    write_inspect(tmp_path / "run.eval", [(k, "C" if k % 3 else "I") for k in range(30)])
    demands = pl.DataFrame({"item": [str(k) for k in range(30)], "KNn": [k % 5 for k in range(30)]})
    demands.write_csv(tmp_path / "demands.csv")
    run = mensura_command("profile", "--outcomes", tmp_path / "run.eval", "--demands", tmp_path / "demands.csv")
    assert run.code == 0
    assert "openai/m" in run.out


def test_prediction_needs_outcomes_item_by_item():
    from mensura.calibration import profile_counts

    with pytest.raises(MensuraError, match="item by item"):
        profile_counts(mensura.load().demand_outcomes).predict({"item": ["i"], "KNn": [1]})
