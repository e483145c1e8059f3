"""Eighteen rubrics of ours, and folders of one's own that replace or extend them."""

import re

import polars as pl
import pytest

from mensura import MensuraError
from mensura.demands import boundary_table, dimension_table, load_rubrics

PUBLISHED = [
    *("AS", "CEc", "CEe", "CL", "MCr", "MCt", "MCu", "MS", "QLl", "QLq", "SNs"),
    *("KNa", "KNc", "KNf", "KNn", "KNs", "AT", "VO"),
]


def rubric_text(levels=range(6), label="Low"):
    return "What it is about.\n\n" + "\n\n".join(
        f"Level {level}: {label}. It asks for a little more.\nExamples:\n* one\n* two" for level in levels
    )


def test_the_eighteen_dimensions_in_their_ten_groups():
    assert list(load_rubrics()) == PUBLISHED
    annotated = dimension_table().filter(pl.col("dimension") != "UG")
    assert annotated["dimension"].to_list() == PUBLISHED
    assert annotated["group"].n_unique() == annotated["group_name"].n_unique() == 10
    assert dimension_table().filter(dimension="UG")["kind"].item() == "computed"


@pytest.mark.parametrize("code", PUBLISHED)
def test_every_level_has_a_paragraph_and_two_examples(code):
    rubric = load_rubrics()[code]
    assert [level.level for level in rubric.levels] == [0, 1, 2, 3, 4, 5]
    assert [level.label for level in rubric.levels] == ["None", "Very low", "Low", "Intermediate", "High", "Very high"]
    assert all(len(level.examples) == 2 for level in rubric.levels)
    texts = [level.text for level in rubric.levels]
    assert all(5 <= len(text.split()) <= 60 for text in texts)
    assert len(set(texts)) == 6
    assert rubric.about and rubric.dimension.name in rubric.as_text()


def test_knowledge_climbs_the_school_ladder_alike():
    for code in ("KNa", "KNf", "KNn", "KNs"):
        levels = load_rubrics()[code].levels
        for level, stage in enumerate(["primary", "secondary", "upper secondary", "", "ostgraduate"], 1):
            assert stage in levels[level].text, (code, level)


def test_borderline_subjects_have_a_place():
    places = dict(boundary_table().select("topic", "dimensions").iter_rows())
    assert places["vocabulary"].split()[0] == "KNc"
    assert places["economics"].split()[0] == "KNs"
    assert places["grid answers"].split()[0] == "CEe"
    for codes, rule in boundary_table().select("dimensions", "rule").iter_rows():
        mentioned = set(re.findall(r"\b(?:[A-Z]{2}[a-z]?)\b", rule)) & set(PUBLISHED)
        assert mentioned <= set(codes.split()) <= set(PUBLISHED), "whoever judges one of them must read the rule"


def test_a_folder_replaces_and_extends(tmp_path):
    (tmp_path / "QLl.txt").write_text("# Deduction\n\n" + rubric_text())
    (tmp_path / "PLp.txt").write_text("# Planning\n\n" + rubric_text())
    rubrics = load_rubrics(tmp_path)
    assert list(rubrics) == [*PUBLISHED, "PLp"]
    assert rubrics["QLl"].about == "What it is about."
    assert rubrics["PLp"].dimension.name == "Planning"
    assert rubrics["PLp"].levels[3].examples == ("one", "two")
    assert list(load_rubrics(tmp_path, ["PLp", "AS"])) == ["PLp", "AS"]


def test_a_folder_may_name_its_dimensions(tmp_path):
    (tmp_path / "PLp.txt").write_text(rubric_text())
    (tmp_path / "dimensions.csv").write_text("dimension,name,group\nPLp,Planning ahead,PL\n")
    found = load_rubrics(tmp_path)["PLp"].dimension
    assert (found.name, found.group, found.kind) == ("Planning ahead", "PL", "own")


