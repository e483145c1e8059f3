"""The chart policy is data: who is drawn by default, and how an override changes it."""

from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.study.policy import COSTS, PlainRows, apply_policy, frontier_lines, list_models, load_policy, policy_rules

MODELS = pl.DataFrame(
    {
        "subject": ["big-1", "big-2", "big-3", "small-1", "small-2", "elsewhere"],
        "provider": ["OpenAI"] * 5 + ["Startup"],
        "line": ["big"] * 3 + ["small"] * 2 + [None],
        "released": [
            date(2024, 1, 1),
            date(2025, 1, 1),
            date(2026, 1, 1),
            date(2025, 1, 1),
            date(2026, 1, 1),
            date(2026, 1, 1),
        ],
        "tier": [0, 0, 0, -1, -1, 0],
    }
)


def shown(column, policy=None, scored=None):
    scored = MODELS["subject"] if scored is None else pl.Series(scored)
    rows = apply_policy(MODELS, scored, policy or load_policy(mensura.load()))
    return rows.filter(column)["subject"].to_list()


def test_two_generations_of_flagships_one_of_smaller_models():
    assert shown("charted") == ["big-2", "big-3", "small-2", "elsewhere"]


def test_timeline_takes_every_flagship_of_a_top_lab():
    assert shown("on_timeline") == ["big-1", "big-2", "big-3"]


def test_without_a_derived_iq_nothing_is_drawn():
    assert shown("charted", scored=["big-3"]) == ["big-3"]


def test_overrides_show_and_hide():
    exceptions = pl.DataFrame(
        {
            "subject": ["big-1", "big-3", "small-1"],
            "publication": [None, "hidden", None],
            "type": pl.Series([None] * 3, dtype=pl.String),
            "generation": [None, None, 0],
            "display": ["show", None, None],
            "reason": ["history", None, None],
        }
    )
    policy = replace(load_policy(mensura.load()), overrides=exceptions)
    assert shown("charted", policy) == ["big-1", "big-2", "small-1", "small-2", "elsewhere"]


def test_a_model_made_for_one_thing_is_in_no_chart_by_default():
    """Coding models have an IQ and a page, and stand on no chart of general models."""
    rows = mensura.load().policy.filter(type="specialised")
    assert {"gpt-5.3-codex", "kimi-k2.7-code", "kat-coder-pro-v1"} <= set(rows["subject"])
    exceptions = rows.head(1).with_columns(subject=pl.lit("big-3"))
    policy = replace(load_policy(mensura.load()), overrides=exceptions)
    assert shown("charted", policy) == ["big-2", "small-2", "elsewhere"]
    assert shown("on_timeline", policy) == ["big-1", "big-2"]


def test_the_policy_comes_from_the_evidence_not_from_the_installed_package(tmp_path):
    mensura.load().save(tmp_path)
    rules = tmp_path / "chart_rules.csv"
    rules.write_text(rules.read_text().replace("current_generations_flagship,2", "current_generations_flagship,1"))
    (tmp_path / "policy.csv").write_text(
        "subject,publication,type,generation,display,reason\ngpt-5,archive,,,,a test\n"
    )
    policy = load_policy(mensura.load(tmp_path))
    assert policy.flagship_generations == 1
    assert policy.overrides.row(0, named=True)["publication"] == "archive"
    assert shown("charted", policy) == ["big-3", "small-2", "elsewhere"]


def test_a_rule_that_is_missing_is_refused_with_the_evidence(tmp_path):
    mensura.load().save(tmp_path)
    rules = tmp_path / "chart_rules.csv"
    kept = [line for line in rules.read_text().splitlines() if not line.startswith("per_chart")]
    rules.write_text("\n".join(kept))
    with pytest.raises(mensura.MensuraError, match="a row per_chart; every rule has one"):
        mensura.load(tmp_path)


