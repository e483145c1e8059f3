"""The list of all models, one page for each with the derivation of its IQ, and one page per maker."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.intake.names import KnownNames
from mensura.iq import Explanation
from mensura.site.pages import model
from mensura.site.pages.models import counts_said, derivation_html, maker, maker_pages, model_sentence, rivals

MODEL = "claude-opus-4.8"


def test_a_derivation_opens_at_the_top_and_lists_what_has_no_parts():
    leaf = Explanation("hle", 100.04, 90.4, 110.6, "source", "score 5 < 6")
    gap = Explanation("odd", None, 90.0, None, "joint", "")
    group = Explanation("Science", 100.0, None, None, "partly measured", "mean", (leaf, gap))
    found = derivation_html(
        Explanation("M", 100.0, None, None, "Full", "", (group, leaf)), {"hle": "Humanity's Last Exam"}
    )
    assert found.startswith("<details open><summary><strong>M</strong> 100.0 <em>Full</em>")
    assert "<details><summary><strong>Science</strong> 100.0" in found
    assert (
        "<ul><li><strong>Humanity&#39;s Last Exam</strong> 100.0 <i>90 to 111</i> "
        "<em>source</em> <small>score 5 &lt; 6</small></li>"
    ) in found
    assert '<li><strong>odd</strong> no value <em class="estimated">joint</em>' in found
    assert '</ul></details><p class="leaf"><strong>Humanity' in found


def test_dates_in_a_derivation_are_in_words_and_those_in_names_stay():
    leaf = Explanation("hle", 100.0, None, None, "source", "5 percent (board, 2026-06), from gpt-4o-2024-08-06")
    tree = derivation_html(Explanation("M", 100.0, None, None, "Full", "released 2026-09-03, recut", (leaf,)), {})
    assert "released 3 September 2026, recut" in tree
    assert "(board, June 2026), from gpt-4o-2024-08-06" in tree


def test_every_count_of_models_on_the_pages_is_explained(study):
    said = [int(number) for number in re.findall(r"\d+", counts_said(study))]
    assert said == [
        study.models.height,
        *(study.models[column].is_not_null().sum() for column in ("iq", "capability", "effective_cost", "rank")),
        study.capability_ranks["rank"].is_not_null().sum(),
        study.charted().height,
    ]


def test_rivals_are_the_nearest_models_of_two_other_providers(study):
    ranked = study.models.drop_nulls("exact_iq")
    own = ranked.row(by_predicate=pl.col("subject") == MODEL, named=True)
    others = ranked.filter(pl.col("provider") != own["provider"]).with_columns(
        gap=(pl.col("exact_iq") - own["exact_iq"]).abs()
    )
    found = others.filter(pl.col("subject").is_in(rivals(study, MODEL)))
    assert found.height == found["provider"].n_unique() == 2
    nearest = others.group_by("provider").agg(pl.col("gap").min()).sort("gap")["gap"].head(2)
    assert sorted(found["gap"]) == pytest.approx(nearest.to_list())


def test_a_model_without_an_iq_says_why(study):
    without = study.models.filter(pl.col("iq").is_null())
    assert without.height > 0
    for row in without.iter_rows(named=True):
        page = model(study, row)
        text = str(page.context["tree"])
        assert row["measured"] == 0
        assert page.context["pictures"] == []
        assert "it has no score on any of the 32 benchmarks that count" in text
        assert "Fewer than two dimensions" not in text


def test_a_derivation_is_open_at_the_top_and_marks_what_is_estimated():
    leaf = Explanation("gpqa", iq=120.04, low=None, high=None, status="measured", note="81 <percent>")
    guess = Explanation("hle", iq=None, low=None, high=None, status="imputed", note="nothing")
    whole = Explanation("Composite", iq=118.0, low=110.4, high=125.6, status="Full", note="", parts=(leaf, guess))
    html = derivation_html(whole, {"gpqa": "GPQA"})
    assert html.startswith("<details open><summary><strong>Composite</strong> 118.0")
    assert "<i>110 to 126</i>" in html
    assert "<strong>GPQA</strong> 120.0 <em>measured</em>" in html
    assert '<strong>hle</strong> no value <em class="estimated">imputed</em>' in html
    assert "81 &lt;percent&gt;" in html
    assert "</summary><ul><li><strong>GPQA" in html
    mixed = derivation_html(Explanation("All", 118.0, None, None, "Full", "", parts=(whole, guess)), {})
    assert '</details><p class="leaf"><strong>hle</strong>' in mixed, "a list item stands in a list only"


@pytest.fixture
def asked(monkeypatch):
    """Names of what was asked for that reads a whole table."""
    found = []
    collect, learn = pl.LazyFrame.collect, KnownNames.__init__
    monkeypatch.setattr(
        pl.LazyFrame, "collect", lambda self, *given, **more: found.append("frame") or collect(self, *given, **more)
    )
    monkeypatch.setattr(KnownNames, "__init__", lambda self, *rows: found.append("names") or learn(self, *rows))
    return found


@pytest.mark.slow
def test_the_page_of_a_further_model_reads_no_table(study, asked):
    """Each table read for one model is a table read for thousands: what a page needs is found once, by subject."""
    rows = study.models.to_dicts()
    model(study, rows[0])
    asked.clear()
    assert [model(study, row).title for row in rows[1:6]] == [row["name"] for row in rows[1:6]]
    assert asked == []


def listed(**more):
    row = {"subject": "m", "name": "Em", "provider": "OpenAI", "exact_iq": 130.2, "iq": 130, "iq_low": 125.4}
    row |= {
        "iq_high": 134.6,
        "rank": 2,
        "rank_low": 1,
        "rank_high": 3,
        "released": date(2026, 1, 1),
        "well_measured": True,
    }
    return row | more


def test_the_sentence_of_a_model_names_its_strongest_and_weakest_kind_of_work():
    kinds = [{"dimension": name, "value": value} for name, value in (("Maths", 141.2), ("Trust", 99.6), ("App", 120.0))]
    study = SimpleNamespace(rows=SimpleNamespace(profile_rows={"m": kinds, "n": kinds[:1]}))
    reach = "IQ 130 (90%: 125 to 135), a level that about 23 in 1,000 people reach"
    assert model_sentence(study, listed()) == f"{reach}: 141 in maths, 100 in trust."
    assert model_sentence(study, listed(), short=True) == f"{reach}."
    assert model_sentence(study, listed(subject="n")) == model_sentence(study, listed(subject="x")) == f"{reach}."
    none = model_sentence(study, listed(exact_iq=None, iq=None))
    assert none == "Em of OpenAI has no IQ yet: too little of it is measured to estimate the rest."


def test_a_maker_is_known_by_its_best_model_and_lists_the_newest_first():
    rows = [
        listed(),
        listed(subject="n", name="En", rank=None, released=date(2026, 5, 1), exact_iq=110.0),
        listed(subject="o", name="Oh", rank=5, released=None, exact_iq=100.0),
        listed(subject="x", provider="Else"),
    ]
    models = pl.DataFrame(rows)
    matrix = SimpleNamespace(benchmarks=["b"] * 32)
    study = SimpleNamespace(models=models, ranked=models.drop_nulls("rank"), iq=SimpleNamespace(matrix=matrix))
    page = maker(study, "OpenAI")
    assert page.context["sentence"] == "The best of OpenAI is Em: IQ 130 (90%: 125 to 135), rank 2 of 3."
    assert [row["subject"] for row in page.context["rows"]] == ["n", "m", "o"]
    assert len(page.context["pictures"]) == 1 and page.context["benchmarks"] == 32
    unranked = SimpleNamespace(models=models.with_columns(rank=None), ranked=models.head(0), iq=study.iq)
    assert maker(unranked, "Else").context["sentence"] == "Else has 1 model here, none of them ranked."
    assert maker(unranked, "Else").context["pictures"] == []
    assert [one.title for one in maker_pages(study)] == [maker(study, name).title for name in ("OpenAI", "Else")]


def test_what_all_gaps_say_alike_stands_once_above_the_tree():
    parts = [Explanation(name, 100.0, None, None, "joint", "from all scores") for name in ("a", "b")]
    odd = Explanation("c", 100.0, None, None, "predecessor", "from a")
    tree = derivation_html(Explanation("M", 100.0, None, None, "Full", "", (*parts, odd)), {})
    assert tree.startswith("<p><em>joint</em> <small>from all scores</small></p><details open>")
    assert tree.count("from all scores") == 1 and "<small>from a</small>" in tree
    own = [Explanation(name, 100.0, None, None, "source", "same") for name in ("a", "b")]
    assert derivation_html(Explanation("M", 1.0, None, None, "Full", "", tuple(own)), {}).count("same") == 2
    differ = [parts[0], Explanation("b", 1.0, None, None, "joint", "else")]
    assert "<p><em>" not in derivation_html(Explanation("M", 1.0, None, None, "Full", "", tuple(differ)), {})
