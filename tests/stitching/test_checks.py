"""What a score table cannot tell, names that are looked up, and fits that did not arrive."""

from functools import partial

import polars as pl
import pytest

import mensura
from benchmarks.stitch_validation import held_out_errors
from mensura.core.errors import MensuraError
from mensura.stitching import encode, evidence_scores, place, pooled, read_scores, rosetta, stitch
from mensura.stitching.checks import (
    Convergence,
    connected_parts,
    position,
    positions_of,
    published_anchor,
    refuse_alike,
    refuse_parts,
    warn_unconverged,
    warnings_of,
)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "seed"), [("pooled", 1), ("rosetta", 1), ("rosetta", 2), ("rosetta", 3)])
def test_thinned_evidence_converges(method, seed):
    scores = evidence_scores(mensura.load())[0].sample(fraction=0.7, seed=seed)
    fit = stitch(scores, method=method, parts="largest")
    assert fit.convergence.converged
    assert 0 < fit.convergence.gradient < fit.convergence.tolerance
    assert "; converged after" in str(fit)
    assert not any("converge" in text for text in fit.warnings)


@pytest.mark.slow
def test_a_fit_that_did_not_converge_gives_no_number(simulated, monkeypatch, mensura_command, tmp_path):
    monkeypatch.setattr(pooled, "MOST_ROUNDS", 1)
    monkeypatch.setattr(pooled, "ROUND_TOLERANCE", 1e-9)
    fit = stitch(simulated[0])
    assert not fit.convergence.converged
    assert fit.warnings[0].startswith("the fit did not converge: after ")
    assert "last change of any expected logit" in fit.warnings[0]
    assert "not converged" in str(fit)
    assert "did not converge" in fit._repr_html_()
    assert fit.shown.is_empty()
    with pytest.raises(MensuraError, match="so there are no numbers"):
        _ = fit.capabilities
    with pytest.raises(MensuraError, match="so there are no numbers"):
        fit.predict(simulated[0])
    with pytest.raises(MensuraError, match="so there are no numbers"):
        place(fit, simulated[0].with_columns(model=pl.lit("new ") + pl.col("model")))
    simulated[0].write_csv(tmp_path / "scores.csv")
    for more in ((), ("--json",)):
        run = mensura_command("stitch", tmp_path / "scores.csv", *more)
        assert run.code == 2
        assert run.out == ""
        assert "the fit did not converge" in run.err


def test_held_out_errors_take_no_prediction_of_a_fit_that_did_not_converge(simulated, monkeypatch):
    monkeypatch.setattr(rosetta, "solve_rosetta", partial(rosetta.solve_rosetta, max_iterations=1))
    with pytest.raises(MensuraError, match="no score is predicted by every setting; 3 fits did not converge"):
        held_out_errors(simulated[0], {"published": {"method": "rosetta"}}, folds=3)


def scores(*rows, **more):
    """Encoded scores of subject, benchmark and score."""
    table = pl.DataFrame(rows, schema=["subject", "benchmark", "score"], orient="row").with_columns(**more)
    return encode(read_scores(table), "mean")


APART = (("a", "x", 0.1), ("b", "x", 0.9), ("b", "y", 0.5), ("c", "z", 0.4), ("d", "z", 0.7))


def test_parts_of_a_table_that_share_nothing_are_found_largest_first_and_refused_by_name():
    assert connected_parts(scores(*APART)) == [(["a", "b"], ["x", "y"]), (["c", "d"], ["z"])]
    with pytest.raises(MensuraError, match=r"2 parts share no subject.*part 1: 2 subjects \(a, b\) on 2 benchmarks"):
        refuse_parts(scores(*APART))
    refuse_parts(scores(*APART, ("d", "y", 0.2)))


def test_one_subject_or_subjects_that_score_alike_have_no_scale():
    with pytest.raises(MensuraError, match="'a' is the only subject; a scale needs at least 2"):
        refuse_alike(scores(("a", "x", 0.1), ("a", "y", 0.9)))
    alike = [("a", "x", 0.1), ("b", "x", 0.1), ("a", "y", 0.9)]
    with pytest.raises(MensuraError, match="on no benchmark do two subjects score differently"):
        refuse_alike(scores(*alike))
    refuse_alike(scores(*alike, ("b", "y", 0.8)))


def test_warnings_name_few_scores_floors_equal_scores_and_means():
    rows = [(who, test, value) for who, value in (("a", 0.2), ("b", 0.5), ("c", 0.8)) for test in ("x", "y", "Average")]
    rows += [("a", "same", 0.3), ("b", "same", 0.3), ("c", "same", 0.3), ("d", "x", 0.25)]
    rows += [(who, "floor", value) for who, value in (("a", 0.22), ("b", 0.2), ("c", 0.21))]
    found = warnings_of(scores(*rows, chance=pl.when(pl.col("benchmark") == "floor").then(0.2).otherwise(0.0)))
    assert found == (
        "1 subject has fewer than 3 scores and leans on the prior: d",
        "every subject is at the floor of floor: its difficulty is only bounded from below",
        "everyone scores the same on same: it tells no subject from another",
        "Average: counted as a benchmark; leave out a mean or rank of the others",
    )


def test_a_name_is_found_or_refused_with_near_ones():
    assert position(("gpqa", "hle"), "hle", "anchor") == 1
    assert positions_of(("gpqa", "hle"), ["hle", "aime", "gpqa"]).tolist() == [1, -1, 0]
    with pytest.raises(MensuraError, match=r"anchor: 'gpqq' has no scores; did you mean 'gpqa'\?"):
        position(("gpqa", "hle"), "gpqq", "anchor")
    with pytest.raises(MensuraError, match="anchor: 'zzz' has no scores; choose one of gpqa, hle"):
        position(("gpqa", "hle"), "zzz", "anchor")


def test_the_anchor_is_the_benchmark_with_most_scores_unless_one_is_named():
    data = scores(*APART, ("c", "y", 0.1), ("a", "y", 0.3))
    assert data.benchmarks[published_anchor(data, None)] == "y"
    assert data.benchmarks[published_anchor(data, "z")] == "z"


def test_a_fit_that_arrived_says_nothing_and_another_how_far_it_was():
    assert Convergence(True, 7, 1e-9, 1e-8, "gradient").warnings == ()
    [warning] = Convergence(False, 200, 0.034, 1e-3, "largest gradient").warnings
    assert "after 200 iterations the largest gradient is 0.034 (below 0.001 is asked for)" in warning
    assert warn_unconverged(0, 10, "draws") == ()
    assert warn_unconverged(2, 10, "draws")[0].startswith("2 of 10 draws did not converge")
