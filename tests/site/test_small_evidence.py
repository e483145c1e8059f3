"""Evidence of one's own may be small: what it cannot say is said, and the rest is there."""

import pytest

from mensura.core.errors import MensuraError
from mensura.site.pictures import draw
from mensura.site.pictures.first_screen import FirstScreen
from mensura.study import Study
from mensura.study.headlines import pace_sentence
from tests.few_models import of_models

pytestmark = pytest.mark.slow


def test_a_report_of_six_models_says_what_they_are_too_few_for():
    study = Study.run(of_models(6))
    assert study.watch is None
    assert pace_sentence(study).endswith("too few models were released to watch for an acceleration.")
    assert "Too few releases to tell" in FirstScreen(study).context()["questions"][2]["answer"]
    assert draw(study, "acceleration").finding == "Too few models were released to watch for an acceleration"
    assert study.evidence.demand_outcomes.is_empty()
    assert "GPT-4o" in study.abilities.places["subject"].to_list()  # published systems, which its own table lacks


def test_three_models_are_refused_in_words():
    with pytest.raises(MensuraError, match=r"3 models have both .* a report needs 5 or more"):
        _ = Study.run(of_models(3)).pace
