"""Survey weights, replicate weights and clusters: closed forms, and coverage where the truth is known."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, Survey, fit_responses, take_columns, write_store
from mensura.responses.irt.fitting import Effort, fit_held, start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import of_matrix
from mensura.responses.survey import replicate_factor, subject_scores
from tests.responses.conftest import draw

NO_PRIORS = FitOptions(priors=Priors(None, None, None, None), effort=Effort(0.0005), checks=False)
Z90 = 1.645


def survey_of(wide, **columns):
    return pl.DataFrame({"subject": wide["subject"], **columns})


def test_a_weight_of_two_is_the_same_subject_twice():
    wide = draw(400, 8, seed=5).wide
    heavy = np.where(np.arange(400) % 3 == 0, 2, 1)
    weighted = fit_responses(wide, options=NO_PRIORS, survey=Survey(survey_of(wide, w=heavy), weights="w"))
    again = wide.filter(pl.Series(heavy == 2)).with_columns(subject=pl.col("subject") + "-again")
    twice = fit_responses(pl.concat([wide, again]), options=NO_PRIORS)
    for column in ("discrimination", "difficulty"):
        assert weighted.items[column].to_list() == pytest.approx(twice.items[column].to_list(), abs=2e-3)
    assert weighted.log_likelihood * heavy.mean() == pytest.approx(twice.log_likelihood, rel=1e-5)


def test_scores_of_subjects_add_up_to_nothing_at_the_maximum(drawn):
    right = drawn.wide.drop("subject").to_numpy()[:, :10].astype(np.uint8)
    held = of_matrix(right, None, np.zeros(len(right), dtype=int))
    space = namespace(double=True)
    fitted = fit_held(space, held, start("2pl", right.mean(axis=0), 1), Priors(None, None, None, None))
    scores = subject_scores(space, held.parts[0], fitted.parameters, fitted.grid)
    assert np.abs(scores.sum(axis=0)).max() < 0.02 * np.sqrt((scores**2).sum(axis=0)).min()


def test_robust_errors_are_those_of_the_model_where_the_model_holds():
    wide = draw(3000, 12, seed=8).wide
    plain = fit_responses(wide, options=NO_PRIORS)
    robust = fit_responses(wide, options=NO_PRIORS, survey=Survey(survey_of(wide, w=1.0), weights="w"))
    ratio = robust.items["se_difficulty"].to_numpy() / plain.items["se_difficulty"].to_numpy()
    assert ratio.mean() == pytest.approx(1.0, abs=0.04)
    assert robust.items["difficulty"].to_list() == plain.items["difficulty"].to_list()


@pytest.mark.parametrize("design", [{"weights": "w"}, {"weights": "w", "cluster": "school"}, {"replicates": "r*"}])
def test_a_store_takes_the_survey_of_its_subjects(tmp_path, design):
    wide, school, _ = pupils(1)
    replicates = {f"r{one}": np.where((school + one) % 4 < 2, 0.5, 1.5) for one in range(4)}
    people = survey_of(wide, w=np.linspace(0.5, 1.5, wide.height), school=school, **replicates)
    store = write_store([wide], tmp_path / "store", parts=3)
    memory, disk = (fit_responses(one, options=NO_PRIORS, survey=Survey(people, **design)) for one in (wide, store))
    for column, near in (("difficulty", 0.01), ("se_difficulty", 0.1)):  # on short tests, errors of a store are rough
        known = dict(memory.items.select("item", column).iter_rows())
        found = dict(disk.items.select("item", column).iter_rows())
        assert found == pytest.approx(known, rel=near, abs=5e-3)
    assert (
        disk.checks.filter(check="survey")["said"].to_list() == memory.checks.filter(check="survey")["said"].to_list()
    )


def test_the_command_takes_the_weights_of_a_store_from_a_table_of_people(mensura_command, tmp_path):
    wide, school, _ = pupils(2)
    write_store([wide], tmp_path / "store", parts=2)
    survey_of(wide, w=1.0 + school % 3, age=school).write_csv(tmp_path / "people.csv")
    command = ("responses", "fit", tmp_path / "store", "--people", tmp_path / "people.csv")
    run = mensura_command(*command, "--weights", "w", "--json")
    assert run.code == 0, run.err
    assert "Errors are robust" in run.out
    refused = mensura_command(*command, "--regress", "age")
    assert "give the files it was made of" in refused.err


def test_groups_of_a_survey_are_not_compared_and_the_checks_say_so():
    wide, school, _ = pupils(2)
    groups = wide.with_columns(group=pl.Series(np.where(school < 20, "a", "b")))
    found = fit_responses(groups, by="group", survey=Survey(survey_of(wide, school=school), cluster="school"))
    assert found.dif.is_empty()
    said = found.checks.filter(check="differences between groups")["said"][0]
    assert "mensura responses link" in said


def pupils(seed, schools=40, size=15, items=10):
    """Pupils of schools that differ: half of the variance of abilities is between schools."""
    rng = np.random.default_rng(seed)
    between = np.repeat(rng.normal(0.0, np.sqrt(0.5), schools), size)
    ability = between + rng.normal(0.0, np.sqrt(0.5), schools * size)
    slope, intercept = np.linspace(0.7, 1.6, items), np.linspace(-1.2, 1.2, items)
    right = (rng.random((len(ability), items)) < 1 / (1 + np.exp(-(ability[:, None] * slope + intercept)))).astype(int)
    columns = {f"i{place}": right[:, place] for place in range(items)}
    names = [f"p{row}" for row in range(len(ability))]
    wide = pl.DataFrame({"subject": names, **columns})
    return wide, np.repeat(np.arange(schools), size), -intercept / slope


@pytest.mark.slow
def test_intervals_of_clustered_pupils_hold_the_truth():
    held = {"plain": [], "cluster": []}
    for seed in range(16):
        wide, school, truth = pupils(seed)
        design = Survey(survey_of(wide, school=school), cluster="school")
        for name, survey in (("plain", None), ("cluster", design)):
            items = fit_responses(wide, options=FitOptions(checks=False), survey=survey).items
            off = np.abs(items["difficulty"].to_numpy() - truth)
            held[name].append(np.mean(off < Z90 * items["se_difficulty"].to_numpy()))
    assert np.mean(held["plain"]) < 0.8
    assert 0.83 < np.mean(held["cluster"]) < 0.95


def test_leaving_out_schools_gives_the_errors_of_clusters():
    wide, school, _ = pupils(3)
    left_out = {f"r{one}": np.where(school == one, 0.0, 1.0) for one in range(40)}
    people = survey_of(wide, school=school, **left_out)
    robust, jackknife = (
        fit_responses(wide, options=NO_PRIORS, survey=survey).items["se_difficulty"].to_numpy()
        for survey in (Survey(people, cluster="school"), Survey(people, replicates="r*", replication="jackknife1"))
    )
    assert np.mean(jackknife / robust) == pytest.approx(1.0, abs=0.12)


def test_weights_undo_a_sample_of_mostly_able_people():
    rng = np.random.default_rng(4)
    population = draw(12_000, 15, seed=4)
    chance = 1 / (1 + np.exp(-2 * population.ability))
    chosen = rng.random(12_000) < 0.4 * chance
    wide = population.wide.filter(pl.Series(chosen))
    survey = Survey(survey_of(wide, w=1 / chance[chosen]), weights="w")
    truth = -population.intercept / population.slope
    plain, weighted = (
        fit_responses(wide, options=FitOptions(checks=False), survey=one).items["difficulty"].to_numpy() - truth
        for one in (None, survey)
    )
    assert plain.mean() < -0.3
    assert abs(weighted.mean()) < 0.06


@pytest.mark.parametrize(
    ("replication", "count", "factor"),
    [("fay", 80, 1 / 20), ("brr", 80, 1 / 80), ("jackknife1", 40, 39 / 40), ("jackknife2", 75, 1.0)],
)
def test_factors_of_designs_are_those_of_their_manuals(replication, count, factor):
    assert replicate_factor(replication, count) == pytest.approx(factor)


def test_columns_of_the_design_are_no_items(mensura_command, tmp_path):
    wide, school, _ = pupils(1, schools=12, size=20, items=6)
    file = tmp_path / "pisa.csv"
    wide.with_columns(SCHOOL=pl.Series(school), W=pl.Series(1.0 + school % 3)).write_csv(file)
    found = mensura_command(
        "responses", "fit", file, "--weights", "W", "--set", "cluster=SCHOOL", "--out", tmp_path / "fitted"
    )
    assert found.code == 0
    assert "12 clusters (SCHOOL)" in found.out
    assert pl.read_csv(tmp_path / "fitted" / "items.csv")["item"].to_list() == [f"i{place}" for place in range(6)]


def test_columns_may_be_in_another_table(tmp_path):
    wide = draw(30, 4, seed=1).wide
    survey_of(wide, w=2.0).write_csv(tmp_path / "people.csv")
    rest, people = take_columns([wide], ["w"], tmp_path / "people.csv")
    assert rest[0].equals(wide)
    assert people["w"].to_list() == [2.0] * 30


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda wide: Survey(survey_of(wide, w=-1.0), weights="w"), "weights must be finite, 0 or more"),
        (lambda wide: Survey(survey_of(wide, w="much"), weights="w"), "some weights are no numbers"),
        (lambda wide: Survey(survey_of(wide, w=1.0)[:5], weights="w"), "45 subjects have no value"),
        (lambda wide: Survey(survey_of(wide, r1=1.0), replicates="r*"), "1 columns match 'r"),
        (lambda wide: Survey(survey_of(wide, school="one"), cluster="school"), "one subject or cluster has no spread"),
        (lambda wide: Survey(survey_of(wide, w=1.0), replicates="w*", cluster="w"), "Leave out one"),
        (lambda wide: Survey(survey_of(wide, w=1.0), weights="w", replication="x"), "expected one of fay"),
    ],
)
def test_a_design_that_cannot_be_is_refused(make, message):
    wide = draw(50, 5, seed=1).wide
    with pytest.raises(MensuraError, match=message):
        fit_responses(wide, options=NO_PRIORS, survey=make(wide))


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(MensuraError, match="W_X: no such column"):
        take_columns([draw(5, 3).wide], ["W_X"], None)


def test_a_design_of_replicates_is_refused_without_them():
    with pytest.raises(MensuraError, match="replication: of no use without replicates"):
        Survey(pl.DataFrame({"subject": ["a"]}), replication="brr")
