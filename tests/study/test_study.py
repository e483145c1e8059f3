"""The study behind every page: run once per evidence."""

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.calibration import chosen_lines
from mensura.core.results import set_computed
from mensura.iq.sampler import WHOLE_ROUNDS
from mensura.study import Study, study as study_module
from mensura.study.study import draws_for


def test_a_study_is_run_once_and_read_from_the_cache_afterwards(study, evidence, monkeypatch):
    def never(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(Study, "_computed", never)
    again = Study.open(evidence)
    for name, table in study.tables().items():
        assert again.tables()[name].equals(table), name
    assert again.watch.heading == study.watch.heading
    Study.open(evidence, chosen_lines(published=evidence.calibration))  # as the report asks for it


def test_another_evidence_is_another_study():
    evidence = mensura.load()
    fewer = replace(evidence, scores=evidence.scores.head(500))
    assert fewer.fingerprint != evidence.fingerprint == replace(evidence, origin="elsewhere").fingerprint


@pytest.mark.parametrize(
    ("models", "draws"), [(0, 1000), (1, 1000), (500, 1000), (501, 980), (1000, 500), (2500, 200), (9000, 200)]
)
def test_half_a_million_values_are_drawn_at_most_and_200_of_each_model_at_least(models, draws):
    assert draws_for(models) == draws
    assert draws % WHOLE_ROUNDS == 0  # so that the scoring and its intervals share them


def study_of(**parts):
    """Return a study whose parts are given in place of computed ones."""
    study = Study(parts.pop("evidence", None), None)
    set_computed(study, **parts)
    return study


def test_a_dimension_is_measured_by_two_own_scores():
    counts = {"measured": [2, 1, 0, 0], "inherited": [0, 2, 1, 3], "estimated": [5, 1, 1, 2]}
    study = study_of(iq=SimpleNamespace(dimensions=pl.DataFrame(counts)))
    assert study.dimensions["shown"].to_list() == ["measured", "inherited", "estimated", "inherited"]


def test_benchmarks_come_hardest_first_with_the_models_that_took_them():
    evidence = SimpleNamespace(
        benchmarks=pl.DataFrame({"benchmark": ["x", "y", "z"], "name": ["X", "Y", "Z"]}),
        primary_scores=pl.DataFrame({"benchmark": ["x", "x", "y"]}),
    )
    fitted = pl.DataFrame({"benchmark": ["x", "y"], "difficulty": [0.5, 1.5], "slope": [1.0, 2.0]})
    study = study_of(evidence=evidence, fit=SimpleNamespace(benchmarks=fitted))
    assert study.benchmarks.select("benchmark", "models").rows() == [("y", 1), ("x", 2), ("z", 0)]
    assert study.benchmark_names == {"x": "X", "y": "Y", "z": "Z"}


def test_a_class_of_people_is_named_with_its_tests_and_more_than_two_are_counted():
    table = pl.DataFrame({"group": ["experts", "pupils"], "benchmarks": ["x, y", "x, y, w"]})
    evidence = SimpleNamespace(benchmarks=pl.DataFrame({"benchmark": ["x", "y"], "name": ["X", "Y"]}))
    study = study_of(evidence=evidence, people=SimpleNamespace(table=table))
    assert study.class_names == {"experts": "experts on X and Y", "pupils": "pupils on 3 tests"}


def test_a_sensor_reaches_down_to_half_of_its_largest_information(monkeypatch):
    curve = {"benchmark": ["x"] * 5, "capability": [0.0, 1.0, 2.0, 3.0, 4.0], "information": [0.9, 1.0, 2.0, 1.5, 0.5]}
    monkeypatch.setattr(study_module, "information_curves", lambda _: pl.DataFrame(curve))
    evidence = SimpleNamespace(benchmarks=pl.DataFrame({"benchmark": ["x"], "name": ["X"]}))
    assert study_of(evidence=evidence, fit=None).sensors.rows() == [("x", 1.0, 2.0, 3.0, "X")]


def test_providers_with_most_charted_models_come_first():
    models = pl.DataFrame({"provider": ["b", "a", "c", "c", "c"], "charted": [True, True, True, True, False]})
    assert study_of(models=models).providers == ["c", "a", "b"]
    assert study_of(models=models, benchmarks=models.head(2)).heading == "Study of 5 models on 2 benchmarks"


def test_a_model_that_is_not_placed_is_above_nobody(monkeypatch):
    asked = {}
    monkeypatch.setattr(
        study_module,
        "beyond_guessing",
        lambda _: pl.DataFrame({"benchmark": ["t", "t", "u"], "subject": ["a", "new", "b"]}),
    )
    monkeypatch.setattr(
        study_module,
        "win_chances",
        lambda fit, takers, test, score, error: asked.setdefault((test, score, error), takers),
    )
    tests = pl.DataFrame(
        {
            "benchmark": ["t", "u", "v", "w"],
            "group": "g",
            "score": [1.0, 2.0, 3.0, 4.0],
            "stderr": 0.1,
            "verdict": ["passed", "passed", "passed", None],
        }
    )
    study = study_of(
        fit=SimpleNamespace(data=SimpleNamespace(subjects=("a", "b"))), people=SimpleNamespace(tests=tests)
    )
    assert study.over_people == {("t", "g"): ["a"], ("u", "g"): ["b"], ("v", "g"): []}
    assert asked == {("t", 1.0, 0.1): ["a"], ("u", 2.0, 0.1): ["b"], ("v", 3.0, 0.1): []}


def test_only_the_published_method_has_a_banner():
    assert "AI IQ's published method" in study_of(iq=SimpleNamespace(method="published")).scale_said
    assert study_of(iq=SimpleNamespace(method="joint")).scale_said == ""


def test_charts_show_models_that_have_what_is_needed(monkeypatch):
    models = pl.DataFrame(
        {
            "subject": ["a", "b", "c"],
            "iq": [1.0, None, 3.0],
            "charted": [True, True, False],
            "on_timeline": [False, True, True],
        }
    )
    monkeypatch.setattr(study_module, "list_models", lambda _, *needed: models.select("subject", *needed))
    study = study_of()
    assert study.having("iq")["subject"].to_list() == ["a", "c"]
    assert study.charted("iq")["subject"].to_list() == ["a"]
    assert study.charted("iq", timeline=True)["subject"].to_list() == ["c"]


PARTS = {
    "leaders": ("leaders_beside_people", ("evidence",)),
    "pace": ("report_pace", ("fit", "evidence")),
    "watch": ("watch_evidence", ("evidence",)),
    "world": ("carry_example", ()),
    "people": ("place_people", ("fit", "evidence")),
    "costs": ("score_costs", ("evidence",)),
    "fit": ("stitch", ("evidence",)),
    "policy": ("load_policy", ("evidence",)),
    "abilities": ("place_abilities", ("evidence", "lines")),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_what_its_instrument_makes_of_the_parts_before_it(monkeypatch, part):
    name, before = PARTS[part]
    monkeypatch.setattr(study_module, name, lambda *given: (name, given))
    study = study_of(evidence="evidence", **({"fit": "fit"} if part != "fit" else {}))
    given = {"evidence": "evidence", "fit": "fit", "lines": None}
    assert getattr(study, part) == (name, tuple(given[one] for one in before))


def test_iqs_are_scored_by_the_method_with_as_many_draws_as_memory_allows(monkeypatch):
    monkeypatch.setattr(study_module, "score_iq", lambda evidence, **how: (evidence, how))
    evidence = SimpleNamespace(models=pl.DataFrame({"subject": range(1000)}))
    study = Study(evidence, None, "published")
    assert study.iq == (evidence, {"method": "published", "draws": 500})


def test_what_was_not_asked_for_is_in_no_row_and_ranks_are_those_that_were_drawn():
    ranks = pl.DataFrame({"subject": ["a", "b"], "rank": [1, None]})
    above = pl.DataFrame({"subject": ["a"], "benchmark": ["x"], "above": [0.1], "score": [0.5]})
    models = pl.DataFrame({"subject": ["a", "b", "c"], "name": list("ABC"), "provider": "P", "released": None})
    models = models.with_columns(
        rank=pl.Series([1, None, None]), iq=1, iq_low=1, iq_high=1, capability=1, status=pl.lit("Full")
    )
    fit = SimpleNamespace(laplace=SimpleNamespace(ranks=ranks), residuals=above, capabilities="capabilities")
    not_ranked = pl.DataFrame({"subject": ["c", "b"], "missing": ["x", "y"]})
    rules = SimpleNamespace(dimensions={"math": SimpleNamespace(name="Mathematics")})
    study = study_of(fit=fit, models=models, iq=SimpleNamespace(not_ranked=not_ranked, rules=rules))
    assert study.capability_ranks is ranks and study.capabilities == "capabilities"
    assert study.residuals.rows() == [("a", "x", 0.1)]
    assert study.ranked["subject"].to_list() == ["a"]
    assert study.too_new.select("subject", "missing", "name").rows() == [("c", "x", "C"), ("b", "y", "B")]
    assert study.dimension_names == {"math": "Mathematics"}
    assert study.shown.columns == ["name", "iq", "iq_low", "iq_high", "capability", "status"]