def test_lines_connect_checkpoints_that_do_not_fall():
    points = pl.DataFrame(
        {
            "provider": ["A"] * 3,
            "released": [date(2024, 1, 1), date(2025, 1, 1), date(2026, 1, 1)],
            "value": [100.0, 90.0, 110.0],
        }
    )
    assert frontier_lines(points)["value"].to_list() == [100.0, 110.0]
    level = pl.DataFrame({"provider": ["A", "A", "B"], "released": [1, 2, 1], "value": [5.0, 5.0, 1.0]})
    assert frontier_lines(level).rows() == [("A", 1, 5.0), ("A", 2, 5.0), ("B", 1, 1.0)]


def study_of():
    """Return a study of three models; the parts of one that nobody asks for are not there."""
    models = pl.DataFrame({"subject": ["a", "b", "c"], "name": ["Ay", "Bee", "Cee"], "provider": "OpenAI"})
    composites = pl.DataFrame(
        {"subject": ["a", "b"], "iq": [110, 130], "low": [100.0, 120.0], "high": [120.0, 140.0], "missing": [None, "x"]}
    )
    iq = SimpleNamespace(
        composites=composites,
        exact=pl.DataFrame({"subject": ["a", "b"], "exact": [110.4, 129.6]}),
        ranking=pl.DataFrame(
            {"subject": ["b", "x"], "rank": [1, 2], "rank_low": 1, "rank_high": 2, "p_first": 0.9, "other": 1}
        ),
        emotional=pl.DataFrame({"subject": ["a"], "eq": [99.0], "part": [1.0]}),
    )
    dimensions = pl.DataFrame(
        {"subject": ["a"] * 4 + ["b"] * 4, "shown": ["measured"] * 4 + ["measured"] * 3 + ["estimated"]}
        | {"dimension": ["math", "trust"] * 4, "iq": 100.123, "low": 90.0, "high": 110.0}
        | {"measured": 2, "inherited": 1, "estimated": 3}
    )
    capabilities = pl.DataFrame(
        {"subject": ["c", "a"], "capability": [2.0, 3.0], "low": [1.0, 2.0], "high": [3.0, 4.0]}
    )
    places = pl.DataFrame(
        {"subject": list("abc"), "generation": 0, "charted": [True, False, False], "on_timeline": True}
    )
    return SimpleNamespace(
        evidence=SimpleNamespace(models=models),
        iq=iq,
        dimensions=dimensions,
        capabilities=capabilities,
        place_in_charts=places,
        costs=SimpleNamespace(costs=pl.DataFrame({"subject": ["a"], **{name: [5.0] for name in COSTS}})),
    )


@pytest.fixture
def own(monkeypatch):
    own = pl.DataFrame({"subject": ["a", "b"], "own_iq": [1.0, 2.0]})
    monkeypatch.setattr("mensura.study.policy.measure_own", lambda _: own)


def test_a_model_is_mostly_measured_where_four_of_its_dimensions_are(own):
    rows = list_models(study_of())
    assert rows["subject"].to_list() == ["b", "a", "c"], "best IQ first"
    facts = {row["subject"]: row for row in rows.iter_rows(named=True)}
    assert [facts[name]["shown"] for name in "abc"] == ["measured", "estimated", "estimated"]
    assert (facts["a"]["iq_low"], facts["a"]["iq_high"], facts["a"]["exact_iq"]) == (100.0, 120.0, 110.4)
    assert (facts["a"]["capability"], facts["a"]["capability_low"], facts["a"]["capability_high"]) == (3.0, 2.0, 4.0)
    assert (facts["b"]["rank"], facts["b"]["p_first"], facts["a"]["rank"], facts["a"]["eq"]) == (1, 0.9, None, 99.0)
    assert (facts["a"]["sticker_price"], facts["a"]["charted"], facts["c"]["charted"]) == (5.0, True, False)
    assert "missing" not in rows.columns and "part" not in rows.columns and "other" not in rows.columns


