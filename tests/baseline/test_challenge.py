"""A public test of estimators: sealed rates, submissions with a hash, the standing of methods."""

import json
from datetime import date

import polars as pl
import pytest

from mensura import MensuraError
from mensura.baseline import challenge

OPENS = date(2027, 6, 1)


@pytest.fixture
def rates(tmp_path):
    rows = [
        f"q{n},{who},{0.1 + 0.08 * n + 0.05 * (who == 'crowd workers'):.2f},60,What is {n}+{n}?"
        for n in range(10)
        for who in ("crowd workers", "pupils in grade 8")
    ]
    file = tmp_path / "rates.csv"
    file.write_text("\n".join(["item,population,rate,n,text", *rows]), encoding="utf-8")
    return file


@pytest.fixture
def pool(rates, tmp_path):
    return challenge.seal_pool(rates, tmp_path / "pool", OPENS)


def entry(pool, folder, rates, error, made=date(2027, 1, 1), method="direct"):
    table = pl.read_csv(rates).with_columns(rate=pl.col("rate") + error)
    table = table.with_columns(low=pl.col("rate") - 0.05, high=pl.col("rate") + 0.05).drop("n", "text")
    challenge.write_submission(pool, table, folder, method=method, estimator="us", made=made)
    return folder


def test_a_sealed_pool_shows_items_and_no_rates(pool, rates):
    shown = (pool.folder / "items.csv").read_text() + (pool.folder / "pool.json").read_text()
    assert "What is 3+3?" in shown
    assert "0.34" not in shown
    assert "rate" not in pool.items.columns
    again = challenge.seal_pool(rates, pool.folder.with_name("again"), OPENS)
    assert again.seal != pool.seal  # the salt differs, so that nobody can guess rates and compare


def test_rates_open_on_the_day_with_the_right_key_only(pool):
    with pytest.raises(MensuraError, match="sealed until 2027-06-01"):
        pool.rates(date(2027, 5, 31))
    assert pool.rates(OPENS).height == 20
    key = json.loads((pool.folder / "key.json").read_text())
    key["rates"][0]["rate"] += 0.01
    (pool.folder / "key.json").write_text(json.dumps(key))
    with pytest.raises(MensuraError, match="not the sealed ones"):
        pool.rates(OPENS)
    (pool.folder / "key.json").unlink()
    with pytest.raises(MensuraError, match=r"no key\.json"):
        pool.rates(OPENS)


def test_the_smallest_error_stands_first_and_late_entries_last(pool, rates, tmp_path):
    good, bad = entry(pool, tmp_path / "good", rates, 0.02), entry(pool, tmp_path / "bad", rates, 0.06, method="crowd")
    late = entry(pool, tmp_path / "late", rates, 0.0, made=OPENS)
    standing = challenge.score_submissions(pool, [bad, late, good], OPENS)
    whole = standing.filter(people="all")
    assert whole["error"].to_list() == pytest.approx([0.02, 0.06, 0.0])
    assert whole["held"].to_list() == [1.0, 0.0, 1.0]
    assert whole["width"].to_list() == pytest.approx([0.1] * 3)
    assert whole["rank_correlation"].to_list() == pytest.approx([1.0] * 3)
    assert whole["late"].to_list() == [False, False, True]
    assert set(standing["people"]) == {"all", "crowd", "pupils"}
    page = challenge.standing_page(pool, standing)
    assert "| all | direct asking | us | 2027-01-01 | 0.020 | 1.00 | 100% | 0.10 |" in page
    assert "2027-06-01 (late)" in page


def test_a_submission_that_was_changed_or_lacks_items_is_refused(pool, rates, tmp_path):
    made = entry(pool, tmp_path / "mine", rates, 0.02) / "submission.json"
    made.write_text(made.read_text().replace('"direct"', '"crowd"'))
    with pytest.raises(MensuraError, match="changed after it was made"):
        challenge.score_submissions(pool, [made], OPENS)
    few = pl.read_csv(rates).head(3).drop("n", "text")
    with pytest.raises(MensuraError, match="17 of 20 items have no estimate"):
        challenge.write_submission(pool, few, tmp_path / "few", method="direct", estimator="us", made=OPENS)


def test_the_shipped_pool_is_open_and_its_key_fits():
    pool = challenge.read_sealed(challenge.SIMULATED)
    rates = pool.rates(date(2026, 11, 18))
    assert rates.height == pool.items.height == 60
    assert rates["rate"].is_between(0, 1).all()


