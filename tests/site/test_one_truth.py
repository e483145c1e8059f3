"""The first page, the IQ page, the stitched page, the interface, the command line and agents name one leader."""

import html
import json
import re

import pytest

from mensura.scale.ranking import say_chance, say_leader
from mensura.serve.agent_server import AgentTools
from mensura.study.headlines import capability_leader_sentence, say_lead
from mensura.study.study import Study


def words(text):
    """The words of a page without its marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


@pytest.mark.slow
def test_every_front_names_the_same_leader_with_the_same_chance(report, evidence, evidence_folder, mensura_command):
    study = Study.open(evidence)
    leader = study.ranked.row(0, named=True)
    said, basis = say_lead(study)
    assert said == say_leader(leader["name"], list(study.lead.chances.values()), study.ranked.height)
    for page in ("index.html", "iq.html", "stitched.html"):
        assert said in words((report / page).read_text(encoding="utf-8")), page
        assert basis in words((report / page).read_text(encoding="utf-8")), page
    listed = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))
    assert (listed["lead"]["sentence"], listed["lead"]["basis"]) == (said, basis)
    ranked = listed["rankings"]
    assert (ranked[0]["subject"], ranked[0]["p_first"]) == (leader["subject"], leader["p_first"])
    assert len(ranked) == study.ranked.height
    printed = " ".join(mensura_command("iq", "--evidence", evidence_folder).out.split())
    assert f"{said} {basis}" in printed
    agents = AgentTools(lambda: evidence, study)
    assert agents.look_up_model(leader["subject"]).leader == f"{said} {basis}"
    told = mensura_command("where", leader["subject"], "--evidence", evidence_folder).out
    assert f"rank 1 (1 to {leader['rank_high']}; {say_chance(leader['p_first'])} chance of being first)" in told


@pytest.mark.slow
def test_the_stitched_page_names_the_highest_of_all_ranked_models(report, evidence, evidence_folder, mensura_command):
    study = Study.open(evidence)
    said = capability_leader_sentence(study)
    page = words((report / "stitched.html").read_text(encoding="utf-8"))
    assert said in page
    assert len(set(re.findall(r"[\w%]+ chance of being first", page))) == 1
    top = json.loads(mensura_command("stitch", "--evidence", evidence_folder, "--json").out)["ranks"][0]
    name = study.rows.by_subject[top["subject"]]["name"]
    models = study.capability_ranks["rank"].count()
    assert (
        said
        == f"{name} has the highest capability, with a chance of {say_chance(top['p_first'])} among {models} models."
    )
