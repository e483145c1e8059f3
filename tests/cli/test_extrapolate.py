"""``mensura validate`` as typed; the command stands beside ``mensura extrapolate``."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.extrapolate import _emit, _population, _print, _settled_domain
from mensura.people import ItemPool, World
from mensura.scale import Position, say_rarity

SUMMARY = "covariate,group,n_items,mae,rmse,pearson,spearman,coverage"


@pytest.fixture
def pool_folder(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "pisa2009_sim"
    folder.mkdir()
    easiness = rng.normal(0, 1, 20)
    shifts = {"AUS": 0.0, "ITA": 0.4, "JPN": -0.4, "RUS": 0.5}
    rows, right = [], np.zeros(20, dtype=int)
    for country, shift in shifts.items():
        correct = rng.binomial(300, 1 / (1 + np.exp(shift - easiness)))
        right += correct
        rows += [(f"q{k}", "country", f"country={country}", 300, int(c)) for k, c in enumerate(correct)]
    rows += [(f"q{k}", "all", "all", 1200, int(c)) for k, c in enumerate(right)]
    table = pl.DataFrame(rows, schema=["item", "covariate", "group", "n", "n_correct"], orient="row")
    table.with_columns(rate=pl.col("n_correct") / pl.col("n")).write_csv(folder / "group_rates.csv")
    items = pl.DataFrame({"item": [f"q{k}" for k in range(20)], "domain": ["reading"] * 20})
    items.write_csv(folder / "items.csv")
    return folder


@pytest.mark.parametrize("situation", ["described", "linked", "slices"])
def test_summary_is_written_with_its_exact_header(mensura_command, pool_folder, tmp_path, situation):
    out = tmp_path / "out"
    fewer = ("--set", "draws=10") if situation == "linked" else ()
    run = mensura_command("validate", pool_folder, "--situation", situation, *fewer, "--out", out)
    assert run.code == 0, run.err
    lines = (out / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == SUMMARY
    assert len(lines) == 5
    assert (out / "predictions.csv").is_file()
    assert f"pisa2009_sim: {situation}" in run.out
    assert ("mae_shift" in run.out) is (situation == "linked") and "Prompt variants" not in run.out


def test_json_holds_the_tables_and_the_method(mensura_command, pool_folder):
    run = mensura_command("validate", pool_folder, "--situation", "linked", "--links", 5, "--set", "draws=5", "--json")
    result = json.loads(run.out)
    assert result["method"] == "linked"
    assert len(result["summary"]) == 4
    assert result["overall"][0]["mae_shift"] is not None
    assert "variants" not in result and "models" not in result, "nobody was asked"


@pytest.mark.slow
def test_the_world_model_is_validated_like_any_other_method(mensura_command, pool_folder):
    run = mensura_command("validate", pool_folder, "--method", "poststratification", "--json")
    result = json.loads(run.out)
    assert result["method"] == "poststratification"
    assert len(result["summary"]) == 4
    assert len(result["pairs"]) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--situation", "guessed"], "situation: got 'guessed'"),
        (["--method", "linked"], "does not fit situation 'described'"),
        (["--method", "oracle"], "expected described, poststratification"),
        (["--situation", "linked", "--links", "19"], "for 19 links"),
    ],
)
def test_faults_are_said_without_a_traceback(mensura_command, pool_folder, arguments, message):
    run = mensura_command("validate", pool_folder, *arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_a_missing_folder_is_said(mensura_command, tmp_path):
    run = mensura_command("validate", tmp_path / "nowhere")
    assert run.code == 2
    assert "no folder; expected one with items.csv" in run.err


def test_several_models_stand_side_by_side(mensura_command, tmp_path):
    from mensura.llm.providers import SHIPPED

    other = tmp_path / "other.csv"
    other.write_bytes((SHIPPED / "example-rates.csv").read_bytes())
    models = ("--model", "recorded/example-rates", "--model", f"recorded/{other}")
    journal = ("--set", f"journal={tmp_path / 'j.db'}")
    result = json.loads(mensura_command("validate", "example", *models, *journal, "--json").out)
    assert {row["model"] for row in result["overall"]} == {"recorded/example-rates", f"recorded/{other}"}
    run = mensura_command("extrapolate", "example", *models, *journal, "--json")
    told = json.loads(run.out)
    alone = json.loads(mensura_command("extrapolate", "example", *models[:2], "--json").out)
    assert [row["models"] for row in told["pooled"]] == [2] * len(told["pooled"])
    for pooled, one in zip(told["pooled"], alone["rates"], strict=True):
        assert pooled["rate"] == pytest.approx(one["rate"]), "two models that agree say what one says"


def pool_of(*domains):
    items = pl.DataFrame({"item": [f"q{at}" for at in range(len(domains))], "domain": domains}, strict=False)
    rates = {"item": items["item"], "covariate": "all", "group": "all", "n": 10, "correct": 5, "rate": 0.5, "se": 0.1}
    return ItemPool("p", items, pl.DataFrame(rates))


def test_items_without_a_domain_take_the_one_that_all_others_have(capsys):
    world = World.load()
    assert _settled_domain(pool_of("reading", "mathematics"), None, world, True) is None, "each has its own"
    assert _settled_domain(pool_of("reading", None, "??"), None, world, True) == "reading"
    assert "domain of 2 items without one: reading, as that of all others" in capsys.readouterr().err
    assert _settled_domain(pool_of(None, None), None, world, False) is None, "one item may go without"
    assert _settled_domain(pool_of(None), "reading", world, True) == "reading"
    for domains, given, message in (
        (("reading", "mathematics", None), None, "1 of 3 items of pool 'p' have no domain that is known"),
        ((None, None), None, "2 of 2 items of pool 'p' have no domain"),
        (("reading",), "juggling", "--domain juggling: not known; expected a word among "),
    ):
        with pytest.raises(MensuraError, match=message):
            _settled_domain(pool_of(*domains), given, world, True)


def test_a_population_is_narrowed_by_the_words_behind_its_name():
    world = World.load()
    plain = world.population("DEU")
    assert _population(world, "DEU") == plain and not plain.in_school
    pupils = _population(world, "DEU, 15-16, pupils")
    assert (pupils.countries, pupils.ages, pupils.in_school) == (("DEU",), (15, 16), True)
    older = _population(world, "DEU, 50+")
    assert older.ages[0] == 50 and not older.in_school
    with pytest.raises(MensuraError, match="unknown population 'DEU, tall'"):
        _population(world, "DEU, tall")


def result_of(reference, *rates):
    """Return an extrapolation of pupils to a population: rates with intervals 0.1 wide, half of them observed."""
    world = World.load()
    table = pl.DataFrame({"item": [f"q{at}" for at in range(len(rates))], "rate": rates})
    table = table.with_columns(low=pl.col("rate") - 0.05, high=pl.col("rate") + 0.05)
    task = SimpleNamespace(rate=np.array(rates) / 2, n=np.full(len(rates), 100.0))
    people = {"focal": world.population("pisa"), "reference": world.population(reference)}
    return SimpleNamespace(**people, table=table, task=task, warnings=["careful"], level=0.9)


def test_one_item_is_said_with_its_rarity_and_several_with_both_means(capsys):
    _print(result_of("world", 0.5), {"distance": pl.DataFrame({"far": [1]})}, "region")
    one = capsys.readouterr().out
    assert one.startswith("Observed: pisa, ages 15, at school\nWanted: world, ages ") and "note: careful\n" in one
    place = Position(0.5, 0.45, 0.55).iq
    said = f"world: 50.0% (45.0% to 55.0%): {say_rarity(0.5, 100.0)}, an IQ-equivalent of 100 "
    assert f"{said}({place.low:.0f} to {place.high:.0f}).\n" in one
    assert "Distance to the world" not in one, "the distance of one item says nothing more"
    _print(result_of("DEU", 0.5), {}, "region")
    assert "\nDEU: 50.0% (45.0% to 55.0%).\n" in capsys.readouterr().out, "rarity is that in the world"
    _print(result_of("world", 0.5, 0.2), {"distance": pl.DataFrame({"far": [1]})}, "region")
    two = capsys.readouterr().out
    assert "world: 35.0% right on average over 2 items; pisa: 17.5%.\n" in two and "Distance to the world" in two


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give the folder of a pool, or --rate, and not both"),
        (["example", "--rate", "0.5"], "and not both"),
        (["--rate", "0.5"], "--rate needs --from"),
    ],
)
def test_a_pool_or_a_rate_with_its_population_is_needed(mensura_command, words, message):
    run = mensura_command("extrapolate", *words)
    assert (run.code, message in run.err) == (2, True)


def test_the_distance_to_the_world_is_measured_where_the_world_is_wanted_and_has_rates(monkeypatch):
    emitted = []
    monkeypatch.setattr("mensura.cli.extrapolate.emit", lambda parts, **facts: emitted.append((set(parts), facts)))
    measured = pl.DataFrame({"far": [1]})
    monkeypatch.setattr("mensura.extrapolation.measure_distance", lambda observed, results: measured, raising=False)
    for reference, rates, expected in (
        ("world", [0.5, 0.2], {"rates", "distance", "more"}),
        ("DEU", [0.5, 0.2], {"rates", "more"}),
        ("world", [None], {"rates", "more"}),
    ):
        result = result_of(reference, *(rate or 0.5 for rate in rates))
        result.table = result.table.with_columns(rate=pl.Series(rates, dtype=pl.Float64))
        result.method, result.tables = "linked", lambda table=result.table: {"rates": table}
        result.task.names = [f"q{at}" for at in range(len(rates))]
        monkeypatch.setattr("mensura.cli.extrapolate._print", lambda *_: None)
        _emit(result, {"more": measured}, "region")
        parts, facts = emitted[-1]
        assert parts == expected
        assert facts == {"method": "linked", "from": "pisa", "to": reference, "level": 0.9, "warnings": ["careful"]}