def test_the_three_steps_from_the_command_line(mensura_command, rates, tmp_path):
    sealed = ("baseline", "challenge", "seal", rates, "--set", "opens=2026-11-01", "--out", tmp_path / "pool")
    assert mensura_command(*sealed).code == 0
    said = pl.read_csv(rates).drop("n", "text")
    said.write_csv(tmp_path / "said.csv")
    made = ("--estimates", tmp_path / "said.csv", "--estimator", "us", "--out", tmp_path / "entry")
    run = mensura_command("baseline", "challenge", "submit", tmp_path / "pool", *made)
    assert run.code == 0, run.err
    run = mensura_command("baseline", "challenge", "score", tmp_path / "pool", tmp_path / "entry", "--json")
    assert json.loads(run.out)["standing"][0]["error"] < 1e-9
    assert "expected one of seal, submit, score" in mensura_command("baseline", "challenge", "win").err
    scored = mensura_command("baseline", "challenge", "score", tmp_path / "pool")
    assert "expected submissions after the pool" in scored.err
    assert "is no day" in mensura_command("baseline", "challenge", "seal", rates, "--out", tmp_path / "x").err


def test_a_pool_without_populations_is_of_people_and_takes_estimates_without_any(tmp_path):
    (tmp_path / "rates.csv").write_text("item,rate,n\na,0.5,10\nb,0.25,10\n", encoding="utf-8")
    pool = challenge.seal_pool(tmp_path / "rates.csv", tmp_path / "pool", OPENS)
    assert pool.items.rows() == [("a", "people"), ("b", "people")]
    said = {"item": ["b", "a", "c"], "rate": [0.25, 0.75, 0.1]}
    made = challenge.write_submission(pool, said, tmp_path / "mine", method="other", estimator="a|b", made=OPENS)
    assert [row["item"] for row in made["estimates"]] == ["a", "b"]
    assert made["estimates"][0] == {"item": "a", "population": "people", "rate": 0.75, "low": 0.75, "high": 0.75}
    standing = challenge.score_submissions(pool, [tmp_path / "mine"], OPENS)
    (row,) = standing.to_dicts()
    assert (row["people"], row["items"], row["error"], row["held"], row["width"]) == ("all", 2, 0.125, 0.5, 0.0)
    assert row["rank_correlation"] == pytest.approx(1.0) and row["late"]
    page = challenge.standing_page(pool, standing.with_columns(rank_correlation=pl.lit(None, pl.Float64)))
    assert "| all | another method | a/b | 2027-06-01 (late) | 0.125 | – | 50% | 0.00 |" in page
    assert "2 items, open since 2027-06-01." in page


def test_what_is_no_pool_and_no_submission_for_it_is_refused(pool, rates, tmp_path):
    with pytest.raises(MensuraError, match=r"no pool\.json in it; expected a pool of the challenge"):
        challenge.read_sealed(tmp_path)
    made = entry(pool, tmp_path / "mine", rates, 0.0)
    other = challenge.seal_pool(rates, tmp_path / "other", OPENS)
    with pytest.raises(MensuraError, match="made for 'pool'; expected a submission for 'other'"):
        challenge.score_submissions(other, [made], OPENS)
    (made / "submission.json").write_text("{", encoding="utf-8")
    with pytest.raises(MensuraError, match="not readable as JSON"):
        challenge.score_submissions(pool, [made], OPENS)
    with pytest.raises(MensuraError, match="method: got 'luck'"):
        entry(pool, tmp_path / "x", rates, 0.0, method="luck")


def test_alike_rates_have_no_rank_correlation(tmp_path):
    (tmp_path / "rates.csv").write_text("item,rate,n\na,0.5,10\nb,0.5,10\n", encoding="utf-8")
    pool = challenge.seal_pool(tmp_path / "rates.csv", tmp_path / "pool", OPENS, "salt")
    said = {"item": ["a", "b"], "rate": [0.4, 0.6]}
    challenge.write_submission(pool, said, tmp_path / "mine", method="crowd", estimator="us", made=date(2027, 5, 31))
    row = challenge.score_submissions(pool, [tmp_path / "mine" / "submission.json"], OPENS).row(0, named=True)
    assert (row["rank_correlation"], row["late"]) == (None, False)
    assert challenge.seal_pool(tmp_path / "rates.csv", tmp_path / "again", OPENS, "salt").seal == pool.seal