def test_the_published_layout_is_read(tmp_path):
    """Introduction over several lines, examples opened at the end of a paragraph, bullets that run on."""
    text = "This rubric is about\nseveral lines.\n\n" + "\n\n".join(
        f'Level {level}: Very Low. A task of this kind. Examples:\n* "First\nrunning on"\n• “Second”'
        for level in range(6)
    )
    (tmp_path / "XY.txt").write_text(text, encoding="utf-8-sig")
    rubric = load_rubrics(tmp_path)["XY"]
    assert rubric.about == "This rubric is about several lines."
    assert rubric.levels[0].label == "Very Low"
    assert rubric.levels[0].text == "A task of this kind."
    assert rubric.levels[5].examples == ('"First running on"', "“Second”")


def test_a_level_without_a_label_keeps_its_text(tmp_path):
    lines = [f"Level {level}: nothing at all of the kind is asked for here" for level in range(6)]
    (tmp_path / "XY.txt").write_text("\n".join(lines))
    level = load_rubrics(tmp_path)["XY"].levels[2]
    assert (level.label, level.text) == ("", "nothing at all of the kind is asked for here")
    assert "Level 2: nothing at all" in load_rubrics(tmp_path)["XY"].as_text()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("PLp.txt", rubric_text([0, 1, 3]), r"PLp.txt, line 13: expected 'Level 2: …', got 'Level 3'"),
        ("PLp.txt", rubric_text(range(5)), r"PLp.txt, line 26: the file ends after level 4; expected 'Level 5"),
        ("PLp.txt", rubric_text(range(7)), r"PLp.txt, line 33: expected the end of the file after level 5"),
        ("PLp.txt", "Only prose.\n", r"PLp.txt, line 1: no level found; expected a line 'Level 0: …'"),
        ("PLp.txt", "", r"PLp.txt, line 1: no level found"),
        ("PLp.txt", "Level 0: None.\nLevel 1: Low.", r"PLp.txt, line 2: the file ends after level 1"),
        (
            "PLp.txt",
            rubric_text([0, 1]) + "\n\nLevel 2: Low.\n" + rubric_text([3, 4, 5]).split("\n\n", 1)[1],
            r"PLp.txt, line 13: level 2 has no description",
        ),
        ("a b.txt", rubric_text(), r"'a b' is no code of a dimension; name the file CODE.txt"),
        ("UG.txt", rubric_text(), r"'UG' is computed, not annotated"),
        ("qll.txt", rubric_text(), r"differs from QLl in capitals only; name it QLl.txt"),
        ("notes.md", "", r"no rubric in it; expected files CODE.txt"),
        ("dimensions.csv", "dimension,name\nPLp,Planning\n", r"no rubric in it"),
    ],
)
def test_a_malformed_folder_says_file_line_and_what_was_expected(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(MensuraError, match=message):
        load_rubrics(tmp_path)


def test_other_faults_of_a_folder(tmp_path):
    with pytest.raises(MensuraError, match="no such folder"):
        load_rubrics(tmp_path / "nowhere")
    (tmp_path / "PLp.txt").write_text(rubric_text())
    (tmp_path / "dimensions.csv").write_text("dimension,name\nPLp,Planning\nPLe,Control\n")
    with pytest.raises(MensuraError, match=r"'PLe' is named there, but PLe.txt is missing"):
        load_rubrics(tmp_path)
    (tmp_path / "dimensions.csv").write_text("dimension,name\nPLp,Planning\nPLp,Again\n")
    with pytest.raises(MensuraError, match="line 3: expected a code of its own and a name"):
        load_rubrics(tmp_path)
    (tmp_path / "dimensions.csv").unlink()
    (tmp_path / "PLe.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MensuraError, match="not a readable UTF-8 text file"):
        load_rubrics(tmp_path)
    with pytest.raises(MensuraError, match=r"no rubric for 'qll'; expected AS, .* \(capital letters matter\)"):
        load_rubrics(dimensions=["qll"])


def test_a_rubric_reads_as_it_was_written(tmp_path):
    text = "# Planning\n\nAhead.\n" + "\n".join(f"Level {level}: asks for step {level}" for level in range(5))
    (tmp_path / "PLp.txt").write_text(f"{text}\nLevel 5: Most. All of it is asked for.\n* one\n", encoding="utf-8")
    levels = [f"Level {level}: asks for step {level}" for level in range(5)]
    last = "Level 5: Most. All of it is asked for.\nExamples:\n* one"
    assert load_rubrics(tmp_path)["PLp"].as_text() == "\n\n".join(["PLp Planning", "Ahead.", *levels, last])
