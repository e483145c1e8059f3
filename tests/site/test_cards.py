"""What readers find and open: entries of the search box, and the cards of marks of people."""

import re

from mensura.site.cards import people_cards


def test_every_group_of_the_evidence_has_a_card_with_source_and_date(study):
    cards = people_cards(study)
    dated = re.compile(r"(19|20)\d\d|date not given|no date: follows from")
    seen = 0
    for row in study.evidence.human_references.iter_rows(named=True):
        card = cards.get(f"people:{row['benchmark']}/{row['group']}")
        if card is None:
            continue  # in another unit than its benchmark's
        lines = {label: text for label, text, _ in card["lines"]}
        assert lines["Source"] == row["source"]
        assert dated.search(lines["Date"])
        seen += 1
    assert seen > 40


def test_people_of_the_human_ladder_say_where_they_are_known_from(study):
    groups = study.abilities.places.filter(kind="people").drop_nulls("level").select("test", "subject").unique()
    assert groups.height >= 2
    for test, subject in groups.iter_rows():
        sources = [line for line in people_cards(study)[f"people:{test}/{subject}"]["lines"] if line[0] == "Source"]
        assert [link.startswith("https://") for _, _, link in sources] == [True]
