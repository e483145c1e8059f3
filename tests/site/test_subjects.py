"""Chances between every pair of models, from draws: packed as the pages read them, against plain counting."""

import base64
from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl

from mensura.evidence import slug
from mensura.scale import iq_to_rate
from mensura.site.subjects import _PLAIN, chance_layers, comparison_records, group_records, model_records, score_rows
from mensura.study.units import chance, rarity


def layers_of(composites, dimensions):
    drawn = SimpleNamespace(
        subjects=tuple(map(str, range(composites.shape[1]))), composites=composites, dimensions=dimensions
    )
    found = chance_layers(
        SimpleNamespace(iq=SimpleNamespace(drawn=drawn, matrix=SimpleNamespace(dimensions=("d", "e"))))
    )
    return {name: list(base64.b64decode(packed)) for name, packed in found["layers"].items()}


def plainly(draws):
    """P(i above j) in whole percent for i < j; 255 where one has no value in some draw."""
    known, count = np.isfinite(draws).all(axis=0), draws.shape[1]
    return [
        round(100 * float(np.mean(draws[:, i] > draws[:, j]))) if known[i] and known[j] else 255
        for i in range(count)
        for j in range(i + 1, count)
    ]


def test_every_pair_is_counted_over_all_draws_in_each_layer():
    """More models than are compared at once, more draws than a byte counts, ties, and gaps in single draws."""
    rng = np.random.default_rng(2)
    composites = np.round(rng.normal(100, 3, (300, 70)) + np.arange(70) / 9, 1)
    dimensions = rng.normal(100, 3, (300, 70, 2))
    composites[0, 5] = np.nan
    dimensions[:, 66, 1] = np.nan
    found = layers_of(composites, dimensions)
    assert list(found) == ["composite", "d", "e"]
    assert found["composite"] == plainly(composites)
    assert found["d"] == plainly(dimensions[:, :, 0])
    assert found["e"] == plainly(dimensions[:, :, 1])


def test_equal_values_are_above_neither():
    draws = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 3.0]])
    assert layers_of(draws, np.stack([draws, -draws], axis=2)) == {
        "composite": [0, 50, 50],
        "d": [0, 50, 50],
        "e": [0, 50, 50],
    }


def people_study():
    """Return a study of two tests in different units; experts took both, pupils one and were judged."""
    tests = [
        {"benchmark": "quiz", "group": "experts", "status": "measured"},
        {"benchmark": "votes", "group": "experts", "status": "measured"},
        {"benchmark": "quiz", "group": "pupils", "status": "judged"},
        {"benchmark": "quiz", "group": "rule", "status": "constructed"},
    ]
    printed = {
        (row["benchmark"], row["group"]): {
            "score": 81.25,
            "unit": "percent",
            "low": 70.0,
            "high": None,
            "n": 9,
            "source": "paper",
        }
        for row in tests
    }
    scores = [("m", "quiz", 90.0, "percent"), ("n", "quiz", 40.0, "percent"), ("m", "votes", 1310.0, "elo")]
    primary = pl.DataFrame(scores, schema=["subject", "benchmark", "score", "unit"], orient="row")
    references = pl.DataFrame({"benchmark": ["quiz", "votes"], "score": [81.25, 1100.0]})
    benchmarks = pl.DataFrame(
        {
            "benchmark": ["quiz", "votes", "untaken"],
            "name": ["Quiz", "Votes", "No"],
            "unit": ["percent", "elo", "percent"],
        }
    )
    return SimpleNamespace(
        people=SimpleNamespace(tests=pl.DataFrame(tests)),
        rows=SimpleNamespace(printed_people=printed),
        benchmark_names={"quiz": "Quiz", "votes": "Votes"},
        benchmarks=benchmarks,
        evidence=SimpleNamespace(primary_scores=primary, human_references=references),
        over_people={("quiz", "experts"): {"m": 0.99, "n": 0.004}},
    )


def test_a_group_is_named_with_its_test_and_how_it_is_known_or_with_how_many_it_took():
    records = group_records(people_study())
    assert [record["name"] for record in records.values()] == [
        "People: experts (2 tests)",
        "People: pupils (Quiz, judged)",
    ]
    experts = records["experts"]
    assert experts["page"] == f"people:{slug('experts')}" and list(experts["scores"]) == ["quiz", "votes"]
    assert experts["scores"]["quiz"] == {
        "value": 81.25,
        "text": "81.2%",
        "low": 70.0,
        "high": None,
        "status": "measured",
        "n": 9,
        "source": "paper",
    }


def test_a_share_runs_to_a_hundred_and_another_unit_over_what_occurs():
    records = comparison_records(people_study())
    assert records["benchmarks"] == {
        "quiz": {"name": "Quiz", "unit": "percent", "page": slug("quiz"), "low": 0.0, "high": 100.0},
        "votes": {"name": "Votes", "unit": "elo", "page": slug("votes"), "low": 1100.0, "high": 1310.0},
    }
    assert records["scores"] == {
        "m": {"quiz": [90.0, "90%"], "votes": [1310.0, "1,310 Elo"]},
        "n": {"quiz": [40.0, "40%"]},
    }
    assert records["beats"] == {"quiz": {"experts": {"m": chance(0.99), "n": chance(0.004)}}}
    assert list(records["groups"]) == ["experts", "pupils"]


