"""Why a model has its IQ: every input of the tree, in words that state the value they explain."""

import numpy as np
import pytest

import mensura
from mensura.iq.explanation import Explanation


def test_explanation_holds_every_input(scored):
    tree = scored.explain("claude-opus-4.8")
    assert len(tree.parts) == 7
    assert sum(len(part.parts) for part in tree.parts) == 32
    text = str(tree)
    for word in ("released 2026-05-28", "predecessor claude-opus-4.7", "percent (aiiq, 2026-06-26)", "between IQ"):
        assert word in text
    assert tree.to_dict()["parts"][0]["label"] == "Mathematical Reasoning"


def test_explanations_state_the_value_they_explain(scored):
    for subject in ("mercury-2", "gpt-oss-120b", "kimi-k2.7-code", "gpt-4-turbo", "claude-opus-3"):
        tree = scored.explain(subject)
        row = scored.matrix.row(subject)
        for place, part in enumerate(tree.parts):
            value = scored.scored.dimensions[0, row, place]
            assert part.iq == pytest.approx(value) if part.iq is not None else np.isnan(value)
            if part.status in ("matched", "nearest", "global"):
                numbers = part.note.split()
                assert part.iq <= float(numbers[numbers.index("average") + 1]) + 0.051
            elif part.iq is not None:
                assert part.iq == pytest.approx(np.mean([leaf.iq for leaf in part.parts]))


def test_an_explanation_is_short_in_a_notebook_and_whole_in_print(scored):
    tree = scored.explain("claude-opus-4.8")
    assert repr(tree).count("\n") < 30
    assert str(tree).count("\n") > 38
    nodes = tree.tables()["nodes"]
    assert nodes.height == str(tree).count("\n") + 1
    assert nodes["depth"].to_list()[:2] == [0, 1]
    assert tree.shown["label"].to_list() == [part.label for part in tree.parts]
    assert "Mathematical Reasoning" in tree._repr_html_()


def test_a_tree_is_printed_branch_by_branch():
    leaf = Explanation("score", 100.0, None, None, "source", "as measured")
    first = Explanation("one", 112.34, 90.0, 120.0, "measured", "", (leaf, leaf))
    second = Explanation("two", 100.0, None, 120.0, "measured", "")
    tree = Explanation("all", None, None, None, "Unranked", "two parts", (first, second))
    assert str(tree).splitlines() == [
        "all: no value [Unranked] two parts",
        "├─ one: 112.3 (90.0 to 120.0) [measured]",
        "│  ├─ score: 100 [source] as measured",
        "│  └─ score: 100 [source] as measured",
        "└─ two: 100 [measured]",
    ]
    assert tree.nodes["depth"].to_list() == [0, 1, 2, 2, 1]


def notes(result, subject, **wanted):
    """The note of one benchmark in the explanation of one model."""
    [[note]] = [
        [leaf.note for leaf in part.parts if leaf.label == benchmark]
        for benchmark, dimension in wanted.items()
        for part in result.explain(subject).parts
        if part.label == dimension
    ]
    return note


def test_notes_say_the_numbers_the_value_rests_on(build):
    models = {"heir": {"predecessor": "elder"}}
    scores = {("elder", "ifbench"): 65.0, ("heir", "hle"): 15.0, ("heir", "gpqa_diamond"): 5.0, ("elder", "hle"): 0.0}
    scores |= {(f"m{i}", "scicode"): 15.0 + 30 * i for i in range(3)}
    result = mensura.score_iq(build(scores, models), method="published")
    assert notes(result, "heir", hle="Scientific Reasoning") == (
        "score 15 percent (aiiq, 2026-06-26), between IQ 115 = 10 and IQ 130 = 20"
    )
    assert notes(result, "heir", gpqa_diamond="Scientific Reasoning").endswith("past the ladder's end, IQ 70 = 15")
    assert notes(result, "heir", ifbench="Reliability").startswith(
        "missing; from predecessor elder: score 65 percent (aiiq, 2026-06-26), between IQ 100 = 65 and IQ 115 = 80"
    )
    assert notes(result, "heir", critpt="Scientific Reasoning") == "missing; a score of 0 is assumed"
    assert notes(result, "heir", scicode="Scientific Reasoning") == (
        "missing; observed average of the dimension, at most percentile 80 of all models"
    )
    assert result.explain("heir").note.endswith("; released 2026-01-01, ladders published")


def test_each_step_of_the_published_method_says_what_it_does(scored):
    said = {
        "peers": "missing; percentile 25 of comparable models",
        "correlation": "missing; predicted from the model's other benchmarks of the dimension, less a penalty",
    }
    for step, words in said.items():
        row = scored.trail.filter(step=step).row(0, named=True)
        place = scored.matrix.dimensions.index(row["dimension"])
        [leaf] = [leaf for leaf in scored.explain(row["subject"]).parts[place].parts if leaf.label == row["benchmark"]]
        assert leaf.note.startswith(words) and leaf.iq == pytest.approx(row["iq"])


def test_an_unknown_model_is_refused_with_its_neighbours(scored):
    with pytest.raises(mensura.MensuraError, match=r"did you mean claude-opus-4\.8"):
        scored.explain("claude-opus-4.88")
