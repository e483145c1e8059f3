"""How items are estimated: by the choice of the user, else by the number of people and answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.responses.estimation import (
    GUESSING,
    LEAST_ANSWERS,
    LEAST_PEOPLE,
    LIKELIHOOD,
    WEAK,
    Estimation,
    choose_estimation,
    fewest_answers,
    fit_by,
)
from mensura.responses.irt.categories import CategoryPrior
from mensura.responses.irt.priors import GroupPrior, ItemPrior, Priors


@pytest.mark.parametrize(
    ("prior", "model", "people", "answers", "words"),
    [
        (None, "2pl", LEAST_PEOPLE, LEAST_ANSWERS, LIKELIHOOD),
        ("auto", "2pl", LEAST_PEOPLE - 1, 50, f"{WEAK} (199 subjects; maximum likelihood needs 200)"),
        (None, "2pl", 900, LEAST_ANSWERS - 1, f"{WEAK} (4 answers in a category; maximum likelihood needs 5)"),
        (None, "nominal", 900, 50, WEAK),
        (None, "3pl", 900, 50, GUESSING),
        ("none", "3pl", 10, 0, LIKELIHOOD),
        ("weak", "2pl", 900, 50, WEAK),
    ],
)
def test_few_people_or_answers_get_weak_priors(prior, model, people, answers, words):
    choice = choose_estimation(prior, model, people, answers)
    assert choice.words == words
    assert choice.automatic == (prior is None and words == LIKELIHOOD)


def test_priors_follow_the_choice():
    assert Estimation(WEAK, "weak").of_right(False) == Priors()
    assert Estimation(GUESSING, "weak").of_right(False) == Priors(None, None, groups=None)
    assert Estimation(LIKELIHOOD, "none").of_right(False) == Priors(None, None, None, None)
    assert Estimation(LIKELIHOOD, "none").of_right(True) == Priors(None, None, None, Priors().groups)
    assert Estimation(WEAK, "weak").of_categories(False) == CategoryPrior()
    assert Estimation(LIKELIHOOD, "none").of_categories(False) is None
    small = Estimation(LIKELIHOOD, "none").of_categories(True)
    assert (small.slope, small.groups) == (1.0, CategoryPrior().groups)


def test_a_file_gives_each_parameter_its_own_prior(tmp_path):
    path = tmp_path / "priors.csv"
    path.write_text("parameter,mean,sd\nslope,,0.3\nguessing,-1.1,0.2\ngroup-mean,,2\n", encoding="utf-8")
    choice = choose_estimation(path, "3pl", 10, 0)
    assert choice.words == "priors of priors.csv"
    assert choice.of_right(False) == Priors(0.3, None, ItemPrior(-1.1, 0.2), GroupPrior(2.0, np.inf))
    assert choice.of_categories(False) == CategoryPrior(1.0, 0.3, np.inf, GroupPrior(2.0, np.inf))
    path.write_text("parameter,sd\nintercept,2\n", encoding="utf-8")
    assert choose_estimation(path, "2pl", 10, 0).of_right(True) == Priors(None, 2.0, None, Priors().groups)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parameter,sd\nslope,0\n", "slope: sd is 0; expected a number above 0"),
        ("parameter,sd\nwidth,1\n", "width"),
        ("parameter\nslope\n", "sd"),
    ],
)
def test_a_file_of_wrong_priors_is_refused(tmp_path, text, message):
    path = tmp_path / "priors.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MensuraError, match=message):
        choose_estimation(path, "2pl", 10, 0)
    with pytest.raises(MensuraError, match="prior"):
        choose_estimation("strong", "2pl", 10, 0)


def test_only_a_likelihood_that_nobody_chose_falls_back_to_weak_priors():
    def fit(kind):
        return SimpleNamespace(converged=kind == "weak")

    automatic = Estimation(LIKELIHOOD, "none", automatic=True)
    words, priors, fitted = fit_by(automatic, fit, lambda choice: choice.kind)
    assert (words, priors, fitted.converged) == (f"{WEAK} (maximum likelihood did not converge)", "weak", True)
    words, priors, fitted = fit_by(Estimation(LIKELIHOOD, "none"), fit, lambda choice: choice.kind)
    assert (words, priors, fitted.converged) == (LIKELIHOOD, "none", False)


def test_the_fewest_answers_are_right_or_wrong_ones():
    assert fewest_answers(np.array([3.0, 9.0]), np.array([10.0, 10.0])) == 1.0
    assert fewest_answers(np.array([2.0, 5.0]), np.array([10.0, 10.0])) == 2.0
