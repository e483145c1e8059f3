"""What a journalist could quote: plain sentences, which people were passed and when, who led in each month."""

from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.study.headlines import leader_sentence, pace_sentence


def test_a_lead_is_said_with_its_basis(study):
    lead = replace(study.lead, mover="gpqa_diamond", without=0.2, published=None, day=None)
    name = study.evidence.models.filter(subject=lead.subject)["name"][0]
    assert lead.basis(study.evidence) == (
        f"{name}'s score on GPQA Diamond moves this most: without it the chance is 20%."
    )
    other = study.iq.ranking["subject"][1]
    named = study.evidence.models.filter(subject=other)["name"][0]
    assert f"The published method puts {named} first." in replace(lead, published=other).basis(study.evidence)
    sentence = leader_sentence(study)
    assert sentence.startswith(study.lead.headline(study.evidence)) and "Its IQ is" in sentence


@pytest.mark.parametrize(("alarm", "said"), [(date(2026, 3, 4), "sounded on 4 March 2026."), (None, "has found none")])
def test_the_sentence_on_pace_says_the_day_of_an_alarm(alarm, said):
    unit = "the distance from a to b"
    pace = SimpleNamespace(slope=0.62, low=0.5, high=0.75, records=0.9, unit=unit, since=date(2024, 9, 24))
    models = pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]})
    sentence = pace_sentence(
        SimpleNamespace(pace=pace, evidence=SimpleNamespace(models=models), watch=SimpleNamespace(alarm=alarm))
    )
    said_first = (
        "Models released since September 2024 gain 0.62 of capability a year "
        "(90% interval 0.50 to 0.75; 1 is the distance from Ay to Bee)"
    )
    assert sentence.startswith(f"{said_first}, all releases counted; the line through the records rises by 0.90;")
    assert said in sentence
