"""Pictures by name: ids, names for people and near names, all settled before anything is computed."""

import re

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.site.pictures import draw, find_picture


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("iq-bel", "'iq-bel' is not known; choose one of "),
        ("scores-gpqa-diamnd", "did you mean scores-gpqa_diamond"),
        ("profile-gpt-5.55", "did you mean profile-gpt-5.5"),
        ("iq-bell-gf", "'iq-bell-gf' is not known; "),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_what_there_is(evidence, name, said):
    with pytest.raises(MensuraError, match=re.escape(said)) as refused:
        find_picture(evidence, name)
    assert "capability-time" in str(refused.value) and "profile-MODEL" in str(refused.value)


def test_a_name_is_settled_before_anything_is_computed(mensura_command, monkeypatch, few_models, tmp_path):
    monkeypatch.setattr("mensura.study.study.Study.open", lambda *_: pytest.fail("computed"))
    refused = mensura_command("figure", "iq-bel", "--evidence", few_models, "--out", tmp_path / "f.svg")
    assert (refused.code, "'iq-bel' is not known" in refused.err) == (2, True)
    assert not (tmp_path / "f.svg").exists()


def test_models_and_benchmarks_go_by_the_names_people_use(study):
    subject, name = study.models.drop_nulls("iq").select("subject", "name").row(0)
    assert draw(study, f"profile-{name}").name == draw(study, f"profile-{subject}").name
    assert draw(study, "scores-Humanity's Last Exam").name == "scores-hle"


def test_every_open_item_counts_in_the_picture_of_the_world(study):
    assert "averaged over 433 items" in draw(study, "observed-world").finding


def test_the_published_lines_go_through_their_stars(study):
    """Least squares through level means: the distances of the stars from the line add up to nothing."""
    stages = study.abilities.published.stages.drop_nulls(["line", "empirical"])
    off = stages.group_by("dimension").agg((pl.col("empirical") - pl.col("line")).sum().abs().alias("off"))
    assert off["off"].max() < 1e-9
    assert "by level means and" in draw(study, "calibration-levels-published").finding


def test_a_model_without_an_iq_has_no_profile(study, monkeypatch):
    rows = study.rows
    subject = study.models["subject"][0]
    monkeypatch.setitem(rows.by_subject, subject, {**rows.by_subject[subject], "exact_iq": None})
    with pytest.raises(MensuraError, match="has too little for this picture"):
        draw(study, f"profile-{subject}")


def test_every_picture_of_a_models_and_a_makers_page_is_a_figure_too(study, report):
    """The names in the page are the names that the command takes."""
    pages = [report / "models" / "gpt-5.5.html", *(report / "makers").glob("openai~*.html")]
    named = {name for page in pages for name in re.findall(r'<figure [^>]*id="([^"]+)"', page.read_text("utf-8"))}
    kinds = {name.partition("-")[0] for name in named}
    assert kinds == {"among", "profile", "against", "price", "maker", "task"}
    for name in named:
        drawn = draw(study, name)
        assert drawn.name == name and "<svg" in drawn.drawing.draw(700)
    assert draw(study, "price-GPT-5.5").title == "GPT-5.5: What it costs"


def test_a_maker_of_one_model_has_no_picture_over_time(study):
    counts = study.models.drop_nulls(["released", "exact_iq"])["provider"].value_counts()
    maker = counts.filter(pl.col("count") == 1)["provider"][0]
    with pytest.raises(MensuraError, match="has too little for this picture; choose another one"):
        draw(study, f"maker-{maker}")


def test_a_picture_of_one_model_is_asked_for_in_two_words(mensura_command, tmp_path):
    mensura_command("figure", "horizon-curve", "GPT-5.5", "--out", tmp_path / "curve.svg")
    mensura_command("figure", "horizon-curve-gpt-5.5", "--out", tmp_path / "same.svg")
    drawn = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert "people who tried" in drawn
    assert drawn == (tmp_path / "same.svg").read_text(encoding="utf-8")
