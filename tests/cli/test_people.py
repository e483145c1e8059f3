"""``mensura people`` and ``mensura extrapolate`` as a user types them."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.people import _about_points, _labels, _mean_rate, split_crossings
from mensura.people import ItemPool


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(2)
    persons = pl.DataFrame(
        {"person": range(120), "country": ["JPN", "CHL"] * 60, "sex": ["f"] * 50 + ["m"] * 70, "age": [15.0, 16.0] * 60}
    )
    answers = pl.DataFrame({"person": range(120), **{f"m{item}": rng.integers(0, 2, 120) for item in range(3)}})
    items = pl.DataFrame({"item": ["m0", "m1", "m2"], "domain": ["mathematics"] * 3})
    ItemPool.from_answers("pool", items, answers, persons, by=["country", "sex"]).write(tmp_path / "pool")
    return tmp_path / "pool"


def test_summary(mensura_command, folder):
    found = json.loads(mensura_command("people", "summary", folder, "--json").out)
    assert (found["items"], found["persons"]) == (3, 120)
    assert {row["group"] for row in found["groups"]} == {"all", "country=CHL", "country=JPN", "sex=f", "sex=m"}
    assert "3 items, 120 persons" in mensura_command("people", "summary", folder).out


def test_rates_of_any_crossing(mensura_command, folder, tmp_path):
    pool = ItemPool.read(folder)
    banded = replace(
        pool, persons=pool.persons.with_columns(age_band=pl.when(pl.col("age") < 16).then(pl.lit("under 16")))
    )
    table = banded.tabulate([("country", "sex"), "age_band"])
    assert table["covariate"].unique().sort().to_list() == ["age_band", "all", "country_sex"]
    assert "age_band=under 16" in table["group"].to_list()
    assert mensura_command("people", "rates", folder, "--by", "country+sex", "--out", tmp_path / "out").code == 0
    written = pl.read_csv(tmp_path / "out/rates.csv")
    assert written["covariate"].unique().sort().to_list() == ["all", "country_sex"]


@pytest.mark.slow
def test_extrapolate_one_rate_for_people_and_programs(mensura_command, tmp_path):
    arguments = [
        "extrapolate",
        "--rate",
        "0.19",
        "--from",
        "pisa",
        "--to",
        "world",
        "--domain",
        "mathematics",
        "--set",
        "draws=100",
    ]
    found = json.loads(mensura_command(*arguments, "--json", "--out", tmp_path).out)
    [row] = found["rates"]
    assert row["low"] < row["rate"] < row["high"]
    assert (found["from"], found["to"], found["method"]) == ("pisa", "world", "poststratification")
    assert len(found["breakdown"]) == 6
    assert {path.name for path in tmp_path.glob("*.csv")} == {
        "rates.csv",
        "sensitivity.csv",
        "breakdown.csv",
        "drivers.csv",
        "distance.csv",
    }
    shown = mensura_command(*arguments).out
    assert "an IQ-equivalent of" in shown
    assert "What the rates depend on" in shown


def test_extrapolate_a_pool(mensura_command, folder):
    run = mensura_command(
        "extrapolate", folder, "--group", "country=JPN", "--to", "Chile", "--set", "draws=50", "--json"
    )
    assert len(json.loads(run.out)["rates"]) == 3


def test_extrapolate_by_links(mensura_command, folder, tmp_path):
    rates = ItemPool.read(folder).rates_of("country=CHL")
    rates.head(1).select("item", "rate", "n").write_csv(tmp_path / "links.csv")
    arguments = ["--group", "country=JPN", "--to", "Chile", "--method", "linked", "--links", tmp_path / "links.csv"]
    found = json.loads(mensura_command("extrapolate", folder, *arguments, "--json").out)
    assert [row["status"] for row in found["rates"]] == ["measured", "extrapolated", "extrapolated"]
    assert found["rates"][0]["rate"] == rates["rate"][0]
    assert "breakdown" not in found
    printed = mensura_command("extrapolate", folder, *arguments)
    assert printed.code == 0
    assert "What the rates depend on" in printed.out


def test_populations_are_listed(mensura_command):
    names = [row["population"] for row in json.loads(mensura_command("people", "summary", "--json").out)["populations"]]
    assert {"world", "pisa", "icar"} <= set(names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extrapolate"], "give the folder of a pool, or --rate"),
        (["extrapolate", "--rate", "0.2"], "--rate needs --from"),
        (["extrapolate", "--rate", "0.2", "--from", "Atlantis"], "unknown population 'Atlantis'"),
        (["extrapolate", "--rate", "20", "--from", "pisa"], "rate must lie between 0 and 1"),
        (["extrapolate", "--rate", "1", "--from", "pisa"], "rate of exactly 1 and no n"),
        (["extrapolate", "--rate", "0.2", "--from", "JPN, 9-x"], "expected a form such as 18-24"),
        (
            ["extrapolate", "--rate", "0.2", "--from", "JPN", "--method", "described", "--set", "draws=50"],
            "method 'described' has no setting 'draws'; expected level, priors",
        ),
        (["extrapolate", "--rate", "0.2", "--from", "JPN", "--method", "linked"], "needs linking items"),
        (["extrapolate", "--rate", "0.2", "--n", "-5", "--from", "pisa"], "n must be above 0, got -5"),
        (["people", "summary", "nowhere"], "nowhere: no such file or folder"),
        (["people", "import", "x.csv", "--items", "q", "--out", "y"], "x.csv: no such file"),
        (
            ["people", "import", "there.csv", "--items", "q", "--out", "y", "--set", "mode=post"],
            "unknown mode 'post'; expected one of",
        ),
    ],
)
def test_what_a_careless_user_types(mensura_command, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").touch()
    run = mensura_command(*arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_unknown_covariate_group_and_pattern(mensura_command, folder, tmp_path):
    assert "no covariate 'shoe'" in mensura_command("people", "rates", folder, "--by", "shoe").err
    assert "no group 'country=XXX'" in mensura_command("extrapolate", folder, "--group", "country=XXX").err
    pl.DataFrame({"a": [1]}).write_csv(tmp_path / "t.csv")
    run = mensura_command("people", "import", tmp_path / "t.csv", "--items", "^q", "--out", tmp_path / "y")
    assert "matches none of the 1 columns (a)" in run.err


def test_of_pupils_and_another_country_nothing_is_said_of_the_world(mensura_command):
    words = ("extrapolate", "--rate", "0.5", "--n", "100", "--set", "draws=20", "--domain", "reading")
    narrow = mensura_command(*words, "--from", "DEU, 15-15, pupils", "--to", "JPN").out
    assert "Observed: DEU, ages 15, at school" in narrow
    assert "Wanted: JPN" in narrow
    assert "IQ-equivalent" not in narrow and "Distance to the world" not in narrow


def test_the_hardest_and_the_easiest_item_of_the_whole_sample_are_named(folder):
    rates = pl.DataFrame(
        {"item": ["a", "b", "c", "c"], "covariate": ["all", "all", "all", "sex"], "rate": [0.5, 0.25, 0.9, 0.1]}
    )
    said = "pool: 55.0% right on average, from 25.0% (b) to 90.0% (c)."
    assert _mean_rate(ItemPool.read(folder), rates) == said


def test_codes_get_the_names_that_are_given_to_them():
    labels = ["sex=1:female, 2:male", "land=7:North:East"]
    named = {"sex": {"1": "female", "2": "male"}, "land": {"7": "North:East"}}
    assert _labels(labels, ["land", "sex"]) == named
    assert _labels([], []) == {}
    for wrong in ("sex", "sex=", "sex=1", "sex=:f", "sex=1:f,2:", "shoe=1:f"):
        with pytest.raises(MensuraError, match=f"--label {wrong}: expected COVARIATE=CODE:NAME"):
            _labels([wrong], ["sex"])
    assert split_crossings("age_band, country+sex,") == [("age_band",), ("country", "sex")]


def test_points_are_written_where_asked_for_and_partial_credit_is_said(tmp_path):
    points = pl.DataFrame({"person": [5, 6], "q1": [0, 1], "q2": [2, None], "q3": [None, None]})
    assert _about_points(points, None) == [
        "partial credit: q2. --points FILE keeps their points for responses fit --model graded"
    ]
    assert _about_points(points.drop("q2"), None) == []
    target = tmp_path / "points.csv"
    assert _about_points(points, target) == [f"wrote the points of 3 items to {target}"]
    assert pl.read_csv(target).columns == points.columns
