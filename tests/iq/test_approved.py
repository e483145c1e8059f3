"""Tables of IQs of a few models beside the approved ones, and the words about scores that tell little."""

import polars as pl
import pytest

import mensura
from mensura.iq.matrix import count_teachers
from tests.approved_tables import assert_approved
from tests.few_models import of_named

OWN = {
    "mine": {"gpqa_diamond": 81.5, "arc_agi_2": 0.0, "mmlu_pro": 84.0, "aime_2025": 100.0},
    "lucky": {"gpqa_diamond": 24.0, "livecodebench": 75.0, "ifbench": 50.0, "hle": 100.0},
    "lone": {"aime_2024": 60.0},
    "untaught": {"osworld_2": 60.0},
    "guess": {"gpqa_diamond": 24.0},
}
"""Scores of five models: near an end and outside the composite, no better than guessing, on a test nobody teaches."""


@pytest.fixture(scope="module")
def added():
    """Fourteen models that took MMLU-Pro and five more."""
    takers = mensura.load().primary_scores.filter(benchmark="mmlu_pro")["subject"].sort().gather_every(4).head(14)
    rows = [(name, test, score, "2026-05-01", "percent") for name, own in OWN.items() for test, score in own.items()]
    schema = ["subject", "benchmark", "score", "released", "unit"]
    return mensura.score_iq(of_named(*takers).add(pl.DataFrame(rows, schema=schema, orient="row")), draws=20)


def test_words_about_scores_that_tell_little(added):
    assert added.about_scores("mine") == (
        "mine: 0 on arc_agi_2 tells little: it has few answers or is near an end of the test; its IQ there is 70, "
        "where the ladder says 70",
    )
    assert added.about_scores("lucky") == ("lucky: 24 on gpqa_diamond is no better than guessing; it says at most",)
    assert added.about_scores("lone") == ()
    assert {*added.about_scores("mine"), *added.about_scores("lucky")} <= set(added.warnings)
    assert "nemotron-3-ultra: 3 scores chosen by its maker, who profits; IQ 0.0 lower for that" in added.warnings
    assert "lucky on hle: 100 percent is far from all others" in added.warnings[0]


def test_a_node_shows_its_parts_to_a_tenth_of_a_point(added):
    lines = repr(added.explain("mine").parts[2]).splitlines()
    assert lines[0].startswith("<Abstract Reasoning: ") and "1 measured" in lines[0]
    assert [line.split()[0] for line in lines[2:5]] == ["arc_agi_2", "arc_agi_1", "arc_agi_3"]
    assert all(part.count(".") == 1 and len(part.split(".")[1]) == 1 for part in lines[3].split()[1:4])


def test_tests_outside_the_composite_are_read_and_named(added):
    assert "30 estimated; also read: mmlu_pro, aime_2025; released 2026-05-01" in added.explain("mine").note
    assert "estimated from the model's 2 measured benchmarks and mmlu_pro and aime_2025" in str(added.explain("mine"))
    assert "missing; estimated from the model's aime_2024" in str(added.explain("lone"))
    teachers = count_teachers(added.evidence)
    assert added.why_none("untaught") == (
        "it has no score on any of the 32 benchmarks that count (mensura benchmarks); a test outside the 32 is read "
        f"once 5 models with 3 scores that count took it: osworld_2 (so far {teachers['osworld_2']})"
    )
    assert (teachers["mmlu_pro"], teachers["osworld_2"]) == (11, 0), "eleven of the fourteen have three scores"


def test_composites_and_dimensions(added, few_joint):
    assert_approved("iq/composites", added.composites)
    assert_approved("iq/dimensions", added.dimensions.filter(pl.col("subject").is_in(list(OWN))))
    assert_approved("iq/not_ranked", added.not_ranked)
    assert_approved("iq/nodes", added.explain("mine").nodes[::6])
    assert_approved("iq/trail", added.trail.filter(subject="mine")[::3])
    assert_approved("iq/emotional", few_joint.emotional)
    assert_approved("iq/ranking", few_joint.ranking)