def test_only_the_parts_that_a_question_needs_are_computed(own):
    capable = study_of()
    del capable.iq, capable.costs, capable.place_in_charts
    rows = list_models(capable, "capability")
    assert rows["subject"].to_list() == ["a", "c", "b"] and "iq" not in rows.columns
    named = study_of()
    del named.iq, named.costs, named.capabilities, named.place_in_charts
    assert list_models(named, "name")["name"].to_list() == ["Cee", "Bee", "Ay"]
    scored = study_of()
    del scored.costs, scored.capabilities, scored.place_in_charts
    assert list_models(scored, "rank")["subject"].to_list() == ["b", "a", "c"]
    both = study_of()
    del both.iq, both.capabilities
    assert list_models(both, "sticker_price", "charted").select("subject", "charted").row(0) == ("a", True)


def test_plain_rows_are_those_of_the_tables_by_their_keys(own):
    study = study_of()
    study.models = list_models(study)
    study.dimension_names = {"trust": "Reliability", "math": "Mathematics"}
    study.people = SimpleNamespace(
        tests=pl.DataFrame(
            {"benchmark": ["quiz", "quiz"], "group": ["g", "h"], "status": "measured", "reason": [None, "x"]}
        )
    )
    scores = [
        ("a", "quiz", 80.0, "percent", True, "board"),
        ("a", "quiz", 83.5, "percent", False, "other"),
        ("a", "able", 10.0, "percent", True, "board"),
    ]
    table = pl.DataFrame(scores, schema=["subject", "benchmark", "score", "unit", "primary", "source"], orient="row")
    study.evidence.scores, study.evidence.primary_scores = table, table.filter("primary")
    study.evidence.benchmarks = pl.DataFrame(
        {"benchmark": ["quiz", "able"], "name": ["Quiz", "Able"], "unit": "percent"}
    )
    study.evidence.sources = pl.DataFrame({"source": ["board"], "name": ["The board"], "url": ["https://a.org"]})
    study.evidence.human_references = pl.DataFrame({"benchmark": ["quiz"], "group": ["g"], "score": [60.0]})
    rows = PlainRows(study)
    assert rows.facts["c"] == {"subject": "c", "name": "Cee", "provider": "OpenAI"}
    assert [row["subject"] for row in rows.by_iq] == ["b", "a"] and rows.ranked_iqs == [129.6]
    assert [row["subject"] for row in rows.ranked_rows] == ["b"]
    profile = rows.profile_rows["a"]
    assert [row["dimension"] for row in profile] == ["Reliability", "Reliability", "Mathematics", "Mathematics"]
    assert (profile[0]["value"], profile[0]["benchmarks"], profile[0]["name"]) == (100.12, 6, "Ay")
    assert rows.tested_people == [{"benchmark": "quiz", "group": "g", "status": "measured"}]
    assert rows.printed_people["quiz", "g"]["score"] == 60.0
    assert rows.own_scores == {"a": {"quiz": 80.0, "able": 10.0}}
    assert rows.printed_scores == {"a": {"quiz": "80%", "able": "10%"}}
    told = [
        (row["title"], row["use"], row["shown"], row["gap_shown"], row["source_name"]) for row in rows.score_rows["a"]
    ]
    assert told == [
        ("Able", "primary", "10%", "", "The board"),
        ("Quiz", "primary", "80%", "", "The board"),
        ("Quiz", "second source", "83.5%", "3.5%", None),
    ]


def test_the_rules_of_charts_are_listed_with_what_may_differ_for_a_model():
    evidence = mensura.load()
    rules = policy_rules(evidence)
    assert len(rules) > evidence.chart_rules.height + 1
    first = evidence.chart_rules.row(0, named=True)
    assert rules[0]["rule"] == first["setting"].replace("_", " ")
    assert rules[-1]["formula"] == str(evidence.policy.height)
    assert "for one model: display" in [row["rule"] for row in rules]
    assert "for one model: subject" not in [row["rule"] for row in rules]
    none = policy_rules(replace(evidence, policy=evidence.policy.head(0)))
    assert none[-1]["formula"] == "none"