def test_the_record_of_a_model_has_its_iq_with_what_it_rests_on():
    plain = dict.fromkeys(_PLAIN)
    row = {
        "subject": "m",
        "name": "Em",
        "provider": "OpenAI",
        "released": date(2026, 1, 1),
        "iq": 130,
        "exact_iq": 130.0,
    }
    row |= {"iq_low": 125.0, "iq_high": 135.0, "measured": 9, "inherited": 1, "estimated": 22, "published": 131}
    row |= {"own_iq": 129.0, "scored_dimensions": 7, "status": "Full", "capability": 2.0, "capability_low": 1.5}
    row |= {"capability_high": 2.5, **plain}
    none = row | dict.fromkeys(("iq", "exact_iq", "published", "status", "capability")) | {"subject": "n"}
    trail = [
        ("m", "math", "hle", 21.5, "percent", 120.04, "measured", None),
        ("m", "math", "gap", None, "percent", 118.0, "estimated", "joint"),
    ]
    columns = ["subject", "dimension", "benchmark", "score", "unit", "iq", "status", "step"]
    value = {"subject": "m", "dimension": "math", "iq": 125.0, "low": 115.0, "high": 135.0, "shown": "measured"}
    value |= {"status": "Full", "measured": 1, "inherited": 0, "estimated": 1}
    study = SimpleNamespace(
        models=pl.DataFrame([row, none], infer_schema_length=None),
        iq=SimpleNamespace(
            matrix=SimpleNamespace(benchmarks=["x"] * 32),
            emotional=pl.DataFrame({"subject": ["m"], "eq": [99.0], "empathy": [101.0]}),
            trail=pl.DataFrame(trail, schema=columns, orient="row"),
            dimensions=pl.DataFrame([value]),
        ),
        evidence=SimpleNamespace(benchmarks=pl.DataFrame({"benchmark": ["hle", "gap"], "name": ["HLE", "Gap"]})),
        dimensions=pl.DataFrame([value]),
        dimension_names={"math": "Mathematics", "trust": "Reliability"},
        benchmark_names={"empathy": "Empathy Test"},
    )
    records = model_records(study)
    assert list(records) == ["m", "n"]
    made = records["m"]
    assert made["iq"] == {
        "value": 130,
        "low": 125.0,
        "high": 135.0,
        "note": "9 of 32 benchmarks measured, 1 inherited, 22 estimated. By the published method 131.",
    }
    assert made["capability"] == {"value": 2.0, "low": 1.5, "high": 2.5}
    assert (made["rarity"], made["eq_parts"]) == (rarity(1 / iq_to_rate(130.0)), [["Empathy Test", 101.0]])
    [dimension] = made["dimensions"]
    assert (dimension["name"], dimension["iq"], dimension["status"], dimension["how"]) == (
        *("Mathematics", 125.0, "measured"),
        "Full",
    )
    assert dimension["counts"] == [1, 0, 1]
    assert dimension["benchmarks"] == [["HLE", "21.5%", 120.0, "measured"], ["Gap", None, 118.0, "joint"]]
    other = records["n"]
    assert (other["iq"], other["rarity"], other["capability"], other["eq_parts"], other["dimensions"]) == (
        *(None, None, None, []),
        [],
    )
    assert other["status"] == "Unranked" and made["status"] == "Full"


def test_scores_of_the_explorer_name_models_and_tests_by_number():
    models = {"subject": ["m", "n"], "name": ["Em", "En"], "provider": "OpenAI", "released": date(2026, 1, 1)}
    scores = [
        ("n", "quiz", 41.25, "percent", True, "board", "2026-03"),
        ("m", "quiz", 50.0, "percent", False, "x", None),
    ]
    columns = ["subject", "benchmark", "score", "unit", "primary", "source", "date"]
    evidence = SimpleNamespace(
        models=pl.DataFrame({**models, "open_weights": [True, False], "reasoning": [False, True]}),
        benchmarks=pl.DataFrame(
            {"benchmark": ["votes", "quiz"], "name": ["Votes", "Quiz"], "unit": ["elo", "percent"]}
        ),
        sources=pl.DataFrame({"source": ["board"], "name": ["The board"], "url": ["https://a.org; copied"]}),
        scores=pl.DataFrame(scores, schema=columns, orient="row"),
    )
    found = score_rows(SimpleNamespace(evidence=evidence))
    assert found["models"][0] == ["Em", "m", "OpenAI", date(2026, 1, 1), True, False]
    assert found["tests"] == [["Votes", "votes", "elo"], ["Quiz", "quiz", "percent"]]
    assert found["sources"] == {"board": ["The board", "https://a.org"]}
    assert found["rows"] == [[1, 1, 41.25, "41.2%", 1, "board", "2026-03"], [0, 1, 50.0, "50%", 0, "x", None]]
